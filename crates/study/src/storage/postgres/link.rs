//! A connection that is made again when it is lost, for a while.

use super::address::{Address, described};
use super::sql;
use crate::storage::StorageError;
use postgres::error::SqlState;
use postgres::{Client, Error, Statement};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The first and the longest time between two tries.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

pub(super) struct Link {
    pub address: Address,
    open: Option<Open>,
}

/// A connection with its prepared statements.
pub(super) struct Open {
    pub client: Client,
    pub claim: Statement,
    pub finish: Statement,
    pub ended: Statement,
    pub stale: Statement,
    pub take_over: Statement,
}

impl Open {
    fn new(address: &Address) -> Result<Self, Error> {
        let mut client = address.connect()?;
        client.batch_execute(sql::MAKE_CLAIM)?;
        Ok(Self {
            claim: client.prepare(sql::CLAIM)?,
            finish: client.prepare(sql::FINISH)?,
            ended: client.prepare(sql::ENDED)?,
            stale: client.prepare(sql::STALE)?,
            take_over: client.prepare(sql::TAKE_OVER)?,
            client,
        })
    }
}

impl Link {
    /// No connection yet; the tables must be there before the first one is made.
    pub fn new(address: Address) -> Self {
        Self {
            address,
            open: None,
        }
    }

    /// Does some work, again from its beginning when the connection is lost. The work is told whether it may have been
    /// done before.
    pub fn run<T>(
        &mut self,
        mut work: impl FnMut(&mut Open, bool) -> Result<T, Error>,
    ) -> Result<T, StorageError> {
        let started = Instant::now();
        let (mut pause, mut is_again) = (SHORTEST, false);
        loop {
            let error = match self.attempt(|open| work(open, is_again)) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            self.open = None;
            if !is_passing(&error) || started.elapsed() >= self.address.reconnect {
                return Err(self.failed(&error));
            }
            is_again = true;
            sleep(pause.min(self.address.reconnect));
            pause = (pause * 2).min(LONGEST);
        }
    }

    fn attempt<T>(&mut self, work: impl FnOnce(&mut Open) -> Result<T, Error>) -> Result<T, Error> {
        let open = match self.open.take() {
            Some(open) => open,
            None => Open::new(&self.address)?,
        };
        work(self.open.insert(open))
    }

    pub fn failed(&self, error: &Error) -> StorageError {
        failed(&self.address, error)
    }
}

/// The database with what it says.
pub(super) fn failed(address: &Address, error: &Error) -> StorageError {
    StorageError::Connection {
        place: address.place.clone(),
        message: described(error),
    }
}

/// True when it may work a little later: the server is gone, or starts, or two workers were in each other's way.
fn is_passing(error: &Error) -> bool {
    let Some(code) = error.code() else {
        let source = std::error::Error::source(error);
        let is_io = source.is_some_and(<dyn std::error::Error>::is::<std::io::Error>);
        return error.is_closed() || is_io;
    };
    let is_of = |class: &str| code.code().starts_with(class);
    let states = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
    ];
    // Connections, transactions in each other's way, resources.
    is_of("08") || is_of("40") || is_of("53") || states.contains(code)
}
