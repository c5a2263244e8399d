//! Operators as ONNX, those that networks of the zoo lack among them: run by ONNX Runtime, and read back, to the same numbers.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod runtime;
#[path = "runtime/samples.rs"]
mod samples;
mod support;

use exchange::onnx::{ExportOptions, ImportOptions, export, import};
use interop::onnx::proto::ValueInfoProto;
use interop::onnx::{Model, Tensor};
use ir::Graph;
use runtime::Run;
use samples::difference;

/// The types of inputs, and an expression of them.
const CASES: &[(&str, &str)] = &[
    ("x: f32[N, 3, 8]", "rms_norm(x) { normalized_shape = [8] }"),
    (
        "x: f32[N, 3, 8]",
        "rms_norm(x) { normalized_shape = [3, 8], eps = 0.1, elementwise_affine = false }",
    ),
    (
        "x: f32[N, 6, 5]",
        "group_norm(x) { num_groups = 3, num_channels = 6 }",
    ),
    (
        "x: f32[N, 6, 4, 5]",
        "group_norm(x) { num_groups = 2, num_channels = 6, affine = false }",
    ),
    (
        "x: f32[N, 6, 4, 5]",
        "instance_norm(x) { num_features = 6, affine = true }",
    ),
    ("x: f32[N, 6, 5]", "instance_norm(x) { num_features = 6 }"),
    (
        "x: f32[N, 6]",
        "instance_norm(x) { num_features = 6, affine = true }",
    ),
    (
        "x: f32[N, 2, 3, 4]",
        "upsample(x) { output_size = [6, 12] }",
    ),
    (
        "x: f32[N, 2, 5, 7]",
        "upsample(x) { output_size = [13, 9] }",
    ),
    (
        "x: f32[N, 2, 3, 4]",
        "upsample(x) { output_size = [7, 9], mode = \"bilinear\" }",
    ),
    (
        "x: f32[N, 2, 3, 4]",
        "upsample(x) { output_size = [2, 2], mode = \"bilinear\" }",
    ),
    (
        "x: f32[N, 2, 3, 4]",
        "upsample(x) { output_size = [7, 9], mode = \"bilinear\", align_corners = true }",
    ),
    ("x: f32[N, 5, 7]", "roll(x) { shifts = [2], dims = [1] }"),
    (
        "x: f32[N, 5, 7]",
        "roll(x) { shifts = [-3, 12], dims = [-1, 1] }",
    ),
    ("x: f32[N, 5, 7]", "roll(x) { shifts = [7], dims = [2] }"),
    (
        "x: f32[N, 5, 4]",
        "lstm(x) { input_size = 4, hidden_size = 3 }",
    ),
    (
        "x: f32[N, 5, 4]",
        "lstm(x) { input_size = 4, hidden_size = 3, bias = false, reverse = true }",
    ),
    ("x: f32[N, 5, 4]", "topk(x) { k = 2 }"),
    (
        "x: f32[N, 5, 4]",
        "topk(x) { k = 3, dim = 1, largest = false }",
    ),
    (
        "x: f32[N, 5, 4]",
        "thresholds(x) { channels = 5, steps = 3, scale = 0.5, offset = -1.0 }",
    ),
    // layers
    (
        "x: f32[N, 3, 4]",
        "linear(x) { in_features = 4, out_features = 5 }",
    ),
    (
        "x: f32[N, 4]",
        "linear(x) { in_features = 4, out_features = 5, bias = false }",
    ),
    (
        "x: f32[N, 4, 9]",
        "conv1d(x) { in_channels = 4, out_channels = 6, kernel_size = 3, stride = 2, padding = 1, groups = 2 }",
    ),
    (
        "x: f32[N, 2, 7, 6]",
        "conv2d(x) { in_channels = 2, out_channels = 3, kernel_size = [3, 2], padding = [2, 0], dilation = [2, 1], bias = false }",
    ),
    (
        "x: f32[N, 4, 5]",
        "conv_transpose1d(x) { in_channels = 4, out_channels = 2, kernel_size = 3, stride = 2, output_padding = 1 }",
    ),
    (
        "x: f32[N, 4, 3, 2]",
        "conv_transpose2d(x) { in_channels = 4, out_channels = 2, kernel_size = [3, 2], stride = [1, 2], padding = [1, 0], dilation = [1, 2], groups = 2 }",
    ),
    ("x: f32[N, 4]", "batch_norm1d(x) { num_features = 4 }"),
    (
        "x: f32[N, 4, 3]",
        "batch_norm1d(x) { num_features = 4, eps = 0.25 }",
    ),
    ("x: f32[N, 4, 3, 2]", "batch_norm2d(x) { num_features = 4 }"),
    (
        "x: f32[N, 3, 4]",
        "layer_norm(x) { normalized_shape = [3, 4] }",
    ),
    (
        "x: f32[N, 3, 4]",
        "layer_norm(x) { normalized_shape = [4], elementwise_affine = false, eps = 0.5 }",
    ),
    ("x: f32[N, 4, 5]", "prelu(x) { num_parameters = 4 }"),
    ("x: f32[N, 4, 5]", "prelu(x)"),
    // functions of an element
    ("x: f32[N, 6]", "relu(x)"),
    ("x: f32[N, 6]", "relu6(x)"),
    (
        "x: f32[N, 6]",
        "hardtanh(x) { min_val = -0.5, max_val = 0.25 }",
    ),
    ("x: f32[N, 6]", "hardswish(x)"),
    ("x: f32[N, 6]", "hardsigmoid(x)"),
    (
        "x: f32[N, 6]",
        "hardsigmoid(x) { alpha = 0.25, beta = 0.375 }",
    ),
    ("x: f32[N, 6]", "sigmoid(x)"),
    ("x: f32[N, 6]", "tanh(x)"),
    ("x: f32[N, 6]", "gelu(x)"),
    ("x: f32[N, 6]", "gelu(x) { approximate = \"tanh\" }"),
    ("x: f32[N, 6]", "silu(x)"),
    ("x: f32[N, 6]", "elu(x) { alpha = 0.3 }"),
    ("x: f32[N, 6]", "selu(x)"),
    ("x: f32[N, 6]", "softplus(x)"),
    ("x: f32[N, 6]", "softsign(x)"),
    ("x: f32[N, 6]", "leaky_relu(x) { negative_slope = 0.2 }"),
    ("x: f32[N, 6]", "neg(x)"),
    ("x: f32[N, 6]", "abs(x)"),
    ("x: f32[N, 6]", "exp(x)"),
    ("x: f32[N, 6]", "erf(x)"),
    ("x: f32[N, 6]", "floor(x)"),
    ("x: f32[N, 6]", "ceil(x)"),
    ("x: f32[N, 6]", "round(x)"),
    ("x: f32[N, 6]", "sign(x)"),
    ("x: f32[N, 3, 4]", "softmax(x) { dim = 1 }"),
    ("x: f32[N, 3, 4]", "log_softmax(x) { dim = -1 }"),
    ("x: f32[N, 6]", "dropout(x) { p = 0.25 }"),
    // functions of two elements
    ("x: f32[N, 6]", "add(x) { scalar = 1.5 }"),
    ("x: f32[N, 6]", "sub(x) { scalar = 0.25 }"),
    ("x: f32[N, 6]", "mul(x) { scalar = -2 }"),
    ("x: f32[N, 6]", "div(x) { scalar = 3 }"),
    ("x: f32[N, 6]", "max(x) { scalar = 0.1 }"),
    ("x: f32[N, 6]", "min(x) { scalar = 0.1 }"),
    ("x: f32[N, 6]", "pow(x) { scalar = 2 }"),
    ("x: f32[N, 3, 4] = placeholder z: f32[3, 1]", "add(x, z)"),
    ("x: f32[4] = placeholder z: f32[N, 4]", "sub(x, z)"),
    ("x: f32[N, 4] = placeholder z: f32[N, 1]", "mul(x, z)"),
    ("x: f32[N, 4] = placeholder z: f32[4]", "max(x, z)"),
    ("x: f32[N, 4] = placeholder z: f32[4]", "min(x, z)"),
    (
        "x: f32[N, 2, 5] = placeholder z: f32[N, 5, 3]",
        "matmul(x, z)",
    ),
    ("x: f32[N, 2, 5] = placeholder z: f32[N, 5, 3]", "bmm(x, z)"),
    ("x: f32[N, 2, 5] = placeholder z: f32[5, 3]", "matmul(x, z)"),
    (
        "q: f32[N, 2, 5, 8] = placeholder k: f32[N, 2, 7, 8] = placeholder v: f32[N, 2, 7, 3]",
        "scaled_dot_product_attention(q, k, v)",
    ),
    (
        "q: f32[N, 2, 5, 8] = placeholder k: f32[N, 2, 5, 8]",
        "scaled_dot_product_attention(q, k, k) { is_causal = true, scale = 0.25 }",
    ),
    (
        "q: f32[N, 2, 3, 8] = placeholder m: f32[3, 3]",
        "scaled_dot_product_attention(q, q, q, m)",
    ),
    // pools
    (
        "x: f32[N, 2, 9]",
        "max_pool1d(x) { kernel_size = 3, stride = 2, padding = 1 }",
    ),
    (
        "x: f32[N, 2, 9]",
        "max_pool1d(x) { kernel_size = 2, stride = 3, dilation = 2, ceil_mode = true }",
    ),
    (
        "x: f32[N, 2, 9, 8]",
        "max_pool2d(x) { kernel_size = [3, 2], stride = 2 }",
    ),
    (
        "x: f32[N, 2, 9]",
        "avg_pool1d(x) { kernel_size = 3, padding = 1 }",
    ),
    (
        "x: f32[N, 2, 9, 8]",
        "avg_pool2d(x) { kernel_size = [3, 2], padding = 1, count_include_pad = false }",
    ),
    (
        "x: f32[N, 2, 8]",
        "avg_pool1d(x) { kernel_size = 3, stride = 2, ceil_mode = true }",
    ),
    (
        "x: f32[N, 2, 9, 8]",
        "adaptive_avg_pool2d(x) { output_size = 1 }",
    ),
    (
        "x: f32[N, 2, 9, 8]",
        "adaptive_avg_pool2d(x) { output_size = [3, 4] }",
    ),
    (
        "x: f32[N, 2, 9, 8]",
        "adaptive_max_pool2d(x) { output_size = [3, 1] }",
    ),
    (
        "x: f32[N, 2, 9]",
        "adaptive_max_pool1d(x) { output_size = 1 }",
    ),
    // reductions
    ("x: f32[N, 3, 4]", "mean(x) { dim = 1 }"),
    (
        "x: f32[N, 3, 4]",
        "mean(x) { dim = [-1, 1], keepdim = true }",
    ),
    ("x: f32[N, 3, 4]", "sum(x) { dim = 2 }"),
    ("x: f32[N, 3, 4]", "amax(x) { dim = [2], keepdim = true }"),
    ("x: f32[N, 3, 4]", "amin(x) { dim = [1, 2] }"),
    ("x: f32[N, 3, 4]", "prod(x) { dim = 1 }"),
    ("x: f32[N, 3, 4]", "argmax(x)"),
    // elements moved about
    ("x: f32[N, 3, 4]", "flatten(x)"),
    ("x: f32[N, 3, 4]", "reshape(x) { shape = [N, 2, -1] }"),
    ("x: f32[N, 3, 4]", "view(x) { shape = [N, 6, 2] }"),
    ("x: f32[N, 3, 4]", "transpose(x) { dim0 = 1, dim1 = -1 }"),
    ("x: f32[N, 2, 3, 4]", "permute(x) { dims = [0, 3, 1, 2] }"),
    ("x: f32[N, 3, 4]", "cat(x, x) { dim = 1 }"),
    ("x: f32[N, 3, 4]", "chunk(x) { chunks = 2, dim = -1 }"),
    ("x: f32[N, 3, 10]", "chunk(x) { chunks = 4, dim = 2 }"),
    (
        "x: f32[N, 3, 10]",
        "getitem(x) { index = \":, -2:, 8:99\" }",
    ),
    ("x: f32[N, 3, 10]", "getitem(x) { index = \":, 0, -8:5\" }"),
    (
        "x: f32[N, 3, 10]",
        "getitem(x) { index = \":, 1::2, :7:3\" }",
    ),
    ("x: f32[N, 1, 3]", "expand(x) { shape = [N, 4, -1] }"),
    (
        "x: f32[N, 3] = placeholder z: f32[1, 3]",
        "expand(z) { shape = [N, 2, 3] }",
    ),
    (
        "x: f32[N, 3, 4]",
        "pad(x) { pad = [1, 2, 0, 3], value = 0.5 }",
    ),
    (
        "x: f32[N, 3, 4]",
        "pad(x) { pad = [3, 2], mode = \"reflect\" }",
    ),
    (
        "x: f32[N, 3, 4]",
        "pad(x) { pad = [1, 0, 2, 1], mode = \"edge\" }",
    ),
];

