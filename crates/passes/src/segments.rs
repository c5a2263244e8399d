//! A graph cut in front of some of its nodes, so that what comes before a change need not be run again.
//!
//! A cut is a place in execution order; the values that are made before it and read behind it cross it. A segment is a
//! graph of its own: placeholders for what crosses its first cut, the nodes between, results for what crosses the second.
//! Cuts stand only where the engine fuses nothing across, so that a segmented run gives the bits of a whole one; a law of
//! the tests holds it.

use format::Format;
use ir::ops::placeholder::{Output, Placeholder};
use ir::{DType, Dim, Graph, Node, NodeId, Op, Shape, Value, Verified};
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// Rows of a block, at least and at most.
const BLOCK: RangeInclusive<usize> = 16..=1024;
/// Elements of the operands and results of a node for one block: 1 MiB, what a second-level cache holds.
const BLOCK_ELEMENTS: usize = 1 << 18;

/// The nodes between two cuts.
#[derive(Clone, Debug)]
pub struct Segment {
    nodes: Range<usize>,
    /// Values live at the first cut, with their types.
    inputs: Vec<(Value, Placeholder)>,
    /// Values live at the second cut; of the last segment, what the graph returns.
    outputs: Vec<Value>,
    /// The marked nodes inside, by their index among all that are marked.
    pub marked: Vec<usize>,
}

/// Cuts a graph in front of every marked node where that is possible, and where at most so many elements of a row cross.
pub fn cut(verified: &Verified, marked: &[NodeId], max_elements: usize) -> Vec<Segment> {
    let graph = verified.graph();
    let end = graph.nodes().len();
    let mut places = vec![0];
    for id in marked {
        let place = id.index();
        let crossing = crossing(graph, place);
        let is_open = begins_layer(&graph.node(*id).op)
            && !graph.nodes()[place..].iter().any(is_placeholder)
            && crossing.iter().all(|&value| can_cross(verified, value))
            && elements(verified, &crossing) <= max_elements;
        if is_open && places.last() != Some(&place) {
            places.push(place);
        }
    }
    places.push(end);
    let segment = |pair: &[usize]| {
        let nodes = pair[0]..pair[1];
        let is_inside = |id: &NodeId| nodes.contains(&id.index());
        Segment {
            inputs: crossing(graph, nodes.start)
                .into_iter()
                .map(|value| (value, placeholder(verified, value)))
                .collect(),
            outputs: if nodes.end == end {
                verified.output_values().to_vec()
            } else {
                crossing(graph, nodes.end)
            },
            marked: (0..marked.len())
                .filter(|&index| is_inside(&marked[index]))
                .collect(),
            nodes,
        }
    };
    places.windows(2).map(segment).collect()
}

/// Elements of one row of some values.
fn elements(verified: &Verified, values: &[Value]) -> usize {
    let shapes = values.iter().map(|&value| &verified.ty(value).shape);
    shapes.map(row_elements).sum()
}

/// Elements for one row of a batch.
fn row_elements(shape: &Shape) -> usize {
    shape.bind(1).map_or(0, |dims| dims.iter().product())
}

/// The number of rows that go through the network together.
pub fn block_rows(verified: &Verified) -> usize {
    let width = |id: NodeId| {
        let inputs = verified.input_types(id).into_iter();
        let results = verified.outputs(id).iter();
        let read: usize = inputs.map(|ty| row_elements(&ty.shape)).sum();
        read + results.map(|ty| row_elements(&ty.shape)).sum::<usize>()
    };
    let widest = verified.graph().iter().map(|(id, _)| width(id)).max();
    // Whole vectors of rows.
    let rows = BLOCK_ELEMENTS / widest.unwrap_or(1).max(1) / 16 * 16;
    rows.clamp(*BLOCK.start(), *BLOCK.end())
}

/// Products begin what the engine may fuse into one step; norms and activations may be part of the step before them.
fn begins_layer(op: &Op) -> bool {
    matches!(
        op,
        Op::Linear(_) | Op::Conv1d(_) | Op::Conv2d(_) | Op::Matmul(_) | Op::Bmm(_)
    )
}

