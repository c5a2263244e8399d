//! Exported programs of PyTorch compute what PyTorch computed.
//!
//! Small ones lie beside the tests; `fixtures/pt2/make.py` makes them. Known networks are exported by the same script where PyTorch is
//! installed, the small ones among them in every run of the tests. `MASE_PT2=FOLDER` names a folder into which it has written all.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::{Input, PlanOptions, Pool, State, compile};
use exchange::aten;
use exchange::onnx::{ExportOptions, export};
use interop::npy::{self, Numbers, Values};
use interop::pt2;
use ir::{Graph, verify};
use std::path::{Path, PathBuf};
use std::process::Command;

const TOLERANCE: f64 = 1e-5;
/// Known networks that PyTorch exports in seconds.
const SMALL_NETWORKS: [&str; 5] = ["bert_mask", "opt", "llama", "gpt2", "squeezenet1_1"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pt2")
}

/// The largest difference from the stored result, relative to its largest element.
fn difference(graph: &Graph, stem: &Path) -> f64 {
    let array = |ending: &str| npy::read_numbers(&stem.with_extension(ending)).unwrap();
    let verified = verify(graph).unwrap();
    let inputs: Vec<Numbers> = (0..verified.placeholders().len())
        .map(|k| array(&format!("in{k}.npy")))
        .collect();
    let rows = inputs[0].shape[0];
    let mut state = State::new(&verified).unwrap();
    let mut plan = compile(&verified, &state, PlanOptions::eval(rows)).unwrap();
    let feed: Vec<Input> = inputs
        .iter()
        .map(|input| match &input.values {
            Values::F32(values) => Input::F32(values),
            Values::I64(values) => Input::I64(values),
        })
        .collect();
    plan.forward(&mut state, &feed, &Pool::new(2)).unwrap();
    let expected = array("out.npy");
    let Values::F32(expected) = expected.values else {
        panic!("results are floats");
    };
    let got = plan.output(0);
    assert_eq!(got.len(), expected.len());
    let largest = expected.iter().fold(0.0_f32, |max, y| max.max(y.abs()));
    let pairs = got.iter().zip(&expected);
    let worst = pairs.fold(0.0_f64, |max, (a, b)| max.max(f64::from((a - b).abs())));
    assert!(got.iter().all(|y| y.is_finite()));
    assert!(
        largest > 0.0,
        "{}: a result of zeros shows nothing",
        stem.display()
    );
    worst / f64::from(largest)
}

fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "pt2"));
    paths.sort();
    paths
}

