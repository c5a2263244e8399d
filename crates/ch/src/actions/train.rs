//! `ch train MODEL DATASET`: trains, keeps the best and the last checkpoint, logs.

use super::json_text;
use super::sweep;
use crate::config::{Config, Given};
use crate::console::{Console, Voice};
use crate::output::Folder;
use crate::{Reply, pipeline};
use anyhow::{Context, Result, bail};
use data::Dataset;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use train::{Ending, Event, Outcome};

/// Arguments of `ch train`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub given: Given,
    #[command(flatten)]
    pub voice: Voice,
    /// Train once for every combination of these values, for example learning_rate=0.1,1e-3
    #[arg(long, value_name = "KEY=VALUE,VALUE…")]
    pub sweep: Vec<String>,
}

/// Trains.
pub fn run(args: &Args) -> Result<Reply> {
    let config = Config::resolve(&args.given)?;
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&stop))
        .context("cannot watch for Ctrl-C")?;
    let (config, folder) = match config.text("resume") {
        Some("latest") => resume(&config, &Folder::latest(&config)?)?,
        Some(path) => resume(&config, Path::new(path))?,
        None => (config, None),
    };
    pipeline::check_names(&config)?;
    let mut console = Console::new(args.voice);
    console.say(&config.table());
    for note in &config.notes {
        console.note(note);
    }
    if !args.sweep.is_empty() {
        return sweep::run(&config, &args.sweep, args.voice, &mut console);
    }
    let data = pipeline::open_data(&config, &mut console)?;
    check_batch(&config, &data)?;
    let graph = pipeline::open_graph(&config, Some(&data.info))?;
    let folder = match folder {
        Some(folder) => folder,
        None => Folder::create(&config)?,
    };
    let run = Training {
        config: &config,
        data: &data,
        folder: &folder.software(),
    };
    let (outcome, facts) = run.fit(graph, &stop, &mut console)?;
    let text = if args.voice.json {
        json_text(&facts)?
    } else {
        describe(&outcome, &facts)
    };
    Ok(Reply {
        text,
        is_good: outcome.ending != Ending::Diverged,
    })
}

/// A batch larger than the training rows is a mistake, not a smaller batch.
pub fn check_batch(config: &Config, data: &Dataset) -> Result<()> {
    let batch = config.whole("batch_size") as usize;
    if batch > data.train.len() {
        bail!(
            "batch size {batch} is larger than the {} training rows of {}",
            data.train.len(),
            data.info.name
        );
    }
    Ok(())
}

/// The settings of an earlier run, with what is given now on top, and its folder.
fn resume(config: &Config, path: &Path) -> Result<(Config, Option<Folder>)> {
    let folder = Folder::resume(path)?;
    let file = folder.software().join("run.json");
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let facts: Json =
        serde_json::from_str(&text).with_context(|| format!("{} is damaged", file.display()))?;
    Ok((config.over(&facts["config"])?, Some(folder)))
}

/// One training with its files.
pub struct Training<'a> {
    pub config: &'a Config,
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
        self.write_facts(&self.facts(None, &network, 0.0))?;
        let start = Instant::now();
        let mut listener = Listener {
            console,
            start,
            rows_done: 0,
            saved: Vec::new(),
        };
        let outcome = train::fit(&mut network, self.data, &fit, stop, &mut |event| {
            listener.hear(event)
        })?;
        let facts = self.facts(Some(&outcome), &network, start.elapsed().as_secs_f64());
        self.write_facts(&facts)?;
        Ok((outcome, facts))
    }

    fn facts(&self, outcome: Option<&Outcome>, network: &engine::Network, seconds: f64) -> Json {
        let ending = outcome.map(|outcome| match outcome.ending {
            Ending::Done => "done",
            Ending::Stopped => "stopped",
            Ending::Diverged => "diverged",
        });
        json!({
            "config": self.config.effective(),
            "version": env!("CARGO_PKG_VERSION"),
            "dataset": { "name": self.data.info.name, "source": self.data.info.source, "hash": format!("{:016x}", self.data.info.hash) },
            "parameters": network.state().trained_len(),
            "ending": ending,
            "steps": outcome.map(|outcome| outcome.steps),
            "epochs": outcome.map(|outcome| outcome.epochs),
            "val_loss_epoch": outcome.and_then(|outcome| outcome.best_loss),
            "best": outcome.map(|outcome| outcome.best.clone()),
            "last": outcome.map(|outcome| outcome.last.clone()),
            "weights_hash": format!("{:016x}", train::weights_hash(network.state())),
            "seconds": seconds,
        })
    }

    fn write_facts(&self, facts: &Json) -> Result<()> {
        let path = self.folder.join("run.json");
        let text = json_text(facts)?;
        interop::write_file(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Turns events into lines.
struct Listener<'a> {
    console: &'a mut Console,
    start: Instant,
    rows_done: usize,
    saved: Vec<PathBuf>,
}

impl Listener<'_> {
    fn hear(&mut self, event: &Event) {
        match event {
            Event::Batch(stage) => {
                let (start, rows) = (self.start, self.rows_done + stage.rows);
                self.console.progress(|| {
                    let rate = rows as f64 / start.elapsed().as_secs_f64();
                    let done = stage.epoch as f64 + stage.batch as f64 / stage.batches.max(1) as f64;
                    let left = start.elapsed().as_secs_f64() * (stage.epochs as f64 - done) / done.max(1e-9);
                    let filled = (20.0 * stage.batch as f64 / stage.batches.max(1) as f64) as usize;
                    format!(
                        "epoch {}/{} [{}{}] {:.2} M rows/s, {left:.0} s left, loss {:.4}, acc {:.4}",
                        stage.epoch + 1,
                        stage.epochs,
                        "#".repeat(filled),
                        ".".repeat(20 - filled),
                        rate / 1e6,
                        stage.score.loss,
                        accuracy(stage.score),
                    )
                });
            }
            Event::Epoch {
                stage,
                train,
                val,
                is_best,
            } => {
                self.rows_done += stage.rows;
                let best = if *is_best { ", best so far" } else { "" };
                self.console.say(&format!(
                    "epoch {}/{}: train_loss {:.4}, train_acc {:.4}, val_loss_epoch {:.4}, val_acc_epoch {:.4}, lr {:.3e}{best}",
                    stage.epoch + 1,
                    stage.epochs,
                    train.loss,
                    accuracy(*train),
                    val.loss,
                    accuracy(*val),
                    stage.learning_rate,
                ));
            }
            Event::Saved(path) => self.saved.push(path.to_path_buf()),
            Event::Note(note) => self.console.note(note),
        }
    }
}

fn accuracy(score: engine::Score) -> f64 {
    score.correct as f64 / score.count.max(1) as f64
}

/// The result for people.
fn describe(outcome: &Outcome, facts: &Json) -> String {
    let seconds = facts["seconds"].as_f64().unwrap_or_default();
    let head = match outcome.ending {
        Ending::Done => format!(
            "trained {} epochs, {} steps, in {seconds:.1} s",
            outcome.epochs, outcome.steps
        ),
        Ending::Stopped => format!(
            "stopped after {}; go on with --resume",
            count(outcome.steps, "step")
        ),
        Ending::Diverged => format!(
            "diverged: the loss is no longer a finite number after {}; try a smaller --learning-rate",
            count(outcome.steps, "step")
        ),
    };
    let best = match outcome.best_loss {
        Some(loss) => format!(
            "best: val_loss_epoch {loss:.4}, {}\n",
            outcome.best.display()
        ),
        None => String::new(),
    };
    format!("{head}\n{best}")
}

fn count(n: u64, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}
