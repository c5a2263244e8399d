//! Networks of the package `onnx`, and running a graph on its tensors.

use engine::{Input, Network, PlanOptions};
use exchange::constant::{Array, Values};
use interop::onnx::{self, Element, Tensor};
use ir::{DType, Graph, Op};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the package's test data, where it is installed.
pub fn test_data() -> Option<PathBuf> {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/onnx/lib");
    let versions = fs::read_dir(packages).ok()?.flatten();
    let data = versions.map(|entry| entry.path().join("site-packages/onnx/backend/test/data"));
    data.into_iter().find(|data| data.is_dir())
}

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

/// An output: its values and its sizes.
pub type Output = (Vec<f32>, Vec<usize>);

/// The outputs of a graph: their values and their sizes for this many rows.
pub fn run(graph: Graph, rows: usize, inputs: &[&Tensor]) -> Result<Vec<Output>, String> {
    let verified = ir::verify(&graph).map_err(|error| error.to_string())?;
    let shapes: Vec<Vec<usize>> = verified
        .output_values()
        .iter()
        .map(|&value| verified.ty(value).shape.bind(rows).unwrap_or_default())
        .collect();
    let placeholders = graph.nodes().iter().filter_map(|node| match &node.op {
        Op::Placeholder(op) => Some(op.dtype),
        _ => None,
    });
    let dtypes: Vec<DType> = placeholders.collect();
    let floats: Vec<Vec<f32>> = inputs.iter().map(|tensor| floats(tensor)).collect();
    let values: Vec<Input> = inputs
        .iter()
        .zip(&floats)
        .zip(&dtypes)
        .map(|((tensor, floats), dtype)| match (&tensor.values, dtype) {
            (onnx::Values::Ints(values), DType::I64 | DType::Bool) => Input::I64(values),
            _ => Input::F32(floats),
        })
        .collect();
    let mut network = Network::new(graph, 1).map_err(|error| error.to_string())?;
    let options = PlanOptions::eval(rows);
    let plan = network
        .run(options, &values)
        .map_err(|error| error.to_string())?;
    Ok(shapes
        .into_iter()
        .enumerate()
        .map(|(k, shape)| (plan.output(k), shape))
        .collect())
}

/// The values of a tensor as floats.
pub fn floats(tensor: &Tensor) -> Vec<f32> {
    match &tensor.values {
        onnx::Values::Floats(values) => values.clone(),
        onnx::Values::Ints(values) => values.iter().map(|&value| value as f32).collect(),
    }
}

/// True for a tensor whose integers a graph cannot hold, as it computes in floats.
pub fn exceeds_floats(tensor: &Tensor) -> bool {
    match &tensor.values {
        onnx::Values::Floats(_) => false,
        onnx::Values::Ints(values) => values.iter().any(|value| value.unsigned_abs() > 1 << 24),
    }
}
