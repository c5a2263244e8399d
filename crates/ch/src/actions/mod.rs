//! The verbs, one file each: arguments, then `run`, which returns what is printed.

pub mod compare;
pub mod data;
pub mod explain;
pub mod format;
pub mod list;
pub mod predict;
pub mod run;
pub mod search;
mod searching;
pub mod show;
pub mod sweep;
pub mod test;
pub mod train;
mod training;
pub mod transform;
mod transforming;

use crate::settings::Config;
use ir::Graph;
use std::path::Path;

/// The command that tries a network out.
fn test_command(config: &Config, graph: &Graph, load: &Path) -> String {
    let model = config.text("model").unwrap_or(&graph.name);
    let dataset = config.text("dataset").unwrap_or("DATASET");
    let data_dir = config.path("data_dir");
    let data_dir =
        data_dir.map_or_else(String::new, |dir| format!(" --data-dir {}", dir.display()));
    format!(
        "ch test {model} {dataset} --load {}{data_dir}",
        load.display()
    )
}

/// JSON for tools, in one piece and with a line end.
fn json_text(json: &serde_json::Value) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(json)? + "\n")
}
