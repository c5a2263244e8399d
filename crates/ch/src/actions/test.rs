//! `ch test MODEL DATASET --load P`: loss and accuracy on the test rows.

use super::json_text;
use super::training::accuracy;
use crate::console::Voice;
use crate::settings::{Action, Config, Given};
use crate::table::{Column, render};
use crate::{Reply, pipeline};
use anyhow::{Result, bail};
use engine::Score;
use serde_json::{Value as Json, json};

/// Arguments of `ch test`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    voice: Voice,
}

/// The table of results.
pub const COLUMNS: &[Column] = &[
    Column::words("Test metric", "what was measured on the test rows"),
    Column::numbers("Score", "the number that was measured"),
];

/// Tests.
pub fn run(args: &Args) -> Result<Reply> {
    let config = Config::resolve(&args.given, Action::Use)?;
    let mut console = pipeline::begin(&config, Action::Use, args.voice)?;
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
    let text = if args.voice.json {
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
