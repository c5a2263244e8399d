//! Reductions along axes, and softmax.

use crate::aten::call::{Call, Read, made, one};
use crate::aten::source::Source;
use crate::constant::{self, Refusal, Values};
use ir::{DType, Value};
use serde_json::json;

/// Sums, means, extremes over axes.
pub fn reduce(call: &mut Call) -> Read {
    let name = call.operator_name();
    let x = call.value("self")?;
    if call.builder.type_of(x).dtype != DType::F32 {
        return Err(Refusal::new("reductions of integers are not computed"));
    }
    call.expect_float_result()?;
    let dim = call.ints("dim", &[], 0)?;
    let attributes = json!({ "dim": dim, "keepdim": call.flag("keepdim", false) });
    Ok(one(call.push(name, attributes, &[x])?))
}

/// The place of the first largest, or smallest, element along an axis.
pub fn argmax(call: &mut Call) -> Read {
    let dim = call.int("dim", None);
    let dim = dim.map_err(|_| Refusal::new("the place among all elements is not computed"))?;
    let is_smallest = call.operator_name() == "argmin";
    Ok(one(place(call, dim, is_smallest)?))
}

fn place(call: &mut Call, dim: i64, is_smallest: bool) -> Result<Value, Refusal> {
    let source = call.source("self")?;
    let axis = call.axis(&source, dim)?;
    let keep = call.flag("keepdim", false);
    let mut x = call.builder.value_of(&source)?;
    if call.builder.type_of(x).dtype != DType::F32 {
        return Err(Refusal::new("a place among integers is not computed"));
    }
    if is_smallest {
        x = call.push("neg", json!({}), &[x])?;
    }
    let mut sizes = call.sizes_of(x);
    let order: Vec<usize> = (0..sizes.len())
        .filter(|&k| k != axis)
        .chain([axis])
        .collect();
    let x = call.permute(x, &order)?;
    let y = call.push("argmax", json!({}), &[x])?;
    if !keep {
        return Ok(y);
    }
    sizes[axis] = 1.into();
    call.reshape(y, &sizes)
}

/// The largest or smallest elements: of all, of two tensors, or along an axis together with their places.
pub fn extreme(call: &mut Call) -> Read {
    let is_smallest = call.operator_name() == "min";
    let (pair, along) = if is_smallest {
        ("min", "amin")
    } else {
        ("max", "amax")
    };
    let x = call.value("self")?;
    if call.builder.type_of(x).dtype != DType::F32 {
        return Err(Refusal::new("extremes of integers are not computed"));
    }
    if call.argument("other").is_some() {
        let other = call.value("other")?;
        return Ok(one(call.push(pair, json!({}), &[x, other])?));
    }
    if call.argument("dim").is_none() {
        return Ok(one(call.push(along, json!({}), &[x])?));
    }
    let dim = call.int("dim", None)?;
    let attributes = json!({ "dim": [dim], "keepdim": call.flag("keepdim", false) });
    let is_read = |call: &Call, at: usize| {
        let name = call.node.results.get(at).and_then(Option::as_ref);
        name.is_some_and(|name| call.builder.is_read(name))
    };
    let mut results = vec![Source::Missing; 2];
    if is_read(call, 0) {
        results[0] = Source::Live(call.push(along, attributes, &[x])?);
    }
    if is_read(call, 1) {
        results[1] = Source::Live(place(call, dim, is_smallest)?);
    }
    Ok(results)
}

/// True where any element, or all of them, are not zero.
pub fn truth(call: &mut Call) -> Read {
    let name = if call.operator_name() == "any" {
        "amax"
    } else {
        "amin"
    };
    let mut x = call.value("self")?;
    let axes = axes(call, x)?;
    if call.builder.type_of(x).dtype != DType::Bool {
        x = call.push("ne", json!({ "scalar": 0.0 }), &[x])?;
    }
    let x = call.push("to", json!({ "dtype": "f32" }), &[x])?;
    let dims = json!({ "dim": axes, "keepdim": call.flag("keepdim", false) });
    let x = call.push(name, dims, &[x])?;
    Ok(one(call.push("gt", json!({ "scalar": 0.0 }), &[x])?))
}

/// The largest or smallest elements along an axis in order, and their places.
pub fn topk(call: &mut Call) -> Read {
    let x = call.value("self")?;
    let attributes = json!({
        "k": call.int("k", None)?, "dim": call.int("dim", Some(-1))?, "largest": call.flag("largest", true),
    });
    let y = call.push("topk", attributes, &[x])?;
    Ok(call.results(y))
}

/// The axes that a call reduces; none stand for all.
fn axes(call: &Call, x: Value) -> Result<Vec<usize>, Refusal> {
    let source = Source::Live(x);
    let dims = call.ints("dim", &[], 0)?;
    if dims.is_empty() {
        return Ok((0..call.sizes_of(x).len()).collect());
    }
    dims.iter().map(|&dim| call.axis(&source, dim)).collect()
}

