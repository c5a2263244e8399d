//! Inputs for graphs, and the difference of results.

use interop::onnx::{Element, Tensor, Values};
use ir::{DType, Graph, Op};
use random::Random;

/// Random inputs of a graph for some rows.
pub fn inputs(graph: &Graph, rows: usize) -> Vec<Tensor> {
    let verified = ir::verify(graph).unwrap();
    let mut tensors = Vec::new();
    for (id, node) in graph.iter() {
        let Op::Placeholder(op) = &node.op else {
            continue;
        };
        let shape = verified.ty(id.into()).shape.bind(rows).unwrap();
        let random = Random::new(7, &node.name);
        let n = shape.iter().product::<usize>() as u64;
        let (element, values) = if op.dtype == DType::F32 {
            let values = (0..n).map(|k| 2.0 * random.uniform(k) - 1.0).collect();
            (Element::F32, Values::Floats(values))
        } else {
            let values = (0..n).map(|k| i64::from(random.uniform(k) > 0.5)).collect();
            (Element::I64, Values::Ints(values))
        };
        tensors.push(Tensor {
            name: node.name.clone(),
            shape,
            element,
            values,
        });
    }
    tensors
}

/// The difference that sums in another order make, relative to the largest value; NaN where one alone is.
pub fn difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len(), "results have as many elements");
    let scale = b.iter().fold(1e-6_f32, |max, x| max.max(x.abs()));
    let differences = a
        .iter()
        .zip(b)
        .map(|(a, b)| if a == b { 0.0 } else { (a - b).abs() });
    largest(differences) / scale
}

/// The largest of some numbers; NaN if one of them is.
pub fn largest(numbers: impl Iterator<Item = f32>) -> f32 {
    numbers.fold(0.0, |max: f32, x| {
        if x.is_nan() || max.is_nan() {
            f32::NAN
        } else {
            max.max(x)
        }
    })
}
