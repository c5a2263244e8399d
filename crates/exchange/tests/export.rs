//! Networks of the zoo as ONNX: read back as they were, and run by ONNX Runtime to the same numbers.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod runtime;
#[path = "runtime/samples.rs"]
mod samples;
mod support;

use exchange::onnx::{ExportOptions, ImportOptions, Style, export, import};
use format::{Format, StoredArray};
use interop::onnx::{Model, Tensor};
use ir::{Graph, Node, Op};
use models::{MODELS, ModelInfo};
use runtime::Run;
use samples::difference;
use std::env;

/// Parameters of a network that is run, at most; `ONNX_ZOO=all` runs every one, `ONNX_ZOO=resnet18` that one.
const MAX_PARAMETERS: usize = 1_000_000;
/// Parameters of a network that is written and read, at most: some families have members of tens of millions.
const MAX_READ: usize = 3_000_000;
/// Elements of a sum of products of 8 bits that 24 bits hold exactly.
const MAX_EXACT: usize = 512;
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
    (Formats::Float, Style::Qonnx),
    (Formats::Integer(8), Style::Qonnx),
    (Formats::Integer(4), Style::Qonnx),
    (Formats::PerChannel, Style::Qonnx),
];

/// The bound on parameters, or none when all networks, or one by its name, are asked for.
fn bound(max_parameters: usize) -> usize {
    match env::var("ONNX_ZOO") {
        Ok(_) => usize::MAX,
        Err(_) => max_parameters,
    }
}

fn zoo(max_parameters: usize) -> Vec<Graph> {
    let is_asked = max_parameters == usize::MAX;
    let wanted = env::var("ONNX_ZOO").ok();
    let wanted = wanted.filter(|name| is_asked && name != "all");
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted == name);
    let graphs = MODELS
        .iter()
        .filter(|entry| is_wanted(entry.name))
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
    // In a deep network one sum in another order moves a value to the next code, and then all that follow.
    let is_deep = graph.trained_parameter_count() > MAX_PARAMETERS;
    let ids: Vec<_> = graph.iter().map(|(id, _)| id).collect();
    for id in ids {
        let node = graph.node_mut(id);
        let is_layer = matches!(node.op, Op::Linear(_) | Op::Conv1d(_) | Op::Conv2d(_));
        if is_layer && formats != Formats::Float {
            give_formats(node, formats, style, is_deep);
        }
    }
    graph
}

fn give_formats(node: &mut Node, formats: Formats, style: Style, is_deep: bool) {
    let (data, weight) = if let Formats::Integer(width) = formats {
        let data = format!("integer({width}, {})", width / 2);
        (data, format!("integer({width}, {})", width - 1))
    } else {
        let is_before = style == Style::Qonnx;
        let offset = if is_before { "before" } else { "after" };
        let step = if is_deep { 0.0625 } else { 0.05 };
        let data = format!("affine(8, {step}, 3, offset = {offset})");
        (data, "affine(8, stored, axis = 0)".to_owned())
    };
    node.formats
        .insert("data_in_0".to_owned(), Format::parse(&data).unwrap());
    let mut weight = Format::parse(&weight).unwrap();
    let tensor = node.params["weight"].clone();
    if formats == Formats::PerChannel {
        let channels = tensor.shape()[0];
        let scale = |k: usize| {
            if is_deep {
                0.5_f32.powi(6 + (k % 4) as i32)
            } else {
                0.004 + 0.0007 * k as f32
            }
        };
        let values = (0..channels).map(scale).collect();
        let shape = vec![channels];
        weight = weight
            .with_stored("scale", StoredArray { shape, values })
            .unwrap();
    }
    let mut rounded = tensor.clone();
    weight.quantize(tensor.values(), tensor.shape(), rounded.values_mut());
    node.params.insert("weight".to_owned(), rounded);
    node.formats.insert("weight".to_owned(), weight);
    // With a bias on the steps of the products, all sums of a layer are exact.
    if let (Formats::Integer(width), Some(bias)) = (formats, node.params.get_mut("bias")) {
        let format = format!("integer(16, {})", width / 2 + width - 1);
        let format = Format::parse(&format).unwrap();
        let values = bias.values().to_vec();
        format.quantize(&values, &[values.len()], bias.values_mut());
        node.formats.insert("bias".to_owned(), format);
    }
}

