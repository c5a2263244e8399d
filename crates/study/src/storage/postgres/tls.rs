//! Encrypted connections, by rustls.

use postgres::{Client, Config, Error};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// A connector that checks the certificate of the server and its name.
#[derive(Clone)]
pub(super) struct Connector(MakeRustlsConnect);

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Connector")
    }
}

impl Connector {
    /// A connector that trusts the certificates of a file.
    pub fn new(roots: Option<&Path>) -> Result<Self, String> {
        let Some(path) = roots else {
            return Err(
                "an encrypted connection needs sslrootcert=FILE, the certificates that are trusted, such as \
                 /etc/ssl/certs/ca-certificates.crt"
                    .to_owned(),
            );
        };
        let wrong = |error: String| format!("sslrootcert {}: {error}", path.display());
        let certificates =
            CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
        let mut trusted = RootCertStore::empty();
        for certificate in certificates {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            // Of the many of a system, one that is too old for rustls is left out.
            let _ = trusted.add(certificate);
        }
        if trusted.is_empty() {
            return Err(wrong("holds no certificate".to_owned()));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(error.to_string()))?
            .with_root_certificates(trusted)
            .with_no_client_auth();
        Ok(Self(MakeRustlsConnect::new(config)))
    }

    /// Connects.
    pub fn connect(&self, config: &Config) -> Result<Client, Error> {
        config.connect(self.0.clone())
    }
}