/// The values that are made before a place and read behind it; stored tensors are taken along instead.
fn crossing(graph: &Graph, place: usize) -> Vec<Value> {
    let behind = graph.nodes()[place..].iter().flat_map(|node| &node.inputs);
    let mut values: Vec<Value> = behind
        .filter(|value| value.node.index() < place && !is_stored(graph, value.node))
        .copied()
        .collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// The rows of a dataset are fed to the first segment.
fn is_placeholder(node: &Node) -> bool {
    matches!(node.op, Op::Placeholder(_))
}

fn is_stored(graph: &Graph, id: NodeId) -> bool {
    matches!(graph.node(id).op, Op::Constant(_))
}

/// Rows of floats can be handed from one plan to the next.
fn can_cross(verified: &Verified, value: Value) -> bool {
    let ty = verified.ty(value);
    let is_batch = |dim: &Dim| dim.fixed().is_none() && dim.bind(1) == Some(1);
    ty.dtype == DType::F32
        && ty.shape.0.first().is_some_and(is_batch)
        && ty.shape.0[1..].iter().all(|dim| dim.fixed().is_some())
}

fn placeholder(verified: &Verified, value: Value) -> Placeholder {
    let ty = verified.ty(value);
    Placeholder {
        shape: ty.shape.clone(),
        dtype: ty.dtype,
    }
}

impl Segment {
    /// True when a node lies between the cuts.
    pub fn contains(&self, id: NodeId) -> bool {
        self.nodes.contains(&id.index())
    }

    /// The number of values that cross the first cut.
    pub fn input_count(&self) -> usize {
        self.inputs.len()
    }

    /// The segment as a graph, its marked nodes with the given formats.
    pub fn graph(
        &self,
        whole: &Graph,
        formats: &BTreeMap<NodeId, BTreeMap<String, Format>>,
    ) -> Graph {
        let mut graph = Graph::new(&whole.name);
        let mut moved: BTreeMap<Value, Value> = BTreeMap::new();
        for (index, (value, op)) in self.inputs.iter().enumerate() {
            let id = graph.push(Node::new(&format!("crossing_{index}"), "", op.clone(), &[]));
            moved.insert(*value, id.into());
        }
        for index in self.nodes.clone() {
            let id = NodeId(index as u32);
            let mut node = whole.node(id).clone();
            if matches!(node.op, Op::Output(_)) {
                continue;
            }
            for input in &mut node.inputs {
                *input = place(&mut graph, whole, &mut moved, *input);
            }
            if let Some(formats) = formats.get(&id) {
                node.formats.clone_from(formats);
            }
            let new = graph.push(node);
            let outputs = whole
                .nodes()
                .iter()
                .flat_map(|node| &node.inputs)
                .filter(|value| value.node == id);
            moved.extend(outputs.map(|value| {
                (
                    *value,
                    Value {
                        node: new,
                        output: value.output,
                    },
                )
            }));
            moved.insert(id.into(), new.into());
        }
        let results: Vec<Value> = self
            .outputs
            .iter()
            .map(|&value| place(&mut graph, whole, &mut moved, value))
            .collect();
        graph.push(Node::new("output", "", Output {}, &results));
        graph
    }
}

/// The place of a value in the segment; a stored tensor is copied when it is first needed.
fn place(
    graph: &mut Graph,
    whole: &Graph,
    moved: &mut BTreeMap<Value, Value>,
    value: Value,
) -> Value {
    *moved
        .entry(value)
        .or_insert_with(|| graph.push(whole.node(value.node).clone()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_together_as_many_as_the_cache_holds() {
        let rows = |features: usize| {
            let text = format!(
                "graph \"g\" {{ x: f32[N, {features}] = placeholder y = relu(x) return y }}"
            );
            let graph = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
            block_rows(&ir::verify(&graph).unwrap_or_else(|error| panic!("{error}")))
        };
        assert_eq!(rows(4), 1024);
        assert_eq!(rows(512), 256);
        assert_eq!(rows(500), 256, "whole vectors");
        assert_eq!(rows(1 << 20), 16);
    }

    /// The places where a network is cut in front of all its nodes, with no more elements of a row than these crossing.
    fn cuts(statements: &str, max_elements: usize) -> Vec<(usize, usize)> {
        let text = format!("graph \"g\" {{ x: f32[N, 4] = placeholder {statements} }}");
        let graph = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        let verified = ir::verify(&graph).unwrap_or_else(|error| panic!("{error}"));
        let all: Vec<NodeId> = graph.iter().map(|(id, _)| id).collect();
        let segments = cut(&verified, &all, max_elements);
        for own in &segments {
            let marked: Vec<usize> = own.nodes.clone().collect();
            assert_eq!(own.marked, marked);
            assert_eq!(own.input_count(), own.inputs.len());
        }
        segments
            .iter()
            .map(|own| (own.nodes.start, own.nodes.end))
            .collect()
    }

    #[test]
    fn a_network_is_cut_in_front_of_its_products() {
        let layers = "a = linear(x) { in_features = 4, out_features = 6 }
            r = relu(a)
            b = linear(r) { in_features = 6, out_features = 3 }
            t = transpose(b) { dim0 = 0, dim1 = 1 }
            u = transpose(t) { dim0 = 0, dim1 = 1 }
            c = linear(u) { in_features = 3, out_features = 2 }
            return c";
        assert_eq!(cuts(layers, 100), [(0, 1), (1, 3), (3, 6), (6, 8)]);
        // Six values cross in front of the second layer, four and three of the others.
        assert_eq!(cuts(layers, 6), [(0, 1), (1, 3), (3, 6), (6, 8)]);
        assert_eq!(cuts(layers, 5), [(0, 1), (1, 6), (6, 8)]);
        assert_eq!(cuts(layers, 2), [(0, 8)]);
    }

    #[test]
    fn a_network_is_cut_only_where_rows_of_floats_cross() {
        let turned = "t = transpose(x) { dim0 = 0, dim1 = 1 }
            m = matmul(x, t)
            return m";
        assert_eq!(cuts(turned, 100), [(0, 4)]);
        let late = "a = linear(x) { in_features = 4, out_features = 4 }
            y: f32[N, 4] = placeholder
            b = linear(y) { in_features = 4, out_features = 4 }
            s = add(a, b)
            return s";
        assert_eq!(
            cuts(late, 100),
            [(0, 3), (3, 6)],
            "rows are fed to the first part"
        );
    }
}
