//! Checkpoints of PyTorch Lightning, with our own facts under one key more.

use super::state_dict::{Entries, PREFIX, skipped_metadata, state_dict};
use super::{Checkpoint, Kind, OptimizerState, Training, optimizer};
use crate::Budget;
use crate::error::Problem;
use crate::pickle::{Out, View};
use crate::torch::{Storages, Tensors};
use serde_json::{Map, Value as Json, json};

mod progress;

const VERSION_KEY: &str = "pytorch-lightning_version";
/// The version whose layout is written; Lightning migrates older ones when it loads them.
const VERSION: &str = "2.2.0";
/// The key of our own additions; Lightning ignores unknown keys.
const OURS: &str = "mase";

/// True for a dict that is a checkpoint rather than a state dict under a key.
pub fn is_lightning(root: View) -> bool {
    root.get(VERSION_KEY).is_some()
        || (root.get("epoch").is_some() && root.get("global_step").is_some())
}

/// The checkpoint whose state dict has been read.
pub fn decode(root: View, tensors: &mut Tensors, entries: Entries) -> Result<Checkpoint, Problem> {
    let ours = root.get(OURS);
    let our_optimizer = ours.and_then(|ours| ours.get("optimizer"));
    let optimizer = optimizer::decode(root, our_optimizer, &entries.tensors, tensors)?;
    let settings = hyper_parameters(root, tensors.budget());
    let metadata = match ours {
        Some(ours) => our_json(ours, "metadata", tensors.budget())?,
        None => foreign_metadata(root, &entries, optimizer.as_ref(), settings.is_none()),
    };
    Ok(Checkpoint {
        kind: Kind::Lightning,
        training: Some(Training {
            epoch: count(root, "epoch"),
            global_step: count(root, "global_step"),
            optimizer,
            hyper_parameters: settings.unwrap_or_default(),
            resume: ours.map_or(Ok(Json::Null), |ours| {
                our_json(ours, "resume", tensors.budget())
            })?,
        }),
        tensors: entries.tensors,
        graph: ours.and_then(|ours| Some(ours.get("graph")?.text()?.to_owned())),
        metadata,
    })
}

/// The bytes of a checkpoint that Lightning and `torch.load(…, weights_only=True)` open.
pub fn encode(checkpoint: &Checkpoint) -> Result<Vec<u8>, Problem> {
    let mut storages = Storages::default();
    let untrained = Training::default();
    let training = checkpoint.training.as_ref().unwrap_or(&untrained);
    let steps = training.global_step;
    let state = training.optimizer.as_ref();
    let optimizer_states = state
        .iter()
        .map(|state| optimizer::encode(state, &mut storages))
        .collect();
    let root = Out::dict([
        ("epoch", Out::Int(i128::from(training.epoch))),
        ("global_step", Out::Int(i128::from(steps))),
        (VERSION_KEY, Out::text(VERSION)),
        (
            "state_dict",
            state_dict(&checkpoint.tensors, PREFIX, steps, &mut storages),
        ),
        ("loops", progress::loops(training)),
        ("callbacks", Out::dict([])),
        ("optimizer_states", Out::List(optimizer_states)),
        ("lr_schedulers", Out::List(Vec::new())),
        ("hparams_name", Out::text("kwargs")),
        (
            "hyper_parameters",
            Out::json(&Json::Object(training.hyper_parameters.clone())),
        ),
        (OURS, our_facts(checkpoint, training)),
    ]);
    storages.pack(&root)
}

fn our_facts(checkpoint: &Checkpoint, training: &Training) -> Out {
    let optimizer = training
        .optimizer
        .as_ref()
        .map_or(Out::None, optimizer::our_entry);
    let graph = checkpoint.graph.as_ref().map_or(Out::None, Out::text);
    Out::dict([
        ("version", Out::Int(1)),
        ("optimizer", optimizer),
        ("resume", Out::json(&training.resume)),
        ("metadata", Out::json(&checkpoint.metadata)),
        ("graph", graph),
    ])
}

fn our_json(ours: View, key: &str, budget: &Budget) -> Result<Json, Problem> {
    let value = ours.get(key);
    let json = value.map_or(Some(Json::Null), |value| value.to_json(budget));
    json.ok_or_else(|| Problem::part(format!("{OURS}.{key}"), "is nested too deep or too large"))
}

fn count(root: View, key: &str) -> u64 {
    let count = root.get(key).and_then(View::int);
    count
        .and_then(|count| u64::try_from(count).ok())
        .unwrap_or(0)
}

fn hyper_parameters(root: View, budget: &Budget) -> Option<Map<String, Json>> {
    match root.get("hyper_parameters") {
        Some(settings) => match settings.to_json(budget)? {
            Json::Object(map) => Some(map),
            _ => Some(Map::new()),
        },
        None => Some(Map::new()),
    }
}

fn foreign_metadata(
    root: View,
    entries: &Entries,
    optimizer: Option<&OptimizerState>,
    settings_too_large: bool,
) -> Json {
    let mut facts = match skipped_metadata(&entries.skipped) {
        Json::Object(map) => map,
        _ => Map::new(),
    };
    if let Some(version) = root.get(VERSION_KEY).and_then(View::text) {
        facts.insert(VERSION_KEY.to_owned(), json!(version));
    }
    if settings_too_large {
        let word = json!("are nested too deep or too large");
        facts.insert("hyper_parameters".to_owned(), word);
    }
    let saved = root
        .get("optimizer_states")
        .and_then(|states| states.element(0));
    if saved.is_some() && optimizer.is_none() {
        facts.insert(
            "optimizer".to_owned(),
            json!("does not match the parameters"),
        );
    }
    Json::Object(facts)
}
