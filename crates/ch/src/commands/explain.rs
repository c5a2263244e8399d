//! `ch explain WORD`: any name the program prints, from the tables.

use crate::output::{Output, json_text};
use crate::vocabulary::{KINDS, Word, compound};
use anyhow::bail;
use config::did_you_mean;
use serde_json::json;

/// Arguments of `ch explain`.
#[derive(clap::Args)]
pub struct Args {
    /// Any name: an operator, format, model, dataset, setting, metric, file, column heading, …
    #[arg(required = true)]
    word: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Every meaning of the word.
pub fn run(args: &Args) -> anyhow::Result<Output> {
    // A column heading is several words, and nobody wants to quote it.
    let wanted = args.word.join(" ");
    let mut all: Vec<(&str, Word)> = KINDS
        .iter()
        .flat_map(|kind| (kind.words)().into_iter().map(|word| (kind.singular, word)))
        .collect();
    if !all.iter().any(|(_, word)| word.is_called(&wanted)) {
        all.extend(compound::explain(&wanted));
    }
    let found: Vec<&(&str, Word)> = all
        .iter()
        .filter(|(_, word)| word.is_called(&wanted))
        .collect();
    if found.is_empty() {
        let names = all.iter().flat_map(|(_, word)| word.names());
        bail!("unknown word '{wanted}'{}", did_you_mean(&wanted, names));
    }
    if args.json {
        let meanings = found.iter().map(|(kind, word)| {
            json!({ "kind": kind, "name": word.name, "about": word.about, "text": word.details })
        });
        return Ok(json_text(&meanings.collect())?.into());
    }
    let meanings: Vec<String> = found
        .iter()
        .map(|(kind, word)| meaning(kind, word))
        .collect();
    Ok(meanings.join("\n").into())
}

fn meaning(kind: &str, word: &Word) -> String {
    let text = format!("{} ({kind}): {}\n", word.name, word.about);
    if word.details.is_empty() {
        text
    } else {
        text + "\n" + &word.details + "\n"
    }
}
