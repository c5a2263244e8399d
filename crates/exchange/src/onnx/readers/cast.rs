//! Changes of the element type.

use crate::constant::{self, Array, Refusal, Values};
use crate::onnx::call::{Call, Read};
use crate::onnx::grid::GridKind;
use crate::onnx::import::Source;
use crate::onnx::types::dtype;
use interop::onnx::Element;
use ir::DType;
use serde_json::json;

/// The type that a cast makes, by its attribute.
fn wanted(call: &Call) -> Result<Element, Refusal> {
    call.attributes.flag_or("saturate", true)?;
    call.attributes.text_or("round_mode", "up")?;
    let code = call.attributes.int("to")?.unwrap_or(0);
    let element = i32::try_from(code).ok().and_then(Element::of_code);
    element.ok_or_else(|| Refusal::new(format!("to = {code} is no known type")))
}

/// Refuses casts whose rounding or wrapping a graph does not have.
fn check(from: Element, to: Element) -> Result<DType, Refusal> {
    let dtype = dtype(to)
        .ok_or_else(|| Refusal::new(format!("a cast to {} is not computed", to.name())))?;
    let rounds = matches!(to, Element::F16 | Element::BF16) && from != to;
    let is_exact = |from: Element| {
        matches!(from, Element::Bool | Element::F16 | Element::BF16) || from.bits() <= 8
    };
    if rounds && !is_exact(from) {
        return Err(Refusal::new(format!(
            "a cast to {} rounds, which a graph does not",
            to.name()
        )));
    }
    let wraps = to.is_integer()
        && !matches!(to, Element::I64 | Element::I32)
        && from != Element::Bool
        && from != to;
    if wraps {
        return Err(Refusal::new(format!(
            "a cast to {} wraps, which a graph does not",
            to.name()
        )));
    }
    Ok(dtype)
}

pub fn cast(call: &mut Call) -> Read {
    let to = wanted(call)?;
    convert(call, to)
}

pub fn cast_like(call: &mut Call) -> Read {
    call.attributes.flag_or("saturate", true)?;
    call.attributes.text_or("round_mode", "up")?;
    let to = call.element(1)?;
    convert(call, to)
}

fn convert(call: &mut Call, to: Element) -> Read {
    // Codes stay codes in every type that holds them.
    if let Source::Codes {
        value, ty, grid, ..
    } = call.source(0)?
        && let Some((min, max)) = to.integer_range()
        && (min..=max).contains(&grid.code_range().0)
        && (min..=max).contains(&grid.code_range().1)
        && matches!(grid.kind, GridKind::Integers)
    {
        return Ok(vec![Source::Codes {
            value: *value,
            ty: ty.clone(),
            element: to,
            grid: grid.clone(),
        }]);
    }
    let dtype = check(call.element(0)?, to)?;
    if let Source::Known { array, .. } = call.source(0)? {
        return Ok(vec![Source::made(converted(array, dtype, to)?)]);
    }
    let x = call.value(0)?;
    if call.ty(0)?.dtype == dtype {
        return Ok(call.result(x, to));
    }
    let y = call.push("to", json!({ "dtype": dtype.to_string() }), &[x])?;
    Ok(call.result(y, to))
}

/// The evaluation of a cast.
pub fn fold(call: &Call) -> Result<Vec<Array>, Refusal> {
    let to = wanted(call)?;
    let dtype = check(call.element(0)?, to)?;
    Ok(vec![converted(call.constant(0)?, dtype, to)?])
}

/// The evaluation of a cast to the type of another.
pub fn fold_like(call: &Call) -> Result<Vec<Array>, Refusal> {
    call.attributes.flag_or("saturate", true)?;
    call.attributes.text_or("round_mode", "up")?;
    let to = call.element(1)?;
    let dtype = check(call.element(0)?, to)?;
    Ok(vec![converted(call.constant(0)?, dtype, to)?])
}

fn converted(array: &Array, dtype: DType, to: Element) -> Result<Array, Refusal> {
    let result = constant::cast(array, dtype)?;
    if let (Values::I64(values), Some((min, max))) = (&result.values, to.integer_range())
        && values.iter().any(|value| !(min..=max).contains(value))
    {
        return Err(Refusal::new(format!(
            "a constant does not fit {}",
            to.name()
        )));
    }
    Ok(result)
}
