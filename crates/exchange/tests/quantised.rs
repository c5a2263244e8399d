//! Quantised networks of other programs: read without opaque nodes, with the formats they stand for, and run to the numbers of ONNX
//! Runtime and qonnx. `fixtures/make_quantised.py` wrote them.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use exchange::onnx::{ExportOptions, ImportOptions, Style, export, import, read};
use interop::onnx::proto::tensor_shape_proto::dimension::Value;
use interop::onnx::proto::type_proto::Value as Kind;
use interop::onnx::{Tensor, decode_tensor};
use ir::{Graph, Op};
use std::fs;
use std::path::PathBuf;

/// The networks, how far results may be from those of the program, and a text of the graph.
const CASES: &[(&str, f32, &str)] = &[
    // layers on codes; with powers of two as scales all sums are exact
    ("qlinear_conv", 0.0, "weight: affine(8, stored, axis = 0)"),
    ("qlinear_conv_real", 1e-6, "x: affine(8, 0.037, 7, false)"),
    ("qlinear_chain", 0.0, "c_1: affine(8, 4.0, 100, false)"),
    ("qlinear_matmul", 0.0, "weight: affine(8, stored, axis = 0)"),
    ("qlinear_codes", 0.0, "x: affine(8, 0.0625, -3)"),
    ("matmul_integer", 1e-6, "weight: affine(8, 1.0, 2)"),
    ("conv_integer", 1e-6, "weight: affine(8, 1.0, 131, false)"),
    // stored codes
    (
        "block_int4",
        1e-6,
        "weight: affine(4, stored, stored, axis = 1, block = 4)",
    ),
    ("axis_int2", 1e-6, "weight: affine(2, stored, axis = 0)"),
    (
        "axis_uint16",
        1e-6,
        "weight: affine(16, stored, stored, false, axis = 0)",
    ),
    ("e4m3fn_plain", 1e-6, "weight: float8(e4m3fn)"),
    ("e4m3fnuz_plain", 1e-6, "weight: float8(e4m3fnuz)"),
    ("e5m2_plain", 1e-6, "weight: float8(e5m2)"),
    ("e5m2fnuz_plain", 1e-6, "weight: float8(e5m2fnuz)"),
    ("e4m3fn_scaled", 1e-6, "linear"),
    ("e4m3fnuz_scaled", 1e-6, "linear"),
    ("e5m2_scaled", 1e-6, "linear"),
    ("e5m2fnuz_scaled", 1e-6, "linear"),
    ("e2m1_plain", 1e-6, "weight: float4(e2m1)"),
    ("e2m1_scaled", 1e-6, "linear"),
    ("float8_values", 0.0, "float8(e4m3fn)"),
    ("rounded_weight", 1e-6, "weight: affine(8, 0.02)"),
    // thresholds
    (
        "thresholds_channels",
        0.0,
        "thresholds(x) { channels = 3, steps = 7 }",
    ),
    (
        "thresholds_all",
        0.0,
        "thresholds(x) { steps = 15, scale = 0.25, offset = -2.0 }",
    ),
    ("thresholds_lines", 0.0, "permute"),
    ("thresholds_nhwc", 0.0, "permute"),
    ("thresholds_exact", 0.0, "scale = 0.1, offset = 0.3"),
    // QONNX's quantisers
    ("trunc_first", 0.0, "floor"),
    ("trunc_first_zero", 0.0, "round"),
    ("trunc_second", 0.0, "affine(5, 2.0, rounding = floor)"),
    ("trunc_real", 0.0, "affine(6, 1.0, rounding = floor)"),
    (
        "trunc_ceil",
        0.0,
        "affine(4, 4.0, narrow = true, rounding = ceil)",
    ),
    ("float_e4m3", 0.0, "float8(e4m3fn)"),
    ("float_e5m2", 0.0, "float8(e5m2)"),
    ("float_e3m2", 0.0, "minifloat_ieee(6, 3)"),
    ("float_scaled", 0.0, "minifloat_ieee(6, 3)"),
    ("float_e2m1", 0.0, "float4(e2m1)"),
    ("float_weight_plain", 1e-6, "weight: float8(e4m3fn)"),
    ("float_weight_scaled", 1e-6, "linear"),
    // channels on the last axis
    ("last_conv", 1e-6, "permute"),
    ("last_pool", 0.0, "permute"),
    ("nhwc_pool", 0.0, "permute"),
    ("last_norm", 1e-6, "permute"),
    // masks with infinities
    ("mask_stored", 1e-6, "trained = false"),
    ("mask_made", 1e-6, "trained = false"),
    ("mask_where", 1e-6, "where"),
    ("mask_rounded", 1e-6, "x: affine(8, 0.1)"),
];

fn path(name: &str, ending: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/quantised");
    folder.join(format!("{name}.{ending}"))
}

fn tensor(name: &str, ending: &str) -> Tensor {
    decode_tensor(fs::read(path(name, ending)).unwrap()).unwrap()
}

