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

/// JSON for tools, in one piece and with a line end.
fn json_text(json: &serde_json::Value) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(json)? + "\n")
}
