//! Nodes of a file compute what other programs compute. `fixtures/onnx_calls.py` explains the list of them and has filled it.

mod line;
mod refusals;

use crate::support;
use exchange::onnx::{ExportOptions, ImportOptions, Imported, export, import};
use interop::onnx::Model;
use ir::Op;
use line::{Inputs, Line, tensors};

const LIST: &str = include_str!("../fixtures/onnx_calls.txt");

/// The graph of a line without nodes that stay as they are, or why there is none.
fn graph(line: &Line, inputs: &Inputs) -> Result<Imported, String> {
    let model = Model {
        proto: line.model(inputs),
    };
    let options = ImportOptions {
        batch_axis: line.makes_batch,
        ..ImportOptions::default()
    };
    let imported = import(&model, &options).map_err(|problem| problem.to_string())?;
    let nodes = imported.graph.nodes();
    if nodes.iter().any(|node| matches!(node.op, Op::Opaque(_))) {
        return Err(imported.notes.join("; "));
    }
    Ok(imported)
}

/// What the nodes compute, or why it does not agree.
fn check(line: &Line, inputs: &Inputs, expected: &str) -> Result<(), String> {
    let graph = graph(line, inputs)?.graph;
    if line.makes_batch && !graph.to_string().contains("f32[N, ") {
        return Err("no input has a free batch".to_owned());
    }
    let live = line.live(inputs);
    let rows = live[0].shape[0];
    let results = support::run(graph, rows, &live)?;
    let expected = tensors(expected);
    if results.len() != expected.len() {
        return Err(format!("{} results", results.len()));
    }
    for (k, ((values, shape), expected)) in results.iter().zip(&expected).enumerate() {
        let wanted = support::floats(expected);
        let close = |(a, b): (&f32, &f32)| {
            a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 2e-5 * b.abs().max(1.0)
        };
        let agrees = values.len() == wanted.len() && values.iter().zip(&wanted).all(close);
        if *shape != expected.shape || !agrees {
            return Err(format!(
                "result {k} is {values:?} of {shape:?}, not {wanted:?} of {:?}",
                expected.shape
            ));
        }
    }
    Ok(())
}

/// The inputs of the list and its lines.
fn list() -> (Inputs, Vec<(&'static str, &'static str)>) {
    let inputs = LIST.lines().filter_map(|line| line.split_once(" = "));
    let inputs = inputs.map(|(name, text)| (name, tensors(text).remove(0)));
    let lines = LIST.lines().filter(|line| !line.contains(" = "));
    (
        inputs.collect(),
        lines.map(|line| line.split_once(" -> ").unwrap()).collect(),
    )
}

