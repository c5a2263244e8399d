//! The program as a library: commands that take and give values instead of files and text. The Python package is made of it.
//!
//! Nothing here prints. What a command would note is among the results.

mod passes;
mod searching;
mod training;

pub use self::passes::{Applied, AppliedStep, Passes};
pub use crate::settings::Settings;
pub use searching::{SearchRequest, Searched, search};
pub use training::{Trained, epoch_line, train};

use crate::output::Console;
use crate::{checkpoints, classes, commands, pipeline, rows};
use ::data::{Dataset, Preparation};
use anyhow::Result;
use ir::Graph;
use serde_json::{Map, Value as Json};
use std::path::Path;

/// Settings by their keys in a file; all others have their defaults.
pub fn settings(values: &Map<String, Json>) -> Result<Settings> {
    Settings::of_keys(values)
}

/// The text of `ch explain`.
pub fn explain(word: &str) -> Result<String> {
    commands::explain::explain(word, false)
}

/// The names of a kind, as `ch list` prints them, each with one line about it.
pub fn names(kind: &str) -> Result<Vec<(String, String)>> {
    commands::list::words(kind)
}

/// The text of `ch show` for a batch of this size.
pub fn describe(graph: &Graph, batch: usize) -> Result<String> {
    commands::show::describe(&graph.name, graph, batch)
}

/// A network that was opened.
pub struct Opened {
    /// The network with its weights.
    pub graph: Graph,
    /// The preparation of the rows that it was trained on.
    pub preparation: Preparation,
    /// Things to note.
    pub notes: Vec<String>,
}

/// The network of a model, a file or a run, with its weights: those of `load_name`, its own, or those that it starts from by
/// the seed. `info` is that of a dataset that it is for.
pub fn open(settings: &Settings, info: Option<&::data::Info>) -> Result<Opened> {
    let model = settings.model.as_deref().unwrap_or_default();
    if settings.load_name.is_none() && checkpoints::is_weights(model) {
        let owner = checkpoints::owner(Path::new(model))?;
        return Ok(Opened {
            preparation: checkpoints::preparation(&owner.file)?,
            graph: owner.graph,
            notes: Vec::new(),
        });
    }
    let mut console = Console::recording();
    let mut graph = pipeline::open_graph(settings, info, &mut console)?;
    graph.initialize(settings.seed);
    Ok(Opened {
        graph,
        preparation: rows::preparation(settings)?,
        notes: console.take_notes(),
    })
}

/// Refuses a graph that cannot learn or score the classes of a dataset.
pub fn check_classifier(graph: &Graph, data: &Dataset) -> Result<Vec<String>> {
    let mut console = Console::recording();
    data.check_inputs(&ir::verify(graph)?)?;
    classes::check(&graph.name, graph, &data.info, &mut console)?;
    Ok(console.take_notes())
}

/// An error with its causes, as the program prints it.
pub fn sentence(error: &anyhow::Error) -> String {
    crate::chain(error)
}
