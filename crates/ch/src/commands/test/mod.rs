//! `ch test MODEL DATASET --load P`: loss, accuracy and the scores of classes on the test rows of a dataset, or on all rows
//! of a file.

pub mod classes;

use crate::output::folder::write_file;
use crate::output::{Output, OutputArgs, json_text};
use crate::pipeline;
use crate::rows::{self, Part, SPLIT_HELP};
use crate::settings::{Action, Config, SettingArgs, Settings, hide_unused};
use anyhow::{Result, bail};
use classes::ClassReport;
use engine::Score;
use report::{Column, Table};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use train::accuracy;

/// Arguments of `ch test`.
#[derive(clap::Args)]
#[command(mut_args = hide_unused(Action::Use))]
pub struct Args {
    #[command(flatten)]
    settings: SettingArgs,
    #[arg(long, value_name = "WORD", help = SPLIT_HELP, help_heading = "Rows")]
    split: Option<Part>,
    /// Folder for classes, confusion matrix and ROC curves, as CSV and SVG
    #[arg(long, value_name = "FOLDER", help_heading = "Result")]
    out: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// The table of results.
pub const COLUMNS: &[Column] = &[
    Column::words("Test metric", "what was measured on the test rows"),
    Column::numbers("Score", "the number that was measured"),
];

/// Tests.
pub fn run(args: &Args) -> Result<Output> {
    let config = Config::resolve(&args.settings, Action::Use)?;
    let settings = &config.settings;
    let mut console = pipeline::begin(&config, args.output)?;
    if pipeline::starts_fresh(settings) {
        console.note("no --load given: these are the scores of starting weights");
    }
    let (data, rows) = rows::open_part(settings, args.split, &mut console)?;
    let graph = pipeline::open_classifier(settings, &data, &mut console)?;
    let mut network = pipeline::open_network(settings, graph)?;
    let (score, outputs) = train::evaluate_outputs(&mut network, &rows)?;
    let report = ClassReport::new(&data.info, &rows, &outputs);
    if let Some(report) = &report {
        let note = report.note(&ir::verify(network.graph())?);
        if let Some(note) = note {
            console.note(&note);
        }
    }
    let mut text = if args.output.json {
        let mut scores = scores_json(score);
        if let (Some(report), Json::Object(scores)) = (&report, &mut scores) {
            scores.extend(report.json());
        }
        json_text(&scores)?
    } else {
        let classes = report.as_ref().map(ClassReport::text);
        scores_table(score) + &classes.unwrap_or_default()
    };
    if let Some(folder) = &args.out {
        let Some(report) = &report else {
            bail!(
                "the network does not return one number for each class, so that there is nothing to write to {}",
                folder.display()
            );
        };
        for (name, content) in report.files() {
            write_file(&folder.join(name), content.as_bytes(), &mut console)?;
        }
        if !args.output.json {
            let folder = folder.display();
            text = format!("{text}\nwrote classes, confusion and roc to {folder}\n");
        }
    }
    Ok(text.into())
}

/// Scores for programs.
pub fn scores_json(score: Score) -> Json {
    json!({
        "test_loss_epoch": score.loss,
        "test_acc_epoch": accuracy(&score),
        "correct": score.correct,
        "rows": score.count,
    })
}

/// Scores for people.
pub fn scores_table(score: Score) -> String {
    let mut table = Table::with_columns(COLUMNS);
    for (name, value) in [
        ("test_acc_epoch", accuracy(&score)),
        ("test_loss_epoch", score.loss),
    ] {
        table.push([name.to_owned(), format!("{value:.6}")]);
    }
    table.to_text()
}

/// The command that tests a network, called `name` where the settings do not name it, on the rows it has not seen.
pub fn test_command(settings: &Settings, name: &str, load: &Path) -> String {
    let model = quoted(settings.model.as_deref().unwrap_or(name));
    let dataset = settings.dataset.as_deref();
    let split = if dataset.is_some_and(data::is_file) {
        " --split test"
    } else {
        ""
    };
    let dataset = dataset.map_or_else(|| "DATASET".to_owned(), quoted);
    let path = |path: &Path| quoted(&path.display().to_string());
    let data_dir = settings.data_dir.as_deref();
    let data_dir = data_dir.map_or_else(String::new, |dir| format!(" --data-dir {}", path(dir)));
    format!(
        "ch test {model} {dataset} --load {}{split}{data_dir}",
        path(load)
    )
}

/// A word as a shell takes it: in quotes where a character means something to shells.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell_are_quoted_where_they_must_be() {
        for (word, expected) in [
            ("runs/jsc.ckpt", "runs/jsc.ckpt"),
            ("my runs/a.ckpt", "'my runs/a.ckpt'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
