//! Two graphs side by side: formats, weights, and the error of every node on the same inputs.
//!
//! Nodes are matched by name. Errors are measured at the results of nodes that both have in the same shape: signal-to-quantisation-noise
//! ratio 10·log10(Σa²/Σ(a−b)²), cosine of the angle between the two, largest difference, and the share of values that
//! the second graph saturates at its data inputs.

mod distance;
mod measure;
mod outputs;

use crate::cost::formats;
use crate::{PassError, PassReport};
use data::Split;
use distance::Distance;
use ir::{Graph, Node, NodeId, Op, Verified, verify};
use measure::comparable;
use outputs::Outputs;
use report::Table;
use serde_json::{Value as Json, json};

/// The two graphs and what to run them on.
pub struct Compare<'a> {
    /// The first graph, and what to call it.
    pub a: (&'a str, &'a Graph),
    /// The second graph, and what to call it.
    pub b: (&'a str, &'a Graph),
    /// The same rows for both.
    pub rows: &'a Split,
    /// Threads that may be used.
    pub threads: usize,
}

/// A node of both graphs.
struct Pair<'a> {
    a: (NodeId, &'a Node),
    b: (NodeId, &'a Node),
    /// Nothing when the results have other shapes.
    distance: Option<Distance>,
    /// The share at rounded inputs of the second; nothing without such inputs.
    saturated: Option<f64>,
}

impl Pair<'_> {
    fn is_equal(&self) -> bool {
        self.distance.is_some_and(|distance| distance.is_zero())
    }

    /// The measures as they are, for programs.
    fn to_json(&self) -> Json {
        let of = |measure: fn(&Distance) -> f64| self.distance.as_ref().map(measure);
        json!({
            "node": self.a.1.name,
            "op": self.a.1.op.name(),
            "exact": self.is_equal(),
            "sqnr_db": self.distance.and_then(|distance| distance.sqnr()),
            "cosine": of(Distance::cosine),
            "largest_error": of(|distance| distance.largest),
            "saturated": self.saturated,
        })
    }
}

impl Compare<'_> {
    /// Everything that differs.
    pub fn report(&self) -> Result<PassReport, PassError> {
        let (a, b) = (verify(self.a.1)?, verify(self.b.1)?);
        let mut pairs = pairs(&[&a, &b]);
        let mut outputs = returned(&[&a, &b]);
        self.measure(&mut pairs, &mut outputs)?;
        let first = pairs.iter().find(|pair| !pair.is_equal());
        let parting = match first {
            Some(pair) => format!(
                "first node where the results part: {} ({})",
                pair.a.1.name,
                pair.a.1.op.name()
            ),
            None if pairs.is_empty() => "the graphs have no node in common".to_owned(),
            None => "all results of common nodes are equal to the bit".to_owned(),
        };
        let mut report = PassReport::default().with_table("nodes", node_table(&pairs));
        let changed = self.changes();
        if !changed.rows.is_empty() {
            report = report.with_table("changes", changed);
        }
        report = report
            .with_text(parting)
            .with_fact("first_difference", first.map(|pair| pair.a.1.name.clone()))
            .with_fact(
                "node_errors",
                pairs.iter().map(Pair::to_json).collect::<Json>(),
            );
        Ok(outputs.append(report, self))
    }

    /// Nodes that only one graph has, and operators that differ.
    fn changes(&self) -> Table {
        let mut table = Table::new(&["Node name", "A", "B"]);
        let (a, b) = (self.a.1, self.b.1);
        for node in a.nodes() {
            let other = b.nodes().iter().find(|other| other.name == node.name);
            match other {
                None => table.push([&node.name, node.op.name(), "-"]),
                Some(other) if other.op != node.op => {
                    table.push([
                        node.name.clone(),
                        ir::torch_repr(&node.op),
                        ir::torch_repr(&other.op),
                    ]);
                }
                Some(_) => {}
            }
        }
        for node in b
            .nodes()
            .iter()
            .filter(|node| a.nodes().iter().all(|other| other.name != node.name))
        {
            table.push([&node.name, "-", node.op.name()]);
        }
        table
    }
}

