//! The nodes of the page: what they are, what they cost, and what has changed.

use super::numbers::{count, number, optional};
use crate::cost::{NodeCost, explain_bit_ops, formats, node_cost, port_sizes, shapes};
use ir::{Graph, Node, NodeId, Verified};
use serde_json::{Map, Value as Json, json};

/// The batch that costs are counted for.
pub(super) const BATCH: usize = 1;

/// The cost of a node.
#[derive(Clone, Copy, Default)]
pub(super) struct Cost {
    pub counted: NodeCost,
    /// Mean bits of the elements of its ports.
    pub bits: Option<f64>,
}

impl Cost {
    pub fn of(verified: &Verified, id: NodeId) -> Self {
        let sizes = port_sizes(verified, id, BATCH).unwrap_or_default();
        let elements: usize = sizes.iter().map(|size| size.elements).sum();
        let bits: f64 = sizes
            .iter()
            .map(|size| size.elements as f64 * size.bits)
            .sum();
        Self {
            counted: node_cost(verified, id, BATCH).unwrap_or_default(),
            bits: (elements > 0).then(|| bits / elements as f64),
        }
    }

    /// Bytes of parameters.
    pub fn bytes(&self) -> u128 {
        self.counted.weight_bits.div_ceil(8)
    }

    fn to_json(self) -> Map<String, Json> {
        let mut entries = Map::new();
        let mut add = |name: &str, value: Json| entries.insert(name.to_owned(), value);
        add("bits", optional(self.bits));
        add("parameters", count(self.counted.parameters.into()));
        add("bytes", count(self.bytes()));
        add("macs", count(self.counted.macs.into()));
        add("bitops", count(self.counted.bit_ops));
        entries
    }
}

/// The colour of an operator.
pub(super) fn kind(op: &str) -> &'static str {
    let has = |parts: &[&str]| parts.iter().any(|part| op.contains(part));
    match op {
        "placeholder" | "constant" => "input",
        "output" => "output",
        _ if has(&["norm"]) => "norm",
        _ if has(&["conv", "linear", "matmul", "bmm", "attention", "embedding"]) => "product",
        _ if has(&["pool", "mean"]) => "pool",
        _ if has(&[
            "relu", "gelu", "sigmoid", "tanh", "softmax", "swish", "silu", "elu", "clamp", "exp",
            "dropout",
        ]) =>
        {
            "activation"
        }
        _ if has(&["add", "sub", "mul", "div", "neg", "sqrt", "pow"]) => "arithmetic",
        _ => "shape",
    }
}

/// A node of the page, without what other nodes decide.
pub(super) fn entry(verified: &Verified, id: NodeId, cost: Cost) -> Map<String, Json> {
    let graph: &Graph = verified.graph();
    let node: &Node = graph.node(id);
    let shape = shapes(verified, id, BATCH).unwrap_or_default();
    let shape = shape.first().map_or_else(String::new, |sizes| {
        let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        sizes.join("×")
    });
    let ports: Vec<Json> = formats(node)
        .into_iter()
        .map(|(port, format)| json!({ "port": port, "format": format.to_string(), "before": null }))
        .collect();
    let attributes: Vec<Json> = node
        .op
        .attributes()
        .into_iter()
        .map(|(name, value)| json!([name, value.to_string()]))
        .collect();
    let mut entries = cost.to_json();
    let mut add = |name: &str, value: Json| entries.insert(name.to_owned(), value);
    add("name", json!(node.name));
    add("op", json!(node.op.name()));
    add("kind", json!(kind(node.op.name())));
    add(
        "target",
        Some(&node.target)
            .filter(|t| !t.is_empty())
            .map_or(Json::Null, |t| json!(t)),
    );
    add("shape", json!(shape));
    add("state", json!("same"));
    add("formats", json!(ports));
    add("text", json!(graph.statement(id)));
    add("attributes", json!(attributes));
    add("before", Json::Null);
    add(
        "cost",
        json!(
            explain_bit_ops(verified, id, BATCH)
                .filter(|cost| cost != "0")
                .unwrap_or_default()
        ),
    );
    add("sparsity", optional(sparsity(node)));
    add("sqnr", Json::Null);
    add("error", Json::Null);
    add("time", Json::Null);
    add("changes", json!([]));
    entries
}

/// The share of weights that are zero or masked.
fn sparsity(node: &Node) -> Option<f64> {
    let weight = node.params.get("weight")?.values();
    let mask = node.masks.get("weight");
    let is_zero = |(at, value): (usize, &f32)| {
        *value == 0.0 || mask.is_some_and(|mask| mask.values().get(at) == Some(&0.0))
    };
    let zeros = weight
        .iter()
        .enumerate()
        .filter(|&pair| is_zero(pair))
        .count();
    (!weight.is_empty()).then(|| zeros as f64 / weight.len() as f64)
}

/// Writes into a node what it was before, and what has changed.
pub(super) fn mark_changes(
    entries: &mut Map<String, Json>,
    [before, after]: [&Node; 2],
    cost: Cost,
) {
    let mut changes = Vec::new();
    let (old, new) = (formats(before), formats(after));
    let find = |list: &[(&String, &format::Format)], port: &str| {
        let found = list.iter().find(|(known, _)| *known == port);
        found.map(|(_, format)| format.to_string())
    };
    let mut ports: Vec<&String> = new.iter().chain(&old).map(|(port, _)| *port).collect();
    ports.sort();
    ports.dedup();
    let float = || "float32".to_owned();
    let shown: Vec<Json> = ports
        .into_iter()
        .map(|port| {
            let was = find(&old, port).unwrap_or_else(float);
            let is = find(&new, port).unwrap_or_else(float);
            let differs = was != is;
            if differs {
                changes.push(format!("{port}: {was} became {is}"));
            }
            json!({ "port": port, "format": is, "before": differs.then_some(was) })
        })
        .collect();
    entries.insert("formats".to_owned(), json!(shown));
    if before.op != after.op {
        let [was, is] = [before, after].map(|node| ir::torch_repr(&node.op));
        changes.push(format!("{was} became {is}"));
    }
    let weights = |node: &Node| {
        node.params
            .get("weight")
            .map(|tensor| tensor.values().to_vec())
    };
    if weights(before) != weights(after) {
        changes.push("its weights have other values".to_owned());
    }
    if before.masks.len() != after.masks.len() {
        changes.push("its masks are others".to_owned());
    }
    entries.insert("before".to_owned(), Json::Object(cost.to_json()));
    if !changes.is_empty() {
        entries.insert("state".to_owned(), json!("changed"));
    }
    entries.insert("changes".to_owned(), json!(changes));
}

/// Writes the error of a node's result.
pub(super) fn mark_error(entries: &mut Map<String, Json>, error: &Json) {
    for (name, from) in [("sqnr", "sqnr_db"), ("error", "largest_error")] {
        let value = error[from].as_f64().map_or(Json::Null, number);
        entries.insert(name.to_owned(), value);
    }
}
