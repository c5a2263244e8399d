//! Errors of training.

use crate::Augment;
use crate::identity::{self, Change};
use std::io;
use std::path::{Path, PathBuf};

/// An error that keeps training from starting or going on.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The engine refuses.
    #[error(transparent)]
    Engine(#[from] engine::EngineError),
    /// The graph of a checkpoint cannot be run.
    #[error(transparent)]
    Network(#[from] engine::NetworkError),
    /// A checkpoint cannot be read or written.
    #[error(transparent)]
    Checkpoint(#[from] interop::InteropError),
    /// A checkpoint does not fit the network.
    #[error(transparent)]
    Weights(#[from] models::weights::LoadError),
    /// A log cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A log cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A log that is not one, or no longer.
    #[error("{}: line {line} {problem}; correct it, or remove the file to go on without the earlier lines", .path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// The line, from one.
        line: usize,
        /// The problem with it.
        problem: String,
    },
    /// A split without rows.
    #[error("dataset {dataset} has no {split} rows")]
    Empty {
        /// The dataset.
        dataset: String,
        /// `training`, `validation` or `test`.
        split: &'static str,
    },
    /// Rows that the network cannot take.
    #[error("dataset {dataset} has rows of {got} values, but the network takes {expected}")]
    Width {
        /// The dataset.
        dataset: String,
        /// Values of a row.
        got: usize,
        /// Values of the network's input.
        expected: usize,
    },
    /// Rows that cannot be augmented so.
    #[error("augment {augment} {reason}")]
    Augment {
        /// The changes asked for.
        augment: Augment,
        /// The reason, and the way out.
        reason: String,
    },
    /// A checkpoint of a run with other rows or other arithmetic.
    #[error("{}", identity::sentence(.path, .changes))]
    Changed {
        /// The checkpoint.
        path: PathBuf,
        /// The values that differ.
        changes: Vec<Change>,
    },
    /// A checkpoint that a run cannot go on from.
    #[error("{}: cannot go on from this checkpoint: {why}", .path.display())]
    Resume {
        /// The checkpoint.
        path: PathBuf,
        /// The part that is missing or different.
        why: String,
    },
}

impl TrainError {
    /// Makes an error of writing of the system's error.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}
