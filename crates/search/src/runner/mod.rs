//! Runs the trials of a search on threads: ask, evaluate, tell, keep.
//!
//! Threads take trials from one study behind a lock and evaluate them outside of it. Which points are tried, and what is
//! given up early, follows from the trials' numbers alone; so the results are the same on any number of threads, and
//! after a kill.

mod records;
mod room;

pub use records::{TrialRecord, metrics};

use crate::config::{Budget, Objective, SearchConfig};
use crate::evaluate::{self, Bounds, Task};
use crate::metrics::{METRICS, Scores};
use crate::pareto::Fronts;
use crate::storage::{Storage, StorageError};
use crate::{
    Direction, History, Outcome, Point, SearchError, Setting, State, Study, build_sampler,
};
use data::Split;
use engine::Network;
use ir::Graph;
use passes::PassError;
use room::{Room, Shared};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A search, ready to run.
pub struct Search {
    /// What is searched, how, and what for.
    pub config: SearchConfig,
    /// The network and the rows that trials are scored on.
    pub task: Task,
    /// The rows that trials are trained on, if they are trained.
    pub train_rows: Option<Split>,
    /// What every random choice follows from.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
}

/// What came of a search.
pub struct Results {
    /// The finished trials without a gap, for samplers and fronts.
    pub history: History,
    /// The same with all that is known of them.
    pub records: Vec<TrialRecord>,
    /// How it ended.
    pub ending: Ending,
    /// How long it took, without what an earlier run did.
    pub time: Duration,
    /// Trials of this run.
    pub ran: u64,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All trials are done.
    Done,
    /// Every configuration was tried before all trials were used.
    Exhausted,
    /// Somebody stopped it.
    Stopped,
    /// Its time was over.
    TimedOut,
}

/// Why a search cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The space, the sampler and the study do not fit.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The network cannot be run.
    #[error(transparent)]
    Network(#[from] PassError),
    /// Trials cannot be kept.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// No trial had a result.
    #[error("every trial failed; the first said: {0}")]
    AllFailed(String),
}

/// Trials that may run beside each other while a trial is compared with earlier ones.
const WINDOW: u64 = 64;

impl Search {
    /// The directions of the objectives, one when they are summed.
    pub fn directions(&self) -> Vec<Direction> {
        match self.config.sum {
            Some(direction) => vec![direction],
            None => self
                .config
                .objectives
                .iter()
                .map(|objective| objective.direction)
                .collect(),
        }
    }

    /// What the objectives are called.
    pub fn objective_names(&self) -> Vec<String> {
        match self.config.sum {
            Some(_) => vec!["sum_scaled_metrics".to_owned()],
            None => self
                .config
                .objectives
                .iter()
                .map(|objective| METRICS[objective.metric].name.to_owned())
                .collect(),
        }
    }

    /// A study of the space, with nothing tried yet.
    pub fn study(&self) -> Result<Study, SearchError> {
        let directions = self.directions();
        let space = Arc::clone(&self.task.formats.space);
        let setting = Setting {
            space: Arc::clone(&space),
            objectives: directions.len(),
            seed: self.seed,
        };
        let sampler = build_sampler(self.config.sampler, &self.config.sampler_config, setting)?;
        let mut study = Study::new(space, sampler, directions, self.config.n_trials)?;
        if self.stops_early(&study) {
            study.set_window(WINDOW);
        }
        Ok(study)
    }

    /// Samplers that look back learn from what bad trials score, so they see them through unless told otherwise.
    fn stops_early(&self, study: &Study) -> bool {
        let is_wanted = self.config.early_stop.unwrap_or(!study.looks_back());
        self.config.training.is_none() && is_wanted
    }

    /// The values of the objectives.
    fn values(&self, scores: &Scores) -> Vec<f64> {
        let scaled = |objective: &Objective| objective.scale * scores.0[objective.metric];
        match self.config.sum {
            None => self.config.objectives.iter().map(scaled).collect(),
            // Differs from MASE: what is to be small counts against a sum that is to be large.
            Some(direction) => {
                let signed = |objective: &Objective| {
                    if objective.direction == direction {
                        scaled(objective)
                    } else {
                        -scaled(objective)
                    }
                };
                vec![self.config.objectives.iter().map(signed).sum()]
            }
        }
    }

    /// The scaled metrics by name.
    pub fn scaled(&self, scores: &Scores) -> Map<String, Json> {
        let one = |objective: &Objective| {
            let name = METRICS[objective.metric].name.to_owned();
            (name, json!(objective.scale * scores.0[objective.metric]))
        };
        self.config.objectives.iter().map(one).collect()
    }

