//! The stand-in for encrypted connections in a program that is built without them.

use postgres::{Client, Config, Error};
use std::path::Path;

/// A connector that is never made.
#[derive(Clone, Debug)]
pub(super) enum Connector {}

impl Connector {
    /// Refuses: the program has no TLS.
    pub fn new(_roots: Option<&Path>) -> Result<Self, String> {
        Err(
            "sslmode asks for an encrypted connection, and this program was built without TLS; build it with \
             `--features tls`, or use a tunnel"
                .to_owned(),
        )
    }

    /// Nothing to connect with.
    pub fn connect(&self, _config: &Config) -> Result<Client, Error> {
        match *self {}
    }
}
