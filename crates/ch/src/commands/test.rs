//! `ch test MODEL DATASET --load P`: loss and accuracy on the test rows.

use super::train::fit::accuracy;
use crate::output::{Output, OutputArgs, json_text};
use crate::pipeline;
use crate::settings::{Action, Config, Given, hide_unused};
use crate::table::{Column, render};
use anyhow::{Result, bail};
use engine::Score;
use ir::Graph;
use serde_json::{Value as Json, json};
use std::path::Path;

/// Arguments of `ch test`.
#[derive(clap::Args)]
#[command(mut_args = hide_unused(Action::Use))]
pub struct Args {
    #[command(flatten)]
    given: Given,
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
    let config = Config::resolve(&args.given, Action::Use)?;
    let mut console = pipeline::begin(&config, Action::Use, args.output)?;
    if pipeline::starts_fresh(&config) {
        console.note("no --load given: these are the scores of starting weights");
    }
    let data = pipeline::open_data(&config, &mut console)?;
    if data.test.is_empty() {
        bail!("dataset {} has no test rows", data.info.name);
    }
    let graph = pipeline::open_graph(&config, Some(&data.info))?;
    let mut network = pipeline::open_network(&config, graph)?;
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
        "test_acc_epoch": accuracy(score),
        "correct": score.correct,
        "rows": score.count,
    })
}

/// Scores for people.
pub fn scores_table(score: Score) -> String {
    let row = |name: &str, value: f64| vec![name.to_owned(), format!("{value:.6}")];
    let rows = [
        row("test_acc_epoch", accuracy(score)),
        row("test_loss_epoch", score.loss),
    ];
    render(COLUMNS, &rows, None)
}

/// The command that tests a network.
pub fn test_command(config: &Config, graph: &Graph, load: &Path) -> String {
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
