//! The workers of a search, and what they share.

use super::records::{self, TrialRecord};
use super::{RunError, Search};
use crate::evaluate::{Evaluation, Evaluator, score};
use crate::metrics::Scores;
use crate::pareto::{self, Fronts};
use crate::storage::{Chosen, Storage, StoredTrial};
use crate::{History, Next, Outcome, Point, SearchError, Space, State, Study};
use passes::PassError;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How often a worker looks what others have done.
const POLL: Duration = Duration::from_millis(200);

/// What all workers share.
pub(super) struct Shared {
    pub study: Study,
    pub storage: Option<Box<dyn Storage>>,
    pub records: BTreeMap<u64, TrialRecord>,
    /// Trials that the listener has heard of.
    pub committed: usize,
    /// Trials that other processes run.
    pub elsewhere: BTreeSet<u64>,
    /// When others were last listened to.
    pub heard: Instant,
    pub fronts: Fronts,
    pub ran: u64,
    pub error: Option<RunError>,
    pub is_over: bool,
}

pub(super) type Listener<'a> = &'a mut (dyn FnMut(&TrialRecord, &History) + Send);

pub(super) struct Room<'a> {
    pub search: &'a Search,
    pub stops_early: bool,
    pub shared: Mutex<(Shared, Listener<'a>)>,
    pub news: Condvar,
    pub stop: &'a AtomicBool,
    pub deadline: Option<Instant>,
}

/// A trial to run.
struct Job {
    number: u64,
    point: Point,
    /// Losses of the front that a trial must still be able to reach; empty when no trial is given up.
    front: Arc<Vec<Vec<f64>>>,
}

impl<'a> Room<'a> {
    fn lock(&self) -> MutexGuard<'_, (Shared, Listener<'a>)> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what an earlier run, or other workers, have done.
    pub fn restore(&self) -> Result<(), RunError> {
        let mut guard = self.lock();
        let (shared, listen) = &mut *guard;
        take_news(shared)?;
        commit(shared, listen);
        Ok(())
    }

    /// One worker: trials until there are no more.
    pub fn work(&self) {
        let mut evaluator = match Evaluator::new(self.search.task.clone(), self.search.threads) {
            Ok(evaluator) => evaluator,
            Err(error) => return self.fail(error.into()),
        };
        while let Some(job) = self.next() {
            let started = SystemTime::now();
            let record = self.evaluate(&mut evaluator, job, started);
            if let Err(error) = self.finish(record) {
                return self.fail(error);
            }
        }
    }

    fn fail(&self, error: RunError) {
        self.lock().0.error.get_or_insert(error);
        self.news.notify_all();
    }

    /// The next trial; none when the worker can go home.
    fn next(&self) -> Option<Job> {
        let mut guard = self.lock();
        loop {
            let (shared, listen) = &mut *guard;
            if shared.error.is_some() || self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
            {
                shared.is_over = true;
                return None;
            }
            // A worker that never has to wait listens to the others as well.
            let is_time = !shared.elsewhere.is_empty() && shared.heard.elapsed() > POLL;
            let heard = if is_time { take_news(shared) } else { Ok(()) };
            match heard.and_then(|()| self.try_next(shared)) {
                Ok(Taken::Job(job)) => return Some(job),
                Ok(Taken::Nothing) => return None,
                Ok(Taken::Later) => {}
                Err(error) => {
                    shared.error.get_or_insert(error);
                    self.news.notify_all();
                    return None;
                }
            }
            commit(shared, listen);
            guard = self
                .news
                .wait_timeout(guard, POLL)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            let (shared, listen) = &mut *guard;
            if let Err(error) = take_news(shared) {
                shared.error.get_or_insert(error);
            }
            commit(shared, listen);
        }
    }

    fn try_next(&self, shared: &mut Shared) -> Result<Taken, RunError> {
        loop {
            match shared.study.ask() {
                Next::Trial { number, point } => {
                    if !claim(shared, number, &point)? {
                        shared.elsewhere.insert(number);
                        continue;
                    }
                    return Ok(Taken::Job(self.job(shared, number, point)));
                }
                Next::Finished if shared.elsewhere.is_empty() => return Ok(Taken::Nothing),
                Next::Finished | Next::Wait => {
                    // Somebody else may have died over a trial that all wait for.
                    for number in shared.elsewhere.clone() {
                        let Some(storage) = &mut shared.storage else {
                            break;
                        };
                        if storage.take_over(number)? {
                            shared.elsewhere.remove(&number);
                            let point = shared
                                .study
                                .running()
                                .find(|(running, _)| *running == number)
                                .map(|(_, point)| point.clone());
                            if let Some(point) = point {
                                return Ok(Taken::Job(self.job(shared, number, point)));
                            }
                        }
                    }
                    return Ok(Taken::Later);
                }
            }
        }
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

    fn evaluate(&self, evaluator: &mut Evaluator, job: Job, started: SystemTime) -> TrialRecord {
        let scored = match self.search.config.training {
            None => self.score(evaluator, &job),
            Some(_) => self.train(evaluator, &job.point).map(Evaluation::Complete),
        };
        let search = self.search;
        let (outcome, scores) = match scored {
            Ok(Evaluation::Complete(scores)) => {
                (search.outcome(&scores, State::Complete), Some(scores))
            }
            Ok(Evaluation::Abandoned(bounds)) => {
                let best = search.best_within(&bounds);
                let known = best.without_answers();
                (search.outcome(&best, State::Pruned), Some(known))
            }
            Err(error) => (Err(error.to_string()), None),
        };
        let (outcome, note) = match outcome {
            Ok(outcome) => (outcome, None),
            Err(note) => (Outcome::failed(), Some(note)),
        };
        TrialRecord {
            number: job.number,
            point: job.point,
            outcome,
            scores,
            note,
            started,
            finished: SystemTime::now(),
        }
    }

    fn score(&self, evaluator: &mut Evaluator, job: &Job) -> Result<Evaluation, PassError> {
        let directions = self.search.directions();
        evaluator.evaluate(&job.point, |bounds| {
            let values = self.search.values(&self.search.best_within(bounds));
            let losses: Vec<f64> = directions
                .iter()
                .zip(values)
                .map(|(direction, value)| direction.loss(value))
                .collect();
            job.front
                .iter()
                .any(|better| pareto::dominates(better, &losses))
        })
    }

    fn train(&self, evaluator: &mut Evaluator, point: &Point) -> Result<Scores, PassError> {
        let search = self.search;
        let mut scores = evaluator.cost(point)?;
        let (loss, accuracy) = score(&mut search.trained(point)?, &search.task.rows)?;
        (scores.0[0], scores.0[1]) = (accuracy, loss);
        Ok(scores)
    }

    fn finish(&self, record: TrialRecord) -> Result<(), RunError> {
        let mut guard = self.lock();
        let (shared, listen) = &mut *guard;
        if let Some(storage) = &mut shared.storage {
            storage.finish(&self.search.stored(&record))?;
            storage.sync(false)?;
        }
        shared.study.tell(record.number, record.outcome.clone())?;
        shared.records.insert(record.number, record);
        shared.ran += 1;
        commit(shared, listen);
        self.news.notify_all();
        Ok(())
    }
}

