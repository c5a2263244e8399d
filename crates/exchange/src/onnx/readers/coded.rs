//! Layers on codes: their operands as the numbers that the codes mean, with formats, and their results as codes again.

use super::decode::{self, Places};
use super::{conv, product};
use crate::constant::{self, Array, Refusal, Values};
use crate::onnx::call::{Call, Read};
use crate::onnx::grid::Grid;
use crate::onnx::import::Source;
use interop::onnx::Element;
use ir::DType;
use serde_json::json;

/// The inputs that hold codes, scales and zero points; several scales lie along `axis`.
fn places(codes: usize, scale: usize, zero: usize, axis: i64) -> Places {
    Places {
        codes,
        scale: Some(scale),
        zero,
        axis,
        block: 0,
    }
}

/// Codes without scales.
fn unscaled(codes: usize, zero: usize, axis: i64) -> Places {
    Places {
        scale: None,
        ..places(codes, 0, zero, axis)
    }
}

/// An operand by its values, with its format on the port that reads it.
fn operand(call: &mut Call, places: Places) -> Result<Source, Refusal> {
    let grid = places.grid(call, call.element(places.codes)?)?;
    let source = decode::decode(call, places.codes, &grid)?;
    let Source::Value { value, .. } = source else {
        return Ok(source);
    };
    let name = call.name.clone();
    let value = if call.importer.is_rounded(value) {
        value
    } else {
        call.importer.round(&name, value, &grid)?
    };
    Ok(call.importer.result(value, Element::F32))
}

/// The result of a layer as codes.
fn coded(call: &Call, results: Vec<Source>, element: Element, grid: Grid) -> Read {
    let Some(Source::Value { value, ty, .. }) = results.into_iter().next() else {
        return Err(Refusal::new("its operands are all known"));
    };
    grid.format()?;
    debug_assert_eq!(call.type_of(value), ty);
    Ok(vec![Source::Codes {
        value,
        ty,
        element,
        grid,
    }])
}

/// The grid of the result of a layer, which has one scale.
fn result_grid(call: &Call, scale: usize, zero: usize) -> Result<(Element, Grid), Refusal> {
    let element = call.element(zero)?;
    let grid = places(0, scale, zero, 1).grid(call, element)?;
    if grid.axis.is_some() {
        return Err(Refusal::new("its result has several scales"));
    }
    Ok((element, grid))
}

/// A convolution of codes, with a bias in steps of the products.
pub fn conv(call: &mut Call) -> Read {
    let (element, grid) = result_grid(call, 6, 7)?;
    let (x, weight) = (places(0, 1, 2, 1), places(3, 4, 5, 0));
    let bias = if call.has(8) {
        Some(bias(call, x, weight)?)
    } else {
        None
    };
    let (x, weight) = (operand(call, x)?, operand(call, weight)?);
    call.inputs = vec![Some(x), Some(weight), bias];
    let results = conv::conv(call)?;
    coded(call, results, element, grid)
}

fn bias(call: &Call, x: Places, weight: Places) -> Result<Source, Refusal> {
    let x = x.grid(call, call.element(x.codes)?)?;
    let weight = weight.grid(call, call.element(weight.codes)?)?;
    let codes = constant::cast(call.constant(8)?, DType::F32)?;
    let codes = codes.floats().unwrap_or_default();
    let step = |at: usize| {
        let scale = weight.scales.get(at).or(weight.scales.first());
        scale.map_or(1.0, |scale| x.scales[0] * scale)
    };
    let values = codes.iter().enumerate();
    let values = values.map(|(at, code)| code * step(at)).collect();
    let path = call.source(8)?.path();
    let path = path.strip_suffix(decode::CODES_SUFFIX).unwrap_or(path);
    Ok(Source::Known {
        array: Array::new(vec![codes.len()], Values::F32(values)),
        element: Element::F32,
        path: path.to_owned(),
        grid: None,
    })
}

/// A product of codes.
pub fn matmul(call: &mut Call) -> Read {
    let (element, grid) = result_grid(call, 6, 7)?;
    let a = operand(call, places(0, 1, 2, -2))?;
    let b = operand(call, places(3, 4, 5, -1))?;
    call.inputs = vec![Some(a), Some(b)];
    let results = product::matmul(call)?;
    coded(call, results, element, grid)
}

/// A convolution whose result is the sums of products.
pub fn conv_integer(call: &mut Call) -> Read {
    let x = operand(call, unscaled(0, 2, 1))?;
    let weight = operand(call, unscaled(1, 3, 0))?;
    call.inputs = vec![Some(x), Some(weight)];
    let results = conv::conv(call)?;
    sums(call, results)
}

/// A product whose result is the sums of products.
pub fn matmul_integer(call: &mut Call) -> Read {
    let a = operand(call, unscaled(0, 2, -2))?;
    let b = operand(call, unscaled(1, 3, -1))?;
    call.inputs = vec![Some(a), Some(b)];
    let results = product::matmul(call)?;
    sums(call, results)
}

/// Whole floats as integers.
fn sums(call: &mut Call, results: Vec<Source>) -> Read {
    let Some(Source::Value { value, .. }) = results.into_iter().next() else {
        return Err(Refusal::new("its operands are all known"));
    };
    let dtype = DType::I64.to_string();
    let y = call.push("to", json!({ "dtype": dtype }), &[value])?;
    Ok(call.result(y, Element::I32))
}
