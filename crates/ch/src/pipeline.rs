//! The parts of a run, in the order data flows: configuration → data → graph → network → training.

use crate::output::{Console, OutputArgs};
use crate::settings::{
    Action, Config, LearnScales, LoadType, Optimizer, ReportTo, ScalesPer, Settings, TrainNorms,
};
use crate::{checkpoints, classes, missing, source};
use anyhow::{Context, Result, bail};
use data::{DATASETS, Dataset, NetworkInput};
use engine::{Network, OptimizerKind};
use interop::checkpoint::{self, Kind, NamedTensor};
use ir::Graph;
use models::ModelInfo;
use serde_json::{Map, Value as Json};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use train::{Cosine, FitConfig, Learner};

/// The start of every run: wrong names are found before anything is printed, then the settings are.
pub fn begin(config: &Config, output: OutputArgs) -> Result<Console> {
    check_names(&config.settings, config.action)?;
    let mut console = Console::new(output, config.settings.level());
    config.print(&mut console);
    Ok(console)
}

fn check_names(settings: &Settings, action: Action) -> Result<()> {
    // A `.mz` file brings its own graph, whose name need not be in the table, and passes may need no rows.
    let load = load_path(settings)?;
    let brings_graph = load.as_deref().is_some_and(is_graph_file);
    let model = match &settings.model {
        None if brings_graph => None,
        _ => Some(model_name(settings)?),
    };
    let dataset = match &settings.dataset {
        None if action == Action::Transform => None,
        _ => Some(dataset_name(settings)?),
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
        missing::check_dataset(dataset)?;
    }
    Ok(())
}

/// The checkpoint of a run to start from; the best one where a folder is named.
fn load_path(settings: &Settings) -> Result<Option<PathBuf>> {
    let path = settings.load_name.as_deref();
    path.map(checkpoints::resolve).transpose()
}

fn is_graph_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mz")
}

/// The file that the weights of a run come from.
pub fn weights_path(settings: &Settings) -> Result<Option<PathBuf>> {
    let own = settings.model.as_ref().map(PathBuf::from);
    let own = own.filter(|path| is_graph_file(path));
    Ok(load_path(settings)?.or(own))
}

/// True when a network has the weights it starts from, because nobody gives others.
pub fn starts_fresh(settings: &Settings) -> bool {
    let model = settings.model.as_ref().map(Path::new);
    settings.load_name.is_none() && !model.is_some_and(source::brings_weights)
}

fn model_name(settings: &Settings) -> Result<&str> {
    settings
        .model
        .as_deref()
        .context("no model given; name one of `ch list models`, or a file (.mg, .mz, .onnx, .pt2)")
}

/// The name of a run's dataset.
pub fn dataset_name(settings: &Settings) -> Result<&str> {
    settings
        .dataset
        .as_deref()
        .context("no dataset given; name one of `ch data list`, for example jsc-sim")
}

/// True when a dataset is a file of arrays without labels.
pub fn is_array(dataset: &str) -> bool {
    let extension = Path::new(dataset).extension();
    extension.is_some_and(|extension| extension == "npy" || extension == "npz")
}

/// The inputs that the network of a run takes. Their names and types do not depend on the dataset, their shapes may.
pub fn network_inputs(settings: &Settings) -> Result<Vec<NetworkInput>> {
    let load = load_path(settings)?.filter(|path| is_graph_file(path));
    let graph = match &load {
        Some(path) => {
            let graph = passes::interface::graph_of(path, &checkpoint::read(path, None)?)?;
            check_model(settings, &graph, path)?;
            graph
        }
        None => source::load(
            model_name(settings)?,
            &ModelInfo::default(),
            settings.batch_axis,
        )?,
    };
    inputs_of(&graph)
}

/// The inputs of a network, with the values of those that may be left out.
pub fn inputs_of(graph: &Graph) -> Result<Vec<NetworkInput>> {
    let mut inputs = NetworkInput::of(&source::verify(&graph.name, graph)?);
    for input in &mut inputs {
        input.default = models::default_input(&graph.name, &input.name);
    }
    Ok(inputs)
}