/// The nodes that both graphs have, by name.
fn pairs<'a>([a, b]: &[&'a Verified<'a>; 2]) -> Vec<Pair<'a>> {
    let has_result = |node: &Node| !matches!(node.op, Op::Output(_));
    let both = a.graph().iter().filter_map(|(id, node)| {
        let (other_id, other) = b
            .graph()
            .iter()
            .find(|(_, other)| other.name == node.name)
            .filter(|(_, other)| has_result(node) && has_result(other))?;
        Some(Pair {
            a: (id, node),
            b: (other_id, other),
            distance: comparable(&[a, b], [id.into(), other_id.into()]),
            saturated: None,
        })
    });
    both.collect()
}

/// The outputs of the graphs.
fn returned(graphs: &[&Verified; 2]) -> Outputs {
    let ids = graphs.map(|graph| NodeId(graph.graph().nodes().len() as u32 - 1));
    let values = [0, 1].map(|side| graphs[side].graph().node(ids[side]).inputs[0]);
    Outputs::new(ids, comparable(graphs, values))
}

fn node_table(pairs: &[Pair]) -> Table {
    let mut table = Table::new(&[
        "Node name",
        "Mase op",
        "Formats A",
        "Formats B",
        "Weights",
        "SQNR dB",
        "Cosine",
        "Largest error",
        "Saturated",
    ]);
    for pair in pairs {
        let of = |measure: fn(&Distance) -> String| {
            pair.distance
                .as_ref()
                .map_or_else(|| "-".to_owned(), measure)
        };
        table.push([
            pair.a.1.name.clone(),
            pair.a.1.op.name().to_owned(),
            listed(pair.a.1),
            listed(pair.b.1),
            weights(pair.a.1, pair.b.1),
            of(Distance::sqnr_text),
            of(|distance| format!("{:.6}", distance.cosine())),
            of(|distance| format!("{:.6}", distance.largest)),
            format!("{:.2}%", 100.0 * pair.saturated.unwrap_or(0.0)),
        ]);
    }
    table
}

fn listed(node: &Node) -> String {
    let shown = formats(node)
        .into_iter()
        .map(|(port, format)| format!("{port} {format}"));
    let text = shown.collect::<Vec<_>>().join(", ");
    if text.is_empty() {
        "float".to_owned()
    } else {
        text
    }
}

/// The differences of the parameters.
fn weights(a: &Node, b: &Node) -> String {
    if a.params.is_empty() && b.params.is_empty() {
        return String::new();
    }
    let mut largest = 0.0_f32;
    for (port, tensor) in &a.params {
        match b.params.get(port) {
            Some(other) if other.shape() == tensor.shape() => {
                let pairs = tensor.values().iter().zip(other.values());
                largest = pairs.map(|(a, b)| (a - b).abs()).fold(largest, f32::max);
            }
            _ => return format!("{port} differs in shape"),
        }
    }
    match b.params.keys().find(|port| !a.params.contains_key(*port)) {
        Some(port) => format!("{port} is new"),
        None if largest == 0.0 => "equal".to_owned(),
        None => format!("differ by up to {largest:.6}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_differ_by_the_largest_difference() {
        let text = "graph \"g\" { x: f32[N, 2] = placeholder
             l = linear(x) { target = \"l\", in_features = 2, out_features = 2 } return l }";
        let mut graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        graph.initialize(1);
        let before = graph.nodes()[1].clone();
        let mut after = before.clone();
        assert_eq!(weights(&before, &after), "equal");
        if let Some(weight) = after.params.get_mut("weight") {
            weight.values_mut()[1] += 0.25;
            weight.values_mut()[3] -= 0.5;
        }
        assert_eq!(weights(&before, &after), "differ by up to 0.500000");
        assert_eq!(weights(&graph.nodes()[0], &graph.nodes()[0]), "");
        let mut other = before.clone();
        let turned = ir::Tensor::filled(vec![1, 4], 0.0);
        other.params.insert("weight".to_owned(), turned);
        assert_eq!(weights(&before, &other), "weight differs in shape");
        after.params.remove("bias");
        assert_eq!(weights(&before, &after), "bias differs in shape");
        assert_eq!(weights(&after, &before), "bias is new");
    }
}
