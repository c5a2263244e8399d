//! The tests that the package `onnx` brings along.

mod data;

pub use data::test_data;

use exchange::constant::{Array, Values};
use interop::onnx::{self, Element, Tensor};
use std::fs;
use std::path::Path;

/// The tensors of a data set in the order of their numbers; the reason where one cannot be read.
pub fn tensors(folder: &Path, stem: &str) -> Result<Vec<Tensor>, String> {
    let mut tensors = Vec::new();
    loop {
        let path = folder.join(format!("{stem}_{}.pb", tensors.len()));
        let Ok(bytes) = fs::read(&path) else {
            return Ok(tensors);
        };
        tensors.push(onnx::decode_tensor(bytes).map_err(|error| error.to_string())?);
    }
}

/// A tensor of a file as a constant of the import.
pub fn array(tensor: &Tensor) -> Array {
    let values = match &tensor.values {
        onnx::Values::Floats(values) => Values::F32(values.clone()),
        onnx::Values::Ints(values) if tensor.element == Element::Bool => {
            Values::Bool(values.iter().map(|&value| value != 0).collect())
        }
        onnx::Values::Ints(values) => Values::I64(values.clone()),
    };
    Array::new(tensor.shape.clone(), values)
}

/// True for a tensor whose integers a graph cannot hold, as it computes in floats.
pub fn exceeds_floats(tensor: &Tensor) -> bool {
    match &tensor.values {
        onnx::Values::Floats(_) => false,
        onnx::Values::Ints(values) => values.iter().any(|value| value.unsigned_abs() > 1 << 24),
    }
}
