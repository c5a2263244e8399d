//! The parts of a run, in the order data flows: configuration → data → graph → network → training.

use crate::config::{Action, Config};
use crate::console::{Console, Voice};
use crate::source;
use anyhow::{Context, Result, bail};
use data::{DATASETS, Dataset, OpenOptions, ValSplit};
use engine::{Network, OptimizerKind};
use interop::checkpoint::{self, Checkpoint, Kind};
use ir::Graph;
use models::ModelInfo;
use std::cell::RefCell;
use std::path::Path;
use train::{Cosine, FitConfig};

/// The start of every run: wrong names are found out before anything is said, then the settings are printed.
pub fn begin(config: &Config, action: Action, voice: Voice) -> Result<Console> {
    check_names(config)?;
    let mut console = Console::new(voice, config.level());
    console.say(&config.table(action));
    for note in config.notes(action) {
        console.note(&note);
    }
    Ok(console)
}

fn check_names(config: &Config) -> Result<()> {
    let model = config.required("model", MODEL_HINT)?;
    let dataset = config.required("dataset", DATASET_HINT)?;
    if DATASETS.iter().any(|entry| entry.name == model) && models::find(dataset).is_ok() {
        bail!("'{model}' is a dataset and '{dataset}' a model; the model comes first");
    }
    if !source::is_path(model) {
        models::find(model)?;
    }
    if !is_array(dataset) {
        data::find(dataset, &OpenOptions::default())?;
    }
    Ok(())
}

const DATASET_HINT: &str = "name one of `ch data list`, for example jsc-sim";
const MODEL_HINT: &str = "name one of `ch list models`, or a file in the text form (.mg)";

/// Whether a dataset is an array of samples without labels.
pub fn is_array(dataset: &str) -> bool {
    let extension = Path::new(dataset).extension();
    extension.is_some_and(|extension| extension == "npy")
}

/// The dataset of a run.
pub fn open_data(config: &Config, console: &mut Console) -> Result<Dataset> {
    let name = config.required("dataset", DATASET_HINT)?;
    let val_split = match config.text("val_split") {
        Some("train") => ValSplit::Train,
        _ => ValSplit::HeldOut,
    };
    let teller = RefCell::new(console);
    let opened = data::open(
        name,
        &OpenOptions {
            data_dir: config.path("data_dir"),
            val_split,
            progress: Some(&|file, have, all| teller.borrow_mut().transfer(file, have, all)),
            notice: Some(&|sentence| teller.borrow_mut().note(sentence)),
            ..OpenOptions::default()
        },
    )?;
    let [train, val, test] = [&opened.train, &opened.val, &opened.test].map(data::Split::len);
    teller.borrow_mut().say(&format!(
        "{name}: {train} training, {val} validation, {test} test rows ({})",
        opened.info.source
    ));
    Ok(opened)
}

/// The graph of a run with its weights: from the checkpoint, or as PyTorch would start them.
pub fn open_graph(config: &Config, info: Option<&data::Info>) -> Result<Graph> {
    let name = config.required("model", MODEL_HINT)?;
    let Some(path) = config.path("load_name") else {
        let mut graph = build(name, info)?;
        graph.initialize(config.whole("seed") as u64);
        return Ok(graph);
    };
    let kind = Kind::parse(config.text("load_type").unwrap_or("auto"))?;
    let Checkpoint { graph, tensors, .. } = checkpoint::read(&path, kind)?;
    let mut graph = match graph {
        Some(text) => Graph::parse(&text)?,
        None => build(name, info)?,
    };
    models::weights::load_into(&mut graph, &tensors)
        .with_context(|| format!("cannot load {}", path.display()))?;
    Ok(graph)
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

/// The network of a run. Threads beyond the cores would only wait for each other.
pub fn open_network(config: &Config, graph: Graph) -> Result<Network> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (config.whole("num_workers") as usize).min(cores);
    Ok(Network::new(graph, threads)?)
}

/// How to train.
pub fn fit_config(config: &Config, folder: &Path) -> FitConfig {
    let max_epochs = config.whole("max_epochs") as u64;
    let t_max = config.text("t_max").map(|_| config.whole("t_max") as u64);
    FitConfig {
        batch_size: config.whole("batch_size") as usize,
        max_epochs,
        max_steps: u64::try_from(config.whole("max_steps")).ok(),
        optimizer: optimizer(config),
        learning_rate: config.number("learning_rate"),
        schedule: Cosine {
            t_max: t_max.unwrap_or(max_epochs),
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

fn optimizer(config: &Config) -> OptimizerKind {
    let weight_decay = config.number("weight_decay") as f32;
    match config.text("training_optimizer") {
        Some("adamw") => OptimizerKind::AdamW { weight_decay },
        Some("sgd") => OptimizerKind::Sgd {
            momentum: 0.9,
            nesterov: true,
            weight_decay,
        },
        _ => OptimizerKind::Adam { weight_decay },
    }
}
