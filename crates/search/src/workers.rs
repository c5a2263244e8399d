//! The worker pool of a search: ask, evaluate, tell, store.
//!
//! Threads take trials from one study behind a lock and evaluate them outside of it. Which points are tried, and what is
//! given up early, follows from the trials' numbers alone; so the results are the same on any number of threads, and
//! after a kill.

use crate::attributes::stored_metrics;
use crate::evaluate::{Costs, Evaluation, Evaluator};
use crate::objectives::Scores;
use crate::search::{Ending, Results, RunError, Search, TrialError};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use study::pareto::{self, Fronts};
use study::storage::Storage;
use study::{History, Next, Outcome, Point, State, Study, Trial};

/// Time between two polls of the storage.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The state that all workers share.
struct Shared {
    study: Study,
    storage: Option<Box<dyn Storage>>,
    /// Trials that were reported to the callback.
    reported: usize,
    /// Trials that other processes run.
    remote: BTreeSet<u64>,
    /// Time of the last poll of the storage.
    last_poll: Instant,
    fronts: Fronts,
    ran: u64,
    error: Option<RunError>,
    is_timed_out: bool,
}

/// A callback for every finished trial.
type OnTrial<'a> = &'a mut (dyn FnMut(&Trial, &History) + Send);

/// The workers of one search.
struct WorkerPool<'a> {
    search: &'a Search,
    stops_early: bool,
    shared: Mutex<(Shared, OnTrial<'a>)>,
    /// Signaled when a trial has ended or the search has failed.
    changed: Condvar,
    stop: &'a AtomicBool,
    deadline: Option<Instant>,
}

/// Runs all trials of a search.
pub(crate) fn run(
    search: &Search,
    storage: Option<Box<dyn Storage>>,
    stop: &AtomicBool,
    on_trial: OnTrial,
) -> Result<Results, RunError> {
    let started = Instant::now();
    let study = search.study()?;
    let stops_early = search.stops_early(&study);
    let shared = Shared {
        study,
        storage,
        reported: 0,
        remote: BTreeSet::new(),
        last_poll: started,
        fronts: Fronts::default(),
        ran: 0,
        error: None,
        is_timed_out: false,
    };
    let pool = WorkerPool {
        search,
        stops_early,
        shared: Mutex::new((shared, on_trial)),
        changed: Condvar::new(),
        stop,
        deadline: search.config.timeout.map(|timeout| started + timeout),
    };
    pool.restore()?;
    std::thread::scope(|scope| {
        for _ in 0..search.threads.max(1) {
            scope.spawn(|| pool.work());
        }
    });
    let shared = pool.shared.into_inner();
    let (mut shared, _) = shared.unwrap_or_else(PoisonError::into_inner);
    if let Some(storage) = &mut shared.storage {
        storage.sync(true)?;
    }
    if let Some(error) = shared.error {
        return Err(error);
    }
    results(search, &shared, stop, started.elapsed())
}

fn results(
    search: &Search,
    shared: &Shared,
    stop: &AtomicBool,
    time: Duration,
) -> Result<Results, RunError> {
    let history = shared.study.history().clone();
    let trials = history.trials();
    let has_result = |trial: &Trial| trial.outcome.state != State::Failed;
    if let Some(first) = trials.first().filter(|_| !trials.iter().any(has_result)) {
        return Err(RunError::AllFailed(first.note.clone().unwrap_or_default()));
    }
    let ending = if (history.len() as u64) >= search.config.n_trials {
        Ending::Done
    } else if stop.load(Ordering::Relaxed) {
        Ending::Stopped
    } else if shared.is_timed_out {
        Ending::TimedOut
    } else {
        Ending::Exhausted
    };
    Ok(Results {
        history,
        ending,
        time,
        ran: shared.ran,
    })
}

/// A trial to run.
struct Job {
    number: u64,
    point: Point,
    /// Losses of the front that a trial must still be able to reach; empty when no trial is given up.
    front: Arc<Vec<Vec<f64>>>,
}

