//! Edits keep a graph verified, and every graph that edits can make prints and parses back.

#[path = "samples/rows.rs"]
mod rows;

use format::{Format, Integer};
use ir::ops::activation::{Relu, Tanh};
use ir::ops::arithmetic::Add;
use ir::ops::cat::Chunk;
use ir::ops::linear::Linear;
use ir::ops::placeholder::Output;
use ir::{EditError, Graph, Node, NodeId, Op, Value, verify};
use proptest::prelude::*;
use rows::push_rows;
use std::collections::BTreeMap;

/// What to do, with numbers that pick where.
#[derive(Clone, Debug)]
enum Edit {
    /// A new node at a place, reading values before it.
    Insert { at: u32, kind: u8, reads: [u32; 2] },
    /// A new node behind another, whose readers then read the new one.
    Wrap { at: u32 },
    /// A node is removed, if nothing reads it.
    Remove { at: u32 },
    /// A node gets a format, a target and a new name.
    Decorate { at: u32, width: u32, target: String },
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        3 => (any::<u32>(), any::<u8>(), any::<[u32; 2]>())
            .prop_map(|(at, kind, reads)| Edit::Insert { at, kind, reads }),
        2 => any::<u32>().prop_map(|at| Edit::Wrap { at }),
        2 => any::<u32>().prop_map(|at| Edit::Remove { at }),
        2 => (any::<u32>(), 1_u32..24, "[ -~\\n\\t\"\\\\äλ]{0,8}")
            .prop_map(|(at, width, target)| Edit::Decorate { at, width, target }),
    ]
}

fn start() -> Graph {
    let mut graph = Graph::new("edits \"and\" \\ more\n");
    let x = push_rows(&mut graph, 4);
    graph.push(Node::new("output", "", Output {}, &[x.into()]));
    graph
}

/// A place between the placeholder and the output, both included as the ends of the range.
fn place(graph: &Graph, pick: u32) -> NodeId {
    NodeId(1 + pick % (graph.nodes().len() as u32 - 1))
}

fn new_op(kind: u8) -> (Op, usize) {
    match kind % 5 {
        0 => (Relu { inplace: true }.into(), 1),
        1 => (Tanh {}.into(), 1),
        2 => (Add { scalar: None }.into(), 2),
        3 => (
            Add {
                scalar: Some(f64::from(kind) / 7.0),
            }
            .into(),
            1,
        ),
        _ => (
            Linear {
                in_features: 4,
                out_features: 4,
                bias: kind > 100,
            }
            .into(),
            1,
        ),
    }
}

/// What every node reads, by name.
fn readings(graph: &Graph) -> BTreeMap<String, Vec<String>> {
    let name = |value: &Value| graph.node(value.node).name.clone();
    let nodes = graph.nodes().iter();
    nodes
        .map(|node| (node.name.clone(), node.inputs.iter().map(name).collect()))
        .collect()
}

fn apply(graph: &mut Graph, edit: Edit) {
    match edit {
        Edit::Insert { at, kind, reads } => {
            let at = place(graph, at);
            let (op, n_inputs) = new_op(kind);
            let inputs = reads.map(|pick| Value::from(NodeId(pick % at.0)));
            let name = graph.fresh_name("new");
            graph.insert(at, Node::new(&name, "", op, &inputs[..n_inputs]));
        }
        Edit::Wrap { at } => {
            let old = NodeId(place(graph, at).0 - 1);
            let name = graph.fresh_name("wrap");
            let node = Node::new(&name, "", Relu::default(), &[old.into()]);
            let new = graph.insert(NodeId(old.0 + 1), node);
            graph.replace_uses(old.into(), new.into());
            assert_eq!(graph.users(old.into()), [new]);
        }
        Edit::Remove { at } => {
            let id = NodeId(place(graph, at).0 - 1);
            if id.0 > 0 {
                let is_used = !graph.users(id.into()).is_empty();
                assert_eq!(graph.remove(id).is_err(), is_used);
            }
        }
        Edit::Decorate { at, width, target } => {
            let id = NodeId(place(graph, at).0 - 1);
            let name = graph.fresh_name("return");
            let has_params = !graph.node(id).param_specs().is_empty();
            let node = graph.node_mut(id);
            node.name = name;
            // two layers must not share their parameters' names
            node.target = if has_params { String::new() } else { target };
            let port = if id.0 == 0 { "data_out_0" } else { "data_in_0" };
            node.formats
                .insert(port.to_owned(), Format::Integer(Integer::new(width, 3)));
        }
    }
}

proptest! {
    #[test]
    fn edited_graphs_stay_good_and_print_and_parse_back(edits in prop::collection::vec(edit(), 0..40)) {
        let mut graph = start();
        for edit in edits {
            let before = readings(&graph);
            apply(&mut graph, edit.clone());
            if matches!(edit, Edit::Insert { .. } | Edit::Remove { .. }) {
                for (name, reads) in readings(&graph) {
                    prop_assert_eq!(before.get(&name).unwrap_or(&reads), &reads, "{}", name);
                }
            }
            prop_assert!(verify(&graph).is_ok(), "{edit:?}: {}", verify(&graph).unwrap_err());
        }
        let printed = graph.to_string();
        let again = Graph::parse(&printed);
        prop_assert!(again.is_ok(), "{printed}\n{}", again.unwrap_err());
        let again = again.unwrap();
        prop_assert_eq!(&again, &graph.without_params());
        prop_assert_eq!(again.to_string(), printed);
    }
}

#[test]
fn removing_what_is_read_is_refused_by_name() {
    let mut graph = start();
    let refused = graph.remove(NodeId(0));
    let expected = EditError::InUse {
        node: "x".to_owned(),
        user: "output".to_owned(),
    };
    assert_eq!(refused, Err(expected));
    assert_eq!(graph, start());
}

#[test]
fn every_result_of_a_node_has_its_own_readers() {
    let mut graph = start();
    let chunk = Chunk { chunks: 2, dim: 1 };
    let parts = graph.insert(
        NodeId(1),
        Node::new("parts", "", chunk, &[NodeId(0).into()]),
    );
    let second = Value {
        node: parts,
        output: 1,
    };
    let tail = graph.insert(NodeId(2), Node::new("tail", "", Relu::default(), &[second]));
    graph.replace_uses(NodeId(0).into(), tail.into());
    assert_eq!(graph.users(second), [tail]);
    assert!(graph.users(parts.into()).is_empty());
    assert_eq!(graph.node(NodeId(3)).inputs, [Value::from(tail)]);
    assert!(graph.to_string().contains("tail = relu(parts.1)"));
    verify(&graph).unwrap();
}

#[test]
fn a_variant_shares_the_tensors_it_does_not_change() {
    let mut graph = start();
    let linear = Linear {
        in_features: 4,
        out_features: 4,
        bias: true,
    };
    let fc = graph.insert(
        NodeId(1),
        Node::new("fc", "fc", linear, &[NodeId(0).into()]),
    );
    graph.initialize(7);
    let mut variant = graph.clone();
    variant
        .node_mut(fc)
        .params
        .get_mut("bias")
        .unwrap()
        .values_mut()[0] = 1.0;
    let shared = |port: &str| {
        let (a, b) = (&graph.node(fc).params[port], &variant.node(fc).params[port]);
        a.shares_values_with(b)
    };
    assert!(shared("weight"));
    assert!(!shared("bias"));
}
