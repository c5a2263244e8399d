//! ONNX networks as graphs.
//!
//! [`OPERATORS`] is the table of what is read: operator, versions, reader. What it does not hold, or holds with other attributes,
//! stays in the graph as `opaque`, so that a network with an unknown operator can still be shown, counted and written back.

mod attributes;
mod call;
mod export;
pub(crate) mod grid;
mod import;
mod notes;
mod readers;
mod table;
mod types;

pub use export::{ExportOptions, ExportProblem, OPSETS, QONNX_DOMAIN, Style, export};
pub(crate) use notes::Notes;
pub use table::{Entry, OPERATORS};

use crate::constant::Array;
use crate::error::{ExchangeError, ImportProblem};
use interop::onnx::Model;
use ir::Graph;
use std::collections::BTreeMap;
use std::path::Path;

/// The choices of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Makes the fixed first axis of every input the batch.
    pub batch_axis: bool,
    /// Inputs that are known: they become constants, and what depends on them alone is evaluated.
    pub fixed: BTreeMap<String, Array>,
}

/// A network that was read.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The graph with its parameters.
    pub graph: Graph,
    /// One sentence for every change that reading made.
    pub notes: Vec<String>,
}

/// Reads a network from a file.
///
/// # Errors
/// When the file cannot be read or its network makes no graph.
pub fn read(path: &Path, options: &ImportOptions) -> Result<Imported, ExchangeError> {
    let model = interop::onnx::read(path)?;
    import(&model, options).map_err(|problem| ExchangeError::Network {
        path: path.to_owned(),
        problem,
    })
}

/// The graph of a network.
///
/// # Errors
/// When the network makes no graph that obeys the rules.
pub fn import(model: &Model, options: &ImportOptions) -> Result<Imported, ImportProblem> {
    if let Some(graph) = export::read_source(&model.proto).filter(|_| options.fixed.is_empty()) {
        let notes = Vec::new();
        return Ok(Imported { graph, notes });
    }
    let imported = import::run(model, options)?;
    ir::verify(&imported.graph)?;
    Ok(imported)
}
