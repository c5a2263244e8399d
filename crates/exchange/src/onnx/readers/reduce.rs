//! Reductions along axes.

use super::shape::{permute_to, reshape_to};
use crate::constant::{self, Array, Reduction, Refusal, Size, Values};
use crate::onnx::call::{Call, Read};
use interop::onnx::Element;
use ir::{DType, Value};
use serde_json::{Value as Json, json};

/// The axes that are reduced, or none when nothing is.
struct Axes {
    axes: Option<Vec<usize>>,
    keep: bool,
}

fn axes(call: &Call) -> Result<Axes, Refusal> {
    let keep = call.attributes.flag_or("keepdims", true)?;
    let stays = call.attributes.flag_or("noop_with_empty_axes", false)?;
    let given = call.ints_of("axes", 1)?.filter(|axes| !axes.is_empty());
    let axes = match given {
        Some(given) => {
            let axes = given.iter().map(|&axis| call.axis(0, axis));
            Some(axes.collect::<Result<Vec<_>, _>>()?)
        }
        None if stays => None,
        None => Some((0..call.rank(0)?).collect()),
    };
    Ok(Axes { axes, keep })
}

/// The evaluation of a known tensor.
pub fn fold(call: &Call) -> Result<Vec<Array>, Refusal> {
    let Axes { axes, keep } = axes(call)?;
    let array = call.constant(0)?;
    let Some(axes) = axes else {
        return Ok(vec![array.clone()]);
    };
    let kind = match call.node.op_type() {
        "ReduceMean" => Reduction::Mean,
        "ReduceSum" => Reduction::Sum,
        "ReduceMax" => Reduction::Max,
        "ReduceMin" => Reduction::Min,
        _ => Reduction::Prod,
    };
    Ok(vec![constant::reduce(kind, array, &axes, keep)?])
}

pub fn reduce(call: &mut Call) -> Read {
    call.refuse_narrow(0)?;
    let Axes { axes, keep } = axes(call)?;
    let x = call.value(0)?;
    let dims = |keep: bool| json!({ "dim": axes, "keepdim": keep });
    let operator = call.node.op_type();
    let sum = |call: &mut Call, x: Value| match &axes {
        Some(_) => call.push("sum", dims(keep), &[x]),
        None => Ok(x),
    };
    let y = match operator {
        "ReduceL1" => {
            let x = call.push("abs", json!({}), &[x])?;
            sum(call, x)?
        }
        "ReduceL2" | "ReduceSumSquare" => {
            let square = call.push("mul", json!({}), &[x, x])?;
            let total = sum(call, square)?;
            match operator {
                "ReduceL2" => call.push("sqrt", json!({}), &[total])?,
                _ => total,
            }
        }
        "ReduceLogSum" => {
            let total = sum(call, x)?;
            call.push("log", json!({}), &[total])?
        }
        "ReduceLogSumExp" if axes.is_some() => log_sum_exp(call, x, dims(true), dims(keep))?,
        // The logarithm of the exponential of every element is the element.
        _ if axes.is_none() => call.push("identity", json!({}), &[x])?,
        _ => {
            let names = [
                ("ReduceMean", "mean"),
                ("ReduceSum", "sum"),
                ("ReduceMax", "amax"),
                ("ReduceMin", "amin"),
                ("ReduceProd", "prod"),
            ];
            let name = names.iter().find(|row| row.0 == operator);
            let (_, name) = name.ok_or_else(|| Refusal::new("no such reduction is known"))?;
            call.push(name, dims(keep), &[x])?
        }
    };
    call.result_like(y, 0)
}

/// The largest element is taken out, so that no exponential overflows.
fn log_sum_exp(call: &mut Call, x: Value, kept: Json, dims: Json) -> Result<Value, Refusal> {
    let largest = call.push("amax", kept, &[x])?;
    let shifted = call.push("sub", json!({}), &[x, largest])?;
    let exponential = call.push("exp", json!({}), &[shifted])?;
    let total = call.push("sum", dims.clone(), &[exponential])?;
    let logarithm = call.push("log", json!({}), &[total])?;
    let largest = call.push("amax", dims, &[x])?;
    call.push("add", json!({}), &[logarithm, largest])
}

