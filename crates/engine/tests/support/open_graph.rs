//! Graphs under construction: the values of a graph that has no output yet.

use ir::{Graph, Node, NodeId, Type, Value, verify};

/// The graph with an output after its last node.
pub fn closed(graph: &Graph) -> Graph {
    let mut closed = graph.clone();
    let last = NodeId(graph.nodes().len() as u32 - 1);
    let op = ir::ops::placeholder::Output {};
    closed.push(Node::new("output", "", op, &[last.into()]));
    closed
}

/// Every value of an unfinished graph with its type; none when it breaks a rule.
pub fn values(graph: &Graph) -> Vec<(Value, Type)> {
    let closed = closed(graph);
    let Ok(verified) = verify(&closed) else {
        return Vec::new();
    };
    let outputs = |node: NodeId| {
        let types = verified.outputs(node).iter().enumerate();
        let values = types.map(|(output, ty)| {
            let output = output as u16;
            (Value { node, output }, ty.clone())
        });
        values.collect::<Vec<_>>()
    };
    graph.iter().flat_map(|(id, _)| outputs(id)).collect()
}
