//! Number formats as ONNX: run by ONNX Runtime and qonnx, read back by their nodes and by the text of the graph.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod runtime;
#[path = "runtime/samples.rs"]
mod samples;
mod support;

use exchange::onnx::{ExportOptions, ImportOptions, Style, export, import};
use format::{Format, StoredArray};
use interop::onnx::{Model, Tensor};
use ir::{Graph, Op};
use runtime::Run;
use samples::difference;

/// Formats that are written, of data and of weights, and what a reader of the nodes finds.
struct Case {
    style: Style,
    program: &'static str,
    opset: i64,
    data: &'static str,
    weight: &'static str,
    found: [&'static str; 2],
}

const fn qdq(data: &'static str, weight: &'static str, found: [&'static str; 2]) -> Case {
    Case {
        style: Style::Qdq,
        program: "onnx",
        opset: 21,
        data,
        weight,
        found,
    }
}

const fn qonnx(data: &'static str, weight: &'static str, found: [&'static str; 2]) -> Case {
    Case {
        style: Style::Qonnx,
        program: "qonnx",
        ..qdq(data, weight, found)
    }
}

const AFFINE8: &str = "affine(8, stored, axis = 0)";

const CASES: &[Case] = &[
    // widths between the types of codes, whose bounds are clipped
    qdq(
        "integer(12, 6)",
        "integer(3, 2)",
        ["integer(12, 6)", "integer(4, 2)"],
    ),
    qdq(
        "integer(3, 1)",
        "integer(12, 10)",
        ["integer(3, 1)", "integer(16, 10)"],
    ),
    qdq(
        "integer(10, 5, signed = false)",
        "integer(5, 4)",
        ["integer(10, 5, false)", "integer(8, 4)"],
    ),
    qdq(
        "affine(8, 0.05, 3, narrow = true)",
        "integer(2, 1)",
        ["affine(8, 0.05, 3, narrow = true)", "integer(4, 1)"],
    ),
    // scales that follow the values
    qdq(
        "integer(8, 4)",
        "scale_integer(8)",
        ["integer(8, 4)", "affine(8, "],
    ),
    qdq(
        "integer(8, 4)",
        "scale_integer(8, channel)",
        ["integer(8, 4)", AFFINE8],
    ),
    qdq(
        "integer(8, 4)",
        "scale_integer(4, row)",
        ["integer(8, 4)", "affine(4, stored, axis = "],
    ),
    qdq(
        "integer(8, 4)",
        "scale_integer(11, channel)",
        ["integer(8, 4)", "affine(16, stored, axis = 0)"],
    ),
    // fixed point with places of its own for every channel
    qdq(
        "integer(8, 4)",
        "integer(8, stored, axis = 0)",
        ["integer(8, 4)", AFFINE8],
    ),
    qonnx(
        "integer(8, 4)",
        "integer(8, stored, axis = 0)",
        ["integer(8, 4)", AFFINE8],
    ),
    qonnx(
        "integer(12, 6)",
        "scale_integer(8, channel)",
        ["integer(12, 6)", "affine(8, stored, "],
    ),
    // floats of few bits
    qdq(
        "float8(e4m3fn)",
        "float8(e5m2)",
        ["float8(e4m3fn)", "float8(e5m2)"],
    ),
    qdq(
        "float8(e5m2fnuz)",
        "float8(e4m3fnuz)",
        ["float8(e5m2fnuz)", "float8(e4m3fnuz)"],
    ),
    qdq(
        "float8(e5m2, saturate = false)",
        "float8(e4m3fn)",
        ["float8(e5m2, ", "float8(e4m3fn)"],
    ),
    Case {
        program: "reference",
        opset: 23,
        ..qdq(
            "float4(e2m1)",
            "float4(e2m1)",
            ["float4(e2m1)", "float4(e2m1)"],
        )
    },
    qonnx(
        "float8(e4m3fn)",
        "float8(e5m2)",
        ["float8(e4m3fn)", "float8(e5m2)"],
    ),
    qonnx(
        "float4(e2m1)",
        "float8(e4m3fnuz)",
        ["float4(e2m1)", "float8(e4m3fnuz)"],
    ),
    qonnx(
        "minifloat_ieee(6, 3)",
        "minifloat_ieee(8, 4)",
        ["minifloat_ieee(6, 3)", "minifloat_ieee(8, 4)"],
    ),
    // two values
    qonnx(
        "bipolar(0.5)",
        "binary(1, bipolar = true)",
        ["bipolar(0.5)", "bipolar(1.0)"],
    ),
];

/// Rows of a batch.
const ROWS: usize = 4;

impl Case {
    fn name(&self) -> String {
        let words = [self.style.word(), self.data, self.weight].join(" ");
        words.replace([' ', '(', ')', ',', '=', '.'], "_")
    }

    /// Two layers whose sums of few products are nearly exact, whatever their order.
    fn graph(&self) -> Graph {
        let text = "graph \"net\" {
            x: f32[N, 2, 5] = placeholder
            a = conv1d(x) { in_channels = 2, out_channels = 3, kernel_size = 2 }
            b = flatten(a) { start_dim = 1 }
            y = linear(b) { in_features = 12, out_features = 4 }
            return y }";
        let mut graph = Graph::parse(text).unwrap();
        graph.initialize(5);
        let ids: Vec<_> = graph.iter().map(|(id, _)| id).collect();
        for id in ids {
            let node = graph.node_mut(id);
            if !matches!(node.op, Op::Conv1d(_) | Op::Linear(_)) {
                continue;
            }
            let (data, mut weight) = (
                Format::parse(self.data),
                Format::parse(self.weight).unwrap(),
            );
            let tensor = node.params["weight"].clone();
            if self.weight.contains("stored") {
                let shape = vec![tensor.shape()[0]];
                let values = (0..shape[0]).map(|k| 5.0 + (k % 3) as f32).collect();
                let array = StoredArray { shape, values };
                weight = weight.with_stored("frac_width", array).unwrap();
            }
            let mut rounded = tensor.clone();
            weight.quantize(tensor.values(), tensor.shape(), rounded.values_mut());
            node.params.insert("weight".to_owned(), rounded);
            node.formats.insert("data_in_0".to_owned(), data.unwrap());
            node.formats.insert("weight".to_owned(), weight);
        }
        graph
    }

    fn options(&self, with_source: bool) -> ExportOptions {
        ExportOptions {
            style: self.style,
            opset: self.opset,
            with_source,
            ..ExportOptions::default()
        }
    }
}

/// Scales that follow the values are rounded to f32 in a file, and values with them.
fn nearly_same(a: &Graph, b: &Graph) -> bool {
    let pairs = a.parameters().zip(b.parameters());
    let same = |(a, b): (f32, f32)| (a - b).abs() <= 2e-7 * b.abs();
    pairs.into_iter().all(|((name, a), (other, b))| {
        let values = a.values().iter().copied().zip(b.values().iter().copied());
        name == other && a.shape() == b.shape() && values.into_iter().all(same)
    })
}

#[test]
fn formats_are_read_back() {
    for case in CASES {
        let graph = case.graph();
        let read = |with_source: bool| {
            let proto = export(&graph, &case.options(with_source)).unwrap();
            import(&Model { proto }, &ImportOptions::default()).unwrap()
        };
        let name = case.name();
        let again = read(true).graph;
        assert_eq!(again.to_string(), graph.to_string());
        assert!(nearly_same(&again, &graph), "{name}");
        let others = read(false);
        assert_eq!(others.notes, Vec::<String>::new(), "{name}");
        for op in ["conv1d", "linear"] {
            let mut nodes = others.graph.nodes().iter();
            let node = nodes.find(|node| node.op.name() == op).unwrap();
            for (port, found) in ["data_in_0", "weight"].into_iter().zip(case.found) {
                let own = node.formats.get(port).map(Format::to_string);
                let is_found = own.as_ref().is_some_and(|own| own.starts_with(found));
                assert!(is_found, "{name}: {op}: {port} is {own:?}, not {found}");
            }
        }
        let inputs = samples::inputs(&graph, ROWS);
        let given: Vec<&Tensor> = inputs.iter().collect();
        let expected = support::run(graph, ROWS, &given).unwrap();
        let results = support::run(others.graph, ROWS, &given).unwrap();
        assert!(difference(&results[0].0, &expected[0].0) <= 1e-6, "{name}");
    }
}

#[test]
fn other_programs_compute_the_same() {
    let run = |case: &Case| {
        let graph = case.graph();
        Run {
            name: case.name(),
            network: export(&graph, &case.options(true)).unwrap(),
            inputs: samples::inputs(&graph, ROWS),
            program: case.program,
        }
    };
    let runs: Vec<Run> = CASES.iter().map(run).collect();
    let Some(outputs) = runtime::outputs("formats", &runs) else {
        return;
    };
    for ((case, run), outputs) in CASES.iter().zip(&runs).zip(outputs) {
        let given: Vec<&Tensor> = run.inputs.iter().collect();
        let results = support::run(case.graph(), ROWS, &given).unwrap();
        let difference = difference(&results[0].0, &outputs[0].0);
        assert!(
            difference <= 1e-6,
            "{}: differs by {difference:e}",
            run.name
        );
    }
}

/// What older sets of operators lack is refused on values, and written as it is rounded of weights.
#[test]
fn older_sets_lack_some_codes() {
    for (data, opset, sentence) in [
        (
            "integer(12, 6)",
            20,
            "codes of int16 are written from --opset 21 on",
        ),
        (
            "float8(e4m3fn)",
            18,
            "codes of float8e4m3fn are written from --opset 19 on",
        ),
        (
            "float4(e2m1)",
            22,
            "codes of float4e2m1 are written from --opset 23 on",
        ),
    ] {
        let case = Case {
            opset,
            ..qdq(data, "integer(8, 7)", ["", ""])
        };
        let error = export(&case.graph(), &case.options(false)).unwrap_err();
        assert!(error.to_string().contains(sentence), "{error}");
        let weights = Case {
            opset,
            ..qdq("integer(8, 4)", data, ["", ""])
        };
        let proto = export(&weights.graph(), &weights.options(false)).unwrap();
        let read = import(&Model { proto }, &ImportOptions::default()).unwrap();
        assert!(nearly_same(&read.graph, &weights.graph()), "{data}");
    }
}
