//! `ch list [KIND]`: the names of a kind, from the tables.

use crate::output::{Output, Stream, fit, json_text};
use crate::vocabulary::{KINDS, Kind, Word};
use anyhow::bail;
use config::did_you_mean;
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

/// One line a name.
pub fn run(args: &Args) -> anyhow::Result<Output> {
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

fn words(name: &str) -> anyhow::Result<Vec<(String, String)>> {
    let Some(kind) = Kind::find(name) else {
        bail!(
            "unknown kind '{name}'{}",
            did_you_mean(name, KINDS.iter().map(|kind| kind.name))
        );
    };
    let line = |word: Word| (word.name, word.about);
    Ok((kind.words)().into_iter().map(line).collect())
}
