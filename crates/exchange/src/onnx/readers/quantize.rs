//! Quantisers: pairs of `QuantizeLinear` and `DequantizeLinear`, and QONNX's.

use crate::constant::{self, Array, Refusal, Values};
use crate::onnx::call::{Call, Read};
use crate::onnx::grid::{Grid, GridKind};
use crate::onnx::import::Source;
use interop::onnx::Element;
use ir::DType;

/// The roundings of QONNX.
const ROUNDINGS: &[(&str, &str)] = &[
    ("ROUND", "half_even"),
    ("HALF_EVEN", "half_even"),
    ("CEIL", "ceil"),
    ("FLOOR", "floor"),
    ("UP", "up"),
    ("DOWN", "down"),
    ("HALF_UP", "half_up"),
    ("HALF_DOWN", "half_down"),
];

/// The grid of a node's scales and zero points for codes of a type.
fn linear_grid(call: &Call, element: Element) -> Result<Grid, Refusal> {
    let scales = call.constant(1)?;
    let scale_values = scales
        .floats()
        .ok_or_else(|| Refusal::new("its scales are not floats"))?
        .to_vec();
    let zeros = match call.known(2) {
        Some(zeros) => constant::cast(zeros, DType::F32)?
            .floats()
            .map(<[f32]>::to_vec)
            .unwrap_or_default(),
        None if call.has(2) => return Err(Refusal::new("its zero point is computed")),
        None => vec![0.0],
    };
    let axis = call.attributes.int_or("axis", 1)?;
    if call.attributes.int_or("block_size", 0)? != 0 || scales.shape.len() > 1 {
        return Err(Refusal::new("scales of blocks are not read"));
    }
    call.attributes.int("output_dtype")?;
    call.attributes.int("precision")?;
    call.attributes.flag_or("saturate", true)?;
    let (min, _) = element
        .integer_range()
        .ok_or_else(|| Refusal::new("its codes are not integers"))?;
    let axis = match scale_values.len() {
        1 => None,
        _ => Some(call.axis(0, axis)?),
    };
    Ok(Grid {
        width: element.bits() as u32,
        signed: min < 0,
        narrow: false,
        rounding: "half_even",
        before: false,
        scales: scale_values,
        zeros,
        axis,
        kind: GridKind::Integers,
    })
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
    grid.format()?;
    let value = call.value(0)?;
    let ty = call.type_of(value);
    if ty.dtype != DType::F32 {
        return Err(Refusal::new("its input is not of floats"));
    }
    Ok(vec![Source::Codes {
        value,
        ty,
        element,
        grid,
    }])
}

/// The value that codes mean: a rounded value, or a parameter with its format.
pub fn dequantize(call: &mut Call) -> Read {
    let element = call.element(0)?;
    match call.source(0)?.clone() {
        Source::Codes { value, grid, .. } => {
            let own = linear_grid(call, element)?;
            let same =
                (own.scales == grid.scales) && (own.zeros == grid.zeros) && own.axis == grid.axis;
            if !same {
                return Err(Refusal::new(
                    "it decodes by other scales than its codes were made with",
                ));
            }
            let y = call
                .importer
                .round(&call.name.clone(), value, grid.format()?)?;
            Ok(call.result(y, Element::F32))
        }
        Source::Known { array, path, .. } => {
            let grid = linear_grid(call, element)?;
            let array = decoded(&array, &grid)?;
            // Sums of products have 32 bits, which are more than a float rounds to.
            let grid = (grid.width <= 16).then_some(grid);
            Ok(vec![Source::Known {
                array,
                element: Element::F32,
                path,
                grid,
            }])
        }
        Source::Value { .. } => Err(Refusal::new(
            "its codes are computed by another operator than QuantizeLinear",
        )),
    }
}

