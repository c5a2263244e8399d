//! The backend tests of the package `onnx`: every one is read or refused with a sentence, and those of the lists agree.
//!
//! `BLESS=1 cargo test -p exchange --test node_tests` writes the lists anew. Without the package the tests say that they are skipped.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod nodes;
mod package;
mod support;

use exchange::onnx::{ImportOptions, import};
use interop::onnx::proto::tensor_shape_proto::{Dimension, dimension};
use interop::onnx::proto::{TensorShapeProto, TypeProto, ValueInfoProto, type_proto};
use interop::onnx::{self, Model, Tensor};
use ir::{Graph, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The list of node tests that agree.
const LIST: &str = "tests/fixtures/node_tests.txt";
/// The list of the other tests that agree.
const OTHER_LIST: &str = "tests/fixtures/other_tests.txt";
/// Their folders.
const OTHER_FOLDERS: [&str; 3] = ["simple", "pytorch-operator", "pytorch-converted"];
/// The tolerance of the package's own runner.
const RELATIVE: f32 = 1e-3;
const ABSOLUTE: f32 = 1e-7;

/// The outcome of a test: the inputs that had to be known for it to agree, or the reason why it does not.
type Outcome = Result<Fixed, String>;

#[test]
fn every_node_test_is_read_or_refused_and_the_listed_ones_agree() {
    let Some(data) = package::test_data() else {
        println!("skipped: the package onnx is not installed; scripts/test-tools.sh gets it");
        return;
    };
    hold(LIST, &run_all(&data.join("node")));
}

#[test]
fn every_other_backend_test_is_read_or_refused_and_the_listed_ones_agree() {
    let Some(data) = package::test_data() else {
        println!("skipped: the package onnx is not installed; scripts/test-tools.sh gets it");
        return;
    };
    let folders = OTHER_FOLDERS.iter().map(|folder| data.join(folder));
    hold(
        OTHER_LIST,
        &folders.flat_map(|folder| run_all(&folder)).collect(),
    );
}

/// Holds outcomes against a list; none is a panic, and none that runs differs.
fn hold(list: &str, outcomes: &BTreeMap<String, Outcome>) {
    let line = |(name, outcome): (&String, &Outcome)| {
        Some(format!("{name} {}", outcome.as_ref().ok()?.word()))
    };
    let passing: BTreeSet<String> = outcomes.iter().filter_map(line).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(list);
    if std::env::var_os("BLESS").is_some() {
        let lines: Vec<&str> = passing.iter().map(String::as_str).collect();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
    }
    if let Some(folder) = std::env::var_os("NODE_TEST_REPORT") {
        let lines = outcomes.iter().map(|(name, outcome)| match outcome {
            Ok(fixed) => format!("{name}: agrees {}\n", fixed.word()),
            Err(why) => format!("{name}: {}\n", why.replace('\n', " ")),
        });
        let report = Path::new(&folder).join(path.file_name().unwrap());
        fs::write(report, lines.collect::<String>()).unwrap();
    }
    let list = fs::read_to_string(&path).unwrap();
    let lost: Vec<String> = list
        .lines()
        .filter(|line| !passing.contains(*line))
        .map(|line| {
            let name = line.split(' ').next().unwrap_or(line);
            format!("{line}: {:?}", outcomes.get(name))
        })
        .collect();
    assert!(
        lost.is_empty(),
        "{} of the list do not agree:\n{}",
        lost.len(),
        lost.join("\n")
    );
    for word in ["panic", "differs"] {
        let found = outcomes.iter().filter_map(|(name, outcome)| {
            let why = outcome.as_ref().err()?;
            why.starts_with(word).then(|| format!("{name}: {why}"))
        });
        let found: Vec<String> = found.collect();
        assert!(found.is_empty(), "{found:?}");
    }
}

fn run_all(folder: &Path) -> BTreeMap<String, Outcome> {
    let folders = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let folders: Vec<PathBuf> = folders
        .filter(|path| path.join("model.onnx").exists())
        .collect();
    let outcome = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let outcome = catch_unwind(AssertUnwindSafe(|| check(path)));
        let outcome = outcome.unwrap_or_else(|_| Err("panic".to_owned()));
        (name, outcome)
    };
    folders.iter().map(outcome).collect()
}

fn check(folder: &Path) -> Outcome {
    let model =
        onnx::read(&folder.join("model.onnx")).map_err(|error| error.problem.to_string())?;
    let set = folder.join("test_data_set_0");
    let (inputs, outputs) = (
        package::tensors(&set, "input")?,
        package::tensors(&set, "output")?,
    );
    let mut first = Err("nothing was read".to_owned());
    // Weights, axes and bounds are inputs in these tests; a network has them stored. The fewer are fixed, the better.
    for fixed in [Fixed::None, Fixed::Integers, Fixed::AllButFirst, Fixed::All] {
        let attempt = check_fixed(&model, fixed, &inputs, &outputs).map(|()| fixed);
        if attempt.is_ok() {
            return attempt;
        }
        if first.is_err() && fixed == Fixed::None
            || attempt
                .as_ref()
                .is_err_and(|why| why.starts_with("differs"))
        {
            first = attempt;
        }
    }
    first
}

/// The inputs of a test that are known when its network is read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fixed {
    None,
    Integers,
    AllButFirst,
    All,
}

