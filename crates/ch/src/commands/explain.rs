//! `ch explain WORD`: any name the program prints, from the tables.

use crate::output::{Output, json_text};
use crate::vocabulary::{KINDS, Word, compound};
use anyhow::bail;
use config::{did_you_mean, hint};
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
    Ok(explain(&args.word.join(" "), args.json)?.into())
}

/// Every meaning of a word, as text or as JSON.
pub fn explain(wanted: &str, is_json: bool) -> anyhow::Result<String> {
    let mut all: Vec<(&str, Word)> = KINDS
        .iter()
        .flat_map(|kind| (kind.words)().into_iter().map(|word| (kind.singular, word)))
        .collect();
    if !all.iter().any(|(_, word)| word.is_called(wanted)) {
        all.extend(compound::explain(wanted));
    }
    let found: Vec<&(&str, Word)> = all
        .iter()
        .filter(|(_, word)| word.is_called(wanted))
        .collect();
    if found.is_empty() {
        let names: Vec<&str> = all.iter().flat_map(|(_, word)| word.names()).collect();
        bail!("unknown word '{wanted}'{}", suggestion(wanted, &names));
    }
    if is_json {
        let meanings = found.iter().map(|(kind, word)| {
            json!({ "kind": kind, "name": word.name, "about": word.about, "text": word.details })
        });
        return json_text(&meanings.collect());
    }
    let meanings: Vec<String> = found
        .iter()
        .map(|(kind, word)| meaning(kind, word))
        .collect();
    Ok(meanings.join("\n"))
}

/// The nearest names, of words made of others too; else names that go on where the word ends, else the way to all names.
fn suggestion(wanted: &str, names: &[&str]) -> String {
    let made = compound::names();
    let all = names.iter().copied();
    let all = all.chain(made.iter().map(String::as_str));
    let close = did_you_mean(wanted, all);
    if !close.is_empty() {
        return close;
    }
    let start = wanted.to_lowercase();
    let mut longer: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| start.len() >= MIN_START && name.to_lowercase().starts_with(&start))
        .collect();
    longer.sort_unstable_by_key(|name| (name.len(), *name));
    longer.dedup();
    longer.truncate(MAX_LONGER);
    match longer.as_slice() {
        [] => "; `ch list` prints the kinds of names, and `ch list KIND` the names".to_owned(),
        longer => hint(longer),
    }
}

/// Letters that must be typed of a name before it is guessed, and guesses that are printed.
const MIN_START: usize = 3;
const MAX_LONGER: usize = 3;

fn meaning(kind: &str, word: &Word) -> String {
    let text = format!("{} ({kind}): {}\n", word.name, word.about);
    if word.details.is_empty() {
        text
    } else {
        text + "\n" + &word.details + "\n"
    }
}