/// The graph of a run with its weights: from the checkpoint, or as PyTorch would start them. A `.mz` file brings its own
/// graph, which must be the one that was asked for.
pub fn open_graph(
    settings: &Settings,
    info: Option<&data::Info>,
    console: &mut Console,
) -> Result<Graph> {
    let Some(path) = &load_path(settings)? else {
        let mut graph = build(settings, model_name(settings)?, &model_info(info, None))?;
        for note in source::take_notes() {
            console.note(&note);
        }
        graph.initialize(settings.seed);
        return Ok(graph);
    };
    let file = checkpoint::read(path, checkpoint_kind(settings.demanded_load_type()))?;
    note_other_kind(settings, path, file.kind, console);
    if file.graph.is_some() {
        let graph = passes::interface::graph_of(path, &file)?;
        check_model(settings, &graph, path)?;
        note_other_model(settings, &graph, path, console);
        return Ok(graph);
    }
    let model = model_name(settings)?;
    let mut graph = build(settings, model, &model_info(info, Some(&file)))?;
    if let Some(info) = info.filter(|_| !fits(&graph, &file.tensors))
        && let Some(classes) = checkpoints::outputs(&file.tensors)
        && let Ok(larger) = build(
            settings,
            model,
            &ModelInfo {
                classes: Some(classes),
                ..model_info(Some(info), Some(&file))
            },
        )
        && classes > info.classes.len()
        && fits(&larger, &file.tensors)
    {
        graph = larger;
    }
    checkpoints::load(&mut graph, path, &file.tensors, settings.strict, console)?;
    Ok(graph)
}

/// True when a graph can be given these weights.
fn fits(graph: &Graph, tensors: &[NamedTensor]) -> bool {
    models::weights::load_matching(&mut graph.clone(), tensors).is_ok()
}

/// The graph of a run that learns or scores the classes of a dataset.
pub fn open_classifier(
    settings: &Settings,
    data: &Dataset,
    console: &mut Console,
) -> Result<Graph> {
    let graph = open_graph(settings, Some(&data.info), console)?;
    data.check_inputs(&ir::verify(&graph)?)?;
    let name = settings.model.as_ref().unwrap_or(&graph.name);
    classes::check(name, &graph, &data.info, console)?;
    Ok(graph)
}

fn checkpoint_kind(load_type: LoadType) -> Option<Kind> {
    match load_type {
        LoadType::Auto | LoadType::Hf => None,
        LoadType::Pt => Some(Kind::StateDict),
        LoadType::Pl => Some(Kind::Lightning),
        LoadType::Mz => Some(Kind::Mz),
        LoadType::Safetensors => Some(Kind::Safetensors),
    }
}

/// Notes a checkpoint of another kind than a file names.
fn note_other_kind(settings: &Settings, path: &Path, kind: Kind, console: &mut Console) {
    let named = checkpoint_kind(settings.load_type);
    if named.is_some_and(|named| named != kind) {
        console.note(&format!(
            "load_type = \"{}\" in the file, but {} is {kind}, and is read as that",
            settings.load_type.word(),
            path.display()
        ));
    }
}

/// Refuses the graph of another model than the command line asks for.
fn check_model(settings: &Settings, graph: &Graph, path: &Path) -> Result<()> {
    let other = other_model(settings, graph).filter(|_| settings.is_model_typed());
    let Some(model) = other else {
        return Ok(());
    };
    bail!(
        "{} holds the graph of {}, not of {}; leave the model out, or name that one",
        path.display(),
        graph.name,
        models::find(model)?.name
    );
}

/// Notes the graph of another model than a file names.
fn note_other_model(settings: &Settings, graph: &Graph, path: &Path, console: &mut Console) {
    let other = other_model(settings, graph).filter(|_| !settings.is_model_typed());
    if let Some(model) = other {
        console.note(&format!(
            "model = \"{model}\" in the file, but {} brings the graph of {}, which is used",
            path.display(),
            graph.name
        ));
    }
}

/// The model that was asked for, where a graph is that of another.
fn other_model<'a>(settings: &'a Settings, graph: &Graph) -> Option<&'a str> {
    let model = settings.model.as_deref()?;
    // A network of the user's own is in no table: its name is the one in the file.
    let is_same = source::is_path(model)
        || model == graph.name
        || models::find(model).is_ok_and(|entry| entry.name == graph.name);
    (!is_same).then_some(model)
}

/// The sizes of the dataset; those that it leaves open as the checkpoint records them.
fn model_info(info: Option<&data::Info>, file: Option<&checkpoint::Checkpoint>) -> ModelInfo {
    let recorded = file.map_or_else(ModelInfo::default, checkpoints::recorded_sizes);
    let classes = info.map_or(0, |info| info.classes.len());
    ModelInfo {
        input: info
            .map(|info| info.sample_shape.clone())
            .or(recorded.input),
        classes: Some(classes).filter(|&n| n > 0).or(recorded.classes),
    }
}

fn build(settings: &Settings, name: &str, info: &ModelInfo) -> Result<Graph> {
    let graph = source::load(name, info, settings.batch_axis)?;
    source::verify(name, &graph)?;
    Ok(graph)
}

