//! Calls of operators compute what PyTorch computes. `fixtures/aten_calls.py` has made the list of them.

use engine::{Input as Feed, PlanOptions, Pool, State, compile};
use exchange::aten::import;
use interop::pt2::{
    Argument, Call, Extent, Input, InputKind, Program, ScalarType, Stored, TensorType, Tensors,
};
use std::collections::BTreeMap;

const LIST: &str = include_str!("../fixtures/aten_calls.txt");
/// The inputs of the network, whose first axis is the batch.
const LIVE: [&str; 2] = ["x", "p"];
/// The values that are trained.
const TRAINED: [&str; 2] = ["w", "u"];
const ROWS: usize = 2;

/// A tensor of the list: `f32[2,3] 0 1 2 3 4 5`.
#[derive(Clone)]
struct Tensor {
    dtype: ScalarType,
    shape: Vec<usize>,
    values: Vec<f32>,
}

fn tensor(text: &str) -> Tensor {
    let mut words = text.split_whitespace();
    let (dtype, sizes) = words.next().unwrap().split_once('[').unwrap();
    let sizes = sizes.trim_end_matches(']').split(',');
    Tensor {
        dtype: match dtype {
            "f32" => ScalarType::F32,
            "i64" => ScalarType::I64,
            _ => ScalarType::Bool,
        },
        shape: sizes.filter_map(|size| size.parse().ok()).collect(),
        values: words.map(|word| word.parse().unwrap()).collect(),
    }
}

/// An argument as the list writes it: a value, a list, a word, a truth value, a number.
fn argument(text: &str, values: &BTreeMap<&str, Tensor>) -> Argument {
    let number = |text: &str| text.parse().ok().map(Extent::Number);
    if let Some(inner) = text.strip_prefix('[') {
        let items: Vec<&str> = inner.trim_end_matches(']').split(',').collect();
        if values.contains_key(items[0]) {
            return Argument::Tensors(items.iter().map(|name| Some((*name).to_owned())).collect());
        }
        return match items.iter().map(|item| number(item)).collect() {
            Some(numbers) => Argument::Ints(numbers),
            None => Argument::Floats(items.iter().map(|item| item.parse().unwrap()).collect()),
        };
    }
    match text {
        name if values.contains_key(name) => Argument::Tensor(name.to_owned()),
        "true" | "false" => Argument::Bool(text == "true"),
        word if word.starts_with('\'') => Argument::Text(word.trim_matches('\'').to_owned()),
        _ => number(text).map_or_else(|| Argument::Float(text.parse().unwrap()), Argument::Int),
    }
}

/// The type of a value; the first axis of an input is the batch.
fn ty(tensor: &Tensor, is_live: bool) -> TensorType {
    let mut sizes: Vec<Extent> = tensor
        .shape
        .iter()
        .map(|&n| Extent::Number(n as i64))
        .collect();
    if is_live {
        sizes[0] = Extent::Name("s0".to_owned());
    }
    TensorType {
        dtype: tensor.dtype,
        sizes,
    }
}

/// A program of one call that returns all its results.
fn program(line: &str, values: &BTreeMap<&str, Tensor>, results: &[Tensor]) -> (Program, Tensors) {
    let (mut program, mut stored) = (Program::default(), Tensors::new());
    for (&name, tensor) in values {
        let is_live = LIVE.contains(&name);
        let kind = match name {
            _ if is_live => InputKind::User,
            _ if TRAINED.contains(&name) => InputKind::Parameter(name.to_owned()),
            _ => InputKind::Buffer(name.to_owned()),
        };
        if !is_live {
            let tensor = Stored {
                shape: tensor.shape.clone(),
                dtype: Some(tensor.dtype),
                values: tensor.values.clone(),
            };
            stored.insert(name.to_owned(), tensor);
        }
        let value = name.to_owned();
        program.types.insert(value.clone(), ty(tensor, is_live));
        program.inputs.push(Input { value, kind });
    }
    let mut words = line.split_whitespace();
    let target = words.next().unwrap().to_owned();
    let arguments = words.map(|word| {
        let (name, text) = word.split_once('=').unwrap();
        (name.to_owned(), argument(text, values))
    });
    let names: Vec<String> = (0..results.len()).map(|k| format!("y{k}")).collect();
    for (name, result) in names.iter().zip(results) {
        program.types.insert(name.clone(), ty(result, false));
    }
    program.outputs = names.iter().cloned().map(Argument::Tensor).collect();
    program.calls.push(Call {
        target,
        arguments: arguments.collect(),
        results: names.into_iter().map(Some).collect(),
        ..Call::default()
    });
    (program, stored)
}

