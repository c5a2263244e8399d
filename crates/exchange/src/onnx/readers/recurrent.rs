//! Long short-term memory.

use super::shape::{permute_to, reshape_to};
use crate::constant::{self, Array, Refusal, Size};
use crate::draft::Param;
use crate::onnx::call::{Call, Read, expect_dtype};
use crate::onnx::import::Source;
use ir::{DType, Value};
use serde_json::json;

/// The parts of a file's weights, input, output, forget and cell, in the order of a graph: input, forget, cell, output.
const PARTS: [usize; 4] = [0, 2, 3, 1];
/// The functions of a direction that the operator has.
const FUNCTIONS: [&str; 3] = ["sigmoid", "tanh", "tanh"];

/// The results of one direction: all h, the last h, the last c.
type Direction = [Value; 3];

pub fn lstm(call: &mut Call) -> Read {
    expect_dtype(&call.ty(0)?, DType::F32)?;
    if call.rank(0)? != 3 {
        return Err(Refusal::new("its input is not of three axes"));
    }
    let is_batch_first = call.attributes.flag_or("layout", false)?;
    let reverses: &[bool] = match call.attributes.text_or("direction", "forward")?.as_str() {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        other => return Err(Refusal::new(format!("direction = {other} is not known"))),
    };
    check(call, reverses.len())?;
    let mut x = call.value(0)?;
    if !is_batch_first {
        x = permute_to(call, x, &[1, 0, 2])?;
    }
    let mut directions = Vec::new();
    for (at, &reverse) in reverses.iter().enumerate() {
        directions.push(direction(call, x, at, reverse, is_batch_first)?);
    }
    let element = call.element(0)?;
    let outputs = call.node.output.clone();
    let mut results = Vec::new();
    for k in 0..3 {
        let is_named = outputs.get(k).is_some_and(|name| !name.is_empty());
        let value = if is_named {
            joined(call, &directions, k, is_batch_first)?
        } else {
            x
        };
        results.push(call.importer.result(value, element));
    }
    Ok(results)
}

/// Refuses what the operator does not have: other functions, bounds, coupled gates, peepholes, sequences of different lengths.
fn check(call: &Call, n_directions: usize) -> Result<(), Refusal> {
    call.attributes.int("hidden_size")?;
    if call.attributes.float("clip")?.is_some()
        || call.attributes.flag_or("input_forget", false)?
        || call.has(7)
    {
        return Err(Refusal::new(
            "clip, input_forget and peepholes are not computed",
        ));
    }
    if let Some(words) = call.attributes.texts("activations")? {
        let usual = FUNCTIONS.repeat(n_directions);
        let is_usual = words.len() == usual.len()
            && words
                .iter()
                .zip(&usual)
                .all(|(a, b)| a.to_lowercase() == **b);
        if !is_usual {
            return Err(Refusal::new(format!(
                "activations = {words:?} are not computed"
            )));
        }
    }
    if call.has(4) {
        let steps = call.ty(0)?.shape.0[0].fixed().map(|steps| steps as i64);
        if call.ints(4)?.iter().any(|&length| Some(length) != steps) {
            return Err(Refusal::new(
                "sequences of different lengths are not computed",
            ));
        }
    }
    Ok(())
}

fn direction(
    call: &mut Call,
    x: Value,
    at: usize,
    reverse: bool,
    is_batch_first: bool,
) -> Result<Direction, Refusal> {
    let ports = if reverse {
        [
            "weight_ih_l0_reverse",
            "weight_hh_l0_reverse",
            "bias_ih_l0_reverse",
            "bias_hh_l0_reverse",
        ]
    } else {
        ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]
    };
    let weight_ih = weight(call, 1, at, ports[0])?;
    let weight_hh = weight(call, 2, at, ports[1])?;
    let [gates, input_size] = weight_ih.array.shape[..] else {
        return Err(Refusal::new("its weights are not of three axes"));
    };
    let hidden_size = gates / 4;
    let mut params = vec![weight_ih, weight_hh];
    if call.has(3) {
        let array = call.constant(3)?;
        if array.shape.len() != 2 || at >= array.shape[0] || array.shape[1] != 2 * gates {
            return Err(Refusal::new("input 3 is not two biases for each direction"));
        }
        let both = constant::slice(array, 0, at, 1, 1)?;
        for (k, port) in ports[2..].iter().enumerate() {
            let half = constant::slice(&both, 1, k * gates, 1, gates)?;
            params.push(param(port, in_order(&half.reshaped(vec![gates])?)?));
        }
    }
    let attributes = json!({
        "input_size": input_size,
        "hidden_size": hidden_size,
        "bias": call.has(3),
        "reverse": reverse,
    });
    let mut inputs = vec![x];
    if call.has(5) || call.has(6) {
        for index in [5, 6] {
            let state = if call.has(index) {
                state(call, index, at, is_batch_first)?
            } else {
                return Err(Refusal::new("it has one of two first states"));
            };
            inputs.push(state);
        }
    }
    let first = call.layer("lstm", attributes, &inputs, params)?;
    Ok([0, 1, 2].map(|output| Value { output, ..first }))
}