/// The variance along axes, or its root.
pub fn variance(call: &mut Call) -> Read {
    let x = call.value("self")?;
    let axes = axes(call, x)?;
    let correction = match call.number("correction") {
        Some(correction) => correction,
        None => f64::from(u8::from(call.flag("unbiased", true))),
    };
    let sizes = call.sizes_of(x);
    let count = axes.iter().try_fold(1.0, |n, &axis| {
        (!sizes[axis].of_batch).then_some(n * sizes[axis].factor as f64)
    });
    let count = count.ok_or_else(|| Refusal::new("it is of the whole batch"))?;
    if count - correction <= 0.0 {
        let why = format!("a variance of {count} elements less {correction} is not computed");
        return Err(Refusal(why));
    }
    let keep = call.flag("keepdim", false);
    let mean = call.push("mean", json!({ "dim": axes, "keepdim": true }), &[x])?;
    let centred = call.push("sub", json!({}), &[x, mean])?;
    let square = call.push("mul", json!({}), &[centred, centred])?;
    let sum = call.push("sum", json!({ "dim": axes, "keepdim": keep }), &[square])?;
    let y = call.push("div", json!({ "scalar": count - correction }), &[sum])?;
    if call.operator_name() == "var" {
        return Ok(one(y));
    }
    Ok(one(call.push("sqrt", json!({}), &[y])?))
}

/// The sum of magnitudes, or the root of the sum of squares, along axes.
pub fn norm(call: &mut Call) -> Read {
    call.expect_float_result()?;
    let name = if call.argument("ord").is_some() {
        "ord"
    } else {
        "p"
    };
    let order = if call.argument(name).is_some() {
        call.number(name)
    } else {
        Some(2.0)
    };
    let x = call.value("self")?;
    let axes = axes(call, x)?;
    if call.operator_name() == "linalg_norm" && axes.len() != 1 {
        return Err(Refusal::new("norms of matrices are not computed"));
    }
    let dims = json!({ "dim": axes, "keepdim": call.flag("keepdim", false) });
    let y = match order {
        Some(1.0) => {
            let magnitude = call.push("abs", json!({}), &[x])?;
            call.push("sum", dims, &[magnitude])?
        }
        Some(2.0) => {
            let square = call.push("mul", json!({}), &[x, x])?;
            let sum = call.push("sum", dims, &[square])?;
            call.push("sqrt", json!({}), &[sum])?
        }
        _ => {
            return Err(Refusal::new(
                "norms but the first and the second are not computed",
            ));
        }
    };
    Ok(one(y))
}

/// The logarithm of a sum of exponentials, from which the largest is taken out.
pub fn log_sum_exp(call: &mut Call) -> Read {
    let x = call.value("self")?;
    let axes = axes(call, x)?;
    let keep = call.flag("keepdim", false);
    let largest = call.push("amax", json!({ "dim": axes, "keepdim": true }), &[x])?;
    let shifted = call.push("sub", json!({}), &[x, largest])?;
    let exponential = call.push("exp", json!({}), &[shifted])?;
    let dims = json!({ "dim": axes, "keepdim": keep });
    let total = call.push("sum", dims.clone(), &[exponential])?;
    let logarithm = call.push("log", json!({}), &[total])?;
    let largest = call.push("amax", dims, &[x])?;
    Ok(one(call.push("add", json!({}), &[logarithm, largest])?))
}

/// Softmax, or its logarithm, along an axis.
pub fn softmax(call: &mut Call) -> Read {
    let name = call.operator_name().trim_start_matches('_');
    call.expect_float_result()?;
    let x = call.value("self")?;
    let attributes = json!({ "dim": call.int("dim", None)? });
    Ok(one(call.push(name, attributes, &[x])?))
}

/// Running sums of a constant.
pub fn cumsum(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let axis = call.axis(&source, call.int("dim", None)?)?;
    let array = call.known("self");
    let array = array.ok_or_else(|| Refusal::new("running sums of inputs are not computed"))?;
    let dtype = match array.values {
        Values::Bool(_) => DType::I64,
        _ => array.values.dtype(),
    };
    let array = constant::cast(&array, call.dtype("dtype").unwrap_or(dtype))?;
    Ok(made(constant::cumulative_sum(&array, axis, false, false)?))
}

/// Differences of neighbours of a constant.
pub fn diff(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let axis = call.axis(&source, call.int("dim", Some(-1))?)?;
    let refuse = || Refusal::new("differences of inputs are not computed");
    if call.int("n", Some(1))? != 1 || call.argument("append").is_some() {
        return Err(refuse());
    }
    let mut array = call.known("self").ok_or_else(refuse)?;
    if call.argument("prepend").is_some() {
        let first = call.known("prepend").ok_or_else(refuse)?;
        array = constant::concat(&[first, array], axis)?;
    }
    let n = array.shape[axis].saturating_sub(1);
    let later = constant::slice(&array, axis, 1, 1, n)?;
    let earlier = constant::slice(&array, axis, 0, 1, n)?;
    Ok(made(constant::binary(
        constant::Binary::Sub,
        &later,
        &earlier,
    )?))
}
