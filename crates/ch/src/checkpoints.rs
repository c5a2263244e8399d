//! Files of weights: the best one of a run, weights into a graph with notes, and the network that weights belong to.

use crate::output::Console;
use crate::settings::BatchAxis;
use crate::{missing, source};
use anyhow::{Context, Result, bail};
use data::{DATASETS, DatasetEntry, Preparation};
use interop::checkpoint::{self, Checkpoint, NamedTensor};
use ir::Graph;
use models::weights::{load_into, load_matching};
use models::{MODELS, ModelEntry, ModelInfo};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// Endings of files of weights, without the graph.
const ENDINGS: &[&str] = &["ckpt", "pt", "pth", "bin", "safetensors"];
/// The best checkpoint of a run, beneath its folder; the one that brings its graph first. A run of passes alone has the
/// graph that they made.
const BEST: &[&str] = &[
    "software/training_ckpts/best.mz",
    "software/training_ckpts/best.ckpt",
    "software/transform/transformed_ckpt/graph.mz",
];
/// The weights in a folder of Hugging Face's.
const HUGGING_FACE: &[&str] = &["model.safetensors", "pytorch_model.bin"];

/// True for a checkpoint, or the folder of a run, that brings its graph.
pub fn brings_graph(path: &Path) -> bool {
    let path = resolve(path).unwrap_or_else(|_| path.to_owned());
    path.extension().is_some_and(|extension| extension == "mz")
}

/// The checkpoint itself, or the best one of the run in a folder.
pub fn resolve(path: &Path) -> Result<PathBuf> {
    missing::check(path)?;
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let files = BEST.iter().chain(HUGGING_FACE);
    files
        .map(|file| path.join(file))
        .find(|best| best.is_file())
        .with_context(|| {
            format!(
                "{} has no best checkpoint, {}; name a checkpoint or the folder of a run",
                path.display(),
                BEST[1]
            )
        })
}

/// Loads weights into a graph, and notes what was left out; `strict` refuses tensors that the graph does not have.
pub fn load(
    graph: &mut Graph,
    path: &Path,
    tensors: &[NamedTensor],
    strict: bool,
    console: &mut Console,
) -> Result<()> {
    let load = if strict { load_into } else { load_matching };
    let loaded = load(graph, tensors).with_context(|| format!("cannot load {}", path.display()))?;
    for note in loaded.notes(&path.display().to_string(), &graph.name) {
        console.note(&note);
    }
    Ok(())
}

/// A network that a checkpoint belongs to.
pub struct Owner {
    /// The network with the weights.
    pub graph: Graph,
    /// The models whose parameters have these names and shapes, the recorded one first.
    pub models: Vec<String>,
    /// The checkpoint.
    pub file: Checkpoint,
}

/// True for a name that is a file of weights or the folder of a run.
pub fn is_weights(name: &str) -> bool {
    let path = Path::new(name);
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| ENDINGS.contains(&extension))
        || (path.is_dir() && models::find(name).is_err())
}

/// The network of a checkpoint: the one that it records, else those of the table that its tensors fit.
pub fn owner(path: &Path) -> Result<Owner> {
    let path = &resolve(path)?;
    let file = checkpoint::read(path, None)?;
    let recorded = recorded(&file, "model").map(str::to_owned);
    if file.graph.is_some() {
        let graph = passes::interface::graph_of(path, &file)?;
        let models = vec![graph.name.clone()];
        return Ok(Owner {
            graph,
            models,
            file,
        });
    }
    if let Some(model) = recorded.as_ref().filter(|model| source::is_path(model)) {
        let named = || format!("{} belongs to {model}", path.display());
        let mut graph =
            source::load(model, &ModelInfo::default(), BatchAxis::None).with_context(named)?;
        load_matching(&mut graph, &file.tensors).with_context(named)?;
        let models = vec![model.clone()];
        return Ok(Owner {
            graph,
            models,
            file,
        });
    }
    let known = recorded.and_then(|model| models::find(&model).ok());
    let rest = MODELS.iter().filter(|_| known.is_none());
    let mut found: Vec<(usize, Graph)> = known
        .into_iter()
        .chain(rest)
        .filter_map(|entry| fitted(entry, &file))
        .collect();
    found.sort_by_key(|(left_out, _)| *left_out);
    let Some((fewest, _)) = found.first() else {
        bail!(
            "{} holds the weights of a network that is not in `ch list models`; write it in the text form (.mg) with these parameters\n{}",
            path.display(),
            listing(&file.tensors)
        )
    };
    let fewest = *fewest;
    found.retain(|(left_out, _)| *left_out == fewest);
    let models = found.iter().map(|(_, graph)| graph.name.clone()).collect();
    let (_, graph) = found.swap_remove(0);
    Ok(Owner {
        graph,
        models,
        file,
    })
}

