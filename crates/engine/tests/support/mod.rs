//! What the engine's tests share: reference files, comparisons, one-operator graphs.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test binary uses a part, and a test may panic"
)]

pub mod batch;

use ir::{Graph, Node, Op, Shape, Tensor, Value};
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file of the shared reference vectors, or `None` with a word where they are not at hand.
pub fn shared(name: &str) -> Option<Vec<u8>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden")
        .join(name);
    let bytes = std::fs::read(&path).ok();
    if bytes.is_none() {
        eprintln!("skipped: no reference vectors at {}", path.display());
    }
    bytes
}

/// A named array of a reference file.
#[derive(Clone, Debug)]
pub struct Array {
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
    /// Set for integer arrays.
    pub integers: Option<Vec<i64>>,
    /// True for truth values.
    pub is_bool: bool,
}

/// All arrays of a safetensors file.
pub fn arrays(bytes: &[u8]) -> BTreeMap<String, Array> {
    let file = SafeTensors::deserialize(bytes).expect("a safetensors file");
    let read = |view: safetensors::tensor::TensorView| {
        let data = view.data();
        let integers = (view.dtype() == Dtype::I64).then(|| {
            data.chunks_exact(8)
                .map(|b| i64::from_le_bytes(b.try_into().unwrap()))
                .collect::<Vec<_>>()
        });
        let is_bool = view.dtype() == Dtype::BOOL;
        let values = match &integers {
            Some(integers) => integers.iter().map(|&i| i as f32).collect(),
            None if is_bool => data.iter().map(|&b| f32::from(b)).collect(),
            None => data
                .chunks_exact(4)
                .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
                .collect(),
        };
        Array {
            shape: view.shape().to_vec(),
            values,
            integers,
            is_bool,
        }
    };
    file.tensors()
        .into_iter()
        .map(|(name, view)| (name, read(view)))
        .collect()
}

/// The largest difference, relative to the largest expected value.
pub fn relative_error(got: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(got.len(), expected.len(), "lengths differ");
    let scale = expected
        .iter()
        .filter(|v| v.is_finite())
        .fold(0.0_f64, |m, &v| m.max(f64::from(v).abs()));
    let worst = got.iter().zip(expected).fold(0.0_f64, |m, (&a, &b)| {
        // Equal ones have no difference, infinite ones and NaN among them.
        let is_same = a == b || (a.is_nan() && b.is_nan());
        let d = if is_same {
            0.0
        } else {
            (f64::from(a) - f64::from(b)).abs()
        };
        if d.is_nan() { f64::INFINITY } else { m.max(d) }
    });
    if worst == 0.0 {
        0.0
    } else {
        worst / scale.max(1e-30)
    }
}

/// A graph of one operator on inputs of fixed shapes, all results returned.
pub fn single(op: Op, inputs: &[(Vec<usize>, ir::DType)], params: &[(&str, Tensor)]) -> Graph {
    let mut graph = Graph::new("single");
    let mut values: Vec<Value> = Vec::new();
    for (i, (shape, dtype)) in inputs.iter().enumerate() {
        let op = ir::ops::placeholder::Placeholder {
            shape: Shape::of(shape),
            dtype: *dtype,
        };
        values.push(graph.push(Node::new(&format!("x{i}"), "", op, &[])).into());
    }
    let mut node = Node::new("op", "op", op, &values);
    for (name, tensor) in params {
        node.params.insert((*name).to_owned(), tensor.clone());
    }
    let id = graph.push(node);
    let op = ir::ops::placeholder::Output {};
    graph.push(Node::new("output", "", op, &[id.into()]));
    graph
}