/// The difference of the results, relative to the largest.
fn difference(graph: Graph, name: &str, rows: usize, input: &Tensor) -> f32 {
    let results = support::run(graph, rows, &[input]).unwrap();
    let (values, shape) = &results[0];
    let output = tensor(name, "out.pb");
    let expected = support::floats(&output);
    assert_eq!(*shape, output.shape, "{name}");
    let largest = expected.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
    let pairs = values.iter().zip(&expected);
    let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(!values.iter().any(|value| value.is_nan()), "{name}");
    worst / largest
}

#[test]
fn quantised_networks_compute_what_their_programs_do() {
    let mut wrong = Vec::new();
    for (name, limit, text) in CASES {
        let imported = read(&path(name, "onnx"), &ImportOptions::default()).unwrap();
        let shown = imported.graph.to_string();
        let is_opaque = imported.notes.iter().any(|note| note.contains("kept"));
        if is_opaque || !shown.contains(text) {
            wrong.push(format!("{name}: {:?}\n{shown}", imported.notes));
            continue;
        }
        let input = tensor(name, "in.pb");
        let rows = input.shape[0];
        let difference = difference(imported.graph, name, rows, &input);
        if difference > *limit {
            wrong.push(format!("{name}: differs by {difference:e}\n{shown}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_network_of_the_folder_is_held() {
    let folder = path("x", "onnx");
    let files = fs::read_dir(folder.parent().unwrap()).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".onnx").map(str::to_owned))
        .collect();
    names.sort();
    let mut held: Vec<&str> = CASES.iter().map(|case| case.0).collect();
    held.extend(["fixed_batch", "fixed_windows"]);
    held.sort_unstable();
    assert_eq!(names, held);
}

#[test]
fn a_fixed_batch_can_be_made_free() {
    for name in ["fixed_batch", "fixed_windows"] {
        let input = tensor(name, "in.pb");
        let fixed = read(&path(name, "onnx"), &ImportOptions::default()).unwrap();
        assert!(!fixed.graph.to_string().contains("[N"), "{name}");
        assert!(difference(fixed.graph, name, 2, &input) <= 1e-6, "{name}");
        let options = ImportOptions {
            batch_axis: true,
            ..ImportOptions::default()
        };
        let free = read(&path(name, "onnx"), &options).unwrap();
        assert_eq!(free.notes, Vec::<String>::new(), "{name}");
        assert!(
            difference(free.graph.clone(), name, 2, &input) <= 1e-6,
            "{name}"
        );
        // One row alone, and three, are what they are in the batch.
        let whole = support::run(free.graph.clone(), 2, &[&input])
            .unwrap()
            .remove(0)
            .0;
        let width = input.shape[1];
        let row = support::floats(&input)[..width].to_vec();
        let three = Tensor {
            shape: vec![3, width],
            values: interop::onnx::Values::Floats(row.repeat(3)),
            ..input
        };
        let results = support::run(free.graph, 3, &[&three]).unwrap().remove(0).0;
        let n = whole.len() / 2;
        for part in results.chunks(n) {
            let pairs = part.iter().zip(&whole[..n]);
            assert!(
                pairs.into_iter().all(|(a, b)| (a - b).abs() <= 1e-6),
                "{name}"
            );
        }
    }
}

#[test]
fn inputs_of_different_sizes_are_no_batch() {
    let mut model = interop::onnx::read(&path("fixed_batch", "onnx")).unwrap();
    let graph = model.proto.graph.as_mut().unwrap();
    let mut other = graph.input[0].clone();
    other.name = Some("other".to_owned());
    if let Some(Kind::TensorType(tensor)) = &mut other.r#type.as_mut().unwrap().value {
        tensor.shape.as_mut().unwrap().dim[0].value = Some(Value::DimValue(5));
    }
    graph.input.push(other);
    let options = ImportOptions {
        batch_axis: true,
        ..ImportOptions::default()
    };
    let error = import(&model, &options).unwrap_err().to_string();
    assert_eq!(
        error,
        "input 'other': its first axis has the size 5, that of another input 2, so that they are not the same batch"
    );
}

#[test]
fn thresholds_are_written_back() {
    for name in ["thresholds_channels", "thresholds_all", "thresholds_exact"] {
        let imported = read(&path(name, "onnx"), &ImportOptions::default()).unwrap();
        for style in [Style::Onnx, Style::Qonnx] {
            let options = ExportOptions {
                style,
                with_source: false,
                ..ExportOptions::default()
            };
            let proto = export(&imported.graph, &options).unwrap();
            let again = import(&interop::onnx::Model { proto }, &ImportOptions::default()).unwrap();
            let has_operator = |op: &Op| matches!(op, Op::Thresholds(_));
            let kept = again
                .graph
                .nodes()
                .iter()
                .any(|node| has_operator(&node.op));
            assert_eq!(kept, style == Style::Qonnx, "{name}");
            let input = tensor(name, "in.pb");
            let rows = input.shape[0];
            assert!(
                difference(again.graph, name, rows, &input) == 0.0,
                "{name} {style:?}"
            );
        }
    }
}