/// True when every sum of the graph is exact, whatever its order.
fn is_exact(graph: &Graph, formats: Formats) -> bool {
    let fan_in = |node: &Node| node.params["weight"].shape()[1..].iter().product::<usize>();
    matches!(formats, Formats::Integer(_))
        && graph.nodes().iter().all(|node| match node.op {
            Op::Linear(_) | Op::Conv1d(_) | Op::Conv2d(_) => fan_in(node) <= MAX_EXACT,
            Op::Placeholder(_)
            | Op::Output(_)
            | Op::Relu(_)
            | Op::Flatten(_)
            | Op::View(_)
            | Op::MaxPool2d(_)
            | Op::Hardtanh(_)
            | Op::Identity(_) => true,
            _ => false,
        })
}

fn options(style: Style) -> ExportOptions {
    ExportOptions {
        style,
        ..ExportOptions::default()
    }
}

#[test]
fn a_network_that_was_written_reads_back_as_it_was() {
    for graph in zoo(bound(MAX_READ)) {
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
            let inputs = samples::inputs(&graph, ROWS);
            let given: Vec<&Tensor> = inputs.iter().collect();
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
        let inputs = samples::inputs(&graph, ROWS);
        let given: Vec<&Tensor> = inputs.iter().collect();
        let expected = support::run(graph, ROWS, &given).unwrap();
        let results = support::run(read.graph, ROWS, &given).unwrap();
        assert_eq!(results, expected, "{index}");
    }
}

/// A small file can state any size; what is written for it is bounded.
#[test]
fn masks_and_norms_of_more_elements_than_memory_are_refused() {
    for (types, call) in [
        (
            "q: f32[N, 1000000, 2]",
            "scaled_dot_product_attention(q, q, q) { is_causal = true }",
        ),
        (
            "q: f32[N, 1000000, 1000000]",
            "layer_norm(q) { normalized_shape = [1000000, 1000000], elementwise_affine = false }",
        ),
    ] {
        let text = format!("graph \"large\" {{ {types} = placeholder y = {call} return y }}");
        let error = export(&Graph::parse(&text).unwrap(), &options(Style::Onnx)).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("has more than 2^28 elements"), "{error}");
    }
}

/// A batch norm whose weight and bias have formats: a graph rounds what they come to with the statistics, ONNX the numbers that it
/// stores.
#[test]
fn rounded_batch_norms_compute_the_same_bits() {
    let formats = [
        (Style::Onnx, "integer(8, 6)", "integer(16, 10)"),
        (Style::Qdq, "integer(8, 6)", "integer(16, 10)"),
        (Style::Qdq, "integer(4, 2)", "integer(6, 2)"),
        (Style::Qonnx, "integer(8, 6)", "integer(16, 10)"),
        (Style::Qonnx, "affine(5, 0.125)", "integer(6, 2)"),
    ];
    let (mut runs, mut graphs) = (Vec::new(), Vec::new());
    for (at, (style, weight, bias)) in formats.into_iter().enumerate() {
        let data = if style == Style::Onnx {
            ""
        } else {
            ": integer(8, 4)"
        };
        let text = format!(
            "graph \"norms\" {{ x: f32[N, 3, 5, 5] = placeholder
            n = batch_norm2d(x{data}) {{ target = \"n\", num_features = 3, weight: {weight}, bias: {bias} }}
            y = relu(n{data}) return y }}"
        );
        let mut graph = Graph::parse(&text).unwrap();
        graph.initialize(5);
        let node = graph.iter().nth(1).unwrap().0;
        for (port, values) in [
            ("weight", [0.7, -1.3, 0.2]),
            ("bias", [0.11, 0.23, -0.4]),
            ("running_mean", [0.5, -0.25, 0.125]),
            ("running_var", [4.1, 0.3, 0.06]),
        ] {
            let tensor = ir::Tensor::new(vec![3], values.to_vec()).unwrap();
            graph.node_mut(node).params.insert(port.to_owned(), tensor);
        }
        let network = export(&graph, &options(style)).unwrap();
        let proto = network.clone();
        let again = import(&Model { proto }, &ImportOptions::default()).unwrap();
        assert_eq!(again.graph, graph, "{weight} {style:?}");
        runs.push(Run {
            name: format!("norms{at}"),
            network,
            inputs: samples::inputs(&graph, ROWS),
            program: if style == Style::Qonnx {
                "qonnx"
            } else {
                "onnx"
            },
        });
        graphs.push(graph);
    }
    let outputs = runtime::outputs("norms", &runs);
    for (at, (run, graph)) in runs.iter().zip(graphs).enumerate() {
        let given: Vec<&Tensor> = run.inputs.iter().collect();
        let without_source = ExportOptions {
            with_source: false,
            ..options(formats[at].0)
        };
        let proto = export(&graph, &without_source).unwrap();
        let bare = import(&Model { proto }, &ImportOptions::default())
            .unwrap()
            .graph;
        let results = support::run(graph, ROWS, &given).unwrap();
        // A product of floats is not exact where nothing is rounded before it.
        let limit = if formats[at].0 == Style::Onnx {
            1e-6
        } else {
            0.0
        };
        let again = support::run(bare, ROWS, &given).unwrap();
        assert!(
            difference(&again[0].0, &results[0].0) <= limit,
            "{}",
            run.name
        );
        if let Some(outputs) = &outputs {
            let there = difference(&results[0].0, &outputs[at][0].0);
            assert!(there <= limit, "{}: {there:e}", run.name);
        }
    }
}

