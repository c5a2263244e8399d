//! The worker pool of a search: ask, evaluate, tell, store.
//!
//! Threads take trials from one study behind a lock and evaluate them outside of it. Calls of the storage wait for the
//! network or the disk and are made outside of it too: claims one after the other, in the order of the numbers, beside
//! at most one poll and any results. Which points are tried, and what is given up early, follows from the trials'
//! numbers alone; so the results are the same on any number of threads, and after a kill.

use crate::attributes::stored_metrics;
use crate::evaluate::{Costs, Evaluation, Evaluator};
use crate::objectives::Scores;
use crate::search::{Ending, Event, Results, RunError, Search, TrialError};
use crate::waits::Waits;
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant, SystemTime};
use study::pareto::{self, Fronts};
use study::storage::{Attributes, Storage, StorageError};
use study::{Next, Outcome, Point, State, Study, Trial};

/// Time between two polls of the storage.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The state that all workers share.
struct Shared {
    study: Study,
    /// Trials that were reported to the callback.
    reported: usize,
    /// Trials that other processes run.
    remote: BTreeSet<u64>,
    /// Trials that threads of this process run.
    evaluating: usize,
    /// Changes with every result, whoever it is from.
    version: u64,
    fronts: Fronts,
    ran: u64,
    error: Option<RunError>,
    is_timed_out: bool,
}

/// A callback for what happens.
type OnEvent<'a> = &'a mut (dyn FnMut(Event) + Send);

