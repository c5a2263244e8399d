//! ONNX files: the messages of the published `onnx.proto`, their tensors, and data that lies beside the file.
//!
//! Nothing here knows a graph of ours. Payloads are windows on the bytes of the file, and the memory that the messages of a file
//! take is charged to its [`Budget`] before they are made.

mod element;
mod error;
mod external;
mod footprint;
#[rustfmt::skip]
pub mod proto;
mod tensor;

pub use element::Element;
pub use error::OnnxProblem;
pub use tensor::{Tensor, Values};

use crate::archive::ZIP_START;
use crate::{Budget, FileError, bounded};
use bytes::Bytes;
use prost::Message;
use proto::ModelProto;
use std::path::Path;

/// Larger files are refused: protocol buffers hold at most 2 GiB, and what is larger lies beside them.
pub const MAX_BYTES: u64 = 1 << 31;

/// A network as it stands in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The messages, with all external data in place.
    pub proto: ModelProto,
}

/// Reads a network with the tensors that lie beside it.
///
/// # Errors
/// When the file cannot be read, is not ONNX, or needs more memory than its size allows.
pub fn read(path: &Path) -> Result<Model, FileError<OnnxProblem>> {
    let read = || {
        let bytes = bounded::read(path, MAX_BYTES)?.ok_or(OnnxProblem::TooLarge)?;
        let mut proto = decode_proto(bytes.into())?;
        external::attach(&mut proto, path)?;
        Ok(Model { proto })
    };
    read().map_err(|problem| FileError {
        path: path.to_owned(),
        problem,
    })
}

/// The network that the bytes of a file are.
///
/// # Errors
/// When they are not ONNX, need more memory than their size allows, or name data beside a file.
pub fn decode(bytes: impl Into<Bytes>) -> Result<Model, OnnxProblem> {
    let proto = decode_proto(bytes.into())?;
    external::refuse(&proto)?;
    Ok(Model { proto })
}

/// A single tensor as the tests of the package `onnx` store it.
///
/// # Errors
/// When the bytes are not a tensor.
pub fn decode_tensor(bytes: impl Into<Bytes>) -> Result<Tensor, OnnxProblem> {
    let bytes = bytes.into();
    footprint::check(&bytes, footprint::TENSOR)?;
    let budget = Budget::of_size(bytes.len() as u64);
    Tensor::read(&proto::TensorProto::decode(bytes)?, &budget)
}

/// The bytes of a tensor on its own.
pub fn encode_tensor(proto: &proto::TensorProto) -> Vec<u8> {
    proto.encode_to_vec()
}

/// The bytes of a file with this network.
pub fn encode(proto: &ModelProto) -> Vec<u8> {
    proto.encode_to_vec()
}

/// The number of these bytes, with those of data beside the file.
pub fn encoded_len(proto: &ModelProto) -> usize {
    proto.encoded_len()
}

/// The bytes of a graph on its own.
pub fn encode_graph(proto: &proto::GraphProto) -> Vec<u8> {
    proto.encode_to_vec()
}

/// The graph that these bytes are.
///
/// # Errors
/// When they are none.
pub fn decode_graph(bytes: impl Into<Bytes>) -> Result<proto::GraphProto, OnnxProblem> {
    let bytes = bytes.into();
    footprint::check(&bytes, footprint::GRAPH)?;
    Ok(proto::GraphProto::decode(bytes)?)
}

fn decode_proto(bytes: Bytes) -> Result<ModelProto, OnnxProblem> {
    if bytes.starts_with(ZIP_START) {
        return Err(OnnxProblem::Archive);
    }
    footprint::check(&bytes, footprint::MODEL)?;
    let proto = ModelProto::decode(bytes)?;
    if proto.graph.is_none() {
        return Err(OnnxProblem::NoGraph);
    }
    Ok(proto)
}

#[cfg(test)]
mod tests;
