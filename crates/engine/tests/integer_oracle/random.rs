//! Random graphs in which every operand is fixed point.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/open_graph.rs"]
mod open_graph;
#[path = "stored.rs"]
mod stored;
#[path = "../support/stored_fields.rs"]
mod stored_fields;

use format::Format;
use ir::{DType, Graph, Node, NodeId, Op, Shape, Tensor, Type, Value, Verified, verify};
use open_graph::{closed, values};
use serde_json::{Map, Value as Json, json};

/// Choices read from bytes; zeros when they run out.
pub struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub fn below(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % n.max(1)
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Choices for values: an endless stream that the bytes so far determine.
    fn stream(&self) -> random::Random {
        let seed = self.bytes.iter().fold(self.at as u64, |h, &b| {
            h.wrapping_mul(31).wrapping_add(b.into())
        });
        random::Random::new(seed, "values")
    }

    fn format(&mut self, port: &str) -> Format {
        if self.below(5) == 0 {
            stored::format(self, port)
        } else {
            self.plain_format()
        }
    }

    fn plain_format(&mut self) -> Format {
        let width = 1 + self.below(16);
        let frac = if self.below(4) == 0 {
            self.below(28) as i32 - 8
        } else {
            self.below(width + 1) as i32
        };
        let signed = self.below(4) != 0;
        let rounding = match self.below(8) {
            0 | 1 => "floor",
            2 => "nearest_up",
            _ => "nearest_even",
        };
        let overflow = match self.below(12) {
            0 => "wrap",
            _ => "saturate",
        };
        let fields = format!("signed = {signed}, rounding = {rounding}, overflow = {overflow}");
        Format::parse(&format!("integer({width}, {frac}, {fields})")).unwrap()
    }
}

const INPUTS: [&str; 6] = [
    "N, 6",
    "N, 4, 8",
    "N, 4, 6, 4",
    "N, 2, 4",
    "4, 4",
    "N, 4, 4",
];

/// The operators, those that seldom fit more often.
pub const OPS: &[&str] = &[
    "linear",
    "linear",
    "conv1d",
    "conv1d",
    "conv2d",
    "conv2d",
    "batch_norm1d",
    "batch_norm1d",
    "batch_norm2d",
    "batch_norm2d",
    "relu",
    "relu6",
    "hardtanh",
    "add",
    "sub",
    "mul",
    "div",
    "matmul",
    "bmm",
    "bmm",
    "bmm",
    "bmm",
    "max_pool1d",
    "max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "mean",
    "argmax",
    "argmax",
    "flatten",
    "reshape",
    "view",
    "transpose",
    "permute",
    "cat",
    "chunk",
    "getitem",
    "identity",
    "dropout",
    "constant",
];

/// A graph of a few nodes that verifies, with parameters on and between the codes of their formats.
pub fn random_graph(choices: &mut Choices) -> Graph {
    let mut graph = Graph::new("random");
    for i in 0..=choices.below(2) {
        let shape = choices
            .pick(&INPUTS)
            .split(", ")
            .map(|d| d.parse().unwrap())
            .collect();
        let op = ir::ops::placeholder::Placeholder {
            shape: Shape(shape),
            dtype: DType::F32,
        };
        graph.push(Node::new(&format!("x{i}"), "", op, &[]));
    }
    let size = graph.nodes().len() + 1 + choices.below(6);
    for _ in 0..40 {
        if graph.nodes().len() < size {
            add_node(&mut graph, choices);
        }
    }
    let codes: Vec<Value> = values(&graph)
        .into_iter()
        .map(|(v, _)| v)
        .filter(|v| !is_float(&graph, *v))
        .collect();
    if codes.is_empty() {
        let mut node = Node::new(
            "fallback",
            "",
            ir::ops::dropout::Identity {},
            &[NodeId(0).into()],
        );
        node.formats
            .insert("data_in_0".to_owned(), choices.plain_format());
        let id = graph.push(node);
        finish(&mut graph, &[id.into()]);
    } else {
        let mut returned = vec![codes[codes.len() - 1]];
        if choices.below(3) == 0 {
            returned.push(codes[choices.below(codes.len())]);
        }
        finish(&mut graph, &returned);
    }
    fill(&mut graph, choices);
    if choices.stream().bits(0).is_multiple_of(2) {
        add_masks(&mut graph, choices);
    }
    graph
}