/// `(code − zero point)·scale`, in floats.
fn decoded(codes: &Array, grid: &Grid) -> Result<Array, Refusal> {
    let values = constant::cast(codes, DType::F32)?;
    let values = values.floats().unwrap_or_default().to_vec();
    let inner: usize = grid
        .axis
        .map_or(1, |axis| codes.shape[axis + 1..].iter().product());
    let size = grid.axis.map_or(1, |axis| codes.shape[axis]);
    let place = |at: usize| {
        if grid.axis.is_some() {
            at / inner % size
        } else {
            0
        }
    };
    let pick = |list: &[f32], at: usize| list.get(place(at)).or(list.first()).copied();
    let value =
        |(at, code): (usize, f32)| Some((code - pick(&grid.zeros, at)?) * pick(&grid.scales, at)?);
    let values: Option<Vec<f32>> = values.into_iter().enumerate().map(value).collect();
    let values = values.ok_or_else(|| Refusal::new("its scales do not fit its codes"))?;
    Ok(Array::new(codes.shape.clone(), Values::F32(values)))
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

/// The scales of QONNX, whose axes of size 1 broadcast.
fn broadcast_places(call: &Call, index: usize) -> Result<(Vec<f32>, Option<usize>), Refusal> {
    let array = call.constant(index)?;
    let values = array
        .floats()
        .ok_or_else(|| Refusal::new("its scales are not floats"))?
        .to_vec();
    let longer: Vec<usize> = (0..array.shape.len())
        .filter(|&axis| array.shape[axis] != 1)
        .collect();
    let missing = call.rank(0)?.saturating_sub(array.shape.len());
    match longer[..] {
        [] => Ok((values[..1].to_vec(), None)),
        [axis] => Ok((values, Some(missing + axis))),
        _ => Err(Refusal::new("its scales lie along several axes")),
    }
}

/// Any width, any rounding, the zero point added before it.
pub fn quant(call: &mut Call) -> Read {
    let (scales, axis) = broadcast_places(call, 1)?;
    let (mut zeros, zero_axis) = broadcast_places(call, 2)?;
    if zero_axis.is_some() && zero_axis != axis {
        return Err(Refusal::new(
            "its zero points lie along another axis than its scales",
        ));
    }
    if axis.is_some() && zeros.len() == 1 {
        zeros = vec![zeros[0]; scales.len()];
    }
    let word = call
        .attributes
        .text_or("rounding_mode", "ROUND")?
        .to_uppercase();
    let rounding = ROUNDINGS.iter().find(|row| row.0 == word);
    let (_, rounding) = rounding
        .ok_or_else(|| Refusal::new(format!("rounding_mode = {word} is not understood")))?;
    let width = call.number(3)?;
    if width.fract() != 0.0 || !(1.0..=32.0).contains(&width) {
        return Err(Refusal::new(format!("{width} bits are not a width")));
    }
    let grid = Grid {
        width: width as u32,
        signed: call.attributes.flag_or("signed", true)?,
        narrow: call.attributes.flag_or("narrow", false)?,
        rounding,
        before: true,
        scales,
        zeros,
        axis,
        kind: GridKind::Integers,
    };
    rounded(call, grid)
}

/// Two values of one magnitude.
pub fn bipolar(call: &mut Call) -> Read {
    let (scales, axis) = broadcast_places(call, 1)?;
    let grid = Grid {
        width: 1,
        signed: true,
        narrow: false,
        rounding: "half_even",
        before: false,
        scales,
        zeros: vec![0.0],
        axis,
        kind: GridKind::Bipolar,
    };
    rounded(call, grid)
}

/// A parameter with its format, or a rounded value.
fn rounded(call: &mut Call, grid: Grid) -> Read {
    let format = grid.format()?;
    if let Source::Known { array, path, .. } = call.source(0)?.clone() {
        return Ok(vec![Source::Known {
            array,
            element: Element::F32,
            path,
            grid: Some(grid),
        }]);
    }
    let value = call.value(0)?;
    let y = call.importer.round(&call.name.clone(), value, format)?;
    Ok(call.result(y, Element::F32))
}
