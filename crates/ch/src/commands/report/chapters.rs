//! The chapters that come from the files of a run, its training and its search, and the words of the page.

use crate::vocabulary::Kind;
use anyhow::{Result, bail};
use ir::Graph;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Words of the page that no table has.
const WORDS: &[(&str, &str)] = &[
    (
        "sqnr",
        "signal-to-quantisation-noise ratio of a node's result against the other network, in decibels: 10·log10(Σa²/Σ(a−b)²)",
    ),
    (
        "error",
        "the largest difference of a node's result from the other network's",
    ),
    (
        "bits",
        "mean bits of the values that a node reads and makes",
    ),
    ("macs", "multiply-accumulates of one row"),
    ("bitops", "operations times bits, of one row"),
    (
        "saturated",
        "share of the values that lie beyond the range of their format",
    ),
    (
        "zeroed",
        "share of the values other than zero that their format rounds to zero",
    ),
    ("sparsity", "share of the weights that are zero"),
    (
        "time",
        "share of a forward pass in evaluation; operators that run as one step count for the first of them",
    ),
];

/// Folders below the one named that are looked into.
const DEPTH: usize = 3;

/// The first of some files in a folder or below it, in the order of names.
pub fn find(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    find_within(folder, names, DEPTH)
}

fn find_within(folder: &Path, names: &[&str], depth: usize) -> Option<PathBuf> {
    let here = names.iter().map(|name| folder.join(name));
    if let Some(found) = here.into_iter().find(|path| path.is_file()) {
        return Some(found);
    }
    let mut below: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    below.sort();
    let deeper = depth.checked_sub(1)?;
    below
        .iter()
        .find_map(|folder| find_within(folder, names, deeper))
}

/// The chapter on training: the network's own run, that of the network before it, and those that were named; nothing where
/// none of them has a log of metrics.
pub fn training(own: &str, against: Option<&str>, named: &[String]) -> Result<Option<Json>> {
    let mut runs = Vec::new();
    for name in std::iter::once(own).chain(against) {
        runs.extend(run_of(Path::new(name))?);
    }
    for name in named {
        let Some(run) = run_of(Path::new(name))? else {
            bail!(
                "--runs {name}: there is no metrics.csv with epochs in it, as a training leaves one"
            );
        };
        runs.push(run);
    }
    Ok((!runs.is_empty()).then(|| json!({ "runs": runs })))
}

/// The epochs of a run; nothing without a log of metrics.
fn run_of(folder: &Path) -> Result<Option<Json>> {
    let Some(path) = find(folder, &["metrics.csv"]) else {
        return Ok(None);
    };
    let epochs = train::epoch_scores(&path)?;
    if epochs.is_empty() {
        return Ok(None);
    }
    let best = epochs.iter().min_by(|a, b| a.val.0.total_cmp(&b.val.0));
    let column = |value: fn(&train::EpochScores) -> f64| -> Vec<Json> {
        epochs.iter().map(|epoch| number(value(epoch))).collect()
    };
    let name = folder
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(Some(json!({
        "name": name,
        "best_epoch": best.map(|epoch| epoch.epoch),
        "columns": {
            "epoch": epochs.iter().map(|epoch| epoch.epoch).collect::<Vec<u64>>(),
            "train_loss": column(|epoch| epoch.train.0),
            "train_accuracy": column(|epoch| epoch.train.1),
            "val_loss": column(|epoch| epoch.val.0),
            "val_accuracy": column(|epoch| epoch.val.1),
            "learning_rate": column(|epoch| epoch.learning_rate),
        },
    })))
}

/// A number as it stands in the log; a word where it is none.
fn number(value: f64) -> Json {
    if value.is_finite() {
        json!(value)
    } else {
        json!(value.to_string().to_lowercase())
    }
}

/// An entry of the record that a run leaves of itself; null where there is none.
pub fn recorded(folder: &str, key: &str) -> Json {
    let record =
        find(Path::new(folder), &["run.json"]).and_then(|path| std::fs::read_to_string(path).ok());
    let record: Option<Json> = record.and_then(|text| serde_json::from_str(&text).ok());
    record.map_or(Json::Null, |mut record| record[key].take())
}

/// The network of the best trial of a search in a folder.
pub fn best_of_search(folder: &Path) -> Option<PathBuf> {
    let search = search(folder)?;
    let best = search["best"][0].as_u64()? as usize;
    let name = format!("best/trial_{}.mz", search["numbers"][best]);
    let path = find(folder, &["trials.csv"])?.with_file_name(name);
    path.is_file().then_some(path)
}

/// The chapter on the search of a run, which stands in the page that the search has left; nothing without one.
pub fn search(folder: &Path) -> Option<Json> {
    let page = find(folder, &["trials.csv"])?.with_file_name("report.html");
    let page = std::fs::read_to_string(page).ok()?;
    let mut data: Json = serde_json::from_str(report::page::data_text(&page)?).ok()?;
    Some(data["search"].take()).filter(|search| !search.is_null())
}

/// The explanations of the words on the page.
pub fn terms(graph: &Graph) -> Map<String, Json> {
    let mut words: BTreeSet<String> = BTreeSet::new();
    for node in graph.nodes() {
        words.insert(node.op.name().to_owned());
        words.extend(node.formats.values().map(|format| format.name().to_owned()));
    }
    let kinds = ["ops", "formats"].map(Kind::find).into_iter().flatten();
    let mut terms = Map::new();
    for kind in kinds {
        for word in (kind.words)() {
            if words.contains(&word.name) {
                terms.insert(word.name, json!(word.about));
            }
        }
    }
    for (word, about) in WORDS {
        terms.insert((*word).to_owned(), json!(about));
    }
    terms
}