/// Rows of a batch.
const ROWS: usize = 3;

/// The graph of a call, which returns all its results.
fn graph(types: &str, call: &str) -> Graph {
    let parse = |results: &str| {
        let text =
            format!("graph \"case\" {{ {types} = placeholder y = {call} return {results} }}");
        Graph::parse(&text).unwrap()
    };
    let first = parse("y");
    let y = first.find("y").unwrap();
    let n = ir::verify(&first).unwrap().outputs(y).len();
    let rest = (1..n).map(|k| format!("y.{k}"));
    let results: Vec<String> = ["y".to_owned()].into_iter().chain(rest).collect();
    parse(&results.join(", "))
}

/// Written from this version of the operators on.
fn first_opset(call: &str) -> i64 {
    if call.contains("\"tanh\"") { 20 } else { 18 }
}

/// The difference of a graph that was read back, and of a run elsewhere, in words.
fn disagreement(
    graph: &Graph,
    run: &Run,
    there: Option<&Vec<runtime::Output>>,
) -> Result<(), String> {
    let given: Vec<&Tensor> = run.inputs.iter().collect();
    let results = support::run(graph.clone(), ROWS, &given)?;
    let proto = run.network.clone();
    let read = import(&Model { proto }, &ImportOptions::default());
    let read = read.map_err(|error| error.to_string())?;
    if !read.notes.is_empty() || read.graph.name != graph.name {
        return Err(format!("{} with {:?}", read.graph.name, read.notes));
    }
    let again = support::run(read.graph, ROWS, &given)?;
    for (k, (values, shape)) in results.iter().enumerate() {
        for (what, (other, sizes)) in [
            ("read back", Some(&again[k])),
            ("run", there.map(|o| &o[k])),
        ]
        .into_iter()
        .filter_map(|(what, output)| Some((what, output?)))
        {
            if shape != sizes {
                return Err(format!("{what}: shape {sizes:?}, not {shape:?}"));
            }
            let far = difference(other, values);
            if far.is_nan() || far > 2e-6 {
                return Err(format!("{what}: {far:e}"));
            }
        }
    }
    Ok(())
}

