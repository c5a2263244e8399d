//! Reductions along axes, and softmax.

use crate::aten::call::{Call, Read, made, one};
use crate::constant::{self, Refusal, Values};
use ir::DType;
use serde_json::json;

/// Sums, means, extremes over axes.
pub fn reduce(call: &mut Call) -> Read {
    let name = call.operator_name();
    let x = call.value("self")?;
    if call.builder.type_of(x).dtype != DType::F32 {
        return Err(Refusal::new("reductions of integers are not computed"));
    }
    let dim = call.ints("dim", &[], 0)?;
    let attributes = json!({ "dim": dim, "keepdim": call.flag("keepdim", false) });
    Ok(one(call.push(name, attributes, &[x])?))
}

/// The place of the largest element along the last axis.
pub fn argmax(call: &mut Call) -> Read {
    let source = call.source("self")?;
    let last = call.ty(&source).shape.rank().saturating_sub(1);
    let dim = call.int("dim", None);
    let dim = dim.map_err(|_| Refusal::new("the largest element of all is not computed"))?;
    if call.axis(&source, dim)? != last || call.flag("keepdim", false) {
        return Err(Refusal::new(
            "it is computed along the last axis, which it drops",
        ));
    }
    let x = call.builder.value_of(&source)?;
    Ok(one(call.push("argmax", json!({}), &[x])?))
}

/// Softmax, or its logarithm, along an axis.
pub fn softmax(call: &mut Call) -> Read {
    let name = call.operator_name().trim_start_matches('_');
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
    let array = match array.values {
        Values::Bool(_) => constant::cast(&array, DType::I64)?,
        _ => array,
    };
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
