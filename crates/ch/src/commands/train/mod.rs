//! `ch train MODEL DATASET`: trains, writes the best and the last checkpoint, logs.

mod curves;
pub mod fit;
pub mod profile;
pub mod progress;
mod sweep;

use crate::commands::test::classes::ClassReport;
use crate::commands::test::{quoted, test_command};
use crate::interrupt::stop_flag;
use crate::output::folder::write_file;
use crate::output::number::count;
use crate::output::{Console, Folder, Output, OutputArgs, json_text};
use crate::settings::{Action, Config, Resume, SettingArgs, Settings};
use crate::{pipeline, rows};
use anyhow::{Context, Result, bail};
use data::{Dataset, Preparation};
use fit::{TrainRun, Trained};
use ir::Op;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
pub use sweep::{COLUMNS as SWEEP_COLUMNS, SUMMARY_COLUMNS};
use train::{Ending, Learner, Outcome};

/// Arguments of `ch train`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    settings: SettingArgs,
    /// Train once for every combination of values, for example learning_rate=0.1,1e-3
    #[arg(
        long,
        value_name = "KEY=A,B,…",
        conflicts_with = "resume",
        help_heading = "Training"
    )]
    sweep: Vec<String>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Trains.
pub fn run(args: &Args) -> Result<Output> {
    let mut config = Config::resolve(&args.settings, Action::Train)?;
    if !args.sweep.is_empty() {
        return sweep::run(&config, &args.sweep, args.output);
    }
    let earlier = earlier(&mut config.settings)?;
    let settings = &config.settings;
    let mut console = pipeline::begin(&config, args.output)?;
    if let Some(Resumed {
        folder,
        has_settings: false,
    }) = &earlier
    {
        console.note(&format!(
            "{} was stopped before its settings were written: it begins with those given now",
            folder.path.display()
        ));
    }
    let data = rows::open(settings, true, &mut console)?;
    check_rows(settings, &data, &mut console)?;
    let graph = pipeline::open_classifier(settings, &data, &mut console)?;
    let learner = pipeline::learner(settings, &data, graph)?;
    let folder = match earlier {
        Some(earlier) => earlier.folder,
        None => Folder::create(settings)?,
    };
    let training = TrainRun {
        settings,
        data: &data,
        folder: &folder.software(),
    };
    let stop = stop_flag()?;
    let trained = training.fit(&learner, &stop, &mut console)?;
    if trained.outcome.ending == Ending::Done {
        note_dead_outputs(settings, &learner, &data, &trained.outcome, &mut console)?;
    }
    let tested = save_graph(settings, &learner, &data, &trained, &mut console)?;
    let text = if args.output.json {
        json_text(&trained.facts)?
    } else {
        describe(settings, &folder, &trained, &tested)
    };
    Ok(Output {
        text,
        passed: trained.outcome.ending != Ending::Diverged,
        interrupted: trained.outcome.ending == Ending::Stopped,
    })
}

/// The file to test: the best checkpoint, or, when the graph is not the model's own, a file beside it that holds the graph
/// too. The last checkpoint gets one as well.
pub fn save_graph(
    settings: &Settings,
    learner: &Learner,
    data: &Dataset,
    trained: &Trained,
    console: &mut Console,
) -> Result<PathBuf> {
    let best = &trained.outcome.best;
    if !pipeline::is_changed(settings, &data.info, &learner.graph) || !best.exists() {
        return Ok(best.clone());
    }
    for checkpoint in [best.clone(), best.with_file_name("last.ckpt")] {
        let path = checkpoint.with_extension("mz");
        let is_done = trained.was_finished && path.exists();
        if checkpoint.exists() && !is_done {
            let weights = interop::checkpoint::read(&checkpoint, None)?.tensors;
            let graph = learner.trained(&weights)?;
            let file = passes::interface::graph_file(&graph, &Preparation::of(&data.info))?;
            write_file(&path, &file, console)?;
        }
    }
    Ok(best.with_extension("mz"))
}

