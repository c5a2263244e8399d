//! Arithmetic with broadcasting.

use super::activation::wide;
use crate::constant::{self, Array, Binary, Refusal};
use crate::draft::Param;
use crate::onnx::call::{Call, Read};
use crate::onnx::import::MAX_INTEGER;
use ir::{DType, Op, Value};
use serde_json::json;

/// Operators, their counterparts, their evaluation.
const TABLE: &[(&str, &str, Binary)] = &[
    ("Add", "add", Binary::Add),
    ("Sub", "sub", Binary::Sub),
    ("Mul", "mul", Binary::Mul),
    ("Div", "div", Binary::Div),
    ("Pow", "pow", Binary::Pow),
    ("Max", "max", Binary::Max),
    ("Min", "min", Binary::Min),
    ("Sum", "add", Binary::Add),
];

fn row(call: &Call) -> Result<(&'static str, Binary), Refusal> {
    let found = TABLE.iter().find(|row| row.0 == call.node.op_type());
    let (_, name, function) = found.ok_or_else(|| Refusal::new("no such arithmetic is known"))?;
    Ok((name, *function))
}

/// The evaluation of two known tensors.
pub fn fold(call: &Call) -> Result<Vec<Array>, Refusal> {
    let (_, function) = row(call)?;
    call.refuse_narrow(0)?;
    let (a, b) = (call.constant(0)?, call.constant(1)?);
    // A power keeps the type of its base.
    let power = (function == Binary::Pow && a.values.dtype() != b.values.dtype())
        .then(|| constant::cast(b, a.values.dtype()))
        .transpose()?;
    Ok(vec![constant::binary(
        function,
        a,
        power.as_ref().unwrap_or(b),
    )?])
}

/// The evaluation of any number of known tensors.
pub fn fold_variadic(call: &Call) -> Result<Vec<Array>, Refusal> {
    let (_, function) = row(call)?;
    call.refuse_narrow(0)?;
    let mut result = call.constant(0)?.clone();
    for index in 1..call.inputs.len() {
        result = constant::binary(function, &result, call.constant(index)?)?;
    }
    Ok(vec![result])
}

/// A sum; a constant that follows a product with weights is its bias.
pub fn add(call: &mut Call) -> Read {
    if let Some(result) = bias(call)? {
        return Ok(result);
    }
    binary(call)
}

/// Two values, or a value and a number.
pub fn binary(call: &mut Call) -> Read {
    let (name, _) = row(call)?;
    call.refuse_narrow(0)?;
    let y = pair(call, name, 0, 1)?;
    call.result_like(y, 0)
}

/// An operator of two inputs; a constant of one number on the right is an attribute.
pub fn pair(call: &mut Call, name: &str, left: usize, right: usize) -> Result<Value, Refusal> {
    call.keep_once(left)?;
    call.keep_once(right)?;
    let commutes = matches!(name, "add" | "mul" | "max" | "min" | "eq" | "ne");
    for (value, number) in [(left, right), (right, left)] {
        if number == left && !commutes || call.known(value).is_some() {
            continue;
        }
        let Some(scalar) = call.known(number).and_then(single) else {
            continue;
        };
        // As a value of the graph it is refused.
        if scalar.abs() > MAX_INTEGER as f64 && call.ty(number)?.dtype == DType::I64 {
            continue;
        }
        let fits = call.rank(number)? <= call.rank(value)?;
        if fits && scalar.is_finite() && !(name == "div" && scalar == 0.0) {
            let x = call.value(value)?;
            return call.push(name, json!({ "scalar": scalar }), &[x]);
        }
    }
    let (a, b) = (call.value(left)?, call.value(right)?);
    call.push(name, json!({}), &[a, b])
}

/// The only number of a constant, in the digits that people write.
fn single(array: &Array) -> Option<f64> {
    match array.floats() {
        Some(&[value]) => Some(wide(value)),
        Some(_) => None,
        None => array
            .number()
            .filter(|_| array.values.dtype() == DType::I64),
    }
}