fn check_folder(folder: &Path) -> usize {
    let (paths, mut wrong) = (programs(folder), Vec::new());
    for path in &paths {
        match aten::read(path, false) {
            Err(error) => wrong.push(error.to_string()),
            Ok(imported) if imported.notes.iter().any(|note| note.contains("not run")) => {
                wrong.push(format!("{}: {}", path.display(), imported.notes.join("; ")));
            }
            Ok(imported) => {
                let error = difference(&imported.graph, path);
                eprintln!("{}: {error:.1e}", path.display());
                if error.is_nan() || error > TOLERANCE {
                    wrong.push(format!("{}: differs by {error:.1e}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    paths.len()
}

#[test]
fn small_programs_compute_what_pytorch_computed() {
    assert!(check_folder(&fixtures()) >= 4);
}

#[test]
fn known_networks_compute_what_pytorch_computed() {
    if let Some(folder) = std::env::var_os("MASE_PT2") {
        assert!(check_folder(Path::new(&folder)) > 0);
        return;
    }
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/torch/bin/python");
    if !python.exists() {
        println!("skipped: PyTorch is not installed; scripts/test-tools.sh gets it");
        return;
    }
    let folder = std::env::temp_dir().join(format!("pt2_known_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut exports = Command::new(python);
    exports.arg(fixtures().join("make.py")).arg(&folder);
    let output = exports.args(SMALL_NETWORKS).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the networks are not exported: {said}"
    );
    assert_eq!(check_folder(&folder), SMALL_NETWORKS.len());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn both_layouts_are_the_same_program() {
    let read = |name: &str| pt2::read(&fixtures().join(name)).unwrap();
    let ((new, tensors), (old, pickled)) = (read("mlp.pt2"), read("mlp_old.pt2"));
    assert_eq!(new, old);
    assert_eq!(
        tensors.keys().collect::<Vec<_>>(),
        pickled.keys().collect::<Vec<_>>()
    );
    let graph = |program, tensors| aten::import("mlp", program, tensors).unwrap().graph;
    assert_eq!(graph(&new, tensors), graph(&old, pickled));
}

#[test]
fn parameters_keep_their_names_and_the_batch_is_free() {
    let graph = aten::read(&fixtures().join("mlp.pt2"), false)
        .unwrap()
        .graph;
    let names: Vec<String> = graph.parameters().map(|(name, _)| name).collect();
    assert!(names.contains(&"0.weight".to_owned()), "{names:?}");
    let verified = verify(&graph).unwrap();
    let input = verified.placeholders()[0];
    assert_eq!(verified.ty(input.into()).to_string(), "f32[N, 4]");
}

#[test]
fn a_tensor_that_two_layers_share_stays_one() {
    let graph = aten::read(&fixtures().join("tied.pt2"), false)
        .unwrap()
        .graph;
    assert_eq!(graph.trained_parameter_count(), 7 * 4);
}

#[test]
fn operators_that_are_not_read_are_listed_with_their_places() {
    let (mut program, tensors) = pt2::read(&fixtures().join("mlp.pt2")).unwrap();
    for call in &mut program.calls {
        if call.target == "aten.relu.default" {
            "aten.bessel_j0.default".clone_into(&mut call.target);
        }
    }
    let error = aten::import("mlp", &program, tensors).unwrap_err();
    assert_eq!(
        error.to_string(),
        "1 call is not read: aten.bessel_j0.default (1×, first in 1): no such operator is known"
    );
}

#[test]
fn a_call_that_is_not_read_stays_in_the_graph_of_a_file() {
    let (mut program, tensors) = pt2::read(&fixtures().join("mlp.pt2")).unwrap();
    let call = program.calls.iter_mut();
    let relu = call
        .filter(|call| call.target == "aten.relu.default")
        .last();
    let relu = relu.unwrap();
    "aten.bessel_j0.default".clone_into(&mut relu.target);
    let scale = pt2::Argument::Ints(vec![pt2::Extent::Number(3)]);
    relu.arguments.push(("scale".to_owned(), scale));
    let imported = aten::import_with_opaque("mlp", &program, tensors.clone()).unwrap();
    assert_eq!(
        imported.notes.last().unwrap(),
        "1 node is kept as it is and does not run: relu (aten.bessel_j0.default: no such operator is known)"
    );
    let text = imported.graph.to_string();
    let kept = "operator = \"aten.bessel_j0.default\", domain = \"torch\", version = 8, results = [\"f32[N, 3]\"], attributes = [\"scale = [3]\"]";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&text).contains(kept), "{text}");
    let verified = verify(&imported.graph).unwrap();
    let error = State::new(&verified).unwrap_err().to_string();
    assert!(
        error.contains("relu (aten.bessel_j0.default) cannot run"),
        "{error}"
    );
    let error = export(&imported.graph, &ExportOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "relu (opaque): it is aten.bessel_j0.default of torch, and no operator of ONNX is known for it"
    );

    // A program that does not state the type of the result has no place for the call.
    program.types.remove("relu");
    let error = aten::import_with_opaque("mlp", &program, tensors).unwrap_err();
    assert!(
        error.to_string().starts_with("1 call is not read"),
        "{error}"
    );
}

/// An argument that changes the result and is passed over would make a wrong number.
#[test]
fn a_call_with_an_argument_that_is_not_understood_stays_as_it_is() {
    let (program, tensors) = pt2::read(&fixtures().join("mlp.pt2")).unwrap();
    let decimals = pt2::Argument::Int(pt2::Extent::Number(1));
    let cases = [
        (
            "aten.round.decimals",
            "decimals",
            decimals,
            "argument decimals is not understood",
        ),
        (
            "aten.relu.default",
            "dtype",
            pt2::Argument::ScalarType(5),
            "argument dtype is not understood",
        ),
        (
            "aten.sum.dim_IntList",
            "dtype",
            pt2::Argument::ScalarType(5),
            "its result is not of floats",
        ),
    ];
    for (target, name, argument, why) in cases {
        let mut changed = program.clone();
        let relu = changed
            .calls
            .iter_mut()
            .find(|call| call.target == "aten.relu.default");
        let relu = relu.unwrap();
        target.clone_into(&mut relu.target);
        relu.arguments.push((name.to_owned(), argument));
        let imported = aten::import_with_opaque("mlp", &changed, tensors.clone()).unwrap();
        let note = imported.notes.join(" ");
        assert!(note.contains(why), "{note}");
    }
    // Where memory lies, and copies, change nothing.
    let mut same = program.clone();
    let relu = same
        .calls
        .iter_mut()
        .find(|call| call.target == "aten.relu.default");
    let arguments = &mut relu.unwrap().arguments;
    arguments.push(("memory_format".to_owned(), pt2::Argument::Placement));
    arguments.push(("non_blocking".to_owned(), pt2::Argument::Bool(true)));
    assert!(
        aten::import("mlp", &same, tensors)
            .unwrap()
            .notes
            .is_empty()
    );
}

#[test]
fn values_that_no_call_makes_and_names_that_are_taken_are_named() {
    type Change = fn(&mut pt2::Program);
    let (program, tensors) = pt2::read(&fixtures().join("mlp.pt2")).unwrap();
    let refusal = |change: Change| {
        let mut changed = program.clone();
        change(&mut changed);
        let error = aten::import("mlp", &changed, tensors.clone()).unwrap_err();
        error.to_string()
    };
    let cases: [(Change, &str); 4] = [
        (
            |p| p.calls.swap(0, 1),
            "aten.relu.default (1×, first in 1): reads 'linear', which no earlier call makes",
        ),
        (
            |p| p.calls[1].arguments[0].1 = pt2::Argument::Tensor("relu".to_owned()),
            "aten.relu.default (1×, first in 1): reads 'relu', which no earlier call makes",
        ),
        (
            |p| p.calls[1].results[0] = Some("linear".to_owned()),
            "aten.relu.default (1×, first in 1): its result has the name of an earlier value, 'linear'",
        ),
        (
            |p| p.inputs.push(p.inputs[9].clone()),
            "input 'input': two inputs have this name",
        ),
    ];
    for (change, sentence) in cases {
        let problem = refusal(change);
        assert!(problem.contains(sentence), "{problem}");
    }
}

/// A program whose result is a view of its input, made before the input changes in place, and the changed input.
fn changed_in_place(reads_view: bool) -> pt2::Program {
    let tensor = |name: &str| pt2::Argument::Tensor(name.to_owned());
    let argument = |name: &str, argument| (name.to_owned(), argument);
    let call = |target: &str, arguments, result: &str| pt2::Call {
        target: target.to_owned(),
        arguments,
        results: vec![Some(result.to_owned())],
        ..pt2::Call::default()
    };
    let size = [4, -1].map(pt2::Extent::Number).to_vec();
    let view = vec![
        argument("self", tensor("x")),
        argument("size", pt2::Argument::Ints(size)),
    ];
    let ty = pt2::TensorType {
        dtype: pt2::ScalarType::F32,
        sizes: [2, 4].map(pt2::Extent::Number).to_vec(),
    };
    pt2::Program {
        inputs: vec![pt2::Input {
            value: "x".to_owned(),
            kind: pt2::InputKind::User,
        }],
        calls: vec![
            call("aten.view.default", view, "turned"),
            call(
                "aten.relu_.default",
                vec![argument("self", tensor("x"))],
                "y",
            ),
        ],
        outputs: vec![tensor(if reads_view { "turned" } else { "x" })],
        types: [("x".to_owned(), ty)].into(),
    }
}

#[test]
fn a_change_in_place_is_seen_under_every_name_or_refused() {
    let none = pt2::Tensors::new;
    let graph = aten::import("g", &changed_in_place(false), none())
        .unwrap()
        .graph;
    let output = graph.nodes().last().unwrap().inputs[0];
    assert_eq!(graph.node(output.node).op.name(), "relu");
    let error = aten::import("g", &changed_in_place(true), none()).unwrap_err();
    let expected = "1 call is not read: aten.relu_.default (1×, first in the network): \
        it changes its operand, which 'turned' shows a part of";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_damaged_file_is_an_error_and_no_panic() {
    for name in ["mlp.pt2", "mlp_old.pt2"] {
        let bytes = std::fs::read(fixtures().join(name)).unwrap();
        for at in (0..bytes.len()).step_by(7) {
            assert!(pt2::decode(&bytes[..at]).is_err(), "{name} cut at {at}");
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            if let Ok((program, tensors)) = pt2::decode(&damaged) {
                let _imported = aten::import(name, &program, tensors);
            }
        }
    }
}

#[test]
fn a_newer_schema_is_refused_with_both_numbers() {
    let text = |major: u64| {
        let program = format!("{{\"schema_version\": {{\"major\": {major}, \"minor\": 3}}}}");
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file("a/models/model.json", options).unwrap();
        std::io::Write::write_all(&mut zip, program.as_bytes()).unwrap();
        pt2::decode(&zip.finish().unwrap().into_inner())
    };
    let error = text(9).unwrap_err().to_string();
    assert!(
        error.contains("schema 9.3") && error.contains("schema 8"),
        "{error}"
    );
    assert!(text(8).is_ok());
}

/// A program of one batch size becomes one of any: rows are what they are in the batch of the file.
#[test]
fn a_fixed_batch_can_be_made_free() {
    let stem = fixtures().join("fixed.pt2");
    let fixed = aten::read(&stem, false).unwrap();
    assert!(!fixed.graph.to_string().contains("[N"), "{}", fixed.graph);
    assert!(difference(&fixed.graph, &stem) <= TOLERANCE);
    let free = aten::read(&stem, true).unwrap();
    assert_eq!(free.notes, Vec::<String>::new());
    assert!(free.graph.to_string().contains("x: f32[N, 5, 8]"));
    assert!(difference(&free.graph, &stem) <= TOLERANCE);
    let input = npy::read_numbers(&stem.with_extension("in0.npy")).unwrap();
    let expected = npy::read_numbers(&stem.with_extension("out.npy")).unwrap();
    let (Values::F32(input), Values::F32(expected)) = (input.values, expected.values) else {
        panic!("both are floats");
    };
    let verified = verify(&free.graph).unwrap();
    let mut state = State::new(&verified).unwrap();
    for (row, (x, y)) in input.chunks(40).zip(expected.chunks(15)).enumerate() {
        for n in [1, 5] {
            let mut plan = compile(&verified, &state, PlanOptions::eval(n)).unwrap();
            let x = x.repeat(n);
            plan.forward(&mut state, &[Input::F32(&x)], &Pool::new(2))
                .unwrap();
            for got in plan.output(0).chunks(15) {
                let pairs = got.iter().zip(y);
                assert!(
                    pairs.into_iter().all(|(a, b)| (a - b).abs() <= 1e-5),
                    "row {row} of {n}"
                );
            }
        }
    }
}

#[test]
fn an_axis_that_is_free_already_stays_the_batch() {
    let path = fixtures().join("tied.pt2");
    let (free, same) = (aten::read(&path, true), aten::read(&path, false));
    assert_eq!(free.unwrap().graph, same.unwrap().graph);
}
