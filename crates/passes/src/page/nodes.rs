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

/// The share of weights that are zero, as all are that a mask leaves out.
fn sparsity(node: &Node) -> Option<f64> {
    let weight = node.params.get("weight")?.values();
    let zeros = weight.iter().filter(|value| **value == 0.0).count();
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

#[cfg(test)]
mod tests {
    use super::*;
    use format::Format;
    use ir::Tensor;

    #[test]
    fn operators_have_the_colours_of_their_kinds() {
        for (wanted, ops) in [
            ("input", &["placeholder", "constant"][..]),
            ("output", &["output"]),
            ("norm", &["batch_norm2d", "layer_norm", "rms_norm"]),
            ("product", &["linear", "conv2d", "matmul", "embedding"]),
            ("pool", &["max_pool2d", "mean"]),
            ("activation", &["relu", "softmax", "dropout"]),
            ("arithmetic", &["add", "div", "sqrt"]),
            ("shape", &["flatten", "transpose", "cat"]),
        ] {
            for op in ops {
                assert_eq!(kind(op), wanted, "{op}");
            }
        }
    }

    fn graph() -> Graph {
        let text = "graph \"g\" { x: f32[N, 2, 3] = placeholder
            l = linear(x) { target = \"fc\", in_features = 3, out_features = 2, bias = false }
            return l }";
        let mut graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        graph.initialize(1);
        graph
    }

    fn of(graph: &Graph) -> Map<String, Json> {
        let verified = ir::verify(graph).unwrap_or_else(|error| panic!("{error}"));
        entry(&verified, NodeId(1), Cost::of(&verified, NodeId(1)))
    }

    #[test]
    fn a_node_is_shown_with_its_shape_its_cost_and_its_zeros() {
        let mut graph = graph();
        let weight = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let weight = Tensor::new(vec![2, 3], weight).unwrap_or_else(|| panic!("a tensor"));
        graph
            .node_mut(NodeId(1))
            .params
            .insert("weight".to_owned(), weight);
        let shown = of(&graph);
        assert_eq!(shown["shape"], "1×2×2");
        assert_eq!(shown["target"], "fc");
        assert_eq!(
            [&shown["parameters"], &shown["bytes"]],
            [&json!(6), &json!(24)]
        );
        assert_eq!([&shown["macs"], &shown["bits"]], [&json!(12), &json!(32)]);
        assert_eq!(
            shown["cost"],
            "C·(b_in·b_w + max(b_bias, b_in)) = 12·(32·32 + max(0, 32)) = 12672"
        );
        assert_eq!(shown["sparsity"], json!(0.1667));
        let mask = vec![0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        let mask = Tensor::new(vec![2, 3], mask).unwrap_or_else(|| panic!("a mask"));
        graph.node_mut(NodeId(1)).set_mask("weight", mask);
        assert_eq!(of(&graph)["sparsity"], json!(0.3333));
    }

    #[test]
    fn the_bits_of_a_node_are_the_mean_over_the_elements_of_its_ports() {
        let mut graph = graph();
        let format = Format::parse("integer(8, 4)").unwrap_or_else(|e| panic!("{e}"));
        let node = graph.node_mut(NodeId(1));
        node.formats.insert("weight".to_owned(), format);
        // 6 inputs and 4 results of 32 bits, 6 weights of 8.
        let shown = of(&graph);
        assert_eq!([&shown["bits"], &shown["bytes"]], [&json!(23), &json!(6)]);
    }

    /// The changes that a node shows after `change`.
    fn marked(change: impl Fn(&mut Node)) -> (Vec<Json>, Map<String, Json>) {
        let before = graph();
        let mut after = before.clone();
        change(after.node_mut(NodeId(1)));
        let mut entries = of(&before);
        let nodes = [&before, &after].map(|graph| graph.node(NodeId(1)));
        mark_changes(&mut entries, nodes, Cost::default());
        let changes = entries["changes"].as_array().cloned();
        (changes.unwrap_or_default(), entries)
    }

    #[test]
    fn what_has_changed_is_listed() {
        let (changes, entries) = marked(|_| {});
        assert_eq!((changes.len(), &entries["state"]), (0, &json!("same")));
        assert_eq!(entries["before"]["macs"], 0);
        let (changes, entries) = marked(|node| {
            let format = Format::parse("integer(8, 4)").unwrap_or_else(|e| panic!("{e}"));
            node.formats.insert("weight".to_owned(), format);
        });
        assert_eq!(changes, ["weight: float32 became integer(8, 4)"]);
        let ports = json!([{ "port": "weight", "format": "integer(8, 4)", "before": "float32" }]);
        assert_eq!(
            (&entries["formats"], &entries["state"]),
            (&ports, &json!("changed"))
        );
        let (changes, _) = marked(|node| {
            if let Some(weight) = node.params.get_mut("weight") {
                weight.values_mut()[0] += 1.0;
            }
        });
        assert_eq!(changes, ["its weights have other values"]);
        let (changes, _) = marked(|node| {
            let mask = Tensor::filled(vec![2, 3], 1.0);
            node.masks.insert("weight".to_owned(), mask);
        });
        assert_eq!(changes, ["its masks are others"]);
        let (changes, _) = marked(|node| node.op = ir::ops::placeholder::Output {}.into());
        assert!(
            changes[0]
                .as_str()
                .is_some_and(|text| text.contains("became"))
        );
    }

    #[test]
    fn the_error_of_a_node_has_four_digits_and_may_be_missing() {
        let mut entries = Map::new();
        mark_error(
            &mut entries,
            &json!({ "sqnr_db": 12.345_67, "largest_error": null }),
        );
        assert_eq!(
            Json::Object(entries),
            json!({ "sqnr": 12.35, "error": null })
        );
    }
}