/// A mask of an input multiplies it before it is rounded.
#[test]
fn masks_of_inputs_are_written_and_read_back() {
    let text = "graph \"pruned\" { x: f32[N, 4] = placeholder
        a = linear(x: integer(8, 4)) { target = \"a\", in_features = 4, out_features = 3 }
        y = relu(a) return y }";
    let mut graph = Graph::parse(text).unwrap();
    graph.initialize(1);
    let ids: Vec<_> = graph.iter().map(|(id, _)| id).collect();
    for (id, values) in [
        (ids[1], vec![1.0, 0.0, 1.0, 0.0]),
        (ids[2], vec![0.0, 1.0, 1.0]),
    ] {
        let mask = ir::Tensor::new(vec![values.len()], values).unwrap();
        graph
            .node_mut(id)
            .masks
            .insert("data_in_0".to_owned(), mask);
    }
    let network = export(&graph, &options(Style::Qdq)).unwrap();
    let proto = network.clone();
    let again = import(&Model { proto }, &ImportOptions::default()).unwrap();
    assert_eq!(again.graph, graph);
    let run = Run {
        name: "masks".to_owned(),
        network,
        inputs: samples::inputs(&graph, ROWS),
        program: "onnx",
    };
    let given: Vec<&Tensor> = run.inputs.iter().collect();
    let without_source = ExportOptions {
        with_source: false,
        ..options(Style::Qdq)
    };
    let proto = export(&graph, &without_source).unwrap();
    let bare = import(&Model { proto }, &ImportOptions::default())
        .unwrap()
        .graph;
    let results = support::run(graph, ROWS, &given).unwrap();
    assert!(results[0].0.chunks(3).all(|row| row[0] == 0.0));
    let again = support::run(bare, ROWS, &given).unwrap();
    assert!(difference(&again[0].0, &results[0].0) <= 1e-6);
    if let Some(outputs) = runtime::outputs("masks", &[run]) {
        let there = difference(&results[0].0, &outputs[0][0].0);
        assert!(there <= 1e-6, "{there:e}");
    }
}

