//! Trials handed out and results taken in, so that the history grows in the order of the numbers.
//!
//! A study has no threads and no clock. Whoever runs the trials asks for one whenever a worker is free and tells the
//! result when it is there, in any order; the points are always the same.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::{Direction, History, Outcome, Point, Sampler, Space, State, StudyError, Trial};

/// A search under way.
pub struct Study {
    space: Arc<Space>,
    sampler: Box<dyn Sampler>,
    history: History,
    n_trials: u64,
    /// Trial `n` also waits for all trials below `n − n % window`.
    window: u64,
    /// The first number that was not handed out.
    next: u64,
    /// Handed out and without a result.
    running: BTreeMap<u64, Point>,
    /// With a result, while an earlier one has none.
    waiting: BTreeMap<u64, Trial>,
    /// All possible points so far, where a discrete space can run out of them.
    tried: HashSet<Point>,
}

/// The answer to a worker that asks for a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Run this one.
    Trial {
        /// Its number.
        number: u64,
        /// The point to try.
        point: Point,
    },
    /// The next point depends on trials that are still running: ask again after the next result.
    Wait,
    /// All trials are handed out, or the space has no further point.
    Finished,
}

impl Study {
    /// A study of `n_trials` trials; the sampler must have been made for the same space and as many objectives.
    pub fn new(
        space: Arc<Space>,
        sampler: Box<dyn Sampler>,
        directions: Vec<Direction>,
        n_trials: u64,
    ) -> Result<Self, StudyError> {
        if directions.is_empty() {
            return Err(StudyError::NoObjective);
        }
        Ok(Self {
            space,
            sampler,
            history: History::new(directions),
            n_trials,
            window: u64::MAX,
            next: 0,
            running: BTreeMap::new(),
            waiting: BTreeMap::new(),
            tried: HashSet::new(),
        })
    }

    /// Hands out trial `n` only when all trials below `n − n % window` have their results, whatever the sampler needs, so
    /// that a trial can be compared with earlier ones and still be the same on any number of threads.
    pub fn set_window(&mut self, window: u64) {
        self.window = window.max(1);
    }

    /// Trials below this have their results when trial `number` is handed out.
    pub fn horizon(&self, number: u64) -> u64 {
        self.sampler
            .horizon(number)
            .max(number - number % self.window)
    }

    /// True when its sampler learns from earlier trials.
    pub fn looks_back(&self) -> bool {
        self.sampler.horizon(u64::from(u32::MAX)) > 0
    }

    /// The finished trials before the first that is not.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The searched space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Numbers and points of the trials that have no result yet.
    pub fn running(&self) -> impl Iterator<Item = (u64, &Point)> {
        self.running.iter().map(|(number, point)| (*number, point))
    }

    /// True when a trial was handed out and has no result yet.
    pub fn is_running(&self, number: u64) -> bool {
        self.running.contains_key(&number)
    }

    /// The next trial to run.
    pub fn ask(&mut self) -> Next {
        self.pass_restored();
        let number = self.next;
        if number >= self.n_trials || self.is_exhausted() {
            return Next::Finished;
        }
        if (self.history.len() as u64) < self.horizon(number) {
            return Next::Wait;
        }
        let point = self.sampler.sample(&self.history, number);
        let point = self.space.possible(point);
        self.next += 1;
        self.note(&point);
        self.running.insert(number, point.clone());
        Next::Trial { number, point }
    }

    /// Takes in the result of trial `number`. A complete trial one of whose values is not a number has failed.
    pub fn tell(&mut self, number: u64, outcome: Outcome) -> Result<(), StudyError> {
        let point = self.running.get(&number).cloned();
        let point = point.ok_or(StudyError::NotRunning { number })?;
        self.finish(Trial::new(number, point, outcome))
    }

    /// Takes in a trial that was handed out here, perhaps run elsewhere at another point, with all that is known of it.
    pub fn finish(&mut self, trial: Trial) -> Result<(), StudyError> {
        let (number, expected) = (trial.number, self.history.directions().len());
        if !trial.outcome.fits(expected) {
            return Err(StudyError::ValueCount {
                number,
                got: trial.outcome.values.len(),
                expected,
            });
        }
        let point = self.running.remove(&number);
        if point.ok_or(StudyError::NotRunning { number })? != trial.point {
            self.note(&trial.point);
        }
        self.commit(trial);
        Ok(())
    }

    /// Takes in a trial that was run earlier, before any trial is asked for: this is how a study that was stopped goes
    /// on. Trials without a result are handed out again, with the same points.
    pub fn restore(&mut self, trial: Trial) -> Result<(), StudyError> {
        let number = trial.number;
        if self.finished(number).is_some() || self.running.contains_key(&number) {
            return Err(StudyError::RestoredTwice { number });
        }
        self.running.insert(number, trial.point.clone());
        self.finish(trial)
    }

    fn finished(&self, number: u64) -> Option<&Trial> {
        let committed = self.history.trials().get(number as usize);
        committed.or_else(|| self.waiting.get(&number))
    }

    /// Leaves out the numbers that need not be run.
    fn pass_restored(&mut self) {
        while let Some(trial) = self.finished(self.next) {
            let point = trial.point.clone();
            self.note(&point);
            self.next += 1;
        }
    }

    fn commit(&mut self, mut trial: Trial) {
        if trial.outcome.values.iter().any(|value| value.is_nan()) {
            trial.outcome.values.clear();
            trial.outcome.state = State::Failed;
        }
        self.waiting.insert(trial.number, trial);
        while let Some(trial) = self.waiting.remove(&(self.history.len() as u64)) {
            self.history.push(trial);
        }
    }

    fn note(&mut self, point: &Point) {
        if self.space.size().is_some() && self.space.is_possible(point) {
            self.tried.insert(point.clone());
        }
    }

    fn is_exhausted(&self) -> bool {
        let size = self.space.size();
        size.is_some_and(|size| self.tried.len() as u128 >= size)
    }
}