/// Of floats; a division of integers rounds towards zero.
pub fn div(call: &mut Call) -> Read {
    if call.ty(0)?.dtype != DType::F32 {
        return Err(Refusal::new("a division of integers is not computed"));
    }
    binary(call)
}

/// A power; the exponent may be an integer.
pub fn pow(call: &mut Call) -> Read {
    if call.ty(0)?.dtype != DType::F32 {
        return Err(Refusal::new("a power of integers is not computed"));
    }
    if let Some(exponent) = call.known(1)
        && exponent.values.dtype() != DType::F32
    {
        let exponent = constant::cast(exponent, DType::F32)?;
        call.inputs[1] = Some(crate::onnx::import::Source::made(exponent));
    }
    if call.ty(1)?.dtype != DType::F32 {
        let (x, exponent) = (call.value(0)?, call.value(1)?);
        let exponent = call.push("to", json!({ "dtype": "f32" }), &[exponent])?;
        let y = call.push("pow", json!({}), &[x, exponent])?;
        return call.result_like(y, 0);
    }
    binary(call)
}

/// The remainder: of floats by `a − b·trunc(a/b)`, which is not exact.
pub fn modulo(call: &mut Call) -> Read {
    call.attributes.int("fmod")?;
    Err(Refusal::new(
        "a remainder of computed values is not computed",
    ))
}

/// The evaluation of a remainder.
pub fn fold_modulo(call: &Call) -> Result<Vec<Array>, Refusal> {
    let function = if call.attributes.flag_or("fmod", false)? {
        Binary::Remainder
    } else {
        Binary::Mod
    };
    Ok(vec![constant::binary(
        function,
        call.constant(0)?,
        call.constant(1)?,
    )?])
}

/// Any number of values, combined from the left.
pub fn variadic(call: &mut Call) -> Read {
    let (name, _) = row(call)?;
    call.refuse_narrow(0)?;
    let y = combined(call, name)?;
    call.result_like(y, 0)
}

/// The mean of any number of values.
pub fn mean(call: &mut Call) -> Read {
    let n = call.inputs.len();
    let y = combined(call, "add")?;
    let y = call.push("div", json!({ "scalar": n as f64 }), &[y])?;
    call.result_like(y, 0)
}

fn combined(call: &mut Call, name: &str) -> Result<Value, Refusal> {
    let mut y = call.value(0)?;
    for index in 1..call.inputs.len() {
        let x = call.value(index)?;
        y = call.push(name, json!({}), &[y, x])?;
    }
    if call.inputs.len() == 1 {
        y = call.push("identity", json!({}), &[y])?;
    }
    Ok(y)
}

/// The product with weights whose bias this sum is: it is the last node, without a bias, and nobody else reads it.
fn bias(call: &mut Call) -> Result<Option<Vec<crate::onnx::import::Source>>, Refusal> {
    for (value, constant) in [(0, 1), (1, 0)] {
        let (Some(array), Some(crate::onnx::import::Source::Value { value: x, .. })) = (
            call.known(constant),
            call.inputs.get(value).and_then(Option::as_ref),
        ) else {
            continue;
        };
        let (x, n) = (*x, array.values.len());
        let is_vector =
            array.shape.iter().rev().skip(1).all(|&size| size == 1) && array.floats().is_some();
        let name = call.node.input[value].clone();
        let is_bare =
            matches!(call.importer.op_of(x), Op::Linear(op) if !op.bias && op.out_features == n);
        let fits = array.shape.len() <= call.rank(value)?;
        if is_vector
            && fits
            && is_bare
            && array.shape.last() == Some(&n)
            && call.importer.is_read_once(&name)
        {
            let param: Param = call.param("bias", constant)?;
            call.importer.give_bias(x, param)?;
            return call.result_like(x, value).map(Some);
        }
    }
    Ok(None)
}
