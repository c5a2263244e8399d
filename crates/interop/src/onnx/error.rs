//! Problems of an ONNX file.

use super::MAX_BYTES;
use crate::OverBudget;
use std::io;

/// A problem of an ONNX file.
#[derive(Debug, thiserror::Error)]
pub enum OnnxProblem {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file needs more memory than it may take.
    #[error(transparent)]
    Budget(#[from] OverBudget),
    /// The file is larger than [`MAX_BYTES`].
    #[error("has more than the {MAX_BYTES} bytes that are read")]
    TooLarge,
    /// The bytes are not messages of ONNX.
    #[error("is not ONNX or is cut off: {0}")]
    Decode(#[from] prost::DecodeError),
    /// The file ends within a field, or a field has no meaning.
    #[error("is not ONNX or is cut off: byte {0} starts no field")]
    Field(usize),
    /// The file is a zip archive.
    #[error(
        "is not ONNX but a zip archive, as PyTorch writes; an exported program has the ending .pt2, weights have .pt"
    )]
    Archive,
    /// The messages are nested too deeply.
    #[error("has messages nested deeper than {0}")]
    Depth(usize),
    /// The file has no graph.
    #[error("is not an ONNX network: it has no graph")]
    NoGraph,
    /// A tensor cannot be read.
    #[error("tensor '{name}': {message}")]
    Tensor {
        /// Its name.
        name: String,
        /// The problem.
        message: String,
    },
}

impl OnnxProblem {
    /// A tensor that cannot be read.
    pub(super) fn tensor(name: &str, message: impl Into<String>) -> Self {
        Self::Tensor {
            name: name.to_owned(),
            message: message.into(),
        }
    }
}
