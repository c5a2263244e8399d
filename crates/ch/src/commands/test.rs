//! `ch test MODEL DATASET --load P`: loss and accuracy on the test rows.

use crate::output::{Output, OutputArgs, json_text};
use crate::pipeline;
use crate::settings::{Action, Config, SettingArgs, Settings, hide_unused};
use anyhow::{Result, bail};
use engine::Score;
use ir::Graph;
use report::{Column, Table};
use serde_json::{Value as Json, json};
use std::path::Path;
use train::accuracy;

/// Arguments of `ch test`.
#[derive(clap::Args)]
#[command(mut_args = hide_unused(Action::Use))]
pub struct Args {
    #[command(flatten)]
    settings: SettingArgs,
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
    let data = pipeline::open_data(settings, &mut console)?;
    if data.test.is_empty() {
        bail!("dataset {} has no test rows", data.info.name);
    }
    let graph = pipeline::open_classifier(settings, &data, &mut console)?;
    let mut network = pipeline::open_network(settings, graph)?;
    let score = train::evaluate(&mut network, &data.test)?;
    let text = if args.output.json {
        json_text(&scores_json(score))?
    } else {
        scores_table(score)
    };
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

/// The command that tests a network.
pub fn test_command(settings: &Settings, graph: &Graph, load: &Path) -> String {
    let model = settings.model.as_ref().unwrap_or(&graph.name);
    let dataset = settings.dataset.as_deref().unwrap_or("DATASET");
    let data_dir = settings.data_dir.as_ref();
    let data_dir =
        data_dir.map_or_else(String::new, |dir| format!(" --data-dir {}", dir.display()));
    format!(
        "ch test {model} {dataset} --load {}{data_dir}",
        load.display()
    )
}
