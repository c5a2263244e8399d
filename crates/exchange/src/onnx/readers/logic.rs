//! Comparisons, logic and choices.

use super::arithmetic::pair;
use crate::constant::{self, Array, Binary, Refusal};
use crate::onnx::call::{Call, Read};
use interop::onnx::Element;
use serde_json::json;

/// Operators, their counterparts, their evaluation.
const TABLE: &[(&str, &str, Binary)] = &[
    ("Equal", "eq", Binary::Eq),
    ("Less", "lt", Binary::Lt),
    ("LessOrEqual", "le", Binary::Le),
    ("Greater", "gt", Binary::Gt),
    ("GreaterOrEqual", "ge", Binary::Ge),
    ("And", "and", Binary::And),
    ("Or", "or", Binary::Or),
    ("Xor", "ne", Binary::Xor),
];

fn row(call: &Call) -> Result<(&'static str, Binary), Refusal> {
    let found = TABLE.iter().find(|row| row.0 == call.node.op_type());
    let (_, name, function) = found.ok_or_else(|| Refusal::new("no such comparison is known"))?;
    Ok((name, *function))
}

/// The evaluation of two known tensors.
pub fn fold(call: &Call) -> Result<Vec<Array>, Refusal> {
    let (_, function) = row(call)?;
    Ok(vec![constant::binary(
        function,
        call.constant(0)?,
        call.constant(1)?,
    )?])
}

/// Truth values of two values, or of a value and a number.
pub fn compare(call: &mut Call) -> Read {
    let (name, _) = row(call)?;
    let y = pair(call, name, 0, 1)?;
    Ok(call.result(y, Element::Bool))
}

/// One or the other: the truth values differ.
pub fn xor(call: &mut Call) -> Read {
    compare(call)
}

/// One value where the condition holds, else the other.
pub fn choose(call: &mut Call) -> Read {
    let (condition, a, b) = (call.value(0)?, call.value(1)?, call.value(2)?);
    let y = call.push("where", json!({}), &[condition, a, b])?;
    call.result_like(y, 1)
}

/// The evaluation of a choice.
pub fn fold_choose(call: &Call) -> Result<Vec<Array>, Refusal> {
    Ok(vec![constant::choose(
        call.constant(0)?,
        call.constant(1)?,
        call.constant(2)?,
    )?])
}