enum Taken {
    Job(Job),
    Later,
    Nothing,
}

fn claim(shared: &mut Shared, number: u64, point: &Point) -> Result<bool, RunError> {
    let Some(storage) = &mut shared.storage else {
        return Ok(true);
    };
    let space = shared.study.space();
    let parameters = space.parameters().iter().enumerate();
    let chosen: Vec<Chosen> = parameters
        .filter_map(|(index, parameter)| {
            let value = space.value(index, point.get(index)?);
            Some(Chosen { parameter, value })
        })
        .collect();
    Ok(storage.claim(number, &chosen)?)
}

/// Takes in trials that were finished elsewhere.
fn take_news(shared: &mut Shared) -> Result<(), RunError> {
    let Some(storage) = &mut shared.storage else {
        return Ok(());
    };
    shared.heard = Instant::now();
    for mut stored in storage.news()? {
        records::mend(&mut stored, shared.study.history().directions().len());
        let (number, point) = (stored.number, point_of(shared.study.space(), &stored)?);
        // Other programs that share a study do not know which choices go together.
        if !shared.study.space().is_possible(&point) {
            records::write_off(&mut stored, "what it chose makes no format".to_owned());
        }
        let outcome = stored.outcome.clone();
        if shared.elsewhere.remove(&number) {
            shared.study.adopt(number, point.clone(), outcome)?;
        } else {
            shared.study.restore(number, point.clone(), outcome)?;
        }
        shared
            .records
            .insert(number, records::record(stored, point));
    }
    Ok(())
}

/// What a kept trial has tried. Other programs share studies, and their trials can fail before everything is chosen.
fn point_of(space: &Space, stored: &StoredTrial) -> Result<Point, SearchError> {
    match space.point(&stored.parameters) {
        Err(_) if stored.outcome.values.is_empty() => Ok(space.nearest(&stored.parameters)),
        Err(source) => Err(SearchError::ForeignTrial {
            number: stored.number,
            source: Box::new(source),
        }),
        point => point,
    }
}

/// Tells the listener of every trial that the history has newly reached.
fn commit(shared: &mut Shared, listen: &mut Listener) {
    let history = shared.study.history();
    while shared.committed < history.len() {
        if let Some(record) = shared.records.get(&(shared.committed as u64)) {
            listen(record, history);
        }
        shared.committed += 1;
    }
}
