//! The waits of a worker pool, so that a search that stands still can tell what for.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A wait is told when it has lasted this long, and again whenever it is twice as long as when it was last told.
const PATIENCE: Duration = Duration::from_secs(3);
/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(500);

/// The waits under way.
#[derive(Default)]
pub(crate) struct Waits {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    next: u64,
    since: BTreeMap<u64, Instant>,
    is_over: bool,
}

/// A wait, which ends with this.
pub(crate) struct Wait<'a> {
    waits: &'a Waits,
    id: u64,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.waits.state().since.remove(&self.id);
    }
}

impl Waits {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a wait.
    pub fn begin(&self) -> Wait<'_> {
        let mut state = self.state();
        let id = state.next;
        state.next += 1;
        state.since.insert(id, Instant::now());
        Wait { waits: self, id }
    }

    /// Ends [`Self::watch`].
    pub fn end(&self) {
        self.state().is_over = true;
        self.ended.notify_all();
    }

    /// Calls `tell` with the time of the longest wait, now and then while it lasts.
    pub fn watch(&self, mut tell: impl FnMut(Duration)) {
        let mut notices = Notices::default();
        let mut state = self.state();
        loop {
            let waited = self
                .ended
                .wait_timeout_while(state, INTERVAL, |state| !state.is_over);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.is_over {
                return;
            }
            let longest = state.since.values().min().map(Instant::elapsed);
            if let Some(time) = notices.due(longest) {
                drop(state);
                tell(time);
                state = self.state();
            }
        }
    }
}

/// The schedule of the notices about waits.
struct Notices {
    threshold: Duration,
}

impl Default for Notices {
    fn default() -> Self {
        Self {
            threshold: PATIENCE,
        }
    }
}

impl Notices {
    /// The longest wait of now, if it is to be told.
    fn due(&mut self, longest: Option<Duration>) -> Option<Duration> {
        match longest {
            Some(time) if time >= self.threshold => {
                self.threshold = time * 2;
                Some(time)
            }
            Some(time) if time >= PATIENCE => None,
            _ => {
                *self = Self::default();
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks every half second at waits of 14, then 2, then 5 seconds.
    #[test]
    fn a_wait_is_told_after_some_patience_and_whenever_it_has_doubled() {
        let mut notices = Notices::default();
        let told = [14, 2, 5].map(|seconds| {
            let looks = (0..=2 * seconds).map(|look| Duration::from_millis(500 * look));
            let told = looks.filter_map(|wait| notices.due(Some(wait)));
            told.map(|wait| wait.as_secs()).collect::<Vec<_>>()
        });
        assert_eq!(told, [vec![3, 6, 12], vec![], vec![3]]);
        assert_eq!(notices.due(None), None);
        let patience = Some(PATIENCE);
        assert_eq!(
            [notices.due(patience), notices.due(patience)],
            [patience, None]
        );
    }
}
