//! Problems of a file of weights.

use crate::OverBudget;
use crate::checkpoint::{Kind, MAX_BYTES};
use std::path::PathBuf;
use std::{fmt, io};

/// A file that cannot be read or written, with its problem.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct FileError<P: fmt::Debug + fmt::Display> {
    /// The file.
    pub path: PathBuf,
    /// The problem.
    pub problem: P,
}

/// A checkpoint that cannot be read or written.
pub type InteropError = FileError<Problem>;

/// A problem of a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file needs more memory than it may take.
    #[error(transparent)]
    Budget(#[from] OverBudget),
    /// The file is larger than [`MAX_BYTES`].
    #[error("has more than the {MAX_BYTES} bytes that are read")]
    TooLarge,
    /// The file is none of the kinds that are read.
    #[error(
        "is not a checkpoint: it is neither a PyTorch file, safetensors nor .mz, and starts with {start}"
    )]
    Unknown {
        /// The first bytes, printable.
        start: String,
    },
    /// The file is of another kind than the one asked for.
    #[error("is {found}, not {asked}")]
    Kind {
        /// The format that the caller expects.
        asked: Kind,
        /// The format of the file.
        found: Kind,
    },
    /// The file was written by a later version of this program.
    #[error("has .mz version {got}; up to version {known} is read")]
    Version {
        /// The version in the file.
        got: u64,
        /// The newest that is known.
        known: u64,
    },
    /// A part of the file is not what it should be.
    #[error("{part}: {message}")]
    Part {
        /// The entry of the archive, the stream or the tensor.
        part: String,
        /// The problem.
        message: String,
    },
    /// A pickle stream is broken.
    #[error("{part}, byte {at}: {message}")]
    Pickle {
        /// The stream.
        part: String,
        /// Offset in it.
        at: usize,
        /// The problem.
        message: String,
    },
    /// The file is the original's `.mz`, the pickled metadata of a graph.
    #[error("holds no weights: it is the original's metadata of a graph; load {weights}")]
    Metadata {
        /// The file that the original writes beside it.
        weights: String,
    },
    /// The file is no zip archive, which exported programs are.
    #[error(
        "is no exported program: torch.export.save writes a zip archive, and this file starts with {start}; if it is an ONNX \
         network, give it the ending .onnx"
    )]
    NoProgram {
        /// The first bytes, printable.
        start: String,
    },
    /// The file has no tensors where a checkpoint has them.
    #[error("holds no tensors: {0}")]
    NoTensors(String),
}

impl Problem {
    /// A part of the file that is not what it should be.
    pub(crate) fn part(part: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Part {
            part: part.into(),
            message: message.into(),
        }
    }

    /// The same problem, with the tensor it concerns.
    pub(crate) fn of_tensor(self, name: &str) -> Self {
        match self {
            Self::Part { part, message } => Self::Part {
                part: format!("{name}: {part}"),
                message,
            },
            other => other,
        }
    }
}
