//! The start of a graph that is built node by node.

use ir::ops::placeholder::Placeholder;
use ir::{DType, Dim, Graph, Node, NodeId, Shape};

/// Pushes an input x of rows with `features` elements.
pub fn push_rows(graph: &mut Graph, features: usize) -> NodeId {
    let op = Placeholder {
        shape: Shape(vec![Dim::symbol("N"), features.into()]),
        dtype: DType::F32,
    };
    graph.push(Node::new("x", "", op, &[]))
}
