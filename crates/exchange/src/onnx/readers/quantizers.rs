//! QONNX's quantisers.

use crate::constant::Refusal;
use crate::onnx::call::{Call, Read};
use crate::onnx::grid::{Grid, GridKind};
use crate::onnx::import::Source;
use interop::onnx::Element;
use ir::Value;
use serde_json::json;

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
    let rounding = rounding(call, "ROUND")?;
    let width = width(call, 3)?;
    let signed = call.attributes.flag_or("signed", true)?;
    let narrow = call.attributes.flag_or("narrow", false)?;
    // Signed codes of one bit are -1 and 1, at and above 0 the latter.
    if width == 1 && signed {
        if zeros.iter().any(|&zero| zero != 0.0) {
            return Err(Refusal::new("two values about a zero point are not read"));
        }
        return rounded(call, two_values(scales, axis));
    }
    let grid = Grid {
        width,
        signed,
        narrow,
        rounding,
        before: true,
        scales,
        zeros,
        axis,
        blocks: None,
        kind: GridKind::Integers,
    };
    rounded(call, grid)
}

/// Two values of one magnitude.
pub fn bipolar(call: &mut Call) -> Read {
    let (scales, axis) = broadcast_places(call, 1)?;
    rounded(call, two_values(scales, axis))
}

/// The grid of plus and minus the scale.
fn two_values(scales: Vec<f32>, axis: Option<usize>) -> Grid {
    Grid {
        width: 1,
        signed: true,
        narrow: false,
        rounding: "half_even",
        before: false,
        scales,
        zeros: vec![0.0],
        axis,
        blocks: None,
        kind: GridKind::Bipolar,
    }
}

/// A parameter with its format, or a rounded value.
fn rounded(call: &mut Call, grid: Grid) -> Read {
    if let Source::Known { array, path, .. } = call.source(0)?.clone() {
        // What no format rounds to is stored as it is rounded.
        let (array, grid) = if grid.is_scaled_float() {
            (grid.round(&array)?, None)
        } else {
            grid.format()?;
            (array, Some(grid))
        };
        return Ok(vec![Source::Known {
            array,
            element: Element::F32,
            path,
            grid,
        }]);
    }
    let value = call.value(0)?;
    let y = call.importer.round(&call.name.clone(), value, &grid)?;
    Ok(call.result(y, Element::F32))
}

/// The word for the rounding of a node.
fn rounding(call: &Call, default: &str) -> Result<&'static str, Refusal> {
    let word = call.attributes.text_or("rounding_mode", default)?;
    let word = word.to_uppercase();
    let rounding = ROUNDINGS.iter().find(|row| row.0 == word);
    rounding
        .map(|row| row.1)
        .ok_or_else(|| Refusal::new(format!("rounding_mode = {word} is not understood")))
}

/// The bits of a code, which an input says.
fn width(call: &Call, index: usize) -> Result<u32, Refusal> {
    let width = call.number(index)?;
    if width.fract() != 0.0 || !(1.0..=32.0).contains(&width) {
        return Err(Refusal::new(format!("{width} bits are not a width")));
    }
    Ok(width as u32)
}

/// Floats of few bits.
pub fn float_quant(call: &mut Call) -> Read {
    let (scales, axis) = broadcast_places(call, 1)?;
    let rounding = rounding(call, "ROUND")?;
    for flag in ["has_inf", "has_nan", "has_subnormal"] {
        call.attributes.flag_or(flag, false)?;
    }
    if !call.attributes.flag_or("saturation", true)? || rounding != "half_even" {
        return Err(Refusal::new(
            "a float that does not saturate, or that rounds otherwise than to even, is not read",
        ));
    }
    let whole = |index: usize| -> Result<i32, Refusal> {
        let number = call.number(index)?;
        let is_whole = number.fract() == 0.0 && number.abs() < 256.0;
        is_whole
            .then_some(number as i32)
            .ok_or_else(|| Refusal::new(format!("{number} is no number of bits")))
    };
    let (exponent, mantissa, bias) = (whole(2)?, whole(3)?, whole(4)?);
    let text = float_format(exponent, mantissa, bias, call.number(5)?)?;
    let zeros = vec![0.0; scales.len()];
    let grid = Grid {
        width: (1 + exponent + mantissa) as u32,
        signed: true,
        narrow: false,
        rounding: "half_even",
        before: false,
        scales,
        zeros,
        axis,
        blocks: None,
        kind: GridKind::Floats(text),
    };
    rounded(call, grid)
}

