//! Networks of the zoo as ONNX: read back as they were, and run by ONNX Runtime to the same numbers.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use exchange::onnx::{ExportOptions, ImportOptions, Style, export, import};
use format::{Format, StoredArray};
use interop::onnx::{Model, encode};
use ir::{DType, Graph, Node, Op};
use models::{MODELS, ModelInfo};
use random::Random;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Parameters of a network that is run, at most.
const MAX_PARAMETERS: usize = 1_000_000;
/// Parameters of a network that is written and read, at most: some families have members of tens of millions.
const MAX_READ: usize = 3_000_000;
/// Rows of a batch.
const ROWS: usize = 3;

/// The formats of a case: of the data that layers read, of their weights.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Formats {
    Float,
    Integer(u32),
    PerChannel,
}

const CASES: &[(Formats, Style)] = &[
    (Formats::Float, Style::Onnx),
    (Formats::Integer(8), Style::Qdq),
    (Formats::Integer(4), Style::Qdq),
    (Formats::Integer(6), Style::Qdq),
    (Formats::PerChannel, Style::Qdq),
    (Formats::Integer(8), Style::Qonnx),
    (Formats::PerChannel, Style::Qonnx),
];

fn zoo(max_parameters: usize) -> Vec<Graph> {
    let graphs = MODELS
        .iter()
        .map(|entry| models::build(entry.name, &ModelInfo::default()).unwrap());
    let small = graphs.filter(|graph| graph.trained_parameter_count() <= max_parameters);
    small
        .map(|mut graph| {
            graph.initialize(1);
            graph
        })
        .collect()
}

/// The graph with formats on its layers, its weights rounded.
fn with_formats(graph: &Graph, formats: Formats, style: Style) -> Graph {
    let mut graph = graph.clone();
    let ids: Vec<_> = graph.iter().map(|(id, _)| id).collect();
    for id in ids {
        let node = graph.node_mut(id);
        let is_layer = matches!(node.op, Op::Linear(_) | Op::Conv1d(_) | Op::Conv2d(_));
        if is_layer && formats != Formats::Float {
            give_formats(node, formats, style);
        }
    }
    graph
}

fn give_formats(node: &mut Node, formats: Formats, style: Style) {
    let (data, weight) = if let Formats::Integer(width) = formats {
        let data = format!("integer({width}, {})", width / 2);
        (data, format!("integer({width}, {})", width - 1))
    } else {
        let is_before = style == Style::Qonnx;
        let offset = if is_before { "before" } else { "after" };
        let data = format!("affine(8, 0.05, 3, offset = {offset})");
        (data, "affine(8, stored, axis = 0)".to_owned())
    };
    node.formats
        .insert("data_in_0".to_owned(), Format::parse(&data).unwrap());
    let mut weight = Format::parse(&weight).unwrap();
    let tensor = node.params["weight"].clone();
    if formats == Formats::PerChannel {
        let channels = tensor.shape()[0];
        let values = (0..channels).map(|k| 0.004 + 0.0007 * k as f32).collect();
        let shape = vec![channels];
        weight = weight
            .with_stored("scale", StoredArray { shape, values })
            .unwrap();
    }
    let mut rounded = tensor.clone();
    weight.quantize(tensor.values(), tensor.shape(), rounded.values_mut());
    node.params.insert("weight".to_owned(), rounded);
    node.formats.insert("weight".to_owned(), weight);
}

fn options(style: Style) -> ExportOptions {
    ExportOptions {
        style,
        ..ExportOptions::default()
    }
}

#[test]
fn a_network_that_was_written_reads_back_as_it_was() {
    for graph in zoo(MAX_READ) {
        for &(formats, style) in CASES {
            let graph = with_formats(&graph, formats, style);
            let proto = export(&graph, &options(style))
                .unwrap_or_else(|error| panic!("{}: {error}", graph.name));
            let model = Model { proto };
            let again = import(&model, &ImportOptions::default()).unwrap();
            assert_eq!(
                again.graph.to_string(),
                graph.to_string(),
                "{formats:?} {style:?}"
            );
            assert_eq!(again.graph, graph, "{} {formats:?} {style:?}", graph.name);
        }
    }
}

