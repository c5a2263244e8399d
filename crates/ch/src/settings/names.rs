//! Names and paths that a file gives: models, datasets and checkpoints that must be there before anything runs.

use super::file::Scope;
use super::table::Layer;
use crate::{checkpoints, missing, pipeline, source};
use config::Reader;
use std::path::{Path, PathBuf};

/// Reports what the file names and is not there. What the command line gives in its place is not looked at.
pub fn check(reader: &mut Reader, layer: &Layer, scope: Scope) {
    let given = [
        ("model", model_problem(layer, scope)),
        (
            "dataset",
            layer
                .dataset
                .as_ref()
                .and_then(|given| dataset_problem(&given.value)),
        ),
        (
            "load_name",
            layer
                .load_name
                .as_ref()
                .and_then(|given| load_problem(&given.value)),
        ),
    ];
    for (key, problem) in given {
        if let Some(problem) = problem.filter(|_| !scope.is_typed(key))
            && let Some(item) = reader.item(key)
        {
            reader.problem(item.span.clone(), format!("{key}: {problem}"));
        }
    }
}

/// The checkpoint to start from, if there is one.
pub fn load_path(layer: &Layer, scope: Scope) -> Option<PathBuf> {
    let in_file = || layer.load_name.as_ref().map(|given| given.value.clone());
    scope.typed("load_name").map(PathBuf::from).or_else(in_file)
}

fn model_problem(layer: &Layer, scope: Scope) -> Option<String> {
    let model = &layer.model.as_ref()?.value;
    let path = Path::new(model);
    if source::is_path(model) && path.exists() {
        return None;
    }
    if source::is_graph_file(path) {
        return Some(missing::sentence(path));
    }
    let load = load_path(layer, scope);
    if load.is_some_and(|load| checkpoints::brings_graph(&load)) {
        return None;
    }
    models::find(model).err().map(|error| error.to_string())
}

fn dataset_problem(dataset: &str) -> Option<String> {
    if pipeline::is_array(dataset) {
        let path = Path::new(dataset);
        return (!path.exists()).then(|| missing::sentence(path));
    }
    let error = missing::check_dataset(dataset).err()?;
    Some(error.to_string())
}

fn load_problem(path: &Path) -> Option<String> {
    if !path.exists() {
        return Some(missing::sentence(path));
    }
    checkpoints::resolve(path)
        .err()
        .map(|error| error.to_string())
}
