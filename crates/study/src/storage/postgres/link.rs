//! Connections that are made again when they are lost, for a while.

use super::address::{Address, described};
use super::sql;
use crate::storage::StorageError;
use postgres::error::SqlState;
use postgres::{Client, Error, Statement};
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The first and the longest time between two tries.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// Connections of one worker at most, however many threads it has.
const MAX_CONNECTIONS: usize = 4;

/// A pool of connections to one database: each call has one of its own, so that none waits for another's answer.
pub(super) struct Links {
    pub address: Address,
    pool: Mutex<Pool>,
    /// Signaled when a call has given its connection back.
    returned: Condvar,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Open>,
    /// Calls under way.
    busy: usize,
    /// The server's processes of all connections.
    processes: BTreeSet<i32>,
}

/// A connection with its prepared statements.
pub(super) struct Open {
    pub client: Client,
    /// The server's process.
    process: i32,
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
            process: client
                .query_one("SELECT pg_backend_pid()", &[])?
                .try_get(0)?,
            claim: client.prepare(sql::CLAIM)?,
            finish: client.prepare(sql::FINISH)?,
            ended: client.prepare(sql::ENDED)?,
            stale: client.prepare(sql::STALE)?,
            take_over: client.prepare(sql::TAKE_OVER)?,
            client,
        })
    }
}

/// The connection of one call, which goes back to the pool with this.
struct Lease<'a> {
    links: &'a Links,
    open: Option<Open>,
}

impl Lease<'_> {
    fn attempt<T>(&mut self, work: impl FnOnce(&mut Open) -> Result<T, Error>) -> Result<T, Error> {
        let open = if let Some(open) = self.open.take() {
            open
        } else {
            let open = Open::new(&self.links.address)?;
            self.links.pool().processes.insert(open.process);
            open
        };
        work(self.open.insert(open))
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.links.pool().processes.remove(&open.process);
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut pool = self.links.pool();
        pool.busy -= 1;
        pool.idle.extend(self.open.take());
        self.links.returned.notify_one();
    }
}

impl Links {
    /// No connection yet; the tables must be there before the first one is made.
    pub fn new(address: Address) -> Self {
        Self {
            address,
            pool: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// Does some work, again from its beginning when the connection is lost. The work is told whether it may have been
    /// done before.
    pub fn run<T>(
        &self,
        mut work: impl FnMut(&mut Open, bool) -> Result<T, Error>,
    ) -> Result<T, StorageError> {
        let mut lease = self.lease();
        let started = Instant::now();
        let (mut pause, mut is_again) = (SHORTEST, false);
        loop {
            let error = match lease.attempt(|open| work(open, is_again)) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            lease.close();
            if !is_passing(&error) || started.elapsed() >= self.address.reconnect {
                return Err(failed(&self.address, &error));
            }
            is_again = true;
            sleep(pause.min(self.address.reconnect));
            pause = (pause * 2).min(LONGEST);
        }
    }

    /// The server's processes of the connections of this worker.
    pub fn processes(&self) -> Vec<i32> {
        self.pool().processes.iter().copied().collect()
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lease(&self) -> Lease<'_> {
        let is_full = |pool: &mut Pool| pool.busy >= MAX_CONNECTIONS;
        let pool = self.returned.wait_while(self.pool(), is_full);
        let mut pool = pool.unwrap_or_else(PoisonError::into_inner);
        pool.busy += 1;
        Lease {
            open: pool.idle.pop(),
            links: self,
        }
    }
}

/// The database with what it says.
fn failed(address: &Address, error: &Error) -> StorageError {
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
