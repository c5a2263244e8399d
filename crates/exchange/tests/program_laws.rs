//! A law over the table of operators of exported programs: whatever arguments a call has, it is read or refused.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod calls;

use exchange::aten::{OPERATORS, import_with_opaque};
use interop::pt2::{
    Argument, Call, Extent, Input, InputKind, Program, ScalarType, Stored, TensorType, Tensors,
};
use random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls of each operator.
const TRIALS: u64 = 200;

/// Every argument that a reader asks for.
const NAMES: &[&str] = &[
    "align_corners",
    "alpha",
    "append",
    "approximate",
    "attn_mask",
    "axis0",
    "axis1",
    "batch1",
    "batch2",
    "batch_first",
    "beta",
    "bias",
    "bidirectional",
    "ceil_mode",
    "chunks",
    "condition",
    "constant",
    "correction",
    "count_include_pad",
    "decimals",
    "destination",
    "diagonal",
    "dilation",
    "dim",
    "dim0",
    "dim1",
    "dims",
    "divisor_override",
    "downscale_factor",
    "dropout",
    "dropout_p",
    "dtype",
    "enable_gqa",
    "end",
    "end_dim",
    "eps",
    "exponent",
    "fill_value",
    "group",
    "groups",
    "has_biases",
    "hx",
    "index",
    "indices",
    "input",
    "is_causal",
    "k",
    "keepdim",
    "kernel_size",
    "key",
    "lambd",
    "largest",
    "length",
    "lower",
    "mask",
    "mat1",
    "mat2",
    "max",
    "max_val",
    "memory_format",
    "min",
    "min_val",
    "mode",
    "momentum",
    "n",
    "negative_slope",
    "normalized_shape",
    "num_groups",
    "num_layers",
    "ord",
    "other",
    "output_padding",
    "output_size",
    "p",
    "pad",
    "padding",
    "params",
    "prepend",
    "query",
    "repeats",
    "rounding_mode",
    "running_mean",
    "running_var",
    "s",
    "scale",
    "scale_factors",
    "self",
    "shifts",
    "size",
    "sizes",
    "source",
    "split_size",
    "split_sizes",
    "start",
    "start_dim",
    "step",
    "stride",
    "tensor1",
    "tensor2",
    "tensors",
    "threshold",
    "train",
    "training",
    "transposed",
    "unbiased",
    "upper",
    "upscale_factor",
    "use_input_stats",
    "value",
    "weight",
];

/// Values of a program: the batch, trained and stored floats, stored integers, a stored mask, a single number.
const VALUES: &[(&str, ScalarType, &[usize])] = &[
    ("x", ScalarType::F32, &[2, 4, 4, 4]),
    ("row", ScalarType::F32, &[2, 4]),
    ("w", ScalarType::F32, &[4, 4]),
    ("v", ScalarType::F32, &[4]),
    ("i", ScalarType::I64, &[2]),
    ("m", ScalarType::Bool, &[4, 4]),
    ("one", ScalarType::I64, &[]),
];

fn numbers(numbers: &[i64]) -> Argument {
    Argument::Ints(
        numbers
            .iter()
            .map(|&number| Extent::Number(number))
            .collect(),
    )
}

fn tensors(names: &[&str]) -> Argument {
    Argument::Tensors(names.iter().map(|name| Some((*name).to_owned())).collect())
}

/// Arguments, sound and unsound.
fn arguments() -> Vec<Argument> {
    let values = VALUES
        .iter()
        .map(|(name, ..)| Argument::Tensor((*name).to_owned()));
    let ints = [0, 1, 2, 3, 4, -1, -5, 1 << 40, i64::MIN, i64::MAX];
    let ints = ints.map(|number| Argument::Int(Extent::Number(number)));
    let floats = [0.0, 0.5, -1.0, 1e300, f64::NAN, f64::INFINITY].map(Argument::Float);
    let others = [
        Argument::None,
        Argument::Placement,
        Argument::Bool(true),
        Argument::Bool(false),
        Argument::Text("bilinear".to_owned()),
        Argument::Text("tanh".to_owned()),
        Argument::ScalarType(7),
        Argument::ScalarType(99),
        Argument::Bools(vec![true]),
        Argument::Floats(vec![2.0, 2.0]),
        Argument::Floats(vec![1e30, -1.0]),
        Argument::Other("as_custom_obj".to_owned()),
        numbers(&[]),
        numbers(&[0]),
        numbers(&[1]),
        numbers(&[1, 2]),
        numbers(&[2, -1]),
        numbers(&[-1, 0, 5]),
        numbers(&[1, 1, 1, 1]),
        numbers(&[3, 1, 0, 2]),
        numbers(&[1 << 40, 1 << 40]),
        numbers(&[i64::MIN, i64::MAX]),
        tensors(&[]),
        tensors(&["x", "x"]),
        tensors(&["w", "w"]),
        tensors(&["v", "one", "i"]),
        Argument::Tensors(vec![None, Some("i".to_owned())]),
    ];
    values.chain(ints).chain(floats).chain(others).collect()
}

