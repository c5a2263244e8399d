//! A search, ready to run, and what came of it.

use crate::config::SearchConfig;
use crate::evaluate::{Costs, Evaluator, Netlist, Task};
use crate::objectives::{Measurement, Scores};
use crate::space::SearchSpace;
use crate::workers;
use data::Split;
use engine::Network;
use hw::solve::Cache;
use ir::Graph;
use passes::PassError;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use study::storage::{Storage, StorageError};
use study::{History, Point, SamplerContext, Study, StudyError, Trial};
use train::{TrainError, accuracy, evaluate, train_steps};

/// A search, ready to run.
pub struct Search {
    /// Everything the file asks for.
    pub config: SearchConfig,
    /// The network with its weights.
    pub network: Arc<Graph>,
    /// The choices that are searched.
    pub space: SearchSpace,
    /// The rows that trials are scored on.
    pub rows: Split,
    /// The rows that trials are trained on, if they are trained.
    pub train_rows: Option<Split>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
}

/// The outcome of a search.
pub struct Results {
    /// The finished trials without a gap.
    pub history: History,
    /// The end it took.
    pub ending: Ending,
    /// Time it took, without what an earlier run did.
    pub time: Duration,
    /// Trials of this run.
    pub ran: u64,
}

/// A step of a search, for whoever looks on.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A trial has its result; with all trials up to the first that has none.
    Finished(&'a Trial, &'a History),
    /// Nothing happens for some time: what is waited for, in a sentence.
    Waiting(&'a str),
}

/// The end of a search.
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

/// A point that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// Its formats cannot be made, or its network cannot be run.
    #[error(transparent)]
    Network(#[from] PassError),
    /// Its network cannot be trained.
    #[error(transparent)]
    Training(#[from] TrainError),
}

/// A search that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The space, the sampler and the study do not fit.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The network cannot be run.
    #[error(transparent)]
    Network(#[from] PassError),
    /// Trials cannot be stored.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// No trial had a result.
    #[error("every trial failed; the first said: {0}")]
    AllFailed(String),
}

/// Trials that may run beside each other while a trial is compared with earlier ones.
const WINDOW: u64 = 64;

impl Search {
    /// A study of the space, with nothing tried yet.
    pub fn study(&self) -> Result<Study, StudyError> {
        let directions = self.config.goals.directions();
        let space = Arc::clone(self.space.study_space());
        let context = SamplerContext {
            space: Arc::clone(&space),
            objectives: directions.len(),
            seed: self.seed,
        };
        let sampler = self.config.sampler.settings.build(context)?;
        let mut study = Study::new(space, sampler, directions, self.config.n_trials)?;
        if self.stops_early(&study) {
            study.set_window(WINDOW);
        }
        Ok(study)
    }

    /// Samplers that look back learn from what bad trials score, so they see them through unless told otherwise.
    pub(crate) fn stops_early(&self, study: &Study) -> bool {
        let is_wanted = self.config.early_stop.unwrap_or(!study.looks_back());
        let is_fast =
            matches!(self.space, SearchSpace::Formats(_)) && self.config.training.is_none();
        is_fast && is_wanted
    }

    /// The network of a point and, if trials are trained, the weights that its trial had.
    pub fn graph(&self, point: &Point) -> Result<Graph, TrialError> {
        match self.config.training {
            None => Ok(self.untrained(point)?),
            Some(_) => Ok(self.trained(point)?.to_graph()),
        }
    }

    /// The network of a point, trained as its trial is, if trials are trained.
    pub(crate) fn trained(&self, point: &Point) -> Result<Network, TrialError> {
        let graph = self.untrained(point)?;
        let Some(training) = self.config.training else {
            return Ok(Network::new(graph, 1).map_err(PassError::from)?);
        };
        let rows = self.train_rows.as_ref().ok_or(PassError::NoData)?;
        let training = training.on_rows(rows.len(), self.seed);
        Ok(train_steps(graph, rows, training)?)
    }

    /// The network of a point before any training.
    pub(crate) fn untrained(&self, point: &Point) -> Result<Graph, PassError> {
        self.space.graph(&self.network, point, self.seed)
    }

    /// The scores of the network before any format is chosen, on the rows of the trials; none where it is not a network of
    /// floats, or where trials have other weights.
    pub fn float_scores(&self) -> Result<Option<Scores>, TrialError> {
        let is_float = self
            .network
            .nodes()
            .iter()
            .all(|node| node.formats.is_empty());
        let is_same =
            matches!(self.space, SearchSpace::Formats(_)) && self.config.training.is_none();
        if !is_float || !is_same {
            return Ok(None);
        }
        let graph = self.network.as_ref().clone();
        let costs = Costs::of_graph(&graph)?;
        let mut network = Network::new(graph, self.threads).map_err(PassError::from)?;
        self.scores(&mut network, costs).map(Some)
    }

    /// The costs of a network's hardware, where goals ask for them.
    pub(crate) fn netlist(&self, network: &Network) -> Result<Netlist, PassError> {
        match self.config.netlist_target() {
            Some(target) => Netlist::of(&network.to_graph(), target, &mut Cache::default()),
            None => Ok(Netlist::default()),
        }
    }

    /// The scores of a network that costs so much.
    pub(crate) fn scores(&self, network: &mut Network, costs: Costs) -> Result<Scores, TrialError> {
        let score = evaluate(network, &self.rows)?;
        Ok(Scores::new(&Measurement {
            accuracy: accuracy(&score),
            loss: score.loss,
            costs,
            compare_to: self.config.compare_to,
        }))
    }

    /// A scorer of formats for one thread; none where every point is a network of its own.
    pub fn evaluator(&self) -> Result<Option<Evaluator>, PassError> {
        let SearchSpace::Formats(formats) = &self.space else {
            return Ok(None);
        };
        let task = Task {
            graph: Arc::clone(&self.network),
            formats: Arc::clone(formats),
            rows: self.rows.clone(),
            compare_to: self.config.compare_to,
            target: self.config.netlist_target(),
        };
        Evaluator::new(task, self.threads).map(Some)
    }

    /// Runs all trials. `on_event` is called for every trial in the order of the numbers, and for long waits.
    pub fn run(
        &self,
        storage: Option<Box<dyn Storage>>,
        stop: &AtomicBool,
        on_event: &mut (dyn FnMut(Event) + Send),
    ) -> Result<Results, RunError> {
        workers::run(self, storage, stop, on_event)
    }
}
