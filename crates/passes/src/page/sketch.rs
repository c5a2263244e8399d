//! The drawing of nodes of which only names, operators and inputs are known: of a network before its shapes are.

use super::{drawn, nodes::kind};
use serde_json::{Map, Value as Json, json};

/// A node of a sketch.
#[derive(Clone, Debug, PartialEq)]
pub struct SketchNode {
    /// Its name.
    pub name: String,
    /// Its operator.
    pub op: String,
    /// The dotted name of its module, or nothing.
    pub target: String,
    /// The places of the nodes that it reads; only those before it are drawn.
    pub inputs: Vec<usize>,
}

/// The graph of a page that has nothing but the drawing of these nodes, which are in execution order.
pub fn sketch(name: &str, nodes: &[SketchNode]) -> Json {
    let mut edges = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let earlier = node.inputs.iter().filter(|&&from| from < at);
        edges.extend(earlier.map(|&from| (from, at)));
    }
    let entry = |node: &SketchNode| -> Map<String, Json> {
        let entries = [
            ("name", &node.name),
            ("op", &node.op),
            ("target", &node.target),
        ];
        let entries = entries.into_iter();
        let mut entries: Map<String, Json> = entries
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .collect();
        entries.insert("kind".to_owned(), json!(kind(&node.op)));
        entries
    };
    drawn(name, false, nodes.iter().map(entry).collect(), &edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_without_shapes_are_drawn_in_the_frames_of_their_modules() {
        let node = |name: &str, op: &str, target: &str, inputs: &[usize]| SketchNode {
            name: name.to_owned(),
            op: op.to_owned(),
            target: target.to_owned(),
            inputs: inputs.to_vec(),
        };
        let nodes = [
            node("x", "placeholder", "", &[]),
            node("a_0", "linear", "a.0", &[0, 9]),
            node("a_1", "my_own", "a.1", &[1]),
            node("output", "output", "", &[2, 3]),
        ];
        let graph = sketch("net", &nodes);
        let view = &graph["views"][0];
        assert_eq!(view["boxes"].as_array().map(Vec::len), Some(4));
        assert_eq!(view["edges"].as_array().map(Vec::len), Some(3));
        assert_eq!(graph["nodes"][1]["kind"], "product");
        let svg = report::page::svg(&graph, false);
        assert!(
            svg.contains(">my_own<") && svg.contains("<title>net</title>"),
            "{svg}"
        );
    }
}
