//! Valid graphs from arbitrary bytes: every byte is a choice, and a node that breaks a rule is taken back.

#[path = "open_graph.rs"]
mod open_graph;
#[path = "random_masks.rs"]
mod random_masks;

use engine::{Gradients, Input, Mode, PlanOptions, Pool, State, compile};
use format::Format;
use ir::{DType, Graph, Node, Op, Shape, Type, Value, verify};
use open_graph::{closed, values};
use random::Random;
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

    fn byte(&mut self) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte)
    }

    fn below(&mut self, n: usize) -> usize {
        self.byte() % n.max(1)
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// One time in eight.
    fn rarely(&mut self) -> bool {
        self.byte().is_multiple_of(8)
    }

    fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

const INPUTS: [(&str, &str); 8] = [
    ("f32", "N, 6"),
    ("f32", "N, 3, 8"),
    ("f32", "N, 2, 6, 5"),
    ("f32", "2*N, 4"),
    ("f32", "3, 4"),
    ("i64", "N, 5"),
    ("f32", "N"),
    ("f32", "5, N"),
];

const FORMATS: [&str; 8] = [
    "integer(8, 4)",
    "integer(4, 6, signed = false)",
    "minifloat_ieee(8, 4)",
    "log(6)",
    "block_fp(6, 4, block_size = [1, 4])",
    "mxint(8)",
    "ternary",
    "scale_integer(8)",
];

/// A graph of up to sixteen nodes that verifies, with parameters.
pub fn graph(choices: &mut Choices) -> Graph {
    let mut graph = Graph::new("random");
    for i in 0..=choices.below(2) {
        let (dtype, dims) = choices.pick(&INPUTS);
        let shape = dims
            .split(", ")
            .map(|d| d.parse().expect("a dim"))
            .collect();
        let op = ir::ops::placeholder::Placeholder {
            shape: Shape(shape),
            dtype: DType::parse(dtype).expect("a dtype"),
        };
        graph.push(Node::new(&format!("x{i}"), "", op, &[]));
    }
    while graph.nodes().len() < 16 && !choices.is_empty() {
        add_node(&mut graph, choices);
    }
    let returned = returned(&graph, choices);
    graph.push(Node::new(
        "output",
        "",
        ir::ops::placeholder::Output {},
        &returned,
    ));
    graph.initialize(choices.byte() as u64);
    graph
}

/// Appends a random node, or nothing when it would break a rule.
fn add_node(graph: &mut Graph, choices: &mut Choices) {
    let entry = &Op::TABLE[choices.below(Op::TABLE.len())];
    let name = format!("n{}", graph.nodes().len());
    let values = values(graph);
    let inputs: Vec<Value> = (0..3)
        .map(|_| values[choices.below(values.len())].0)
        .collect();
    let ty = |value: Value| {
        values
            .iter()
            .find(|(v, _)| *v == value)
            .map(|(_, ty)| ty.clone())
    };
    let Some(first) = ty(inputs[0]) else { return };
    let attributes = attributes(entry.name, &first, choices);
    let Some(Ok(op)) = Op::from_attributes(entry.name, attributes) else {
        return;
    };
    let scalar =
        matches!(&op, Op::Add(_) | Op::Sub(_) | Op::Mul(_) | Op::Div(_)) && choices.rarely();
    let op = if scalar { with_scalar(op) } else { op };
    for count in [1, 2, 3, 0] {
        let mut node = Node::new(&name, &name, op.clone(), &inputs[..count]);
        add_formats(&mut node, choices);
        let at = graph.push(node);
        if is_valid(graph) {
            return;
        }
        graph.node_mut(at).formats.clear();
        if is_valid(graph) {
            return;
        }
        let _ = graph.remove(at);
    }
}

fn with_scalar(op: Op) -> Op {
    let attributes = json!({ "scalar": 0.75 });
    let attributes = attributes.as_object().cloned().unwrap_or_default();
    match Op::from_attributes(op.name(), attributes) {
        Some(Ok(op)) => op,
        _ => op,
    }
}

fn add_formats(node: &mut Node, choices: &mut Choices) {
    for port in ["data_in_0", "data_in_1", "weight", "bias", "data_out_0"] {
        if choices.rarely() {
            let format = Format::parse(choices.pick(&FORMATS)).expect("a format");
            node.formats.insert(port.to_owned(), format);
        }
    }
}

/// Attributes that fit the first input most of the time.
fn attributes(op: &str, input: &Type, choices: &mut Choices) -> Map<String, Json> {
    let dims = &input.shape.0;
    let fixed = |axis: usize| dims.get(axis).and_then(ir::Dim::fixed).unwrap_or(1);
    let last = dims.last().and_then(ir::Dim::fixed).unwrap_or(1);
    let small = 1 + choices.below(4);
    let axis = choices.below(dims.len() + 1) as i64 - 1;
    let json = match op {
        "linear" => {
            json!({ "in_features": last, "out_features": small, "bias": !choices.rarely() })
        }
        "conv1d" | "conv2d" => {
            let groups = if choices.rarely() { fixed(1) } else { 1 };
            json!({ "in_channels": fixed(1), "out_channels": small * groups, "kernel_size": 1 + choices.below(3), "groups": groups,
                    "stride": 1 + choices.below(2), "padding": choices.below(3), "dilation": 1 + choices.below(2) })
        }
        "batch_norm1d" | "batch_norm2d" => json!({ "num_features": fixed(1) }),
        "layer_norm" => {
            json!({ "normalized_shape": [last], "elementwise_affine": !choices.rarely() })
        }
        "embedding" => json!({ "num_embeddings": 4, "embedding_dim": small }),
        "constant" => json!({ "shape": [small, last], "init_std": 0.5 }),
        "softmax" | "log_softmax" | "cat" => json!({ "dim": axis }),
        "chunk" => json!({ "chunks": small, "dim": axis }),
        "dropout" => json!({ "p": 0.25 }),
        "max_pool1d" | "max_pool2d" => {
            json!({ "kernel_size": small, "stride": 1 + choices.below(3), "padding": small / 2 })
        }
        "avg_pool1d" | "avg_pool2d" => {
            json!({ "kernel_size": small, "padding": small / 2, "count_include_pad": choices.rarely() })
        }
        "adaptive_avg_pool1d"
        | "adaptive_avg_pool2d"
        | "adaptive_max_pool1d"
        | "adaptive_max_pool2d" => json!({ "output_size": small }),
        "transpose" => json!({ "dim0": axis, "dim1": choices.below(dims.len()) }),
        "permute" => json!({ "dims": (0..dims.len()).rev().collect::<Vec<_>>() }),
        "reshape" | "view" => json!({ "shape": [-1, last] }),
        "flatten" => json!({ "start_dim": choices.below(2) }),
        "getitem" => json!({ "index": choices.pick(&[":", "0", ":, 0", ":, 1:", ":, -1", "1:2"]) }),
        "mean" => json!({ "dim": [axis], "keepdim": choices.rarely() }),
        "scaled_dot_product_attention" => json!({ "is_causal": choices.rarely() }),
        _ => json!({}),
    };
    json.as_object().cloned().unwrap_or_default()
}

fn is_valid(graph: &Graph) -> bool {
    verify(&closed(graph)).is_ok()
}

/// The last values, sometimes one twice.
fn returned(graph: &Graph, choices: &mut Choices) -> Vec<Value> {
    let values = values(graph);
    let count = 1 + choices.below(3);
    (0..count)
        .map(|_| values[values.len() - 1 - choices.below(values.len().min(4))].0)
        .collect()
}

/// Compiles the graph every way and runs it. Panics are what a caller looks for; fused and plain plans must agree, and
/// masks must be what a multiplication is.
pub fn run(graph: &Graph, choices: &mut Choices) {
    let verified = verify(graph).expect("the generator makes valid graphs");
    let rows = 1 + choices.below(5);
    let (floats, indices) = inputs(&verified, rows, choices);
    let feed: Vec<Input> = floats
        .iter()
        .zip(&indices)
        .map(|(f, i)| {
            if i.is_empty() {
                Input::F32(f)
            } else {
                Input::I64(i)
            }
        })
        .collect();
    for (mode, with_gradients) in [(Mode::Train, true), (Mode::Eval, true), (Mode::Eval, false)] {
        let gradients = Gradients {
            parameters: with_gradients,
            inputs: with_gradients,
        };
        let options = PlanOptions {
            rows,
            mode,
            gradients,
            observe: Vec::new(),
            fuse: true,
        };
        compare_masked(graph, &options, &feed);
        let fused = results(&verified, options.clone(), &feed);
        let plain = results(
            &verified,
            PlanOptions {
                fuse: false,
                ..options
            },
            &feed,
        );
        assert_eq!(fused.len(), plain.len());
        // Rounding turns a last bit into a whole step, and odd inputs leave nothing to compare.
        let is_plain = graph.nodes().iter().all(|node| node.formats.is_empty());
        let is_tame = fused.iter().chain(&plain).flatten().all(|v| v.abs() < 1e3);
        for (fused, plain) in fused.iter().zip(&plain).filter(|_| is_plain && is_tame) {
            let scale = plain.iter().fold(1.0_f32, |m, v| m.max(v.abs()));
            let close = fused
                .iter()
                .zip(plain)
                .all(|(a, b)| (a - b).abs() < 1e-2 * scale);
            assert!(
                close,
                "fused and plain plans differ ({mode:?}): {fused:?} {plain:?}\n{graph}"
            );
        }
    }
}

/// A graph with masks gives the bits of one that multiplies.
fn compare_masked(graph: &Graph, options: &PlanOptions, feed: &[Input]) {
    let masked = random_masks::masked(graph, Random::new(0, &graph.to_string()));
    let explicit = random_masks::explicit(&masked);
    let run = |graph: &Graph| {
        let verified = verify(graph).unwrap_or_else(|error| panic!("{error}\n{graph}"));
        results(&verified, options.clone(), feed)
    };
    let (masked, explicit) = (run(&masked), run(&explicit));
    // Numbers that are none have many bits.
    let bits = |values: &Vec<f32>| -> Vec<u32> {
        let one = |v: &f32| if v.is_nan() { f32::NAN } else { *v }.to_bits();
        values.iter().map(one).collect()
    };
    let bits = |all: &[Vec<f32>]| -> Vec<Vec<u32>> { all.iter().map(bits).collect() };
    assert!(
        bits(&masked) == bits(&explicit),
        "masks are not multiplications ({options:?}): {masked:?} {explicit:?}\n{graph}"
    );
}

/// All results and gradients of one plan, but for those of the constants that stand for masks; none when the graph or the inputs are refused.
fn results(verified: &ir::Verified, options: PlanOptions, feed: &[Input]) -> Vec<Vec<f32>> {
    let mut state = State::new(verified).expect("all parameters have values");
    let pool = Pool::new(1);
    let has_gradients = options.gradients.any();
    let Ok(mut plan) = compile(verified, &state, options) else {
        return Vec::new();
    };
    if plan.forward(&mut state, feed, &pool).is_err() {
        return Vec::new();
    }
    let count = verified.output_values().len();
    let mut all: Vec<Vec<f32>> = (0..count).map(|k| plan.output(k)).collect();
    for (k, output) in all.iter().enumerate() {
        // A result that needs no gradient has no place for one.
        let _ = plan.set_output_grad(k, &vec![1.0; output.len()]);
    }
    if has_gradients {
        plan.backward(&state, &pool)
            .expect("the plan has gradients");
        let gradients = state.name_trained(plan.gradients());
        let own = gradients.filter(|(name, _)| !name.starts_with(random_masks::MADE));
        all.extend(own.map(|(_, tensor)| tensor.values().to_vec()));
    }
    all
}

/// Values for every placeholder; odd ones now and then.
fn inputs(
    verified: &ir::Verified,
    rows: usize,
    choices: &mut Choices,
) -> (Vec<Vec<f32>>, Vec<Vec<i64>>) {
    let mut all = (Vec::new(), Vec::new());
    for id in verified.placeholders() {
        let ty = verified.ty(id.into());
        let len: usize = ty.shape.bind(rows).unwrap_or_default().iter().product();
        let is_index = ty.dtype == DType::I64;
        all.1.push(if is_index {
            (0..len).map(|_| choices.below(5) as i64).collect()
        } else {
            Vec::new()
        });
        let odd = [f32::NAN, f32::INFINITY, -1e30, 0.0];
        let value = |c: &mut Choices| {
            if c.rarely() {
                c.pick(&odd)
            } else {
                c.byte() as f32 / 64.0 - 2.0
            }
        };
        all.0.push(if is_index {
            Vec::new()
        } else {
            (0..len).map(|_| value(choices)).collect()
        });
    }
    all
}
