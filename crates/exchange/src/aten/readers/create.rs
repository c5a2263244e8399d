//! Tensors from nothing, and sizes.

use crate::aten::call::{Call, Read, made};
use crate::aten::source::Source;
use crate::constant::{self, Array, Binary, Refusal, Size, Values};
use ir::DType;

/// The size of an axis.
pub fn sym_size(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let axis = call.axis(&source, call.int("dim", None)?)?;
    let size = Size::of(&call.ty(&source).shape.0[axis]);
    Ok(vec![Source::size(size)])
}

/// Arithmetic on sizes.
pub fn size_arithmetic(call: &mut Call) -> Read {
    let function = match call.node.target.as_str() {
        "_operator.add" => Binary::Add,
        "_operator.sub" => Binary::Sub,
        "_operator.mul" => Binary::Mul,
        _ => Binary::Div,
    };
    let operands: Vec<Source> = call
        .node
        .arguments
        .iter()
        .filter_map(|(name, _)| call.optional(name))
        .collect();
    let [Source::Known(a), Source::Known(b)] = operands.as_slice() else {
        return Err(Refusal::new("its operands are not sizes"));
    };
    Ok(made(constant::binary(function, &a.array, &b.array)?))
}

/// Whole numbers in a row; those up to the batch are the numbers of rows.
pub fn arange(call: &mut Call) -> Read {
    let end = call.sizes("end")?;
    if end.iter().any(|size| size.of_batch) {
        let is_whole = call.dtype("dtype").is_none_or(|dtype| dtype == DType::I64);
        let is_plain = is_whole
            && end.iter().all(|size| size.factor == 1)
            && call.int("start", Some(0))? == 0
            && call.int("step", Some(1))? == 1;
        return if is_plain {
            Ok(vec![Source::Rows { axis: 0, rank: 1 }])
        } else {
            Err(Refusal::new(
                "a range that depends on the batch is not computed",
            ))
        };
    }
    let number = |n: i64| Array::new(Vec::new(), Values::I64(vec![n]));
    let (start, step) = (call.int("start", Some(0))?, call.int("step", Some(1))?);
    let [end] = end.as_slice() else {
        return Err(Refusal::new("its end is not one number"));
    };
    let range = constant::range(&number(start), &number(end.factor), &number(step))?;
    let dtype = call.dtype("dtype").unwrap_or(DType::I64);
    Ok(made(constant::cast(&range, dtype)?))
}

/// One number everywhere; along the batch it is held once.
pub fn full(call: &mut Call) -> Read {
    let name = call.operator_name();
    let sizes = if call.argument("size").is_some() {
        call.sizes("size")?
    } else {
        let like = call.source("self")?;
        call.ty(&like).shape.0.iter().map(Size::of).collect()
    };
    let number = match name {
        "zeros" | "new_zeros" | "zeros_like" => 0.0,
        "ones" | "new_ones" | "ones_like" => 1.0,
        _ => call
            .number("fill_value")
            .ok_or_else(|| Refusal::new("its number is computed"))?,
    };
    let own = call.optional("self").map(|source| call.ty(&source).dtype);
    let is_whole = matches!(
        call.argument("fill_value"),
        Some(interop::pt2::Argument::Int(_))
    );
    let default = own.unwrap_or(if is_whole { DType::I64 } else { DType::F32 });
    let dtype = call.dtype("dtype").unwrap_or(default);
    let value = constant::cast(&Array::scalar(number as f32), dtype)?;
    Ok(made(constant::filled(&held_once(&sizes)?, &value)?))
}

/// A number as a tensor without axes.
pub fn scalar_tensor(call: &mut Call) -> Read {
    let number = call.number("s");
    let number = number.ok_or_else(|| Refusal::new("its number is computed"))?;
    let dtype = call.dtype("dtype").unwrap_or(DType::F32);
    let value = constant::cast(&Array::scalar(number as f32), dtype)?;
    Ok(made(value))
}

/// The sizes of a constant: 1 for the batch.
pub fn held_once(sizes: &[Size]) -> Result<Vec<usize>, Refusal> {
    let size = |size: &Size| {
        usize::try_from(size.factor)
            .map_err(|_| Refusal::new(format!("{} is no size of a constant", size.factor)))
    };
    sizes.iter().map(size).collect()
}

/// The upper or the lower triangle of a constant.
pub fn triangle(call: &mut Call) -> Read {
    let array = call.known("self");
    let array = array.ok_or_else(|| Refusal::new("triangles of inputs are not computed"))?;
    let is_upper = call.operator_name() == "triu";
    Ok(made(constant::band(
        &array,
        is_upper,
        call.int("diagonal", Some(0))?,
    )?))
}