/// A program of one call.
fn program(call: Call) -> (Program, Tensors) {
    let mut program = Program::default();
    let mut stored = Tensors::new();
    for &(name, dtype, shape) in VALUES {
        let is_user = shape.first() == Some(&2) && dtype == ScalarType::F32;
        let mut sizes: Vec<Extent> = shape.iter().map(|&n| Extent::Number(n as i64)).collect();
        let kind = if is_user {
            sizes[0] = Extent::Name("s0".to_owned());
            InputKind::User
        } else {
            let values = (0..shape.iter().product())
                .map(|k| (k % 2) as f32)
                .collect();
            let tensor = Stored {
                shape: shape.to_vec(),
                dtype: Some(dtype),
                values,
            };
            stored.insert(name.to_owned(), tensor);
            if name == "w" {
                InputKind::Parameter(name.to_owned())
            } else {
                InputKind::Buffer(name.to_owned())
            }
        };
        program.inputs.push(Input {
            value: name.to_owned(),
            kind,
        });
        program
            .types
            .insert(name.to_owned(), TensorType { dtype, sizes });
    }
    let result = TensorType {
        dtype: ScalarType::F32,
        sizes: vec![Extent::Name("s0".to_owned()), Extent::Number(4)],
    };
    program.types.insert("y".to_owned(), result);
    program.calls.push(call);
    program.outputs = vec![
        Argument::Tensor("y".to_owned()),
        Argument::Tensor("x".to_owned()),
    ];
    (program, stored)
}

/// True when a call is read, an error when that panics. Arguments that its reader does not understand are taken out of it, once it
/// was refused for them.
fn outcome(call: &Call) -> Result<bool, ()> {
    let mut call = call.clone();
    loop {
        let (program, stored) = program(call.clone());
        let import = AssertUnwindSafe(|| import_with_opaque("law", &program, stored));
        let imported = catch_unwind(import).map_err(drop)?;
        let why = match &imported {
            Ok(imported) => imported.notes.join(" "),
            Err(problem) => problem.to_string(),
        };
        let Some(names) = not_understood(&why) else {
            let is_opaque = |node: &ir::Node| node.op.name() == "opaque";
            return Ok(imported.is_ok_and(|read| !read.graph.nodes().iter().any(is_opaque)));
        };
        let n = call.arguments.len();
        call.arguments.retain(|(name, _)| !names.contains(name));
        assert!(call.arguments.len() < n, "{why}");
    }
}

/// The arguments that a note says are not understood.
fn not_understood(note: &str) -> Option<Vec<String>> {
    let (names, _) = note
        .split_once(" is not understood")
        .or_else(|| note.split_once(" are not understood"))?;
    let (_, names) = names.rsplit_once("argument")?;
    let names = names.trim_start_matches('s').trim();
    Some(names.split(", ").map(str::to_owned).collect())
}

#[test]
fn a_call_of_any_arguments_is_read_or_refused() {
    let arguments = arguments();
    let (mut n_read, mut panics) = (0, Vec::new());
    for (row, (name, _)) in OPERATORS.iter().enumerate() {
        let random = Random::new(row as u64, "calls");
        for trial in 0..TRIALS {
            let draw = |k: usize| random.bits(trial * 1000 + k as u64) as usize;
            let given = NAMES.iter().enumerate().filter_map(|(k, own)| {
                // Half of the arguments are left out, and those that are read first are often sound.
                let sound = match *own {
                    "self" | "input" | "query" => "x",
                    "weight" => "w",
                    _ => "",
                };
                let argument = match draw(2 * k) % 4 {
                    0 if !sound.is_empty() => Argument::Tensor(sound.to_owned()),
                    0 | 1 => return None,
                    _ => arguments[draw(2 * k + 1) % arguments.len()].clone(),
                };
                Some(((*own).to_owned(), argument))
            });
            let overload = if trial % 10 == 9 {
                "_.default"
            } else {
                ".default"
            };
            let call = Call {
                target: format!("{name}{overload}"),
                arguments: given.collect(),
                results: vec![Some("y".to_owned())],
                ..Call::default()
            };
            match outcome(&call) {
                Err(()) => {
                    panics.push(format!("{call:?}"));
                    break;
                }
                Ok(is_read) => n_read += usize::from(is_read),
            }
        }
    }
    assert!(panics.is_empty(), "{}", panics.join("\n"));
    assert!(n_read > OPERATORS.len(), "{n_read} calls are read");
}

#[test]
fn every_argument_is_drawn() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/aten/readers");
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        for ask in [
            "call.source(\"",
            "call.value(\"",
            "call.sizes(\"",
            "call.int(\"",
            "call.number(\"",
        ] {
            for rest in text.split(ask).skip(1) {
                let name = rest.split('"').next().unwrap();
                assert!(NAMES.contains(&name), "{name}");
            }
        }
    }
}

/// A stored tensor became a node for a call that was then refused; the node of its own that the call becomes reads a new one.
#[test]
fn what_a_refused_call_had_stored_is_stored_again() {
    let value = |name: &str, value: &str| (name.to_owned(), Argument::Tensor(value.to_owned()));
    let call = Call {
        target: "aten.add.Tensor".to_owned(),
        arguments: vec![
            value("self", "row"),
            value("other", "v"),
            ("unknown".to_owned(), Argument::Bool(true)),
        ],
        results: vec![Some("y".to_owned())],
        ..Call::default()
    };
    let (program, stored) = program(call);
    let graph = import_with_opaque("law", &program, stored).unwrap().graph;
    let opaque = graph.nodes().iter().find(|node| node.op.name() == "opaque");
    let read = opaque.unwrap().inputs.iter();
    let read: Vec<&str> = read.map(|v| graph.node(v.node).name.as_str()).collect();
    assert_eq!(read, ["row", "v"]);
    assert!(ir::verify(&graph).is_ok());
}