/// Notes outputs of the best network that a last ReLU holds at zero on every validation row.
pub fn note_dead_outputs(
    settings: &Settings,
    learner: &Learner,
    data: &Dataset,
    outcome: &Outcome,
    console: &mut Console,
) -> Result<()> {
    let graph = &learner.graph;
    let verified = ir::verify(graph)?;
    let last = verified.output_values().first();
    let ends_in_relu = last.is_some_and(|last| matches!(graph.node(last.node).op, Op::Relu(_)));
    if !ends_in_relu || !outcome.best.exists() {
        return Ok(());
    }
    let mut network = pipeline::open_learner(settings, learner)?;
    let best = interop::checkpoint::read(&outcome.best, None)?;
    train::load_weights(&mut network, &best.tensors)?;
    let (_, outputs) = train::evaluate_outputs(&mut network, &data.val)?;
    let report = ClassReport::new(&data.info, &data.val, &outputs);
    if let Some(note) = report.and_then(|report| report.note(&verified)) {
        console.note(&note);
    }
    Ok(())
}

/// Refuses rows that cannot be learned as the settings want, and notes a batch larger than the training rows.
pub fn check_rows(settings: &Settings, data: &Dataset, console: &mut Console) -> Result<()> {
    settings.augment.check(data)?;
    let (batch, rows) = (settings.batch_size.get(), data.train.len());
    if batch > rows {
        let name = &data.info.name;
        console.note(&format!(
            "batch size {batch} is larger than the {rows} training rows of {name}: a batch is all of them"
        ));
    }
    Ok(())
}

/// An earlier run to go on with.
pub struct Resumed {
    /// The folder of the run.
    pub folder: Folder,
    /// False when it was killed before it had written any.
    has_settings: bool,
}

/// The earlier run that the settings name, if they do, with its settings under those that are given now.
pub fn earlier(settings: &mut Settings) -> Result<Option<Resumed>> {
    let path = match &settings.resume {
        Some(Resume::Latest) => Folder::latest(settings, train::CHECKPOINTS)?,
        Some(Resume::Folder(path)) => path.clone(),
        None => return Ok(None),
    };
    resume(settings, &path).map(Some)
}

/// Opens the folder of an earlier run, and puts its settings under those that are given now.
fn resume(settings: &mut Settings, path: &Path) -> Result<Resumed> {
    let folder = Folder::resume(path)?;
    let file = folder.software().join("run.json");
    let checkpoint = folder.software().join(train::CHECKPOINTS).join("last.ckpt");
    if !file.exists() && !checkpoint.exists() {
        if settings.model.is_none() || settings.dataset.is_none() {
            bail!(
                "{0} was stopped before its settings were written, so there is nothing to go on from; give its whole \
                 command again: ch train MODEL DATASET … --resume={0}",
                path.display()
            );
        }
        return Ok(Resumed {
            folder,
            has_settings: false,
        });
    }
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let facts: Json =
        serde_json::from_str(&text).with_context(|| format!("{} is damaged", file.display()))?;
    let Some(earlier) = facts["config"].as_object() else {
        bail!("{} has no settings, 'config'", file.display());
    };
    *settings = settings
        .over(earlier)
        .with_context(|| file.display().to_string())?;
    Ok(Resumed {
        folder,
        has_settings: true,
    })
}

/// The result for people.
fn describe(settings: &Settings, folder: &Folder, trained: &Trained, tested: &Path) -> String {
    let Trained {
        outcome,
        facts,
        profile,
        ..
    } = trained;
    let path = quoted(&folder.path.display().to_string());
    let steps = count(outcome.steps, "step");
    let head = match outcome.ending {
        Ending::Done if trained.was_finished => format!(
            "{} is finished: {}, {steps}; it goes on with more --max-epochs or --max-steps",
            folder.path.display(),
            count(outcome.epochs, "epoch"),
        ),
        Ending::Done => format!(
            "trained {}, {steps}, in {:.2} s",
            count(outcome.epochs, "epoch"),
            facts["seconds"].as_f64().unwrap_or_default()
        ),
        Ending::Stopped => format!("stopped after {steps}; go on with ch train --resume={path}"),
        Ending::Diverged => format!(
            "diverged: the loss is no longer a finite number after {steps}; try a smaller --learning-rate"
        ),
    };
    let best = match outcome.best_loss {
        Some(loss) => format!("best: val_loss_epoch {loss:.4}, {}", outcome.best.display()),
        None => "no epoch was completed, so there is no best.ckpt".to_owned(),
    };
    let next = match outcome.ending {
        Ending::Done => format!("test it: {}\n", test_command(settings, "MODEL", tested)),
        _ => String::new(),
    };
    let profile = profile.as_ref().map(|table| format!("\n{table}"));
    let profile = profile.unwrap_or_default();
    format!("{head}\n{best}\n{next}{profile}")
}
