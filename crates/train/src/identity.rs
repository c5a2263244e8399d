//! The identity of a run: every value that decides the order of rows or the arithmetic. Its checkpoints hold it, and no
//! resumed run may differ in it.

use crate::{Augment, FitConfig, TrainError, hash};
use data::Dataset;
use engine::{LearnScales, Network, OptimizerKind};
use serde_json::{Map, Value as Json, json};
use std::path::Path;

/// Keys that a resumed run may change, each of which is noted; they change neither rows nor arithmetic of the steps done.
const CHANGEABLE: &[&str] = &[
    "max_epochs",
    "max_steps",
    "log_every_n_steps",
    "save_every_n_steps",
    "report_to",
    "num_workers",
];

/// A value that differs between a checkpoint and the run that resumes from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The key, as in the settings of a run.
    pub key: String,
    /// The value in the checkpoint.
    pub before: Json,
    /// The value of the run that resumes.
    pub now: Json,
}

impl Change {
    fn between(key: &str, before: Option<&Json>, now: Option<&Json>) -> Option<Self> {
        let [before, now] = [before, now].map(|value| value.cloned().unwrap_or_default());
        let key = key.to_owned();
        (before != now).then_some(Self { key, before, now })
    }
}

/// A value in a sentence.
fn shown(value: &Json) -> String {
    match value {
        Json::Null => "not given".to_owned(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The changes that keep a run from being resumed, in one sentence.
pub(crate) fn sentence(path: &Path, changes: &[Change]) -> String {
    let places = std::iter::once(format!("in {}", path.display()));
    let places = places.chain(std::iter::repeat("there".to_owned()));
    let changes: Vec<String> = changes
        .iter()
        .zip(places)
        .map(|(change, place)| {
            let (before, now) = (shown(&change.before), shown(&change.now));
            format!("{} is {before} {place} and {now} now", change.key)
        })
        .collect();
    changes.join(", ")
        + "; a resumed run keeps what decides its rows and its arithmetic, so leave that as it was or start a new run"
}

/// The identity of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Identity(Map<String, Json>);

impl Identity {
    /// The identity of a training of a network on a dataset.
    pub fn new(config: &FitConfig, network: &Network, data: &Dataset) -> Self {
        let (optimizer, weight_decay) = optimizer_words(config.optimizer);
        let values = json!({
            "batch_size": config.batch_size,
            "accumulate_grad_batches": config.accumulate,
            "seed": config.seed,
            "no_shuffle": !config.shuffle,
            "training_optimizer": optimizer,
            "weight_decay": shortest(weight_decay),
            "learning_rate": config.learning_rate,
            "t_max": config.schedule.t_max,
            "eta_min": config.schedule.eta_min,
            // Null like the missing entry of a checkpoint from before there was any.
            "augment": (config.augment != Augment::NONE).then(|| config.augment.to_string()),
            "data_hash": hexadecimal(data.info.hash),
            "learn_scales": learn_word(network.state().learning().scales),
            "graph_hash": hexadecimal(graph_hash(network)),
        });
        let mut map = config.fixed.clone();
        map.extend(values.as_object().cloned().unwrap_or_default());
        Self(map)
    }

    /// The hyper-parameters of a checkpoint: those of the caller and the identity.
    pub fn hyper_parameters(&self, config: &FitConfig) -> Map<String, Json> {
        let mut all = config.hyper_parameters.clone();
        all.insert("max_epochs".to_owned(), config.max_epochs.into());
        all.extend(self.0.clone());
        all
    }

    /// Refuses a checkpoint of another run.
    pub fn check(
        &self,
        config: &FitConfig,
        path: &Path,
        recorded: &Map<String, Json>,
    ) -> Result<(), TrainError> {
        // A schedule over all epochs follows their number, which may change.
        let spans_all = recorded.get("t_max") == recorded.get("max_epochs")
            && config.schedule.t_max == config.max_epochs;
        let keys = self.0.keys().filter(|key| !(spans_all && *key == "t_max"));
        let changes: Vec<Change> = keys
            .filter_map(|key| Change::between(key, recorded.get(key), self.0.get(key)))
            .collect();
        if changes.is_empty() {
            return Ok(());
        }
        let path = path.to_owned();
        Err(TrainError::Changed { path, changes })
    }
}

/// The note on values that a resumed run changes and may change.
pub(crate) fn note(config: &FitConfig, recorded: &Map<String, Json>) -> Option<String> {
    let mut now = config.hyper_parameters.clone();
    now.insert("max_epochs".to_owned(), config.max_epochs.into());
    let changes: Vec<String> = CHANGEABLE
        .iter()
        .filter_map(|key| Change::between(key, recorded.get(*key), now.get(*key)))
        .map(|change| {
            let (before, now) = (shown(&change.before), shown(&change.now));
            format!("{} {now} instead of {before}", change.key)
        })
        .collect();
    let spans_all = config.schedule.t_max == config.max_epochs;
    let is_longer = recorded.get("t_max") != Some(&config.schedule.t_max.into());
    let schedule = if spans_all && is_longer {
        ", over which the learning rate falls from here on"
    } else {
        ""
    };
    let changes = changes.join(", ");
    (!changes.is_empty()).then(|| format!("the run goes on with {changes}{schedule}"))
}

/// The word for an optimiser, and its weight decay.
pub(crate) fn optimizer_words(kind: OptimizerKind) -> (&'static str, f32) {
    match kind {
        OptimizerKind::Adam { weight_decay } => ("adam", weight_decay),
        OptimizerKind::AdamW { weight_decay } => ("adamw", weight_decay),
        OptimizerKind::Sgd { weight_decay, .. } => ("sgd", weight_decay),
    }
}

/// The double with the digits of a float, as a user wrote it.
fn shortest(value: f32) -> f64 {
    value
        .to_string()
        .parse()
        .unwrap_or_else(|_| f64::from(value))
}

fn hexadecimal(hash: u64) -> String {
    format!("{hash:016x}")
}

/// The word for the scales that are learned.
fn learn_word(learn: LearnScales) -> &'static str {
    match learn {
        LearnScales::Fixed => "none",
        LearnScales::PowerOfTwo => "power-of-two",
        LearnScales::Real => "real",
    }
}

/// FNV-1a of the text form: operators, shapes and formats. Weights and masks come from the checkpoint.
fn graph_hash(network: &Network) -> u64 {
    hash::fnv1a(network.graph().to_string().bytes())
}
