//! A thread that says of the trials of this worker that they are still being run, however long they take.

use super::address::Address;
use super::sql::BEAT;
use postgres::Client;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The trials that are alive; the thread ends with this.
pub(super) struct Heartbeat {
    shared: Arc<(Mutex<Beating>, Condvar)>,
}

#[derive(Default)]
struct Beating {
    trials: BTreeSet<i32>,
    is_over: bool,
}

impl Heartbeat {
    /// Several beats in a grace period, over a connection of its own.
    pub fn start(address: Address) -> Self {
        let shared = Arc::<(Mutex<Beating>, Condvar)>::default();
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || beat(&address, &of_thread));
        Self { shared }
    }

    /// This worker runs the trial.
    pub fn insert(&self, trial: i32) {
        self.beating().trials.insert(trial);
    }

    /// It has ended.
    pub fn remove(&self, trial: i32) {
        self.beating().trials.remove(&trial);
    }

    fn beating(&self) -> MutexGuard<'_, Beating> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.beating().is_over = true;
        self.shared.1.notify_all();
    }
}

fn beat(address: &Address, (beating, ended): &(Mutex<Beating>, Condvar)) {
    let interval = (address.grace / 4).max(Duration::from_millis(20));
    let mut client = None;
    let mut guard = beating.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        guard = ended
            .wait_timeout_while(guard, interval, |beating| !beating.is_over)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        if guard.is_over {
            return;
        }
        let trials: Vec<i32> = guard.trials.iter().copied().collect();
        if trials.is_empty() {
            continue;
        }
        drop(guard);
        // A lost connection is tried again at the next beat; the trials' own statements say what is wrong.
        client = client
            .take()
            .or_else(|| address.connect().ok())
            .and_then(|client| send(client, &trials));
        guard = beating.lock().unwrap_or_else(PoisonError::into_inner);
    }
}

fn send(mut client: Client, trials: &[i32]) -> Option<Client> {
    client.execute(BEAT, &[&trials]).ok().map(|_| client)
}