/// Masks on some ports, but not on floats that no format rounds there.
pub fn add_masks(graph: &mut Graph, choices: &Choices) {
    let verified = verify(graph).unwrap();
    let mut ports: Vec<(NodeId, String, Vec<usize>)> = Vec::new();
    for (id, node) in graph.iter() {
        for (k, port) in node.data_ports().into_iter().enumerate() {
            let ty = verified.ty(node.inputs[k]);
            let sample = ty.shape.sample().filter(|_| ty.dtype == DType::F32);
            let is_fixed = node.formats.contains_key(&port) || !is_float(graph, node.inputs[k]);
            ports.extend(sample.filter(|_| is_fixed).map(|shape| (id, port, shape)));
        }
        let weight = node
            .param_specs()
            .into_iter()
            .find(|spec| spec.0 == "weight");
        ports.extend(weight.map(|(port, shape, ..)| (id, port.to_owned(), shape)));
    }
    let (random, mut at) = (choices.stream(), 1000);
    for (id, port, shape) in ports {
        at += 1;
        if random.bits(at).is_multiple_of(2) {
            let n: usize = shape.iter().product();
            let values = (0..n as u64).map(|i| (random.bits(at * 4096 + i) % 2) as f32);
            let mask = Tensor::new(shape, values.collect()).unwrap();
            graph.node_mut(id).set_mask(&port, mask);
        }
    }
}

fn finish(graph: &mut Graph, returned: &[Value]) {
    graph.push(Node::new(
        "output",
        "",
        ir::ops::placeholder::Output {},
        returned,
    ));
}

/// Values that no format has rounded; shape helpers without a format keep them so.
fn is_float(graph: &Graph, value: Value) -> bool {
    let node = graph.node(value.node);
    if node.formats.contains_key("data_out_0") || node.formats.contains_key("data_in_0") {
        return false;
    }
    match node.op {
        Op::Placeholder(_) | Op::Constant(_) => true,
        _ => node
            .inputs
            .first()
            .is_some_and(|&input| is_float(graph, input)),
    }
}

/// Appends a random node, or nothing when it would break a rule.
fn add_node(graph: &mut Graph, choices: &mut Choices) {
    let name = choices.pick(OPS);
    let values = values(graph);
    let recent = |c: &mut Choices| values[values.len() - 1 - c.below(3).min(values.len() - 1)].0;
    let inputs: Vec<Value> = (0..2).map(|_| recent(choices)).collect();
    let first = values
        .iter()
        .find(|(v, _)| *v == inputs[0])
        .unwrap()
        .1
        .clone();
    let attributes = attributes(name, &first, choices);
    let scalar = attributes.contains_key("scalar");
    let Some(Ok(op)) = Op::from_attributes(name, attributes) else {
        return;
    };
    let label = format!("n{}", graph.nodes().len());
    let counts: &[usize] = match name {
        "constant" => &[0],
        "add" | "sub" | "mul" | "matmul" | "bmm" | "cat" if !scalar => &[2],
        _ => &[1],
    };
    for &count in counts {
        let mut node = Node::new(&label, &label, op.clone(), &inputs[..count]);
        add_formats(graph, &mut node, choices);
        let at = graph.push(node);
        if verify(&closed(graph)).is_err() {
            let _ = graph.remove(at);
        }
    }
}

/// Formats on all parameters, on data that is not fixed point yet, and here and there.
fn add_formats(graph: &Graph, node: &mut Node, choices: &mut Choices) {
    for (port, ..) in node.param_specs() {
        if matches!(port, "weight" | "bias") {
            node.formats.insert(port.to_owned(), choices.format(port));
        }
    }
    for (port, value) in node.data_ports().into_iter().zip(node.inputs.clone()) {
        let must = is_float(graph, value);
        if must || choices.below(3) == 0 {
            let format = choices.format(&port);
            node.formats.insert(port, format);
        }
    }
    let is_edge = node.inputs.is_empty();
    if is_edge || choices.below(6) == 0 {
        node.formats
            .insert("data_out_0".to_owned(), choices.format("data_out_0"));
    }
}

