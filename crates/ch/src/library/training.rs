//! Training a graph in memory.

use super::{Settings, check_classifier};
use crate::commands::train::fit::TrainRun;
use crate::commands::train::{self as command, progress};
use crate::output::{Console, Folder};
use crate::pipeline;
use anyhow::Result;
use data::Dataset;
use engine::Score;
use interop::checkpoint;
use ir::Graph;
use serde_json::Value as Json;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use train::{Ending, Event, Learner, Outcome, Stage};

/// The result of a training.
pub struct Trained {
    /// The graph with the weights of the lowest validation loss, or with the last ones when no epoch was completed.
    pub graph: Graph,
    /// The outcome of the loop.
    pub outcome: Outcome,
    /// The content of `run.json`.
    pub facts: Json,
    /// The folder of the run.
    pub folder: PathBuf,
    /// Things to note.
    pub notes: Vec<String>,
}

/// Trains a graph as `ch train` does, with its files.
pub fn train(
    mut settings: Settings,
    graph: Graph,
    data: &Dataset,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Trained> {
    settings.model.get_or_insert_with(|| graph.name.clone());
    let dataset = &mut settings.dataset;
    dataset.get_or_insert_with(|| data.info.name.clone());
    let earlier = command::earlier(&mut settings)?;
    let mut console = Console::recording();
    command::check_rows(&settings, data, &mut console)?;
    let mut notes = check_classifier(&graph, data)?;
    let learner = pipeline::learner(&settings, data, graph)?;
    let folder = match earlier {
        Some(earlier) => earlier.folder,
        None => Folder::create(&settings)?,
    };
    let software = folder.software();
    let run = TrainRun {
        settings: &settings,
        data,
        folder: &software,
    };
    let trained = run.fit_observed(&learner, stop, &mut console, on_event)?;
    let outcome = &trained.outcome;
    if outcome.ending == Ending::Done {
        command::note_dead_outputs(&settings, &learner, data, outcome, &mut console)?;
    }
    command::save_graph(&settings, &learner, data, &trained, &mut console)?;
    notes.extend(console.take_notes());
    Ok(Trained {
        graph: trained_graph(&learner, outcome)?,
        outcome: trained.outcome,
        facts: trained.facts,
        folder: folder.path.clone(),
        notes,
    })
}

fn trained_graph(learner: &Learner, outcome: &Outcome) -> Result<Graph> {
    let files = [&outcome.best, &outcome.last];
    match files.into_iter().find(|path| path.exists()) {
        Some(path) => Ok(learner.trained(&checkpoint::read(path, None)?.tensors)?),
        None => Ok(learner.graph.clone()),
    }
}

/// The line that `ch train` prints of an epoch.
pub fn epoch_line(stage: &Stage, train: Score, val: Score) -> String {
    progress::epoch_line(stage, train, val)
}
