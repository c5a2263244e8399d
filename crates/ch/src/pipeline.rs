//! The parts of a run, in the order data flows: configuration → data → graph → network → training.

use crate::output::{Console, OutputArgs};
use crate::settings::{Action, Config};
use crate::source;
use anyhow::{Context, Result, bail};
use data::{DATASETS, Dataset, OpenOptions, ValSplit};
use engine::{Network, OptimizerKind};
use interop::checkpoint::{self, Kind};
use ir::Graph;
use models::ModelInfo;
use std::cell::RefCell;
use std::path::Path;
use train::{Cosine, FitConfig};

/// The start of every run: wrong names are found out before anything is said, then the settings are printed.
pub fn begin(config: &Config, action: Action, output: OutputArgs) -> Result<Console> {
    check_names(config, action)?;
    let mut console = Console::new(output, config.level());
    console.print(&config.table(action));
    for note in config.notes(action) {
        console.note(&note);
    }
    Ok(console)
}

fn check_names(config: &Config, action: Action) -> Result<()> {
    // A `.mz` file brings its own graph, whose name need not be in the table, and passes may need no rows.
    let load = config.path("load_name");
    let brings_graph = load.is_some_and(|path| is_graph_file(&path));
    let model = match config.text("model") {
        None if brings_graph => None,
        _ => Some(config.required("model", MODEL_HINT)?),
    };
    let dataset = match config.text("dataset") {
        None if action == Action::Transform => None,
        _ => Some(config.required("dataset", DATASET_HINT)?),
    };
    if let (Some(model), Some(dataset)) = (model, dataset)
        && DATASETS.iter().any(|entry| entry.name == model)
        && models::find(dataset).is_ok()
    {
        bail!("'{model}' is a dataset and '{dataset}' a model; the model comes first");
    }
    if let Some(model) = model.filter(|model| !brings_graph && !source::is_path(model)) {
        models::find(model)?;
    }
    if let Some(dataset) = dataset.filter(|dataset| !is_array(dataset)) {
        data::find(dataset, &OpenOptions::default())?;
    }
    Ok(())
}

fn is_graph_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mz")
}

/// Whether a network has the weights it starts from, because nobody gives others.
pub fn starts_fresh(config: &Config) -> bool {
    let model = config.text("model").map(Path::new);
    config.text("load_name").is_none() && !model.is_some_and(is_graph_file)
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
    let console = RefCell::new(console);
    let opened = data::open(
        name,
        &OpenOptions {
            data_dir: config.path("data_dir"),
            val_split,
            progress: Some(&|file, have, all| console.borrow_mut().transfer(file, have, all)),
            notice: Some(&|sentence| console.borrow_mut().note(sentence)),
            ..OpenOptions::default()
        },
    )?;
    let [train, val, test] = [&opened.train, &opened.val, &opened.test].map(data::Split::len);
    console.borrow_mut().print(&format!(
        "{name}: {train} training, {val} validation, {test} test rows ({})",
        opened.info.source
    ));
    Ok(opened)
}

/// The graph of a run with its weights: from the checkpoint, or as PyTorch would start them. A `.mz` file brings its own
/// graph, which must be the one that was asked for.
pub fn open_graph(config: &Config, info: Option<&data::Info>) -> Result<Graph> {
    let Some(path) = config.path("load_name") else {
        let mut graph = build(config.required("model", MODEL_HINT)?, info)?;
        graph.initialize(config.whole("seed") as u64);
        return Ok(graph);
    };
    let kind = Kind::parse(config.text("load_type").unwrap_or("auto"))?;
    let file = checkpoint::read(&path, kind)?;
    if file.graph.is_some() {
        let graph = passes::interface::graph_of(&path, &file)?;
        check_model(config, &graph, &path)?;
        return Ok(graph);
    }
    let mut graph = build(config.required("model", MODEL_HINT)?, info)?;
    models::weights::load_into(&mut graph, &file.tensors)
        .with_context(|| format!("cannot load {}", path.display()))?;
    Ok(graph)
}

fn check_model(config: &Config, graph: &Graph, path: &Path) -> Result<()> {
    // A network of the user's own is in no table: its name is the one in the file.
    let is_other = |model: &&str| !source::is_path(model) && *model != graph.name;
    let Some(model) = config.text("model").filter(is_other) else {
        return Ok(());
    };
    let asked = models::find(model)?.name;
    if asked != graph.name {
        bail!(
            "{} holds the graph of {}, not of {asked}; leave the model out, or name that one",
            path.display(),
            graph.name
        );
    }
    Ok(())
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

/// Values of one row that a network takes.
pub fn input_width(graph: &Graph) -> Result<usize> {
    let verified = ir::verify(graph)?;
    let [input] = verified.placeholders()[..] else {
        bail!("{} has more than one input", graph.name)
    };
    let shape = &verified.ty(input.into()).shape;
    Ok(shape.bind(1).unwrap_or_default().iter().product())
}

/// The network of a run.
pub fn open_network(config: &Config, graph: Graph) -> Result<Network> {
    Ok(Network::new(graph, threads(config))?)
}

/// Threads of a run; 0 for all cores. Threads beyond the cores would only wait for each other.
pub fn threads(config: &Config) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (config.whole("num_workers") as usize).min(cores)
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
