//! Errors between a name and a dataset.

use interop::columns::TableError;
use interop::npy::NpyError;
use std::io;
use std::path::PathBuf;

/// A dataset that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// No dataset has this name.
    #[error("unknown dataset '{name}'{hint}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The nearest names there are, or how a file is named.
        hint: String,
    },
    /// A dataset of the original, with the reason why it is not here.
    #[error("{0}")]
    NotHere(String),
    /// The files are not there, and cannot be fetched.
    #[error(transparent)]
    Missing(Box<Missing>),
    /// A file cannot be read as a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A file cannot be read as an array.
    #[error(transparent)]
    Array(#[from] NpyError),
    /// A file is readable, but not what this dataset needs.
    #[error("{}: {message}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The problem.
        message: String,
    },
    /// Rows that the inputs of a network cannot be fed with.
    #[error("{dataset}: {message}")]
    Inputs {
        /// The dataset.
        dataset: String,
        /// The problem.
        message: String,
    },
    /// A file cannot be fetched.
    #[error("{url}: {message}")]
    Download {
        /// Its address.
        url: String,
        /// The reason.
        message: String,
    },
    /// The system refused.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
}

/// A dataset whose files are not there, and the way out.
#[derive(Debug, thiserror::Error)]
#[error(
    "dataset '{name}' needs {files}, which is not in {looked_in}{why}; {advice}, or use {instead}"
)]
pub struct Missing {
    /// The dataset.
    pub name: String,
    /// The files that were not found.
    pub files: String,
    /// The folders that were looked in.
    pub looked_in: String,
    /// The reason why they were not fetched.
    pub why: String,
    /// The remedy.
    pub advice: String,
    /// The generated dataset that is always there.
    pub instead: &'static str,
}
