//! `ch list [KIND]`: the names of a kind, from the tables.

use crate::output::{Output, Stream, fit, json_text};
use crate::vocabulary::{KINDS, Kind, Word};
use anyhow::bail;
use config::did_you_mean;
use hw::tools::{TOOLS, Toolbox};
use report::{Column, Table};
use serde_json::json;

/// Arguments of `ch list`.
#[derive(clap::Args)]
pub struct Args {
    /// The kind of names.
    #[arg(help = "What to list; without it, the kinds themselves")]
    kind: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The table of tools.
pub const TOOL_COLUMNS: &[Column] = &[
    Column::words(
        "Tool",
        "a program of others that the commands for hardware run",
    ),
    Column::words("Version", "the version of a tool, where it tells it"),
    Column::words("Path", "the program that is run, or the way to get it"),
    Column::words("About", "what it is"),
];

/// One line a name.
pub fn run(args: &Args) -> anyhow::Result<Output> {
    if args.kind.as_deref() == Some("tools") {
        return Ok(tools(args.json)?.into());
    }
    let lines: Vec<(String, String)> = match &args.kind {
        None => KINDS
            .iter()
            .map(|kind| (kind.name.to_owned(), kind.about.to_owned()))
            .collect(),
        Some(name) => words(name)?,
    };
    if args.json {
        let entries = lines
            .iter()
            .map(|(name, about)| json!({ "name": name, "about": about }));
        return Ok(json_text(&entries.collect())?.into());
    }
    Ok(fit::list(&lines, Stream::Out).into())
}

/// Tools with what is found of them on this machine.
fn tools(is_json: bool) -> anyhow::Result<String> {
    let toolbox = Toolbox::new(None);
    let mut table = Table::with_columns(TOOL_COLUMNS);
    let mut entries = Vec::new();
    for tool in TOOLS {
        let found = toolbox.find(tool).map(|found| toolbox.identify(found));
        let found = found.ok();
        let version = found.as_ref().and_then(|found| found.version.clone());
        let path = found.map(|found| found.program.display().to_string());
        entries.push(
            json!({ "name": tool.name, "version": version, "path": path, "about": tool.about }),
        );
        let path = path.unwrap_or_else(|| format!("missing: {}", tool.install));
        table.push([
            tool.name.to_owned(),
            version.unwrap_or_default(),
            path,
            tool.about.to_owned(),
        ]);
    }
    if is_json {
        return json_text(&entries.into());
    }
    Ok(fit::table(&table, Stream::Out, "--json"))
}

/// The names of a kind, each with one line about it.
pub fn words(name: &str) -> anyhow::Result<Vec<(String, String)>> {
    let Some(kind) = Kind::find(name) else {
        bail!(
            "unknown kind '{name}'{}",
            did_you_mean(name, KINDS.iter().map(|kind| kind.name))
        );
    };
    let line = |word: Word| (word.name, word.about);
    Ok((kind.words)().into_iter().map(line).collect())
}