/// The weight of a direction in the order of a graph.
fn weight(call: &Call, index: usize, at: usize, port: &'static str) -> Result<Param, Refusal> {
    let array = call.constant(index)?;
    let [n, gates, columns] = array.shape[..] else {
        return Err(Refusal::new(format!("input {index} is not of three axes")));
    };
    if at >= n || gates % 4 != 0 {
        return Err(Refusal::new(format!(
            "input {index} is not of four gates for each direction"
        )));
    }
    let own = constant::slice(array, 0, at, 1, 1)?;
    Ok(param(port, in_order(&own.reshaped(vec![gates, columns])?)?))
}

fn param(port: &'static str, array: Array) -> Param {
    Param {
        port,
        array,
        path: String::new(),
        grid: None,
    }
}

fn in_order(array: &Array) -> Result<Array, Refusal> {
    let size = array.shape[0] / 4;
    let part = |&part: &usize| constant::slice(array, 0, part * size, 1, size);
    let parts: Vec<Array> = PARTS.iter().map(part).collect::<Result<_, _>>()?;
    constant::concat(&parts, 0)
}

/// The first h or c of a direction, `[N, H]`.
fn state(call: &mut Call, index: usize, at: usize, batch_first: bool) -> Result<Value, Refusal> {
    let mut value = call.value(index)?;
    let axis = usize::from(batch_first);
    let picked = if batch_first {
        format!(":, {at}")
    } else {
        at.to_string()
    };
    if call.type_of(value).shape.rank() != 3 {
        return Err(Refusal::new("its first states are not of three axes"));
    }
    let n = call.type_of(value).shape.0[axis].fixed();
    if n.is_none_or(|n| at >= n) {
        return Err(Refusal::new(
            "its first states are not one for each direction",
        ));
    }
    value = call.push("getitem", json!({ "index": picked }), &[value])?;
    Ok(value)
}

/// A result of all directions with the axes of the file.
fn joined(
    call: &mut Call,
    directions: &[Direction],
    k: usize,
    is_batch_first: bool,
) -> Result<Value, Refusal> {
    // The axis of directions: [T, D, N, H] and [D, N, H], or with the batch first [N, T, D, H] and [N, D, H].
    let axis = match (k, is_batch_first) {
        (0, false) => 1,
        (0, true) => 2,
        (_, first) => usize::from(first),
    };
    let mut parts = Vec::new();
    for direction in directions {
        let mut value = direction[k];
        if k == 0 && !is_batch_first {
            value = permute_to(call, value, &[1, 0, 2])?;
        }
        let mut sizes: Vec<Size> = call.type_of(value).shape.0.iter().map(Size::of).collect();
        sizes.insert(axis, 1.into());
        parts.push(reshape_to(call, value, &sizes)?);
    }
    match parts[..] {
        [only] => Ok(only),
        _ => call.push("cat", json!({ "dim": axis }), &parts),
    }
}

/// The largest or smallest elements and their places.
pub fn topk(call: &mut Call) -> Read {
    expect_dtype(&call.ty(0)?, DType::F32)?;
    let axis = call.attributes.int_or("axis", -1)?;
    let largest = call.attributes.flag_or("largest", true)?;
    // An order is one of those that a file without one allows.
    call.attributes.flag_or("sorted", true)?;
    let k = match call.attributes.int("k")? {
        Some(k) => k,
        None => call.number(1)? as i64,
    };
    let x = call.value(0)?;
    let first = call.push(
        "topk",
        json!({ "k": k, "dim": axis, "largest": largest }),
        &[x],
    )?;
    let places = Value { output: 1, ..first };
    let (values, places): (Source, Source) = (
        call.importer.result(first, call.element(0)?),
        call.importer.result(places, interop::onnx::Element::I64),
    );
    Ok(vec![values, places])
}