/// What a call computes, or why it does not agree.
fn check(line: &str, values: &BTreeMap<&str, Tensor>, results: &[Tensor]) -> Result<(), String> {
    let (program, stored) = program(line, values, results);
    let graph = import("call", &program, stored)
        .map_err(|error| error.to_string())?
        .graph;
    let verified = ir::verify(&graph).map_err(|error| error.to_string())?;
    let mut state = State::new(&verified).map_err(|error| error.to_string())?;
    let plan = compile(&verified, &state, PlanOptions::eval(ROWS));
    let mut plan = plan.map_err(|error| error.to_string())?;
    let feed = |id: ir::NodeId| Feed::F32(&values[graph.node(id).name.as_str()].values);
    let feed: Vec<Feed> = verified.placeholders().into_iter().map(feed).collect();
    let ran = plan.forward(&mut state, &feed, &Pool::new(1));
    ran.map_err(|error| error.to_string())?;
    for (k, (expected, &value)) in results.iter().zip(verified.output_values()).enumerate() {
        let shape = verified.ty(value).shape.bind(ROWS).unwrap();
        let found = plan.output(k);
        let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * b.abs().max(1.0);
        if shape != expected.shape || !found.iter().zip(&expected.values).all(close) {
            return Err(format!(
                "result {k} is {found:?} of shape {shape:?}, not {:?} of {:?}",
                expected.values, expected.shape
            ));
        }
    }
    Ok(())
}

#[test]
fn calls_compute_what_pytorch_computes() {
    let (mut values, mut wrong, mut n) = (BTreeMap::new(), Vec::new(), 0);
    for line in LIST.lines() {
        if let Some((name, value)) = line.split_once(" = ") {
            values.insert(name, tensor(value));
            continue;
        }
        let (call, results) = line.split_once(" -> ").unwrap();
        let results: Vec<Tensor> = results.split(" ; ").map(tensor).collect();
        if let Err(why) = check(call, &values, &results) {
            wrong.push(format!("{call}: {why}"));
        }
        n += 1;
    }
    assert!(
        wrong.is_empty(),
        "{} of {n}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(n > 200, "{n} calls");
}

/// Calls that are not read, and a part of the reason.
const REFUSED: &[(&str, &str)] = &[
    (
        "aten.rsub.Tensor self=x other=v alpha=2",
        "alpha other than 1 is not computed",
    ),
    (
        "aten.narrow.default self=x dim=2 start=2 length=2",
        "2 elements from 2 on are not in 3",
    ),
    (
        "aten.narrow.default self=x dim=2 start=-4 length=1",
        "1 elements from -1 on are not in 3",
    ),
    (
        "aten.narrow.default self=x dim=2 start=0 length=0",
        "0 elements from 0 on are not in 3",
    ),
    (
        "aten.select.int self=x dim=2 index=3",
        "index 3 is out of range",
    ),
    (
        "aten.split_with_sizes.default self=x split_sizes=[1,1] dim=2",
        "its parts do not make up the 3 elements of the axis",
    ),
    (
        "aten.chunk.default self=x chunks=3 dim=2",
        "it makes 3 parts, but 1 results are named",
    ),
    (
        "aten.pixel_shuffle.default self=p upscale_factor=3",
        "4 channels are no blocks of 3 × 3",
    ),
    (
        "aten.pixel_unshuffle.default self=p downscale_factor=3",
        "downscale_factor = 3 does not divide its axes",
    ),
];

#[test]
fn calls_that_are_not_read_have_a_reason() {
    let values = LIST.lines().filter_map(|line| line.split_once(" = "));
    let values: BTreeMap<_, _> = values.map(|(name, value)| (name, tensor(value))).collect();
    let results = [tensor("f32[2] 0 0")];
    for (line, reason) in REFUSED {
        let (program, stored) = program(line, &values, &results);
        let problem = import("call", &program, stored).unwrap_err().to_string();
        assert!(problem.contains(reason), "{line}: {problem}");
    }
}