#[test]
fn a_file_that_was_changed_is_read_by_its_nodes() {
    let graph = zoo(MAX_PARAMETERS).remove(0);
    let mut proto = export(&graph, &options(Style::Onnx)).unwrap();
    let nodes = &mut proto.graph.as_mut().unwrap().node;
    let relu = nodes
        .iter_mut()
        .find(|node| node.op_type() == "Relu")
        .unwrap();
    relu.op_type = Some("Tanh".to_owned());
    let again = import(&Model { proto }, &ImportOptions::default())
        .unwrap()
        .graph;
    assert!(again.to_string().contains("tanh("), "{again}");
}

#[test]
fn quantised_files_of_others_keep_their_formats_and_compute_the_same_bits() {
    for graph in zoo(MAX_PARAMETERS) {
        for &(formats, style) in CASES {
            let graph = with_formats(&graph, formats, style);
            let without_source = ExportOptions {
                with_source: false,
                ..options(style)
            };
            let proto = export(&graph, &without_source).unwrap();
            let read = import(&Model { proto }, &ImportOptions::default()).unwrap();
            assert_eq!(read.notes, Vec::<String>::new(), "{}", graph.name);
            let of = |graph: &Graph| -> Vec<String> {
                let formats = graph.nodes().iter().flat_map(|node| node.formats.values());
                formats
                    .map(|format| {
                        format
                            .without_stored()
                            .to_string()
                            .replace(", offset = before", "")
                    })
                    .collect()
            };
            let (mut own, mut others) = (of(&graph), of(&read.graph));
            own.sort();
            others.sort();
            // Codes of six bits are stored as bytes, whose width is all that a file shows.
            if formats != Formats::Integer(6) {
                assert_eq!(own, others, "{} {formats:?} {style:?}", graph.name);
            }
            let inputs = inputs(&graph);
            let given: Vec<&interop::onnx::Tensor> = inputs.iter().collect();
            let expected = support::run(graph.clone(), ROWS, &given).unwrap();
            let results = support::run(read.graph, ROWS, &given).unwrap();
            for ((a, _), (b, _)) in results.iter().zip(&expected) {
                assert!(
                    difference(a, b) <= 1e-5,
                    "{} {formats:?} {style:?}",
                    graph.name
                );
            }
        }
    }
}

/// The reader, which the package's node tests hold, computes of every slice what the engine does.
#[test]
fn slices_are_written_with_their_steps() {
    for index in [":, 1:8:3", ":, 2", ":, 0:8:2", ":, -3:", ":, 7:8:5"] {
        let text = format!(
            "graph \"slice\" {{ x: f32[N, 8] = placeholder y = getitem(x) {{ index = \"{index}\" }} return y }}"
        );
        let graph = Graph::parse(&text).unwrap();
        let without_source = ExportOptions {
            with_source: false,
            ..options(Style::Onnx)
        };
        let proto = export(&graph, &without_source).unwrap();
        let read = import(&Model { proto }, &ImportOptions::default()).unwrap();
        let inputs = inputs(&graph);
        let given: Vec<&interop::onnx::Tensor> = inputs.iter().collect();
        let expected = support::run(graph, ROWS, &given).unwrap();
        let results = support::run(read.graph, ROWS, &given).unwrap();
        assert_eq!(results, expected, "{index}");
    }
}

#[test]
fn formats_are_dropped_only_when_asked() {
    let graph = with_formats(&zoo(MAX_PARAMETERS)[0], Formats::Integer(8), Style::Qdq);
    let error = export(&graph, &options(Style::Onnx))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("data_in_0 has the format integer(8, 4)"),
        "{error}"
    );
    let dropped = ExportOptions {
        drop_formats: true,
        ..options(Style::Onnx)
    };
    assert!(export(&graph, &dropped).is_ok());
    let log = Format::parse("log(8)").unwrap();
    let mut graph = graph;
    let id = graph
        .iter()
        .find(|(_, node)| !node.formats.is_empty())
        .unwrap()
        .0;
    graph
        .node_mut(id)
        .formats
        .insert("data_in_0".to_owned(), log);
    let error = export(&graph, &options(Style::Qdq))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("data_in_0: log(8") && error.contains("ONNX has no operator for log"),
        "{error}"
    );
}

