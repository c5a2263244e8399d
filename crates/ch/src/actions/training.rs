//! One training with its files: the loop, `run.json` before and after it, and what is said meanwhile.

use super::json_text;
use crate::console::Console;
use crate::settings::Config;
use crate::{calendar, pipeline};
use anyhow::{Context, Result};
use data::Dataset;
use engine::{Network, Score};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use train::{Ending, Event, Outcome, Stage};

/// One training.
pub struct Training<'a> {
    /// All settings.
    pub config: &'a Config,
    /// What to learn.
    pub data: &'a Dataset,
    /// Where the files go.
    pub folder: &'a Path,
}

impl Training<'_> {
    /// Trains and writes `run.json` before and after.
    pub fn fit(
        &self,
        graph: ir::Graph,
        stop: &AtomicBool,
        console: &mut Console,
    ) -> Result<(Outcome, Json)> {
        let mut network = pipeline::open_network(self.config, graph)?;
        let fit = pipeline::fit_config(self.config, self.folder);
        let started = calendar::now();
        self.write(&self.facts(&network, &started), console)?;
        let mut listener = Listener::new(console);
        let outcome = train::fit(&mut network, self.data, &fit, stop, &mut |event| {
            listener.hear(event);
        })?;
        let seconds = listener.start.elapsed().as_secs_f64();
        let mut facts = self.facts(&network, &started);
        add_outcome(&mut facts, &outcome, seconds);
        self.write(&facts, console)?;
        Ok((outcome, facts))
    }

    /// What is known of a run at any time.
    fn facts(&self, network: &Network, started: &str) -> Json {
        let info = &self.data.info;
        json!({
            "config": self.config.effective(),
            "version": env!("CARGO_PKG_VERSION"),
            "machine": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            "seed": self.config.whole("seed"),
            "dataset": { "name": info.name, "source": info.source, "hash": format!("{:016x}", info.hash) },
            "parameters": network.state().trained_len(),
            "weights_hash": format!("{:016x}", train::weights_hash(network.state())),
            "started": started,
            "ending": null,
        })
    }

    fn write(&self, facts: &Json, console: &mut Console) -> Result<()> {
        let path = self.folder.join("run.json");
        interop::write_file(&path, json_text(facts)?.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        console.debug(&format!("wrote {}", path.display()));
        Ok(())
    }
}

fn add_outcome(facts: &mut Json, outcome: &Outcome, seconds: f64) {
    facts["ended"] = calendar::now().into();
    facts["seconds"] = seconds.into();
    facts["ending"] = ending(outcome.ending).into();
    facts["steps"] = outcome.steps.into();
    facts["epochs"] = outcome.epochs.into();
    facts["val_loss_epoch"] = outcome.best_loss.into();
    facts["best"] = json!(outcome.best);
    facts["last"] = json!(outcome.last);
}

/// How a training ended, as a word.
pub fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Done => "done",
        Ending::Stopped => "stopped",
        Ending::Diverged => "diverged",
    }
}

/// `1 step`, `2 steps`.
pub fn count(n: u64, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}

/// The share of rows that were right.
pub fn accuracy(score: Score) -> f64 {
    score.correct as f64 / score.count.max(1) as f64
}

/// Turns events into lines.
struct Listener<'a> {
    console: &'a mut Console,
    start: Instant,
    /// Rows of the epochs before this one.
    rows: usize,
    /// Epochs an earlier run had done.
    skipped: Option<f64>,
}

impl<'a> Listener<'a> {
    fn new(console: &'a mut Console) -> Self {
        Self {
            console,
            start: Instant::now(),
            rows: 0,
            skipped: None,
        }
    }

    fn hear(&mut self, event: &Event) {
        match event {
            Event::Batch(stage) => self.progress(stage),
            Event::Epoch {
                stage,
                train,
                val,
                is_best,
            } => {
                self.rows += stage.rows;
                self.console.say(&epoch_line(stage, *train, *val, *is_best));
            }
            Event::Saved(path) => self.console.debug(&format!("wrote {}", path.display())),
            Event::Note(note) => self.console.note(note),
        }
    }

    fn progress(&mut self, stage: &Stage) {
        let share = stage.batch as f64 / stage.batches.max(1) as f64;
        let done = stage.epoch as f64 + share;
        let skipped = *self.skipped.get_or_insert(done);
        let (start, rows) = (self.start, self.rows + stage.rows);
        self.console.progress(|| {
            let seconds = start.elapsed().as_secs_f64();
            let to_do = (stage.epochs as f64 - done) / (done - skipped);
            // The first batch says nothing about the rest yet.
            let left = if to_do.is_finite() {
                format!(", {:.0} s left", seconds * to_do)
            } else {
                String::new()
            };
            let filled = (20.0 * share) as usize;
            format!(
                "epoch {}/{} [{}{}] {:.2} M rows/s{left}, loss {:.4}, acc {:.4}",
                stage.epoch + 1,
                stage.epochs,
                "#".repeat(filled),
                ".".repeat(20 - filled),
                rows as f64 / seconds / 1e6,
                stage.score.loss,
                accuracy(stage.score),
            )
        });
    }
}

fn epoch_line(stage: &Stage, train: Score, val: Score, is_best: bool) -> String {
    format!(
        "epoch {:>width$}/{}: train_loss {:.4}, train_acc {:.4}, val_loss_epoch {:.4}, val_acc_epoch {:.4}, lr {:.3e}{}",
        stage.epoch + 1,
        stage.epochs,
        train.loss,
        accuracy(train),
        val.loss,
        accuracy(val),
        stage.learning_rate,
        if is_best { ", best so far" } else { "" },
        width = stage.epochs.to_string().len(),
    )
}