#[test]
fn operators_are_written_in_every_version_and_read_back() {
    let mut runs = Vec::new();
    let mut graphs = Vec::new();
    for (at, (types, call)) in CASES.iter().enumerate() {
        let mut graph = graph(types, call);
        graph.initialize(3);
        let opsets = [18, 20, 21, 23].into_iter();
        for opset in opsets.filter(|opset| *opset >= first_opset(call)) {
            let options = ExportOptions {
                opset,
                with_source: false,
                ..ExportOptions::default()
            };
            let network =
                export(&graph, &options).unwrap_or_else(|error| panic!("{call}: {error}"));
            runs.push(Run {
                name: format!("case{at}_{opset}"),
                network,
                inputs: samples::inputs(&graph, ROWS),
                program: "onnx",
            });
            graphs.push((*call, graph.clone()));
        }
    }
    let outputs = runtime::outputs("operators", &runs);
    let mut wrong = Vec::new();
    for (at, (run, (call, graph))) in runs.iter().zip(graphs).enumerate() {
        let there = outputs.as_ref().map(|outputs| &outputs[at]);
        if let Err(why) = disagreement(&graph, run, there) {
            wrong.push(format!("{call} {}: {why}", run.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An input that is a result, and a result that is returned twice, are copied.
#[test]
fn results_have_names_of_their_own() {
    let text = "graph \"twice\" { x: f32[N, 3] = placeholder y = relu(x) return y, x, y }";
    let graph = Graph::parse(text).unwrap();
    let without_source = ExportOptions {
        with_source: false,
        ..ExportOptions::default()
    };
    let network = export(&graph, &without_source).unwrap();
    let proto = network.graph.as_ref().unwrap();
    assert!(proto.node.iter().all(|node| !node.name().is_empty()));
    let mut names: Vec<&str> = proto.output.iter().map(ValueInfoProto::name).collect();
    names.push(proto.input[0].name());
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 4);
    let run = Run {
        name: "twice".to_owned(),
        network: network.clone(),
        inputs: samples::inputs(&graph, ROWS),
        program: "onnx",
    };
    assert_eq!(disagreement(&graph, &run, None), Ok(()));
}

/// A batch that is fixed while a network is written is a number in its shapes.
#[test]
fn what_expands_to_a_fixed_batch_has_its_rows() {
    let text = "graph \"rows\" { x: f32[N, 3] = placeholder z = constant { shape = [3], trained = false } \
                y = expand(z) { shape = [N, 2, 3] } return y, x }";
    let mut graph = Graph::parse(text).unwrap();
    graph.initialize(3);
    let options = ExportOptions {
        batch: Some(4),
        with_source: false,
        ..ExportOptions::default()
    };
    let proto = export(&graph, &options).unwrap();
    let read = import(&Model { proto }, &ImportOptions::default()).unwrap();
    assert!(read.graph.to_string().contains("x: f32[4, 3] "));
    let verified = ir::verify(&read.graph).unwrap();
    let ty = verified.ty(verified.output_values()[0]);
    assert_eq!(ty.to_string(), "f32[4, 2, 3]");
}

/// A norm whose weights are stored is one node with these parameters, as it was.
#[test]
fn norms_with_stored_weights_are_read_as_they_were() {
    for (types, call, opset) in [
        (
            "x: f32[N, 6, 4, 5]",
            "instance_norm(x) { num_features = 6, affine = true }",
            21,
        ),
        (
            "x: f32[N, 6, 5]",
            "group_norm(x) { num_groups = 3, num_channels = 6 }",
            21,
        ),
        (
            "x: f32[N, 3, 8]",
            "rms_norm(x) { normalized_shape = [8], eps = 0.1 }",
            23,
        ),
    ] {
        let mut graph = graph(types, call);
        graph.initialize(3);
        let options = ExportOptions {
            opset,
            with_source: false,
            ..ExportOptions::default()
        };
        let proto = export(&graph, &options).unwrap();
        let read = import(&Model { proto }, &ImportOptions::default())
            .unwrap()
            .graph;
        let (own, read) = (&graph.nodes()[1], &read.nodes()[1]);
        assert_eq!((&own.op, &own.params), (&read.op, &read.params), "{call}");
    }
}
