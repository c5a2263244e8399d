//! Running a graph on tensors of a file.

use engine::{Input, Network, PlanOptions};
use interop::onnx::{self, Tensor};
use ir::{DType, Graph, Op};

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
