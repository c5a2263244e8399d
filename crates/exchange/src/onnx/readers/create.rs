//! Values from nothing: constants, shapes, ranges.

use crate::constant::{self, Array, Refusal, Size, Values};
use crate::onnx::call::{Call, Read};
use crate::onnx::import::Source;
use interop::onnx::Element;

/// A tensor, a number or a list of numbers.
pub fn constant(call: &mut Call) -> Read {
    let attributes = &call.attributes;
    if let Some(tensor) = attributes.tensor("value")? {
        let source = call.importer.tensor(tensor);
        let source = source.map_err(|problem| Refusal::new(problem.to_string()))?;
        return Ok(vec![source]);
    }
    let array = if let Some(value) = attributes.float("value_float")? {
        Array::scalar(value)
    } else if let Some(values) = attributes.floats("value_floats")? {
        Array::new(vec![values.len()], Values::F32(values))
    } else if let Some(value) = attributes.int("value_int")? {
        Array::new(Vec::new(), Values::I64(vec![value]))
    } else if let Some(values) = attributes.ints("value_ints")? {
        Array::ints(values)
    } else {
        return Err(Refusal::new("its value is not a tensor of numbers"));
    };
    Ok(vec![Source::made(array)])
}

/// One value, as often as a known shape says.
pub fn constant_of_shape(call: &mut Call) -> Read {
    let value = match call.attributes.tensor("value")? {
        Some(tensor) => {
            let source = call.importer.tensor(tensor);
            source.map_err(|problem| Refusal::new(problem.to_string()))?
        }
        None => Source::made(Array::scalar(0.0)),
    };
    let element = value.element();
    let Source::Known { array: value, .. } = value else {
        return Err(Refusal::new("its value is not known"));
    };
    let sizes = call.sizes(0)?;
    // What repeats along the batch is kept once, and broadcasts.
    let sizes = sizes.iter().map(|size| match size.dim() {
        Some(dim) => Ok(dim.fixed().unwrap_or(1)),
        None => Err(Refusal::new(format!(
            "{} is no size of an axis",
            size.factor
        ))),
    });
    let sizes: Vec<usize> = sizes.collect::<Result<_, _>>()?;
    Ok(vec![Source::Known {
        array: constant::filled(&sizes, &value)?,
        element,
        path: String::new(),
        grid: None,
    }])
}

/// The axes of a value, of which the first may be the batch.
pub fn shape(call: &mut Call) -> Read {
    let dims = call.ty(0)?.shape.0;
    let rank = dims.len() as i64;
    let place = |at: i64| (if at < 0 { at + rank } else { at }).clamp(0, rank) as usize;
    let start = place(call.attributes.int_or("start", 0)?);
    let end = place(call.attributes.int_or("end", rank)?).max(start);
    let sizes: Vec<Size> = dims[start..end].iter().map(Size::of).collect();
    let array = Array::new(vec![sizes.len()], Values::Sizes(sizes));
    Ok(vec![Source::made(array)])
}

/// The number of elements of a value.
pub fn size(call: &mut Call) -> Read {
    let count = call.ty(0)?.shape.numel();
    let count = count.map_err(|error| Refusal::new(error.to_string()))?;
    let array = Array::new(Vec::new(), Values::Sizes(vec![Size::of(&count)]));
    Ok(vec![Source::made(array)])
}

pub fn range(_call: &mut Call) -> Read {
    Err(Refusal::new(
        "a range of computed numbers has no known size",
    ))
}

/// The evaluation of a range.
pub fn fold_range(call: &Call) -> Result<Vec<Array>, Refusal> {
    Ok(vec![constant::range(
        call.constant(0)?,
        call.constant(1)?,
        call.constant(2)?,
    )?])
}

/// The triangle of a computed value by a stored mask.
pub fn trilu(call: &mut Call) -> Read {
    let (upper, k) = triangle(call)?;
    let dims = call.ty(0)?.shape.0;
    let [.., rows, columns] = dims.as_slice() else {
        return Err(Refusal::new("a triangle needs two axes"));
    };
    let (Some(rows), Some(columns)) = (rows.fixed(), columns.fixed()) else {
        return Err(Refusal::new("the size of the triangle is not known"));
    };
    let ones = constant::filled(
        &[rows, columns],
        &Array::new(Vec::new(), Values::Bool(vec![true])),
    )?;
    let mask = call.store(constant::band(&ones, upper, k)?)?;
    let zero = match call.ty(0)?.dtype {
        ir::DType::F32 => Array::scalar(0.0),
        ir::DType::I64 => Array::new(Vec::new(), Values::I64(vec![0])),
        ir::DType::Bool => Array::new(Vec::new(), Values::Bool(vec![false])),
    };
    let (x, zero) = (call.value(0)?, call.store(zero)?);
    let y = call.push("where", serde_json::json!({}), &[mask, x, zero])?;
    call.result_like(y, 0)
}

/// The evaluation of a triangle.
pub fn fold_trilu(call: &Call) -> Result<Vec<Array>, Refusal> {
    let (upper, k) = triangle(call)?;
    Ok(vec![constant::band(call.constant(0)?, upper, k)?])
}

fn triangle(call: &Call) -> Result<(bool, i64), Refusal> {
    let upper = call.attributes.flag_or("upper", true)?;
    let k = if call.has(1) {
        call.number(1)? as i64
    } else {
        0
    };
    Ok((upper, k))
}

/// Ones on a diagonal, in the shape of a value.
pub fn eye_like(call: &mut Call) -> Read {
    let k = call.attributes.int_or("k", 0)?;
    let element = match call.attributes.int("dtype")? {
        Some(code) => i32::try_from(code).ok().and_then(Element::of_code),
        None => Some(call.element(0)?),
    };
    let dtype = element.and_then(crate::onnx::types::dtype);
    let dtype = dtype.ok_or_else(|| Refusal::new("its type is not known"))?;
    let dims = call.ty(0)?.shape.0;
    let sizes: Option<Vec<usize>> = dims.iter().map(ir::Dim::fixed).collect();
    let sizes = sizes.ok_or_else(|| Refusal::new("its size is not known"))?;
    let ones = constant::filled(&sizes, &Array::scalar(1.0))?;
    let upper = constant::band(&ones, true, k)?;
    let eye = constant::band(&upper, false, k)?;
    Ok(vec![Source::made(constant::cast(&eye, dtype)?)])
}
