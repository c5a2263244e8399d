//! The reasons why a network cannot be exchanged.

use interop::onnx::OnnxProblem;
use interop::{FileError, InteropError};
use ir::VerifyError;
use std::path::PathBuf;

/// A network that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The file itself.
    #[error(transparent)]
    File(#[from] FileError<OnnxProblem>),
    /// The file of an exported program.
    #[error(transparent)]
    Program(#[from] InteropError),
    /// The network in the file.
    #[error("{}: {problem}", .path.display())]
    Network {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: ImportProblem,
    },
}

/// A problem of a network that is read.
#[derive(Debug, thiserror::Error)]
pub enum ImportProblem {
    /// A message or a tensor of the file.
    #[error(transparent)]
    Onnx(#[from] OnnxProblem),
    /// An input that no graph has.
    #[error("input '{name}': {message}")]
    Input {
        /// Its name.
        name: String,
        /// The problem.
        message: String,
    },
    /// A node that can neither be read nor kept as it is.
    #[error("node '{node}' ({operator}): {message}")]
    Node {
        /// Its name, or that of its first result.
        node: String,
        /// Its operator.
        operator: String,
        /// The problem.
        message: String,
    },
    /// The graph as a whole.
    #[error("{0}")]
    Graph(String),
    /// The graph that comes of it breaks rules.
    #[error("the network does not make a valid graph: {}", first_violation(.0))]
    Rules(#[from] VerifyError),
}

fn first_violation(error: &VerifyError) -> String {
    let n = error.violations.len();
    let more = if n > 1 {
        format!(" (and {} more)", n - 1)
    } else {
        String::new()
    };
    let first = error.violations.first();
    first.map_or_else(String::new, |violation| format!("{violation}{more}"))
}
