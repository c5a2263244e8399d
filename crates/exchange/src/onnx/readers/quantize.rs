//! Pairs of `QuantizeLinear` and `DequantizeLinear`.

use super::decode::{self, Places};
use crate::constant::{Array, Refusal, Values};
use crate::onnx::call::{Call, Read};
use crate::onnx::grid::{Grid, GridKind};
use crate::onnx::import::Source;
use interop::onnx::Element;
use ir::DType;

/// The inputs of both operators, and the grid that they describe for codes of a type.
fn linear_grid(call: &Call, element: Element) -> Result<Grid, Refusal> {
    let places = Places {
        codes: 0,
        scale: Some(1),
        zero: 2,
        axis: call.attributes.int_or("axis", 1)?,
        block: call.attributes.int_or("block_size", 0)?,
    };
    call.attributes.int("output_dtype")?;
    call.attributes.int("precision")?;
    let saturates = call.attributes.flag_or("saturate", true)?;
    let mut grid = places.grid(call, element)?;
    if let GridKind::Floats(text) = &mut grid.kind
        && !saturates
        && let Some(head) = text.strip_suffix(')')
    {
        *text = format!("{head}, saturate = false)");
    }
    Ok(grid)
}

/// Codes of a value: their zero point says of which type.
pub fn quantize(call: &mut Call) -> Read {
    let stated = call.attributes.int_or("output_dtype", 0)?;
    let element = match (
        call.has(2),
        i32::try_from(stated).ok().and_then(Element::of_code),
    ) {
        (true, _) => call.element(2)?,
        (false, Some(element)) => element,
        (false, None) => Element::U8,
    };
    let grid = linear_grid(call, element)?;
    if let Source::Known { array, path, .. } = call.source(0)?.clone() {
        return Ok(vec![Source::Known {
            array: codes(&array, &grid)?,
            element,
            path,
            grid: None,
        }]);
    }
    let value = call.value(0)?;
    let ty = call.type_of(value);
    if ty.dtype != DType::F32 {
        return Err(Refusal::new("its input is not of floats"));
    }
    if !grid.is_scaled_float() {
        grid.format()?;
    }
    Ok(vec![Source::Codes {
        value,
        ty,
        element,
        grid,
    }])
}

/// The codes of a stored tensor; small floats by their value.
fn codes(array: &Array, grid: &Grid) -> Result<Array, Refusal> {
    let rounded = grid.round(array)?;
    let places = grid.places(&array.shape)?;
    let values = rounded.floats().unwrap_or_default().iter().zip(&places);
    let scaled = values.map(|(value, &place)| value / grid.scales[place]);
    if matches!(grid.kind, GridKind::Floats(_)) {
        let values = Values::F32(scaled.collect());
        return Ok(Array::new(array.shape.clone(), values));
    }
    let zero = |place: usize| grid.zeros.get(place).or(grid.zeros.first()).copied();
    let code = |(scaled, &place): (f32, &usize)| {
        (scaled.round_ties_even() + zero(place).unwrap_or(0.0)) as i64
    };
    let codes = scaled.zip(&places).map(code).collect();
    Ok(Array::new(array.shape.clone(), Values::I64(codes)))
}

/// The value that codes mean: a rounded value, or a parameter with its format.
pub fn dequantize(call: &mut Call) -> Read {
    let grid = linear_grid(call, call.element(0)?)?;
    Ok(vec![decode::decode(call, 0, &grid)?])
}

/// Bounds on codes make them narrower.
pub fn clip_codes(call: &Call) -> Read {
    let Source::Codes {
        value,
        ty,
        element,
        grid,
    } = call.source(0)?.clone()
    else {
        return Err(Refusal::new("its input is no code"));
    };
    let (min, max) = grid.code_range();
    let low = if call.has(1) {
        call.number(1)? as i64
    } else {
        min
    };
    let high = if call.has(2) {
        call.number(2)? as i64
    } else {
        max
    };
    let grid = grid.clipped(low.max(min), high.min(max));
    let grid = grid.ok_or_else(|| Refusal::new("its bounds are those of no width"))?;
    Ok(vec![Source::Codes {
        value,
        ty,
        element,
        grid,
    }])
}