/// A norm of another program whose weight is rounded keeps it so, whatever its statistics are.
#[test]
fn a_rounded_weight_of_a_norm_is_not_rounded_with_its_statistics() {
    let text = "graph \"norm\" { x: f32[N, 2] = placeholder
        y = batch_norm1d(x) { target = \"n\", num_features = 2, weight: integer(4, 2), bias: integer(4, 2) } return y }";
    let mut graph = Graph::parse(text).unwrap();
    graph.initialize(1);
    let without_source = ExportOptions {
        with_source: false,
        ..options(Style::Qdq)
    };
    let mut proto = export(&graph, &without_source).unwrap();
    for tensor in &mut proto.graph.as_mut().unwrap().initializer {
        if tensor.name() == "n.running_var" {
            let bytes = 0.3_f32.to_le_bytes().repeat(2);
            tensor.raw_data = Some(bytes.into());
        }
    }
    let read = import(&Model { proto }, &ImportOptions::default())
        .unwrap()
        .graph;
    assert!(!read.to_string().contains("integer"), "{read}");
}

/// A file computes what its nodes do, whatever the text beside them says.
#[test]
fn a_scale_that_was_changed_is_read_by_its_nodes() {
    let graph = with_formats(&zoo(MAX_PARAMETERS)[0], Formats::Integer(8), Style::Qdq);
    for (part, of_weight) in [("weight_scale", true), ("scale", false)] {
        let mut proto = export(&graph, &options(Style::Qdq)).unwrap();
        let tensors = &mut proto.graph.as_mut().unwrap().initializer;
        let is_wanted = |name: &str| name.contains(part) && name.contains("weight_") == of_weight;
        let scale = tensors.iter_mut().find(|tensor| is_wanted(tensor.name()));
        scale.unwrap().raw_data = Some(0.75_f32.to_le_bytes().to_vec().into());
        let read = import(&Model { proto }, &ImportOptions::default()).unwrap();
        let text = read.graph.to_string();
        assert!(text.contains("0.75"), "{part}: {text}");
    }
}

/// What was left out of a file is not in the graph that comes of it.
#[test]
fn formats_that_are_not_written_do_not_come_back() {
    let graph = with_formats(&zoo(MAX_PARAMETERS)[0], Formats::Integer(4), Style::Qdq);
    let inputs = samples::inputs(&graph, ROWS);
    let given: Vec<&Tensor> = inputs.iter().collect();
    for (float_weights, kept) in [(false, "weight: integer(4, 3)"), (true, "linear")] {
        let dropped = ExportOptions {
            drop_formats: true,
            float_weights,
            ..options(Style::Onnx)
        };
        let written = export(&graph, &dropped).unwrap();
        let without_source = ExportOptions {
            with_source: false,
            ..dropped
        };
        let bare = export(&graph, &without_source).unwrap();
        let of = |proto| {
            import(&Model { proto }, &ImportOptions::default())
                .unwrap()
                .graph
        };
        let (read, bare) = (of(written), of(bare));
        let text = read.to_string();
        assert!(!text.contains("data_in_0") && text.contains(kept), "{text}");
        assert_eq!(text.contains("integer"), !float_weights, "{text}");
        let results = support::run(read, ROWS, &given).unwrap();
        assert_eq!(results, support::run(bare, ROWS, &given).unwrap());
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

#[test]
fn onnx_runtime_and_qonnx_compute_the_same() {
    if runtime::python().is_none() {
        return;
    }
    let mut n_exact = 0;
    let mut wrong = Vec::new();
    for graph in zoo(bound(MAX_PARAMETERS)) {
        let mut runs = Vec::new();
        let mut graphs = Vec::new();
        for &(formats, style) in CASES {
            let name =
                format!("{}_{formats:?}_{}", graph.name, style.word()).replace(['(', ')'], "_");
            let graph = with_formats(&graph, formats, style);
            runs.push(Run {
                name,
                network: export(&graph, &options(style)).unwrap(),
                inputs: samples::inputs(&graph, ROWS),
                program: if style == Style::Qonnx {
                    "qonnx"
                } else {
                    "onnx"
                },
            });
            graphs.push((graph, formats));
        }
        let Some(outputs) = runtime::outputs("export", &runs) else {
            return;
        };
        for ((run, (graph, formats)), outputs) in runs.iter().zip(graphs).zip(outputs) {
            let given: Vec<&Tensor> = run.inputs.iter().collect();
            let is_exact = is_exact(&graph, formats);
            n_exact += usize::from(is_exact);
            let results = support::run(graph, ROWS, &given).unwrap();
            for (k, ((values, _), expected)) in results.iter().zip(&outputs).enumerate() {
                let difference = difference(values, &expected.0);
                // A sum that is exact before it is rounded may still differ by one code where it is not.
                let limit = match formats {
                    _ if is_exact => 0.0,
                    Formats::Float => 1e-5,
                    _ => 2e-5,
                };
                if difference > limit || difference.is_nan() {
                    wrong.push(format!(
                        "{}: output {k} differs by {difference:e}",
                        run.name
                    ));
                }
            }
        }
    }
    let n = wrong.len();
    assert!(wrong.is_empty(), "{n} differ:\n{}", wrong.join("\n"));
    let is_one = env::var("ONNX_ZOO").is_ok_and(|name| name != "all");
    assert!(n_exact > 0 || is_one, "no network is held to the bit");
    println!("{n_exact} networks agree to the bit");
}