#[test]
fn nodes_compute_what_other_programs_compute() {
    let (inputs, lines) = list();
    let wrong = lines.iter().filter_map(|(line, expected)| {
        let why = check(&Line::read(line), &inputs, expected).err()?;
        Some(format!("{line}: {why}"))
    });
    let wrong: Vec<String> = wrong.collect();
    let n = lines.len();
    assert!(
        wrong.is_empty(),
        "{} of {n}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(n > 400, "{n} lines");
}

/// The text of the graph of a line.
fn text(line: &str) -> String {
    let (inputs, _) = list();
    graph(&Line::read(line), &inputs).unwrap().graph.to_string()
}

#[test]
fn a_stored_tensor_that_is_read_twice_is_one_node() {
    let twice = text("Mul:13 m f32[3](1,2,3) | Mul:13 %0 $0");
    assert_eq!(twice.matches("constant").count(), 1, "{twice}");
    let two = text("Mul:13 m f32[3](1,2,3) | Mul:13 %0 f32[3](1,2,3)");
    assert_eq!(two.matches("constant").count(), 2, "{two}");
}

/// Scale and shift of a batch norm have formats only where they are its weight and its bias.
#[test]
fn batch_norms_have_formats_where_their_statistics_change_nothing() {
    let norm = |eps: &str, mean: &str, var: &str| {
        let line = format!(
            "DequantizeLinear:13 i8[3](1,-2,3) f32[](0.3) \
             | BatchNormalization:13 m %0 f32[3](0,1,2) f32[3]({mean}) f32[3]({var}) epsilon={eps}"
        );
        text(&line).contains("weight: affine(8, 0.3)")
    };
    assert!(norm("0.0", "0,0,0", "1,1,1"));
    assert!(!norm("0.5", "0,0,0", "1,1,1"));
    assert!(!norm("0.0", "0,0,1", "1,1,1"));
    assert!(!norm("0.0", "0,0,0", "1,1,2"));
}

/// Nodes become the shortest form that a graph has for them: numbers as attributes, even parts as one node.
#[test]
fn nodes_become_short_forms() {
    let cases = [
        ("Sub:13 x f32[](1.5)", "scalar = 1.5", 1),
        ("Sub:13 f32[](1.5) x", "scalar", 0),
        ("Add:13 f32[](1.5) x", "scalar = 1.5", 1),
        ("Add:13 x f32[1](1.5)", "scalar = 1.5", 1),
        ("Add:13 m f32[1,1,1](1.5)", "scalar", 0),
        ("Less:13 f32[](1.5) m", "scalar", 0),
        ("Split:13* x axis=1", "chunk(", 1),
        ("Split:13 x axis=1", "chunk(", 0),
        ("Split:13* x i64[2](1,2) axis=2", "chunk(", 0),
        ("Tile:13 x i64[3](1,2,1)", "cat(", 1),
        ("Slice:13 x i64[1](0) i64[1](9) i64[1](1)", "getitem(", 0),
        ("Clip:13 x f32[](0)", " relu(", 1),
        ("Clip:13 x f32[](0) f32[](6)", " relu6(", 1),
        ("Clip:13 x f32[](-1) f32[](6)", " hardtanh(", 1),
        ("Clip:13 x f32[](1) f32[](1)", " hardtanh(", 0),
        ("Selu:6 x", " selu(", 1),
        ("Selu:6 x gamma=1.25", " selu(", 0),
        ("Swish:24 x", " silu(", 1),
        ("PRelu:9 x f32[2,1](0.25,0.5)", " prelu(", 1),
        ("PRelu:9 x f32[1,2,1](0.25,0.5)", " prelu(", 0),
        ("Reshape:13 x i64[3](0,2,3)", "reshape(", 0),
        ("Transpose:13 x perm=[0,1,2]", "permute(", 0),
        ("Pad:13 x i64[6](0,0,0,0,0,0)", "pad(", 0),
        ("MatMul:13 x f32[3,2]~1 | Add:13 %0 f32[2](1,2)", "add(", 0),
        ("MatMul:13 x f32[3,2]~1 | Add:13 %0 f32[1](1)", "add(", 1),
    ];
    for (line, part, n) in cases {
        let text = text(line);
        assert_eq!(text.matches(part).count(), n, "{line}: {text}");
    }
}

#[test]
fn a_node_that_stays_holds_each_tensor_that_it_reads_once() {
    let (inputs, _) = list();
    let line = Line::read("Unknown:13 m f32[3](1,2,3) f32[3](4,5,6) $0");
    let mut proto = line.model(&inputs);
    let graph = proto.graph.as_mut().unwrap();
    graph.output[0].r#type = graph.input[0].r#type.clone();
    let imported = import(&Model { proto }, &ImportOptions::default()).unwrap();
    let options = ExportOptions {
        with_source: false,
        ..ExportOptions::default()
    };
    let written = export(&imported.graph, &options).unwrap().graph.unwrap();
    let node = &written.node[0];
    assert_eq!(node.op_type(), "Unknown");
    assert_eq!(written.initializer.len(), 2);
    let [first, second] = [0, 1].map(|at| written.initializer[at].name());
    assert_eq!(node.input[1..], [first, second, first]);
}