/// The inputs of a graph for some rows.
fn inputs(graph: &Graph) -> Vec<interop::onnx::Tensor> {
    let verified = ir::verify(graph).unwrap();
    let mut tensors = Vec::new();
    for (id, node) in graph.iter() {
        let Op::Placeholder(op) = &node.op else {
            continue;
        };
        let shape = verified.ty(id.into()).shape.bind(ROWS).unwrap();
        let random = Random::new(7, &node.name);
        let n = shape.iter().product::<usize>() as u64;
        let (element, values) = if op.dtype == DType::F32 {
            let values = (0..n).map(|k| 2.0 * random.uniform(k) - 1.0).collect();
            (
                interop::onnx::Element::F32,
                interop::onnx::Values::Floats(values),
            )
        } else {
            let values = (0..n).map(|k| i64::from(random.uniform(k) > 0.5)).collect();
            (
                interop::onnx::Element::I64,
                interop::onnx::Values::Ints(values),
            )
        };
        tensors.push(interop::onnx::Tensor {
            name: node.name.clone(),
            shape,
            element,
            values,
        });
    }
    tensors
}

/// The difference that sums in another order make, relative to the largest value.
fn difference(a: &[f32], b: &[f32]) -> f32 {
    let scale = b.iter().fold(1e-6_f32, |max, x| max.max(x.abs()));
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
        / scale
}

#[test]
fn onnx_runtime_computes_the_same() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/onnx/bin/python");
    if !python.exists() {
        println!("skipped: ONNX Runtime is not installed; scripts/test-tools.sh gets it");
        return;
    }
    let folder = env::temp_dir().join(format!("onnx_export_{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut written = Vec::new();
    let mut list = String::new();
    for graph in zoo(MAX_PARAMETERS) {
        for &(formats, style) in CASES {
            let name =
                format!("{}_{formats:?}_{}", graph.name, style.word()).replace(['(', ')'], "_");
            let graph = with_formats(&graph, formats, style);
            let inputs = inputs(&graph);
            let proto = export(&graph, &options(style)).unwrap();
            fs::write(folder.join(format!("{name}.onnx")), encode(&proto)).unwrap();
            let mut line = format!("{name} {}", style.word());
            for input in &inputs {
                let file = format!("{name}.{}.pb", input.name);
                fs::write(
                    folder.join(&file),
                    interop::onnx::encode_tensor(&input.write()),
                )
                .unwrap();
                write!(line, " {}={file}", input.name).unwrap();
            }
            list += &(line + "\n");
            written.push((name, graph, inputs, formats));
        }
    }
    fs::write(folder.join("list.txt"), list).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run_networks.py");
    let status = Command::new(python)
        .arg(script)
        .arg(&folder)
        .status()
        .unwrap();
    assert!(status.success());
    let mut wrong = Vec::new();
    for (name, graph, inputs, formats) in written {
        let given: Vec<&interop::onnx::Tensor> = inputs.iter().collect();
        let results = support::run(graph, ROWS, &given).unwrap();
        for (k, (values, _)) in results.iter().enumerate() {
            let path = folder.join(format!("{name}.out{k}.pb"));
            let expected = interop::onnx::decode_tensor(fs::read(path).unwrap()).unwrap();
            let difference = difference(values, &support::floats(&expected));
            // A sum that is exact before it is rounded may still differ by one code where it is not.
            let limit = if formats == Formats::Float {
                1e-5
            } else {
                2e-5
            };
            if difference > limit || difference.is_nan() {
                wrong.push(format!("{name}: output {k} differs by {difference:e}"));
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
