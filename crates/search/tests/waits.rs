//! A pool whose storage is slow: other workers go on, results are the same, and it tells what it waits for.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixtures;

use fixtures::{network, run, search, strategy};
use search::{Event, Search};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex};
use std::time::Duration;
use study::storage::{Attributes, Storage, StorageError};
use study::{Point, Trial};

/// Long enough for anything but a deadlock.
const DEADLOCK: Duration = Duration::from_mins(1);

/// A storage whose calls wait for something else to happen.
#[derive(Default)]
struct Slow {
    /// The result of this trial is written when so many others were.
    held_back: Option<(u64, usize)>,
    /// This trial is claimed, or is another worker's and finished, when a wait was told.
    until_told: Option<(u64, Holder)>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, PartialEq)]
enum Holder {
    Lock,
    Worker,
}

#[derive(Default)]
struct State {
    finished: usize,
    /// The trials that a wait was described for.
    described: Option<BTreeSet<u64>>,
    /// The point of the trial of the other worker.
    remote: Option<Point>,
}

impl Slow {
    fn wait(&self, is_over: impl Fn(&State) -> bool) {
        let guard = self.state.lock().unwrap();
        let waited = self
            .changed
            .wait_timeout_while(guard, DEADLOCK, |state| !is_over(state));
        assert!(!waited.unwrap().1.timed_out(), "nothing else gets done");
    }
}

impl Storage for &'static Slow {
    fn poll(&self) -> Result<Vec<(Trial, Attributes)>, StorageError> {
        let mut state = self.state.lock().unwrap();
        if state.described.is_none() {
            return Ok(Vec::new());
        }
        let outcome = study::Outcome::complete(vec![0.5]);
        let ended = state
            .remote
            .take()
            .map(|point| Trial::new(2, point, outcome));
        Ok(ended
            .map(|trial| (trial, Attributes::new()))
            .into_iter()
            .collect())
    }

    fn claim(&self, number: u64, point: &Point) -> Result<bool, StorageError> {
        match self.until_told {
            Some((slow, Holder::Lock)) if slow == number => {
                self.wait(|state| state.described.is_some());
                Ok(true)
            }
            Some((slow, Holder::Worker)) if slow == number => {
                self.state.lock().unwrap().remote = Some(point.clone());
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    fn take_over(&self, _: u64, _: &Point) -> Result<Option<Point>, StorageError> {
        Ok(None)
    }

    fn finish(&self, trial: &Trial, _: &Attributes) -> Result<(), StorageError> {
        if let Some((number, others)) = self.held_back
            && number == trial.number
        {
            self.wait(|state| state.finished >= others);
        }
        self.state.lock().unwrap().finished += 1;
        self.changed.notify_all();
        Ok(())
    }

    fn sync(&self, _: bool) -> Result<(), StorageError> {
        Ok(())
    }

    fn describe_wait(&self, trials: &[u64]) -> String {
        let mut state = self.state.lock().unwrap();
        state.described = Some(trials.iter().copied().collect());
        self.changed.notify_all();
        "a friend".to_owned()
    }
}

fn toy(threads: usize, trials: usize) -> Search {
    let text = strategy(
        "accuracy.scale = 1.0",
        &format!("[strategy.setup]\nn_trials = {trials}\n"),
    );
    let mut search = search(&text, network(), 50);
    search.threads = threads;
    search
}

fn slow(storage: Slow) -> &'static Slow {
    Box::leak(Box::new(storage))
}

fn values(results: &search::Results) -> Vec<(Point, Vec<f64>)> {
    let trials = results.history.trials().iter();
    trials
        .map(|trial| (trial.point.clone(), trial.outcome.values.clone()))
        .collect()
}

/// A result that takes long to be written does not keep the other workers from theirs, and changes nothing.
#[test]
fn a_slow_call_stalls_nobody_else() {
    let expected = values(&run(&toy(1, 12), None));
    for threads in [2, 3] {
        let storage = slow(Slow {
            held_back: Some((1, 11)),
            ..Slow::default()
        });
        let results = run(&toy(threads, 12), Some(Box::new(storage)));
        assert_eq!(values(&results), expected, "{threads} threads");
    }
}

/// Runs a search whose trial 2 stands still until a wait was told; gives the lines.
fn told(holder: Holder) -> (Vec<String>, &'static Slow) {
    let storage = slow(Slow {
        until_told: Some((2, holder)),
        ..Slow::default()
    });
    let mut lines = Vec::new();
    let stop = AtomicBool::new(false);
    let results = toy(1, 4).run(Some(Box::new(storage)), &stop, &mut |event| {
        if let Event::Waiting(line) = event {
            lines.push(line.to_owned());
        }
    });
    assert_eq!(results.unwrap().history.len(), 4);
    (lines, storage)
}

/// A call that does not come back and a trial of another worker are both told, in one line.
#[test]
fn a_long_wait_is_told() {
    for (holder, expected) in [
        (Holder::Lock, BTreeSet::new()),
        (Holder::Worker, BTreeSet::from([2])),
    ] {
        let (lines, storage) = told(holder);
        let [line] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        assert!(line.starts_with("still waiting after "), "{line}");
        assert!(line.ends_with(" s for a friend"), "{line}");
        let state = storage.state.lock().unwrap();
        assert_eq!(state.described.as_ref(), Some(&expected));
    }
}