/// The text of the format of floats with these bits up to a largest value.
fn float_format(exponent: i32, mantissa: i32, bias: i32, max: f64) -> Result<String, Refusal> {
    let refuse = || {
        Refusal::new(format!(
            "no format has {exponent} bits of exponent, {mantissa} of fraction, bias {bias} and the largest value {max}"
        ))
    };
    if !(1..=8).contains(&exponent) || !(1..=22).contains(&mantissa) {
        return Err(refuse());
    }
    let steps = 2.0 - f64::from(-mantissa).exp2();
    let largest = f64::from((1 << exponent) - 1 - bias).exp2() * steps;
    let max = max.min(largest);
    let standard = [
        ((4, 3, 7), 448.0, "float8(e4m3fn)"),
        ((5, 2, 15), 57344.0, "float8(e5m2)"),
        ((4, 3, 8), 240.0, "float8(e4m3fnuz)"),
        ((5, 2, 16), 57344.0, "float8(e5m2fnuz)"),
        ((2, 1, 1), 6.0, "float4(e2m1)"),
    ];
    let found = standard
        .iter()
        .find(|(bits, top, _)| *bits == (exponent, mantissa, bias) && *top == max);
    if let Some((_, _, text)) = found {
        return Ok((*text).to_owned());
    }
    let width = 1 + exponent + mantissa;
    (max == largest)
        .then(|| format!("minifloat_ieee({width}, {exponent}, {bias})"))
        .ok_or_else(refuse)
}

/// Codes with fewer bits: those of a grid, divided by a power of two and rounded again.
pub fn trunc(call: &mut Call) -> Read {
    let (scale, zero) = (call.number(1)? as f32, call.number(2)? as f32);
    let rounding = rounding(call, "FLOOR")?;
    // In the second version the scale of the result is an input, and its codes are clipped.
    let is_second = call.has(5);
    let (width, step, out_scale, out_zero) = if is_second {
        let out_scale = call.number(4)? as f32;
        let step = (out_scale / scale).log2().round_ties_even().exp2();
        (width(call, 5)?, step, out_scale, zero / step)
    } else {
        let dropped = width(call, 3)? as i32 - width(call, 4)? as i32;
        (32, (dropped as f32).exp2(), scale, zero)
    };
    let signed = call.attributes.flag_or("signed", true)?;
    let narrow = call.attributes.flag_or("narrow", false)?;
    let grid = Grid {
        width,
        signed: signed || !is_second,
        narrow,
        rounding,
        before: true,
        scales: vec![1.0],
        zeros: vec![0.0],
        axis: None,
        blocks: None,
        kind: GridKind::Integers,
    };
    let mut y = call.value(0)?;
    // Powers of two divide without rounding, so that the codes of the first grid need not be made.
    let is_exact = |value: f32| value.log2().fract() == 0.0;
    if is_second && zero == 0.0 && is_exact(scale) && out_scale == scale * step {
        let fine = Grid {
            width: self::width(call, 3)?,
            signed,
            rounding: "half_even",
            narrow: false,
            scales: vec![scale],
            ..grid.clone()
        };
        let coarse = Grid {
            scales: vec![out_scale],
            ..grid
        };
        let name = call.name.clone();
        y = call.importer.round(&name, y, &fine)?;
        y = call.importer.round(&name, y, &coarse)?;
        return Ok(call.result(y, Element::F32));
    }
    let number = super::wide;
    y = call.push("div", json!({ "scalar": number(scale) }), &[y])?;
    y = call.push("add", json!({ "scalar": number(zero) }), &[y])?;
    y = call.push("round", json!({}), &[y])?;
    y = call.push("div", json!({ "scalar": number(step) }), &[y])?;
    y = if is_second {
        call.importer.round(&call.name.clone(), y, &grid)?
    } else {
        whole(call, rounding, y)?
    };
    y = call.push("sub", json!({ "scalar": number(out_zero) }), &[y])?;
    y = call.push("mul", json!({ "scalar": number(out_scale) }), &[y])?;
    Ok(call.result(y, Element::F32))
}

/// Whole numbers without bounds.
fn whole(call: &mut Call, rounding: &str, y: Value) -> Result<Value, Refusal> {
    let op = match rounding {
        "half_even" => "round",
        "floor" => "floor",
        "ceil" => "ceil",
        other => return Err(Refusal::new(format!("it truncates by {other}"))),
    };
    call.push(op, json!({}), &[y])
}
