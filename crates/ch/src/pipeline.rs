//! The parts of a run, in the order data flows: configuration → data → graph → network → folder.

use crate::config::Config;
use crate::console::Console;
use crate::source;
use anyhow::{Context, Result};
use data::{Dataset, OpenOptions, ValSplit};
use engine::{Network, OptimizerKind};
use interop::checkpoint::{self, Kind};
use ir::Graph;
use models::ModelInfo;
use std::path::Path;
use train::{Cosine, FitConfig};

/// Names that do not exist are found out before anything else is said.
pub fn check_names(config: &Config) -> Result<()> {
    let dataset = config.required("dataset", DATASET_HINT)?;
    if !Path::new(dataset)
        .extension()
        .is_some_and(|extension| extension == "npy")
    {
        data::find(dataset, &OpenOptions::default())?;
    }
    let model = config.required("model", MODEL_HINT)?;
    if !source::is_path(model) {
        models::find(model)?;
    }
    Ok(())
}

const DATASET_HINT: &str = "name one of `ch data list`, for example jsc-sim";
const MODEL_HINT: &str = "name one of `ch list models`, or a file in the text form (.mg)";

/// The dataset of a run.
pub fn open_data(config: &Config, console: &mut Console) -> Result<Dataset> {
    let name = config.required("dataset", DATASET_HINT)?;
    let val_split = if config.text("val_split") == Some("train") {
        ValSplit::Train
    } else {
        ValSplit::HeldOut
    };
    let options = OpenOptions {
        data_dir: config.path("data_dir"),
        val_split,
        ..OpenOptions::default()
    };
    let opened = data::open(name, &options)?;
    let [train, val, test] = [&opened.train, &opened.val, &opened.test].map(data::Split::len);
    let source = &opened.info.source;
    console.say(&format!(
        "{name}: {train} training, {val} validation, {test} test rows ({source})"
    ));
    Ok(opened)
}

/// The graph of a run with its weights: from the checkpoint, or as PyTorch would start them.
pub fn open_graph(config: &Config, info: Option<&data::Info>) -> Result<Graph> {
    let name = config.required(
        "model",
        "name one of `ch list models`, or a file in the text form (.mg)",
    )?;
    let loaded = config
        .path("load_name")
        .map(|path| read_checkpoint(config, &path))
        .transpose()?;
    let mut graph = match loaded
        .as_ref()
        .and_then(|checkpoint| checkpoint.graph.as_ref())
    {
        Some(text) => Graph::parse(text)?,
        None => build(name, info)?,
    };
    match loaded {
        Some(checkpoint) => models::weights::load_into(&mut graph, &checkpoint.tensors)
            .with_context(|| {
                format!(
                    "cannot load {}",
                    config.text("load_name").unwrap_or_default()
                )
            })?,
        None => graph.initialize(config.whole("seed") as u64),
    }
    Ok(graph)
}

fn read_checkpoint(config: &Config, path: &Path) -> Result<checkpoint::Checkpoint> {
    let kind = Kind::parse(config.text("load_type").unwrap_or("auto"))?;
    Ok(checkpoint::read(path, kind)?)
}

fn build(name: &str, info: Option<&data::Info>) -> Result<Graph> {
    let info = info.map_or_else(ModelInfo::default, |info| ModelInfo {
        input: Some(info.sample_shape.clone()),
        classes: Some(info.classes.len()),
    });
    let graph = source::load(name, &info)?;
    source::verify(name, &graph)?;
    Ok(graph)
}

/// The network of a run.
pub fn open_network(config: &Config, graph: Graph) -> Result<Network> {
    Ok(Network::new(graph, config.whole("num_workers") as usize)?)
}

/// How to train.
pub fn fit_config(config: &Config, folder: &Path) -> FitConfig {
    let weight_decay = config.number("weight_decay") as f32;
    let optimizer = match config.text("training_optimizer") {
        Some("adamw") => OptimizerKind::AdamW { weight_decay },
        Some("sgd") => OptimizerKind::Sgd {
            momentum: 0.9,
            nesterov: true,
            weight_decay,
        },
        _ => OptimizerKind::Adam { weight_decay },
    };
    let max_epochs = config.whole("max_epochs") as u64;
    let t_max = config
        .text("t_max")
        .map_or(max_epochs, |_| config.whole("t_max") as u64);
    FitConfig {
        batch_size: config.whole("batch_size") as usize,
        max_epochs,
        max_steps: u64::try_from(config.whole("max_steps")).ok(),
        optimizer,
        learning_rate: config.number("learning_rate"),
        schedule: Cosine {
            t_max,
            eta_min: config.number("eta_min"),
        },
        accumulate: config.whole("accumulate_grad_batches") as usize,
        seed: config.whole("seed") as u64,
        shuffle: !config.is_on("no_shuffle"),
        log_every: config.whole("log_every_n_steps") as u64,
        folder: folder.to_owned(),
        tensorboard: config.text("report_to") == Some("tensorboard"),
        resume: config.text("resume").is_some(),
        hyper_parameters: config.effective(),
    }
}