    fn violation(&self, scores: &Scores) -> Option<f64> {
        let excess = |budget: &Budget| budget.excess(scores.0[budget.metric]);
        (!self.config.budgets.is_empty()).then(|| self.config.budgets.iter().map(excess).sum())
    }

    /// What comes of scores; why it failed when the objectives or the violation are not finite numbers.
    fn outcome(&self, scores: &Scores, state: State) -> Result<Outcome, String> {
        let (values, violation) = (self.values(scores), self.violation(scores));
        let names = self.objective_names();
        let named = names.iter().map(String::as_str).zip(values.iter().copied());
        let mut all = named.chain(violation.map(|violation| ("the budget's violation", violation)));
        if let Some((name, value)) = all.find(|(_, value)| !value.is_finite()) {
            return Err(format!("{name} is {value}, not a finite number"));
        }
        Ok(Outcome {
            values,
            violation,
            state,
        })
    }

    /// The best scores that a point can still have: of every metric the end that its objective likes better.
    fn best_within(&self, bounds: &Bounds) -> Scores {
        let mut best = bounds.least;
        for (metric, entry) in METRICS.iter().enumerate() {
            let mut objectives = self.config.objectives.iter();
            let objective = objectives.find(|objective| objective.metric == metric);
            let direction = objective.map_or(entry.direction, Objective::metric_direction);
            if direction == Direction::Maximize {
                best.0[metric] = bounds.most.0[metric];
            }
        }
        best
    }

    /// The network of a point with the formats it chooses and, if trials are trained, the weights that its trial had.
    pub fn graph(&self, point: &Point) -> Result<Graph, PassError> {
        match self.config.training {
            None => self.task.formats.graph(&self.task.graph, point),
            Some(_) => Ok(self.trained(point)?.to_graph()),
        }
    }

    /// The network of a point, trained as its trial is.
    fn trained(&self, point: &Point) -> Result<Network, PassError> {
        let graph = self.task.formats.graph(&self.task.graph, point)?;
        let (Some(rows), Some(training)) = (&self.train_rows, self.config.training) else {
            return Err(PassError::NoData);
        };
        evaluate::train(graph, rows, training, self.seed)
    }

    /// Runs all trials. `listen` hears of every trial in the order of the numbers.
    pub fn run(
        &self,
        storage: Option<Box<dyn Storage>>,
        stop: &AtomicBool,
        listen: &mut (dyn FnMut(&TrialRecord, &History) + Send),
    ) -> Result<Results, RunError> {
        let started = Instant::now();
        let study = self.study()?;
        let stops_early = self.stops_early(&study);
        let shared = Shared {
            study,
            storage,
            records: BTreeMap::new(),
            committed: 0,
            elsewhere: BTreeSet::new(),
            heard: started,
            fronts: Fronts::default(),
            ran: 0,
            error: None,
            is_over: false,
        };
        let room = Room {
            search: self,
            stops_early,
            shared: Mutex::new((shared, listen)),
            news: Condvar::new(),
            stop,
            deadline: self.config.timeout.map(|timeout| started + timeout),
        };
        room.restore()?;
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(|| room.work());
            }
        });
        let (mut shared, _) = room
            .shared
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(storage) = &mut shared.storage {
            storage.sync(true)?;
        }
        if let Some(error) = shared.error {
            return Err(error);
        }
        self.results(shared, stop, started.elapsed())
    }

    fn results(
        &self,
        shared: Shared,
        stop: &AtomicBool,
        time: Duration,
    ) -> Result<Results, RunError> {
        let history = shared.study.history().clone();
        let records: Vec<TrialRecord> = shared.records.into_values().take(history.len()).collect();
        let has_result = |record: &TrialRecord| record.outcome.state != State::Failed;
        if let Some(first) = records.first().filter(|_| !records.iter().any(has_result)) {
            return Err(RunError::AllFailed(first.note.clone().unwrap_or_default()));
        }
        let ending = if (history.len() as u64) >= self.config.n_trials {
            Ending::Done
        } else if stop.load(Ordering::Relaxed) {
            Ending::Stopped
        } else if shared.is_over {
            Ending::TimedOut
        } else {
            Ending::Exhausted
        };
        Ok(Results {
            history,
            records,
            ending,
            time,
            ran: shared.ran,
        })
    }
}