impl Fixed {
    /// The word of the list.
    fn word(self) -> &'static str {
        match self {
            Self::None => "computed",
            Self::Integers => "with_stored_integers",
            Self::AllButFirst => "with_stored_inputs",
            Self::All => "evaluated",
        }
    }
}

fn check_fixed(
    model: &Model,
    fixed: Fixed,
    inputs: &[Tensor],
    outputs: &[Tensor],
) -> Result<(), String> {
    let mut model = model.clone();
    let graph = model.proto.graph.as_mut().unwrap();
    let names: Vec<String> = graph
        .input
        .iter()
        .map(|info| info.name().to_owned())
        .collect();
    let given = |name: &str| {
        names
            .iter()
            .position(|own| own == name)
            .and_then(|at| inputs.get(at))
    };
    let is_fixed = |at: usize, tensor: &Tensor| match fixed {
        Fixed::None => false,
        Fixed::Integers => matches!(tensor.values, onnx::Values::Ints(_)),
        Fixed::AllButFirst => at > 0,
        Fixed::All => true,
    };
    let mut options = ImportOptions::default();
    for (at, (name, tensor)) in names.iter().zip(inputs).enumerate() {
        if is_fixed(at, tensor) {
            options.fixed.insert(name.clone(), package::array(tensor));
        }
    }
    // A graph has an input; one that is known throughout gets one that nobody reads.
    let n_free = names
        .iter()
        .filter(|name| !options.fixed.contains_key(*name))
        .count();
    let unused = Tensor {
        name: String::new(),
        shape: vec![1],
        element: onnx::Element::F32,
        values: onnx::Values::Floats(vec![0.0]),
    };
    if n_free == 0 {
        graph.input.push(unused_input());
    }
    let imported = import(&model, &options).map_err(|problem| problem.to_string())?;
    let opaque = opaque(&imported.graph);
    if !opaque.is_empty() {
        return Err(format!("opaque: {}", imported.notes.join("; ")));
    }
    let placeholders = imported
        .graph
        .nodes()
        .iter()
        .filter(|node| matches!(node.op, Op::Placeholder(_)))
        .count();
    let free: Vec<&Tensor> = names
        .iter()
        .filter(|name| !options.fixed.contains_key(*name))
        .filter_map(|name| given(name))
        .collect();
    let free = if n_free == 0 { vec![&unused] } else { free };
    if free.len() != placeholders {
        return Err(format!("{placeholders} inputs, {} tensors", free.len()));
    }
    if free
        .iter()
        .copied()
        .chain(outputs)
        .any(package::exceeds_floats)
    {
        return Err("holds integers beyond 2^24".to_owned());
    }
    let rows = free
        .first()
        .and_then(|tensor| tensor.shape.first())
        .copied()
        .unwrap_or(1);
    let results = support::run(imported.graph, rows, &free)?;
    compare(&results, outputs)
}

fn unused_input() -> ValueInfoProto {
    let dimension = Dimension {
        value: Some(dimension::Value::DimValue(1)),
        ..Dimension::default()
    };
    let tensor = type_proto::Tensor {
        elem_type: Some(1),
        shape: Some(TensorShapeProto {
            dim: vec![dimension],
        }),
    };
    ValueInfoProto {
        name: Some("unused".to_owned()),
        r#type: Some(TypeProto {
            value: Some(type_proto::Value::TensorType(tensor)),
            ..TypeProto::default()
        }),
        ..ValueInfoProto::default()
    }
}

fn opaque(graph: &Graph) -> Vec<String> {
    let nodes = graph.nodes().iter();
    let opaque = nodes.filter(|node| matches!(node.op, Op::Opaque(_)));
    opaque.map(|node| node.name.clone()).collect()
}

fn compare(results: &[support::Output], outputs: &[Tensor]) -> Result<(), String> {
    if results.len() != outputs.len() || outputs.is_empty() {
        return Err(format!(
            "differs: {} results, {} outputs",
            results.len(),
            outputs.len()
        ));
    }
    for ((values, shape), output) in results.iter().zip(outputs) {
        if *shape != output.shape {
            return Err(format!("differs: shape {shape:?}, not {:?}", output.shape));
        }
        let expected = support::floats(output);
        assert_eq!(
            values.len(),
            expected.len(),
            "a result has the elements of its shape"
        );
        let is_close = |(a, b): (&f32, &f32)| {
            a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= ABSOLUTE + RELATIVE * b.abs()
        };
        if let Some(at) = values
            .iter()
            .zip(&expected)
            .position(|pair| !is_close(pair))
        {
            return Err(format!(
                "differs: at {at} {} instead of {}",
                values[at], expected[at]
            ));
        }
    }
    Ok(())
}

#[test]
fn the_page_has_the_counts_of_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = fs::read_to_string(root.join(LIST)).unwrap();
    let page = fs::read_to_string(root.join("../../docs/onnx.md")).unwrap();
    for (fixed, heading) in [
        (Fixed::None, "all computed"),
        (Fixed::Integers, "integers stored, the rest computed"),
        (Fixed::AllButFirst, "all stored but the first"),
        (Fixed::All, "all stored: evaluated while the file is read"),
    ] {
        let n = list
            .lines()
            .filter(|line| line.ends_with(&format!(" {}", fixed.word())))
            .count();
        let row = format!("| {heading} | {n} |");
        assert!(page.contains(&row), "docs/onnx.md lacks the row {row}");
    }
}
