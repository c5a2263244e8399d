//! Operators that networks of the zoo lack, as ONNX: run by ONNX Runtime, and read back, to the same numbers.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod runtime;
#[path = "runtime/samples.rs"]
mod samples;
mod support;

use exchange::onnx::{ExportOptions, ImportOptions, export, import};
use interop::onnx::{Model, Tensor};
use ir::{Graph, NodeId};
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
    let n = ir::verify(&first).unwrap().outputs(NodeId(1)).len();
    let rest = (1..n).map(|k| format!("y.{k}"));
    let results: Vec<String> = ["y".to_owned()].into_iter().chain(rest).collect();
    parse(&results.join(", "))
}

#[test]
fn operators_are_written_in_every_version_and_read_back() {
    let mut runs = Vec::new();
    let mut graphs = Vec::new();
    for (at, (types, call)) in CASES.iter().enumerate() {
        let mut graph = graph(types, call);
        graph.initialize(3);
        for opset in [18, 20, 21, 23] {
            let options = ExportOptions {
                opset,
                with_source: false,
                ..ExportOptions::default()
            };
            let network = export(&graph, &options).unwrap();
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
    for (at, (run, (call, graph))) in runs.iter().zip(graphs).enumerate() {
        let given: Vec<&Tensor> = run.inputs.iter().collect();
        let results = support::run(graph, ROWS, &given).unwrap();
        let proto = run.network.clone();
        let read = import(&Model { proto }, &ImportOptions::default()).unwrap();
        assert_eq!(read.notes, Vec::<String>::new(), "{call} {}", run.name);
        let again = support::run(read.graph, ROWS, &given).unwrap();
        for (k, (values, shape)) in results.iter().enumerate() {
            assert_eq!(*shape, again[k].1, "{call} {}", run.name);
            let read = difference(&again[k].0, values);
            assert!(read <= 2e-6, "{call} {}: read back, {read:e}", run.name);
            if let Some(outputs) = &outputs {
                let (there, sizes) = &outputs[at][k];
                assert_eq!(shape, sizes, "{call} {}", run.name);
                let run_there = difference(values, there);
                assert!(run_there <= 2e-6, "{call} {}: {run_there:e}", run.name);
            }
        }
    }
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
