//! Trials handed out and results taken in, so that the history grows in the order of the numbers.
//!
//! A study has no threads and no clock. Whoever runs the trials asks for one whenever a worker is free and tells the
//! result when it is there, in any order; the points are always the same.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::{Direction, History, Point, Sampler, SearchError, Space, State, Trial};

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

/// What a worker that asks for a trial is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Run this one.
    Trial {
        /// Its number.
        number: u64,
        /// What to try.
        point: Point,
    },
    /// The next point depends on trials that are still running: ask again after the next result.
    Wait,
    /// All trials are handed out, or the space has no further point.
    Finished,
}

/// The result of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One value for each objective; a trial that is not complete may have none.
    pub values: Vec<f64>,
    /// How far it is from satisfying the constraints; at most 0, or nothing, if it does.
    pub violation: Option<f64>,
    /// How it ended.
    pub state: State,
}

impl Outcome {
    /// A trial that was evaluated and has no constraints.
    pub fn complete(values: Vec<f64>) -> Self {
        Self {
            values,
            violation: None,
            state: State::Complete,
        }
    }

    /// A trial without a result.
    pub fn failed() -> Self {
        Self {
            values: Vec::new(),
            violation: None,
            state: State::Failed,
        }
    }
}

impl Study {
    /// A study of `n_trials` trials; the sampler must have been made for the same space and as many objectives.
    pub fn new(
        space: Arc<Space>,
        sampler: Box<dyn Sampler>,
        directions: Vec<Direction>,
        n_trials: u64,
    ) -> Result<Self, SearchError> {
        if directions.is_empty() {
            return Err(SearchError::NoObjective);
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

    /// Whether its sampler learns from earlier trials.
    pub fn looks_back(&self) -> bool {
        self.sampler.horizon(u64::from(u32::MAX)) > 0
    }

    /// The finished trials before the first that is not.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What is searched.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Numbers and points of the trials that have no result yet.
    pub fn running(&self) -> impl Iterator<Item = (u64, &Point)> {
        self.running.iter().map(|(number, point)| (*number, point))
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
    pub fn tell(&mut self, number: u64, outcome: Outcome) -> Result<(), SearchError> {
        let expected = self.history.directions().len();
        let got = outcome.values.len();
        let may_be_empty = outcome.state != State::Complete;
        if got != expected && !(may_be_empty && got == 0) {
            return Err(SearchError::ValueCount {
                number,
                got,
                expected,
            });
        }
        let point = self
            .running
            .remove(&number)
            .ok_or(SearchError::NotRunning { number })?;
        self.commit(trial(number, point, outcome));
        Ok(())
    }

    /// Takes in a trial that was run earlier, before any trial is asked for: this is how a study that was stopped goes
    /// on. Trials without a result are handed out again, with the same points.
    pub fn restore(
        &mut self,
        number: u64,
        point: Point,
        outcome: Outcome,
    ) -> Result<(), SearchError> {
        if self.finished(number).is_some() || self.running.contains_key(&number) {
            return Err(SearchError::RestoredTwice { number });
        }
        self.running.insert(number, point);
        self.tell(number, outcome)
    }

    /// Takes in a trial that was handed out here and run elsewhere, perhaps at another point.
    pub fn adopt(
        &mut self,
        number: u64,
        point: Point,
        outcome: Outcome,
    ) -> Result<(), SearchError> {
        self.note(&point);
        match self.running.get_mut(&number) {
            Some(own) => *own = point,
            None => return Err(SearchError::NotRunning { number }),
        }
        self.tell(number, outcome)
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

    fn commit(&mut self, trial: Trial) {
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

fn trial(number: u64, point: Point, outcome: Outcome) -> Trial {
    let Outcome {
        mut values,
        violation,
        mut state,
    } = outcome;
    if values.iter().any(|value| value.is_nan()) {
        values.clear();
        state = State::Failed;
    }
    Trial {
        number,
        point,
        values,
        violation,
        state,
    }
}
