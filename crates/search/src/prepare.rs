//! From a config, a network and a dataset to a search that is ready to run.

use crate::config::SearchConfig;
use crate::{Search, SearchSpace, SpaceError};
use data::Dataset;
use ir::Graph;
use std::sync::Arc;
use study::StudyError;

/// Everything a search is set up from, besides its config.
pub struct Setup<'a> {
    /// The network with its weights.
    pub graph: Graph,
    /// The dataset that trials are scored and trained on.
    pub data: &'a Dataset,
    /// Seed of every random choice.
    pub seed: u64,
    /// Number of threads, 0 for all cores; as the config says if not given.
    pub threads: Option<usize>,
}

/// A search that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The space does not fit the network.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// There is nothing to score trials on.
    #[error("dataset {dataset} has no {split} rows to score trials on")]
    NoRows {
        /// The dataset.
        dataset: String,
        /// The split.
        split: &'static str,
    },
    /// The sampler does not fit the space.
    #[error(transparent)]
    Study(#[from] StudyError),
}

impl Search {
    /// Sets up a search; whatever is wrong with it is found out here, before anything is written.
    pub fn prepare(config: SearchConfig, setup: Setup) -> Result<Self, PrepareError> {
        let space = SearchSpace::new(&setup.graph, &config.space)?;
        let split = setup.data.split(config.split);
        if split.is_empty() {
            return Err(PrepareError::NoRows {
                dataset: setup.data.info.name.clone(),
                split: config.split.name(),
            });
        }
        let search = Self {
            train_rows: config.training.map(|_| setup.data.train.clone()),
            network: Arc::new(setup.graph),
            space,
            rows: split.head(config.num_samples.unwrap_or(split.len())),
            seed: setup.seed,
            threads: threads(setup.threads, config.n_jobs),
            config,
        };
        search.study()?;
        Ok(search)
    }

    /// Notes on what users may not have meant.
    pub fn notes(&self, data: &Dataset) -> Vec<String> {
        let wanted = self.config.num_samples;
        let shortfall = wanted.and_then(|n| data.shortfall(self.config.split, n));
        let is_at_random =
            matches!(self.space, SearchSpace::Channels(_)) && self.config.training.is_none();
        let untrained = is_at_random.then(|| {
            "trials are not trained, so that their new weights answer at random; set eval_mode = false in [search.strategy]"
                .to_owned()
        });
        let notes = self.space.notes().iter().cloned();
        notes.chain(untrained).chain(shortfall).collect()
    }
}

/// Threads as given, else as the config says; more than there are cores only when given.
fn threads(given: Option<usize>, n_jobs: Option<usize>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match (given, n_jobs) {
        (Some(0), _) | (None, None) => cores,
        (Some(threads), _) => threads,
        (None, Some(jobs)) => jobs.min(cores),
    }
}