impl<'a> WorkerPool<'a> {
    fn lock(&self) -> MutexGuard<'_, (Shared, OnTrial<'a>)> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what an earlier run, or other workers, have done.
    fn restore(&self) -> Result<(), RunError> {
        let mut guard = self.lock();
        let (shared, on_trial) = &mut *guard;
        poll_storage(shared)?;
        report(shared, on_trial);
        Ok(())
    }

    /// One worker: trials until there are no more.
    fn work(&self) {
        let mut evaluator = match self.search.evaluator() {
            Ok(evaluator) => evaluator,
            Err(error) => return self.fail(error.into()),
        };
        while let Some(job) = self.next() {
            let started = SystemTime::now();
            let trial = self.evaluate(&mut evaluator, job, started);
            if let Err(error) = self.finish(trial) {
                return self.fail(error);
            }
        }
    }

    fn fail(&self, error: RunError) {
        self.lock().0.error.get_or_insert(error);
        self.changed.notify_all();
    }

    /// The next trial; none when the worker is done.
    fn next(&self) -> Option<Job> {
        let mut guard = self.lock();
        loop {
            let (shared, on_trial) = &mut *guard;
            if shared.error.is_some() || self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
            {
                shared.is_timed_out = true;
                return None;
            }
            // A worker that never has to wait polls for the others as well.
            let is_due = !shared.remote.is_empty() && shared.last_poll.elapsed() > POLL_INTERVAL;
            let polled = if is_due { poll_storage(shared) } else { Ok(()) };
            match polled.and_then(|()| self.try_next(shared)) {
                Ok(Taken::Job(job)) => return Some(job),
                Ok(Taken::Nothing) => return None,
                Ok(Taken::Later) => {}
                Err(error) => {
                    shared.error.get_or_insert(error);
                    self.changed.notify_all();
                    return None;
                }
            }
            report(shared, on_trial);
            guard = self
                .changed
                .wait_timeout(guard, POLL_INTERVAL)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            let (shared, on_trial) = &mut *guard;
            if let Err(error) = poll_storage(shared) {
                shared.error.get_or_insert(error);
            }
            report(shared, on_trial);
        }
    }

    fn try_next(&self, shared: &mut Shared) -> Result<Taken, RunError> {
        loop {
            if let Some(job) = self.take_over(shared)? {
                return Ok(Taken::Job(job));
            }
            match shared.study.ask() {
                Next::Trial { number, point } => {
                    if !claim(shared, number, &point)? {
                        shared.remote.insert(number);
                        continue;
                    }
                    return Ok(Taken::Job(self.job(shared, number, point)));
                }
                Next::Finished if shared.remote.is_empty() => return Ok(Taken::Nothing),
                Next::Finished | Next::Wait => return Ok(Taken::Later),
            }
        }
    }

    /// A trial that another program has enqueued, or over which another worker has died.
    fn take_over(&self, shared: &mut Shared) -> Result<Option<Job>, RunError> {
        let Some(storage) = &mut shared.storage else {
            return Ok(None);
        };
        let running = shared.study.running();
        let mut remote = running.filter(|(number, _)| shared.remote.contains(number));
        let taken = remote.find_map(|(number, point)| {
            let taken = storage.take_over(number, point).transpose()?;
            Some(taken.map(|point| (number, point)))
        });
        drop(remote);
        let Some((number, point)) = taken.transpose()? else {
            return Ok(None);
        };
        shared.remote.remove(&number);
        Ok(Some(self.job(shared, number, point)))
    }

    fn job(&self, shared: &mut Shared, number: u64, point: Point) -> Job {
        let front = if self.stops_early {
            let horizon = shared.study.horizon(number);
            shared.fronts.below(horizon, shared.study.history())
        } else {
            Arc::default()
        };
        Job {
            number,
            point,
            front,
        }
    }

    fn evaluate(&self, evaluator: &mut Option<Evaluator>, job: Job, started: SystemTime) -> Trial {
        let scored = match (evaluator, self.search.config.training) {
            (Some(evaluator), None) => self.score(evaluator, &job),
            (evaluator, _) => {
                let scores = self.measure(evaluator.as_mut(), &job.point);
                scores.map(Evaluation::Complete)
            }
        };
        let search = self.search;
        let (outcome, scores) = match scored {
            Ok(Evaluation::Complete(scores)) => (
                search.config.goals.outcome(&scores, State::Complete),
                Some(scores),
            ),
            Ok(Evaluation::Abandoned(bounds)) => {
                let best = search.config.goals.best_within(&bounds);
                let known = best.without_answers();
                (
                    search.config.goals.outcome(&best, State::Pruned),
                    Some(known),
                )
            }
            Err(error) => (Err(error.to_string()), None),
        };
        let (outcome, note) = match outcome {
            Ok(outcome) => (outcome, None),
            Err(note) => (Outcome::failed(), Some(note)),
        };
        Trial {
            number: job.number,
            point: job.point,
            outcome,
            metrics: scores.map_or_else(Vec::new, |scores| scores.values().to_vec()),
            note,
            started,
            finished: SystemTime::now(),
        }
    }

    fn score(&self, evaluator: &mut Evaluator, job: &Job) -> Result<Evaluation, TrialError> {
        let goals = &self.search.config.goals;
        let directions = goals.directions();
        let evaluation = evaluator.evaluate(&job.point, |bounds| {
            let values = goals.values(&goals.best_within(bounds));
            let losses: Vec<f64> = directions
                .iter()
                .zip(values)
                .map(|(direction, value)| direction.loss(value))
                .collect();
            job.front
                .iter()
                .any(|better| pareto::dominates(better, &losses))
        })?;
        Ok(evaluation)
    }

    /// Makes the network of a point, trains it if trials are trained, and scores it.
    fn measure(
        &self,
        evaluator: Option<&mut Evaluator>,
        point: &Point,
    ) -> Result<Scores, TrialError> {
        let search = self.search;
        let costs = match evaluator {
            Some(evaluator) => evaluator.costs(point)?,
            None => Costs::of_graph(&search.untrained(point)?)?,
        };
        search.scores(&mut search.trained(point)?, costs)
    }

    fn finish(&self, trial: Trial) -> Result<(), RunError> {
        let mut guard = self.lock();
        let (shared, on_trial) = &mut *guard;
        if let Some(storage) = &mut shared.storage {
            storage.finish(&trial, &self.search.attributes(&trial))?;
            storage.sync(false)?;
        }
        shared.study.finish(trial)?;
        shared.ran += 1;
        report(shared, on_trial);
        self.changed.notify_all();
        Ok(())
    }
}