fn attributes(op: &str, input: &Type, choices: &mut Choices) -> Map<String, Json> {
    let dims = &input.shape.0;
    let fixed = |axis: usize| dims.get(axis).and_then(ir::Dim::fixed).unwrap_or(1);
    let last = dims.last().and_then(ir::Dim::fixed).unwrap_or(1);
    let small = 1 + choices.below(5);
    let axis = choices.below(dims.len() + 1) as i64 - 1;
    let json = match op {
        "linear" => {
            json!({ "in_features": last, "out_features": small, "bias": choices.below(4) != 0 })
        }
        "conv1d" | "conv2d" => {
            let groups = choices.pick(&[1, 1, 2, fixed(1)]);
            json!({ "in_channels": fixed(1), "out_channels": small * groups, "kernel_size": 1 + choices.below(3), "groups": groups,
                    "stride": 1 + choices.below(2), "padding": choices.below(3), "dilation": 1 + choices.below(2),
                    "bias": choices.below(4) != 0 })
        }
        "batch_norm1d" | "batch_norm2d" => json!({ "num_features": fixed(1) }),
        "hardtanh" => choices
            .pick(&[(-1.0, 1.0), (-0.5, 2.0), (0.0, 4.0), (-1024.0, -2.0)])
            .into_json(),
        "add" | "sub" | "mul" if choices.below(2) == 0 => {
            json!({ "scalar": choices.pick(&[0.75, -3.0, 0.0, 1.0, 40.0, -0.015625]) })
        }
        "div" => json!({ "scalar": choices.pick(&[4.0, -0.5, 1.0, 64.0]) }),
        "constant" => json!({ "shape": [small, last], "init_std": 0.5 }),
        "cat" => json!({ "dim": axis }),
        "chunk" => json!({ "chunks": small, "dim": axis }),
        "max_pool1d" | "max_pool2d" => {
            json!({ "kernel_size": small, "stride": 1 + choices.below(3), "padding": small / 2, "dilation": 1 + choices.below(2) })
        }
        "avg_pool1d" | "avg_pool2d" => {
            json!({ "kernel_size": choices.pick(&[1, 2, 4]), "stride": 1 + choices.below(3), "padding": choices.below(2) })
        }
        "adaptive_max_pool1d" | "adaptive_max_pool2d" => json!({ "output_size": small }),
        "adaptive_avg_pool1d" | "adaptive_avg_pool2d" => {
            json!({ "output_size": choices.pick(&[1, 2, 4]) })
        }
        "transpose" => json!({ "dim0": axis, "dim1": choices.below(dims.len()) }),
        "permute" => json!({ "dims": (0..dims.len()).rev().collect::<Vec<_>>() }),
        "reshape" | "view" => json!({ "shape": [-1, last] }),
        "flatten" => json!({ "start_dim": choices.below(2) }),
        "getitem" => {
            json!({ "index": choices.pick(&[":", "0", ":, 0", ":, 1:", ":, -1", "1:2", ":, :, 1:3"]) })
        }
        "mean" => json!({ "dim": [axis], "keepdim": choices.below(2) == 0 }),
        _ => json!({}),
    };
    json.as_object().cloned().unwrap_or_default()
}

trait IntoJson {
    fn into_json(self) -> Json;
}

impl IntoJson for (f64, f64) {
    fn into_json(self) -> Json {
        json!({ "min_val": self.0, "max_val": self.1 })
    }
}

/// Parameters whose values are codes, ties between codes, and beyond the largest.
pub fn fill(graph: &mut Graph, choices: &Choices) {
    let random = choices.stream();
    stored::fill(graph, random);
    let ids: Vec<NodeId> = graph.iter().map(|(id, _)| id).collect();
    let mut at = 0;
    for id in ids {
        for (port, shape, ..) in graph.node(id).param_specs() {
            let (width, frac) = stored::width_and_frac(graph, id, port);
            let is_variance = port == "running_var";
            let value = |k: u64| {
                let code = (random.uniform(k) - 0.5) * 2.5 * 2_f32.powi(width as i32 - 1);
                let code = if random.bits(k).is_multiple_of(3) {
                    (code * 2.0).round() / 2.0
                } else {
                    code
                };
                let value = code * 2_f32.powi(-frac);
                if is_variance { value.abs() } else { value }
            };
            let len = shape.iter().product::<usize>() as u64;
            let values = (at..at + len).map(value).collect();
            at += len;
            let tensor = Tensor::new(shape, values).unwrap();
            graph.node_mut(id).params.insert(port.to_owned(), tensor);
        }
    }
}

/// Values for every placeholder: multiples of small steps, many of them ties, some far out.
pub fn inputs(verified: &Verified, rows: usize, choices: &mut Choices) -> Vec<Vec<f32>> {
    choices.at += 1;
    let random = choices.stream();
    let mut at = 0;
    let mut value = || {
        at += 1;
        let step = 2_f32.powi(-((random.bits(at) % 12) as i32));
        let x = (random.uniform(at) - 0.5) * 40.0;
        match random.bits(at) >> 8 & 7 {
            0 => x * 1e4,
            1 => x,
            2 => 0.0,
            _ => (x / step).round() * step,
        }
    };
    let len = |id: NodeId| {
        verified
            .ty(id.into())
            .shape
            .bind(rows)
            .unwrap()
            .iter()
            .product::<usize>()
    };
    verified
        .placeholders()
        .into_iter()
        .map(|id| (0..len(id)).map(|_| value()).collect())
        .collect()
}