/// A text that the training recorded among its settings.
pub fn recorded<'a>(file: &'a Checkpoint, key: &str) -> Option<&'a str> {
    let training = file.training.as_ref()?;
    training.hyper_parameters.get(key)?.as_str()
}

/// The preparation of the rows that the network of a checkpoint was trained on; the classes of a named dataset are known.
pub fn preparation(file: &Checkpoint) -> Result<Preparation> {
    let mut preparation = Preparation::of_checkpoint(file).map_err(anyhow::Error::msg)?;
    if preparation.classes.is_none() {
        let is_own = |entry: &&DatasetEntry| Some(entry.name) == preparation.dataset.as_deref();
        let entry = DATASETS.iter().find(is_own);
        preparation.classes =
            entry.map(|entry| entry.classes.iter().map(ToString::to_string).collect());
    }
    Ok(preparation)
}

/// The sizes that a network was trained with, as far as they are recorded.
pub fn recorded_sizes(file: &Checkpoint) -> ModelInfo {
    let hyper_parameters = file.training.as_ref().map(|t| &t.hyper_parameters);
    let shape = hyper_parameters.and_then(|recorded| recorded.get("sample_shape"));
    let size = |size: &Json| size.as_u64().map(|size| size as usize);
    let shape = shape.and_then(Json::as_array);
    let classes = preparation(file).ok().and_then(|found| found.classes);
    ModelInfo {
        input: shape.and_then(|shape| shape.iter().map(size).collect()),
        classes: classes.map(|classes| classes.len()),
    }
}

/// The model in the sizes that the weights fit, with them, and the number of tensors that are left out.
fn fitted(entry: &ModelEntry, file: &Checkpoint) -> Option<(usize, Graph)> {
    for info in sizes(entry, file) {
        let Ok(mut graph) = models::build(entry.name, &info) else {
            continue;
        };
        match load_matching(&mut graph, &file.tensors) {
            Ok(loaded) => return Some((loaded.left_out.len(), graph)),
            // Other sizes give no other names.
            Err(error) if !error.missing.is_empty() => return None,
            Err(_) => {}
        }
    }
    None
}

/// Sizes that weights may have been trained with: those of the recorded dataset, the model's own, those of the known
/// datasets, and those that the first and the last matrix show.
fn sizes(entry: &ModelEntry, file: &Checkpoint) -> Vec<ModelInfo> {
    let dataset = recorded(file, "dataset");
    let is_recorded = |entry: &&DatasetEntry| Some(entry.name) == dataset;
    let known = DATASETS.iter().filter(is_recorded).chain(DATASETS);
    let known = known.map(|entry| ModelInfo {
        input: Some(entry.sample_shape.to_vec()),
        classes: Some(entry.classes.len()),
    });
    let first = file.tensors.iter().find(|tensor| tensor.shape.len() == 2);
    let shown = first.map(|first| ModelInfo {
        input: (entry.input_shape.len() == 1).then(|| vec![first.shape[1]]),
        classes: outputs(&file.tensors),
    });
    let own = [recorded_sizes(file), ModelInfo::default()];
    known.chain(own).chain(shown).collect()
}

/// The number of outputs that the last matrix of a network shows.
pub fn outputs(tensors: &[NamedTensor]) -> Option<usize> {
    let matrix = tensors.iter().rfind(|tensor| tensor.shape.len() == 2)?;
    Some(matrix.shape[0])
}

/// Tensors listed before the rest is counted.
const MAX_LISTED: usize = 20;

fn listing(tensors: &[NamedTensor]) -> String {
    let line = |tensor: &NamedTensor| format!("  {} {:?}", tensor.name, tensor.shape);
    let mut lines: Vec<String> = tensors.iter().take(MAX_LISTED).map(line).collect();
    if tensors.len() > MAX_LISTED {
        lines.push(format!("  and {} more", tensors.len() - MAX_LISTED));
    }
    lines.join("\n")
}