/// The place of the largest or the smallest element along one axis.
pub fn arg(call: &mut Call) -> Read {
    let axis = call.attributes.int_or("axis", 0)?;
    let axis = call.axis(0, axis)?;
    let keep = call.attributes.flag_or("keepdims", true)?;
    let last = call.attributes.flag_or("select_last_index", false)?;
    if call.ty(0)?.dtype != DType::F32 {
        return Err(Refusal::new("a place among integers is not computed"));
    }
    let mut x = call.value(0)?;
    if call.node.op_type() == "ArgMin" {
        x = call.push("neg", json!({}), &[x])?;
    }
    let y = first_place(call, x, axis, last, keep)?;
    Ok(call.result(y, Element::I64))
}

/// The place of the first, or the last, largest element along an axis.
pub fn first_place(
    call: &mut Call,
    mut x: Value,
    axis: usize,
    last: bool,
    keep: bool,
) -> Result<Value, Refusal> {
    let dims = call.type_of(x).shape.0;
    let rank = dims.len();
    let size = dims[axis]
        .fixed()
        .ok_or_else(|| Refusal::new("its axis is the batch"))? as i64;
    if size > 1 << 24 {
        return Err(Refusal::new(format!(
            "its axis of size {size} is longer than 2^24"
        )));
    }
    if last {
        let reversed = Array::ints((0..size).rev().collect());
        let indices = call.store(reversed)?;
        x = call.push("gather", json!({ "dim": axis }), &[x, indices])?;
    }
    let order: Vec<usize> = (0..rank).filter(|&k| k != axis).chain([axis]).collect();
    x = permute_to(call, x, &order)?;
    // The operator wants an axis beside the one it works along.
    if rank == 1 {
        x = reshape_to(call, x, &[1.into(), size.into()])?;
    }
    let mut y = call.push("argmax", json!({}), &[x])?;
    if last {
        y = call.push("mul", json!({ "scalar": -1.0 }), &[y])?;
        y = call.push("add", json!({ "scalar": (size - 1) as f64 }), &[y])?;
    }
    let mut sizes: Vec<Size> = dims.iter().map(Size::of).collect();
    if keep {
        sizes[axis] = 1.into();
    } else {
        sizes.remove(axis);
    }
    reshape_to(call, y, &sizes)
}

/// Sums up to each element along an axis: a product with a triangle of ones.
pub fn cumulative_sum(call: &mut Call) -> Read {
    let (exclusive, reverse) = directions(call)?;
    let axis = call.axis(0, call.number(1)? as i64)?;
    let dims = call.ty(0)?.shape.0;
    let size = dims[axis]
        .fixed()
        .ok_or_else(|| Refusal::new("its axis is the batch"))?;
    if call.ty(0)?.dtype != DType::F32 || size > 4096 {
        return Err(Refusal::new(
            "sums of integers, or of more than 4096 elements, are not computed",
        ));
    }
    let ones = constant::filled(&[size, size], &Array::scalar(1.0))?;
    let triangle = constant::band(
        &ones,
        !reverse,
        i64::from(exclusive) * if reverse { -1 } else { 1 },
    )?;
    let (x, triangle) = (call.value(0)?, call.store(triangle)?);
    let rank = dims.len();
    let order: Vec<usize> = (0..rank).filter(|&k| k != axis).chain([axis]).collect();
    let mut y = permute_to(call, x, &order)?;
    if rank == 1 {
        y = reshape_to(call, y, &[1.into(), (size as i64).into()])?;
    }
    y = call.push("matmul", json!({}), &[y, triangle])?;
    if rank == 1 {
        y = reshape_to(call, y, &[(size as i64).into()])?;
    }
    let mut back: Vec<usize> = (0..rank).collect();
    for (from, &to) in order.iter().enumerate() {
        back[to] = from;
    }
    y = permute_to(call, y, &back)?;
    call.result_like(y, 0)
}

/// The evaluation of sums.
pub fn fold_cumulative_sum(call: &Call) -> Result<Vec<Array>, Refusal> {
    let (exclusive, reverse) = directions(call)?;
    let axis = call.axis(0, call.number(1)? as i64)?;
    let array = call.constant(0)?;
    if matches!(array.values, Values::Bool(_)) {
        return Err(Refusal::new("a sum is of numbers"));
    }
    Ok(vec![constant::cumulative_sum(
        array, axis, exclusive, reverse,
    )?])
}

fn directions(call: &Call) -> Result<(bool, bool), Refusal> {
    Ok((
        call.attributes.flag_or("exclusive", false)?,
        call.attributes.flag_or("reverse", false)?,
    ))
}