/// The workers of one search.
struct WorkerPool<'a> {
    search: &'a Search,
    stops_early: bool,
    shared: Mutex<(Shared, OnEvent<'a>)>,
    storage: Option<Box<dyn Storage>>,
    /// Held by the one thread that asks for a trial and claims it.
    turn: Mutex<()>,
    /// Held by the one thread that polls; the time of the last poll.
    last_poll: Mutex<Option<Instant>>,
    waits: Waits,
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
    on_event: OnEvent,
) -> Result<Results, RunError> {
    let started = Instant::now();
    let study = search.study()?;
    let stops_early = search.stops_early(&study);
    let shared = Shared {
        study,
        reported: 0,
        remote: BTreeSet::new(),
        evaluating: 0,
        version: 0,
        fronts: Fronts::default(),
        ran: 0,
        error: None,
        is_timed_out: false,
    };
    let pool = WorkerPool {
        search,
        stops_early,
        shared: Mutex::new((shared, on_event)),
        storage,
        turn: Mutex::new(()),
        last_poll: Mutex::new(None),
        waits: Waits::default(),
        changed: Condvar::new(),
        stop,
        deadline: search.config.timeout.map(|timeout| started + timeout),
    };
    // What an earlier run, or other workers, have done.
    pool.poll()?;
    pool.work_on_threads();
    pool.stored(|storage| storage.sync(true))?;
    let shared = pool.shared.into_inner();
    let (shared, _) = shared.unwrap_or_else(PoisonError::into_inner);
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
    fn lock(&self) -> MutexGuard<'_, (Shared, OnEvent<'a>)> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls the storage, if there is one, without the lock.
    fn stored<T>(
        &self,
        call: impl FnOnce(&dyn Storage) -> Result<T, StorageError>,
    ) -> Result<Option<T>, StorageError> {
        let Some(storage) = &self.storage else {
            return Ok(None);
        };
        let _wait = self.waits.begin();
        call(storage.as_ref()).map(Some)
    }

    fn work_on_threads(&self) {
        std::thread::scope(|scope| {
            let threads = self.search.threads.max(1);
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| self.work())).collect();
            if let Some(storage) = &self.storage {
                scope.spawn(|| self.waits.watch(|time| self.tell_wait(&**storage, time)));
            }
            let ended: Vec<_> = workers.into_iter().map(ScopedJoinHandle::join).collect();
            self.waits.end();
            if let Some(panic) = ended.into_iter().find_map(Result::err) {
                resume_unwind(panic);
            }
        });
    }

    /// Tells what the search has been waiting for.
    fn tell_wait(&self, storage: &dyn Storage, time: Duration) {
        let remote: Vec<u64> = self.lock().0.remote.iter().copied().collect();
        let what = storage.describe_wait(&remote);
        let line = format!("still waiting after {} s for {what}", time.as_secs());
        (self.lock().1)(Event::Waiting(&line));
    }

    /// One worker: trials until there are no more.
    fn work(&self) {
        let mut evaluator = match self.search.evaluator() {
            Ok(evaluator) => evaluator,
            Err(error) => return self.fail(error.into()),
        };
        loop {
            let job = match self.next() {
                Ok(Some(job)) => job,
                Ok(None) => return,
                Err(error) => return self.fail(error),
            };
            let started = SystemTime::now();
            let trial = self.evaluate(&mut evaluator, job, started);
            if let Err(error) = self.finish(trial) {
                return self.fail(error);
            }
        }
    }

    fn fail(&self, error: RunError) {
        let mut guard = self.lock();
        guard.0.error.get_or_insert(error);
        guard.0.version += 1;
        self.changed.notify_all();
    }

    /// True when no further trial is to be begun.
    fn is_over(&self) -> bool {
        let shared = &mut self.lock().0;
        let is_late = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        let is_stopped = shared.error.is_some() || self.stop.load(Ordering::Relaxed);
        shared.is_timed_out |= is_late && !is_stopped;
        is_stopped || is_late
    }

    /// The next trial; none when the worker is done.
    fn next(&self) -> Result<Option<Job>, RunError> {
        let mut wait = None;
        while !self.is_over() {
            // A worker that never has to wait polls for the others as well.
            let has_remote = !self.lock().0.remote.is_empty();
            if has_remote || wait.is_some() {
                self.poll()?;
            }
            let version = match self.try_next()? {
                Taken::Job(job) => return Ok(Some(job)),
                Taken::Nothing => return Ok(None),
                Taken::Later { version } => version,
            };
            let guard = self.lock();
            // While a thread of this process is at work, that is what the others wait for.
            let is_idle = guard.0.evaluating == 0;
            wait = is_idle.then(|| wait.unwrap_or_else(|| self.waits.begin()));
            let is_same = |shared: &mut (Shared, OnEvent)| shared.0.version == version;
            drop(
                self.changed
                    .wait_timeout_while(guard, POLL_INTERVAL, is_same),
            );
        }
        Ok(None)
    }

    fn try_next(&self) -> Result<Taken, RunError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(job) = self.take_over()? {
            return Ok(Taken::Job(job));
        }
        loop {
            let (number, point) = {
                let shared = &mut self.lock().0;
                match shared.study.ask() {
                    Next::Trial { number, point } => (number, point),
                    Next::Finished if shared.remote.is_empty() => return Ok(Taken::Nothing),
                    Next::Finished | Next::Wait => {
                        return Ok(Taken::Later {
                            version: shared.version,
                        });
                    }
                }
            };
            let is_mine = self.stored(|storage| storage.claim(number, &point))?;
            let shared = &mut self.lock().0;
            if is_mine.unwrap_or(true) {
                return Ok(Taken::Job(self.job(shared, number, point)));
            }
            // Another thread may have heard of its result by now.
            if shared.study.is_running(number) {
                shared.remote.insert(number);
            }
        }
    }

    /// A trial that another program has enqueued, or over which another worker has died.
    fn take_over(&self) -> Result<Option<Job>, RunError> {
        let remote: Vec<(u64, Point)> = {
            let shared = &self.lock().0;
            let running = shared.study.running();
            let remote = running.filter(|(number, _)| shared.remote.contains(number));
            remote
                .map(|(number, point)| (number, point.clone()))
                .collect()
        };
        for (number, point) in remote {
            let taken = self.stored(|storage| storage.take_over(number, &point))?;
            let Some(point) = taken.flatten() else {
                continue;
            };
            let shared = &mut self.lock().0;
            if shared.remote.remove(&number) {
                return Ok(Some(self.job(shared, number, point)));
            }
        }
        Ok(None)
    }

    /// Takes in trials that were finished elsewhere, unless that was done a moment ago or another thread is at it.
    fn poll(&self) -> Result<(), RunError> {
        let mut last_poll = match self.last_poll.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        if last_poll.is_some_and(|time| time.elapsed() < POLL_INTERVAL / 2) {
            return Ok(());
        }
        *last_poll = Some(Instant::now());
        let ended = self.stored(|storage| storage.poll())?.unwrap_or_default();
        let mut guard = self.lock();
        let (shared, on_event) = &mut *guard;
        if !ended.is_empty() {
            shared.version += 1;
            self.changed.notify_all();
        }
        for (trial, attributes) in ended {
            take_in(shared, trial, &attributes)?;
        }
        report(shared, on_event);
        Ok(())
    }

    fn job(&self, shared: &mut Shared, number: u64, point: Point) -> Job {
        let front = if self.stops_early {
            let horizon = shared.study.horizon(number);
            shared.fronts.below(horizon, shared.study.history())
        } else {
            Arc::default()
        };
        shared.evaluating += 1;
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
        let mut costs = match evaluator {
            Some(evaluator) => evaluator.costs(point)?,
            None => Costs::of_graph(&search.untrained(point)?)?,
        };
        let mut network = search.trained(point)?;
        costs.netlist = search.netlist(&network)?;
        search.scores(&mut network, costs)
    }

    fn finish(&self, trial: Trial) -> Result<(), RunError> {
        self.stored(|storage| {
            storage.finish(&trial, &self.search.attributes(&trial))?;
            storage.sync(false)
        })?;
        let mut guard = self.lock();
        let (shared, on_event) = &mut *guard;
        // The worker that a trial was taken over from may have come back and been faster.
        if shared.study.is_running(trial.number) {
            shared.study.finish(trial)?;
        }
        shared.ran += 1;
        shared.evaluating -= 1;
        shared.version += 1;
        report(shared, on_event);
        self.changed.notify_all();
        Ok(())
    }
}

enum Taken {
    Job(Job),
    /// Nothing before another result than those of this version.
    Later {
        version: u64,
    },
    Nothing,
}

/// Takes in a trial that was finished elsewhere.
fn take_in(shared: &mut Shared, mut trial: Trial, attributes: &Attributes) -> Result<(), RunError> {
    trial.metrics = stored_metrics(attributes);
    trial.normalize(shared.study.history().directions().len());
    // Other programs that share a study do not know which choices go together.
    if !shared.study.space().is_possible(&trial.point) {
        trial.mark_failed("what it chose makes no format".to_owned());
    }
    shared.remote.remove(&trial.number);
    if shared.study.is_running(trial.number) {
        shared.study.finish(trial)?;
    } else {
        shared.study.restore(trial)?;
    }
    Ok(())
}

/// Calls back for every trial that the history has newly reached.
fn report(shared: &mut Shared, on_event: &mut OnEvent) {
    let history = shared.study.history();
    for trial in history.trials().iter().skip(shared.reported) {
        on_event(Event::Finished(trial, history));
    }
    shared.reported = history.len();
}