enum Taken {
    Job(Job),
    Later,
    Nothing,
}

fn claim(shared: &mut Shared, number: u64, point: &Point) -> Result<bool, RunError> {
    match &mut shared.storage {
        Some(storage) => Ok(storage.claim(number, point)?),
        None => Ok(true),
    }
}

/// Takes in trials that were finished elsewhere.
fn poll_storage(shared: &mut Shared) -> Result<(), RunError> {
    let Some(storage) = &mut shared.storage else {
        return Ok(());
    };
    shared.last_poll = Instant::now();
    for (mut trial, attributes) in storage.poll()? {
        trial.metrics = stored_metrics(&attributes);
        trial.normalize(shared.study.history().directions().len());
        // Other programs that share a study do not know which choices go together.
        if !shared.study.space().is_possible(&trial.point) {
            trial.mark_failed("what it chose makes no format".to_owned());
        }
        if shared.remote.remove(&trial.number) {
            shared.study.finish(trial)?;
        } else {
            shared.study.restore(trial)?;
        }
    }
    Ok(())
}

/// Calls back for every trial that the history has newly reached.
fn report(shared: &mut Shared, on_trial: &mut OnTrial) {
    let history = shared.study.history();
    for trial in history.trials().iter().skip(shared.reported) {
        on_trial(trial, history);
    }
    shared.reported = history.len();
}
