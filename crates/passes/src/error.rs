//! Errors of passes.

use config::Problem;
use std::path::PathBuf;

/// An error of a pass. The pass is named once, by whoever ran it.
#[derive(Debug, thiserror::Error)]
pub enum PassError {
    /// A node cannot have what the pass would give it.
    #[error("{node} ({op}): {message}")]
    Node {
        /// The node.
        node: String,
        /// Its operator.
        op: &'static str,
        /// The problem.
        message: String,
    },
    /// Keys of the config do not fit the graph.
    #[error("{}", .0.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("\n"))]
    Config(Vec<Problem>),
    /// The pass reads rows, and there is no dataset.
    #[error("needs rows of a dataset to run the network on; name one, for example jsc-sim")]
    NoData,
    /// The pass reads rows of a split that has none.
    #[error("the {split} rows of {dataset} are empty")]
    EmptySplit {
        /// The dataset.
        dataset: String,
        /// The split.
        split: &'static str,
    },
    /// The rows do not fit the network.
    #[error("rows have {got} values, but the network takes {expected}")]
    Width {
        /// Values of a row.
        got: usize,
        /// The values that the network takes.
        expected: usize,
    },
    /// The graph breaks rules.
    #[error(transparent)]
    Graph(#[from] ir::VerifyError),
    /// The graph cannot become hardware.
    #[error("{0}")]
    Hardware(String),
    /// The graph cannot be run.
    #[error(transparent)]
    Engine(#[from] engine::EngineError),
    /// A network cannot be made of the graph.
    #[error(transparent)]
    Network(#[from] engine::NetworkError),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] interop::InteropError),
    /// Weights do not fit the graph.
    #[error(transparent)]
    Weights(#[from] models::weights::LoadError),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// Anything else, in a sentence.
    #[error("{0}")]
    Refused(String),
}

impl PassError {
    /// A node that cannot have what the pass would give it.
    pub fn node(node: &ir::Node, message: impl Into<String>) -> Self {
        Self::Node {
            node: node.name.clone(),
            op: node.op.name(),
            message: message.into(),
        }
    }
}
