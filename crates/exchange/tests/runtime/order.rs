//! Results of the same program with sums in another order, and differences.

use crate::runtime::{self, Output, Run};
use crate::samples;

/// The results of another program for the same network and inputs.
pub fn outputs_of(program: &'static str, run: &Run) -> Option<Vec<Output>> {
    let run = Run {
        name: run.name.clone(),
        network: run.network.clone(),
        inputs: run.inputs.clone(),
        program,
    };
    Some(runtime::outputs(program, &[run])?.remove(0))
}

/// The difference of results from those that the program computes in another order: ONNX Runtime with optimisations, qonnx with products
/// in place of convolutions.
pub fn spread(run: &Run, outputs: &[Output]) -> Option<f32> {
    let another = match run.program {
        "qonnx" => "lowered",
        _ => "optimised",
    };
    Some(worst(outputs, &outputs_of(another, run)?))
}

/// The largest difference between any two results, relative to the largest element of the second.
pub fn worst(results: &[Output], others: &[Output]) -> f32 {
    let pairs = results.iter().zip(others);
    samples::largest(pairs.map(|(a, b)| samples::difference(&a.0, &b.0)))
}
