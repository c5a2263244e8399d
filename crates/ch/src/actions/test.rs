//! `ch test MODEL DATASET --load P`: loss and accuracy on the test rows.

use super::json_text;
use crate::config::{Config, Given};
use crate::console::{Console, Voice};
use crate::table::{Column, render};
use crate::{Reply, pipeline};
use anyhow::Result;
use serde_json::json;

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
    Column::numbers("Value", "the number"),
];

/// Tests.
pub fn run(args: &Args) -> Result<Reply> {
    let config = Config::resolve(&args.given)?;
    pipeline::check_names(&config)?;
    let mut console = Console::new(args.voice);
    console.say(&config.table());
    for note in &config.notes {
        console.note(note);
    }
    if config.text("load_name").is_none() {
        console.note("no --load given: these are the scores of starting weights");
    }
    let data = pipeline::open_data(&config, &mut console)?;
    let graph = pipeline::open_graph(&config, Some(&data.info))?;
    let mut network = pipeline::open_network(&config, graph)?;
    let score = train::evaluate(&mut network, &data.test)?;
    let accuracy = score.correct as f64 / score.count.max(1) as f64;
    let text = if args.voice.json {
        json_text(&json!({
            "test_loss_epoch": score.loss, "test_acc_epoch": accuracy, "correct": score.correct, "rows": score.count,
        }))?
    } else {
        let row = |name: &str, value: f64| vec![name.to_owned(), format!("{value:.6}")];
        render(
            COLUMNS,
            &[
                row("test_acc_epoch", accuracy),
                row("test_loss_epoch", score.loss),
            ],
            None,
        )
    };
    Ok(text.into())
}