/// The network of a run.
pub fn open_network(settings: &Settings, graph: Graph) -> Result<Network> {
    Ok(Network::new(graph, settings.threads())?)
}

/// The network of a training; of one with low-rank adapters only these are trained.
pub fn open_learner(settings: &Settings, learner: &Learner) -> Result<Network> {
    let mut network = learner.network(settings.threads())?;
    if !settings.train_base && has_adapters(&learner.graph) {
        network.state_mut().freeze_base(&learner.graph);
    }
    Ok(network)
}

/// True when a graph has low-rank adapters.
pub fn has_adapters(graph: &Graph) -> bool {
    graph.nodes().iter().any(ir::Node::is_adapter)
}

/// True when a graph is not what the name of the model alone gives, so that its weights need it beside them.
pub fn is_changed(settings: &Settings, data: &data::Info, graph: &Graph) -> bool {
    let named = named_model(settings, data);
    named.is_none_or(|named| named.without_params() != graph.without_params())
}

/// The network that the name of the model alone gives.
fn named_model(settings: &Settings, data: &data::Info) -> Option<Graph> {
    build(
        settings,
        settings.model.as_deref()?,
        &model_info(Some(data), None),
    )
    .ok()
}

/// A graph made ready for its training: with the batch norms that were folded into rounded layers, and in formats whose
/// scales can be learned.
pub fn learner(settings: &Settings, data: &Dataset, graph: Graph) -> Result<Learner> {
    let layers = match settings.train_norms {
        TrainNorms::None => Vec::new(),
        TrainNorms::All => train::rounded_layers(&graph),
        TrainNorms::Folded => {
            // A graph file that is given as the model itself has the name of the model that it was made from.
            let own = models::build(&graph.name, &model_info(Some(&data.info), None));
            let models = [named_model(settings, &data.info), own.ok()];
            let layers = models
                .iter()
                .flatten()
                .map(|model| train::folded_layers(model, &graph));
            layers
                .into_iter()
                .find(|layers| !layers.is_empty())
                .unwrap_or_default()
        }
    };
    let per = match settings.scales_per {
        ScalesPer::Tensor => train::ScalesPer::Tensor,
        ScalesPer::Channel => train::ScalesPer::Channel,
    };
    let scales = match settings.learn_scales {
        LearnScales::None => engine::LearnScales::Fixed,
        LearnScales::PowerOfTwo => engine::LearnScales::PowerOfTwo,
        LearnScales::Real => engine::LearnScales::Real,
    };
    let learner = Learner::new(graph).with_norms(&layers, &data.train)?;
    Ok(learner.with_scales(scales, per))
}

/// The settings of training.
pub fn fit_config(settings: &Settings, folder: &Path) -> Result<FitConfig> {
    // An epoch has at least one update, so that as many epochs as updates are no limit.
    let limit = settings.max_epochs.0.map(NonZero::get);
    let Some(max_epochs) = limit.or(settings.max_steps.0) else {
        bail!(
            "max_epochs = -1 sets no limit, so that training would not end; give max_epochs or max_steps"
        );
    };
    Ok(FitConfig {
        batch_size: settings.batch_size.get(),
        max_epochs,
        max_steps: settings.max_steps.0,
        optimizer: optimizer(settings),
        learning_rate: settings.learning_rate,
        schedule: Cosine {
            t_max: settings.t_max.map_or(max_epochs, NonZero::get),
            eta_min: settings.eta_min,
        },
        accumulate: settings.accumulate_grad_batches.get(),
        seed: settings.seed,
        shuffle: !settings.no_shuffle,
        augment: settings.augment,
        log_every: settings.log_every_n_steps.get(),
        save_every: settings.save_every_n_steps.map(NonZero::get),
        folder: folder.to_owned(),
        tensorboard: settings.report_to == ReportTo::TensorBoard,
        resume: settings.resume.is_some(),
        hyper_parameters: settings.effective(),
        fixed: fixed(settings),
    })
}

/// Settings besides those of the loop that decide the rows or the weights of a training.
fn fixed(settings: &Settings) -> Map<String, Json> {
    let all = settings.effective();
    let decides = |key: &str| matches!(key, "val_split" | "load_name");
    all.into_iter().filter(|(key, _)| decides(key)).collect()
}

fn optimizer(settings: &Settings) -> OptimizerKind {
    let weight_decay = settings.weight_decay as f32;
    match settings.training_optimizer {
        Optimizer::Adam => OptimizerKind::Adam { weight_decay },
        Optimizer::AdamW => OptimizerKind::AdamW { weight_decay },
        Optimizer::Sgd => OptimizerKind::Sgd {
            momentum: 0.9,
            nesterov: true,
            weight_decay,
        },
    }
}
