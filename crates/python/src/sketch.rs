//! Drawings of networks that are no graphs yet.

use passes::page::SketchNode;
use pyo3::prelude::*;

/// A drawing of nodes in execution order, as SVG. Each is a tuple of its name, its operator, the dotted name of its module and the
/// places of the nodes that it reads.
#[pyfunction]
pub fn sketch(py: Python, name: &str, nodes: Vec<(String, String, String, Vec<usize>)>) -> String {
    let nodes: Vec<SketchNode> = nodes
        .into_iter()
        .map(|(name, op, target, inputs)| SketchNode {
            name,
            op,
            target,
            inputs,
        })
        .collect();
    py.detach(|| report::page::svg(&passes::page::sketch(name, &nodes), false))
}
