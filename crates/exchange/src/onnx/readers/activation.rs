//! Functions of single elements, and softmax.

use crate::constant::{self, Array, Refusal, Unary};
use crate::onnx::call::{Call, Read, expect_dtype};
use crate::onnx::import::Source;
use ir::{DType, Value};
use serde_json::json;

/// Operators that have a counterpart without attributes, and the function that evaluates them.
const PLAIN: &[(&str, &str, Option<Unary>)] = &[
    ("Relu", "relu", None),
    ("Sigmoid", "sigmoid", Some(Unary::Sigmoid)),
    ("Tanh", "tanh", Some(Unary::Tanh)),
    ("Softsign", "softsign", None),
    ("HardSwish", "hardswish", None),
    ("Neg", "neg", Some(Unary::Neg)),
    ("Abs", "abs", Some(Unary::Abs)),
    ("Sqrt", "sqrt", Some(Unary::Sqrt)),
    ("Reciprocal", "reciprocal", Some(Unary::Reciprocal)),
    ("Exp", "exp", Some(Unary::Exp)),
    ("Log", "log", Some(Unary::Log)),
    ("Erf", "erf", None),
    ("Sin", "sin", Some(Unary::Sin)),
    ("Cos", "cos", Some(Unary::Cos)),
    ("Floor", "floor", Some(Unary::Floor)),
    ("Ceil", "ceil", Some(Unary::Ceil)),
    ("Round", "round", Some(Unary::Round)),
    ("Sign", "sign", Some(Unary::Sign)),
    ("Not", "not", Some(Unary::Not)),
];

fn row(call: &Call) -> Result<&'static (&'static str, &'static str, Option<Unary>), Refusal> {
    let found = PLAIN.iter().find(|row| row.0 == call.node.op_type());
    found.ok_or_else(|| Refusal::new("no such function is known"))
}

/// An operator with a counterpart of its own.
pub fn plain(call: &mut Call) -> Read {
    let (_, name, _) = row(call)?;
    call.refuse_narrow(0)?;
    call.unary(name, json!({}))
}

/// The evaluation of a known tensor.
pub fn fold(call: &Call) -> Result<Vec<Array>, Refusal> {
    let function = row(call)?
        .2
        .ok_or_else(|| Refusal::new("the function is not evaluated"))?;
    call.refuse_narrow(0)?;
    Ok(vec![constant::unary(function, call.constant(0)?)?])
}

/// The value itself.
pub fn identity(call: &mut Call) -> Read {
    let source = call.source(0)?.clone();
    Ok(vec![source])
}

/// The known tensor itself.
pub fn same(call: &Call) -> Result<Vec<Array>, Refusal> {
    Ok(vec![call.constant(0)?.clone()])
}

pub fn softplus(call: &mut Call) -> Read {
    call.unary("softplus", json!({}))
}

pub fn hard_sigmoid(call: &mut Call) -> Read {
    let alpha = call.attributes.float_or("alpha", 0.2)?;
    let beta = call.attributes.float_or("beta", 0.5)?;
    if alpha == 1.0 / 6.0 && beta == 0.5 {
        return call.unary("hardsigmoid", json!({}));
    }
    call.unary(
        "hardsigmoid",
        json!({ "alpha": wide(alpha), "beta": wide(beta) }),
    )
}

pub fn elu(call: &mut Call) -> Read {
    let alpha = call.attributes.float_or("alpha", 1.0)?;
    call.unary("elu", json!({ "alpha": wide(alpha) }))
}

/// `max(x, 0) + min(alpha·(exp(x/alpha) − 1), 0)`: an exponential unit of x/alpha, times alpha.
pub fn celu(call: &mut Call) -> Read {
    let alpha = call.attributes.float_or("alpha", 1.0)?;
    let x = call.value(0)?;
    let scaled = call.push("div", json!({ "scalar": wide(alpha) }), &[x])?;
    let y = call.push("elu", json!({ "alpha": 1.0 }), &[scaled])?;
    let y = call.push("mul", json!({ "scalar": wide(alpha) }), &[y])?;
    call.result_like(y, 0)
}

/// The constants that keep mean and variance, or others by an exponential unit.
pub fn selu(call: &mut Call) -> Read {
    const ALPHA: f32 = 1.673_263_2;
    const GAMMA: f32 = 1.050_701;
    let alpha = call.attributes.float_or("alpha", ALPHA)?;
    let gamma = call.attributes.float_or("gamma", GAMMA)?;
    if alpha == ALPHA && gamma == GAMMA {
        return call.unary("selu", json!({}));
    }
    let x = call.value(0)?;
    let y = call.push("elu", json!({ "alpha": wide(alpha) }), &[x])?;
    let y = call.push("mul", json!({ "scalar": wide(gamma) }), &[y])?;
    call.result_like(y, 0)
}

pub fn leaky_relu(call: &mut Call) -> Read {
    let slope = call.attributes.float_or("alpha", 0.01)?;
    call.unary("leaky_relu", json!({ "negative_slope": wide(slope) }))
}

/// One slope, or one for each channel; other slopes by the choice `x > 0`.
pub fn prelu(call: &mut Call) -> Read {
    let x = call.value(0)?;
    let channels = call.ty(0)?.shape.0.get(1).and_then(ir::Dim::fixed);
    if let Some(slope) = call.known(1) {
        let n = slope.values.len();
        let by_channel = slope.shape.len() + 1 == call.rank(0)? && slope.shape.first() == Some(&n);
        if n == 1 || by_channel && channels == Some(n) {
            let mut weight = call.param("weight", 1)?;
            weight.array = weight.array.reshaped(vec![n])?;
            let y = call.layer("prelu", json!({ "num_parameters": n }), &[x], vec![weight])?;
            return call.result_like(y, 0);
        }
    }
    let slope = call.value(1)?;
    let below = call.push("mul", json!({}), &[x, slope])?;
    let is_above = call.push("gt", json!({ "scalar": 0.0 }), &[x])?;
    let y = call.push("where", json!({}), &[is_above, x, below])?;
    call.result_like(y, 0)
}

pub fn gelu(call: &mut Call) -> Read {
    let form = call.attributes.text_or("approximate", "none")?;
    call.unary("gelu", json!({ "approximate": form }))
}

/// `x·tanh(softplus(x))`.
pub fn mish(call: &mut Call) -> Read {
    let x = call.value(0)?;
    let y = call.push("softplus", json!({}), &[x])?;
    let y = call.push("tanh", json!({}), &[y])?;
    let y = call.push("mul", json!({}), &[x, y])?;
    call.result_like(y, 0)
}

/// `x·sigmoid(alpha·x)`.
pub fn swish(call: &mut Call) -> Read {
    let alpha = call.attributes.float_or("alpha", 1.0)?;
    if alpha == 1.0 {
        return call.unary("silu", json!({}));
    }
    let x = call.value(0)?;
    let y = call.push("mul", json!({ "scalar": wide(alpha) }), &[x])?;
    let y = call.push("sigmoid", json!({}), &[y])?;
    let y = call.push("mul", json!({}), &[x, y])?;
    call.result_like(y, 0)
}

/// x above the threshold, else 0.
pub fn thresholded_relu(call: &mut Call) -> Read {
    let alpha = call.attributes.float_or("alpha", 1.0)?;
    let x = call.value(0)?;
    let is_above = call.push("gt", json!({ "scalar": wide(alpha) }), &[x])?;
    let zero = call.store(Array::scalar(0.0))?;
    let y = call.push("where", json!({}), &[is_above, x, zero])?;
    call.result_like(y, 0)
}

/// x pulled towards zero by the bias beyond ±lambd, else 0.
pub fn shrink(call: &mut Call) -> Read {
    let lambd = call.attributes.float_or("lambd", 0.5)?;
    let bias = call.attributes.float_or("bias", 0.0)?;
    expect_dtype(&call.ty(0)?, DType::F32)?;
    let x = call.value(0)?;
    let zero = call.store(Array::scalar(0.0))?;
    let mut y = zero;
    for (name, limit, shift) in [("gt", lambd, "sub"), ("lt", -lambd, "add")] {
        let beyond = call.push(name, json!({ "scalar": wide(limit) }), &[x])?;
        let shifted = call.push(shift, json!({ "scalar": wide(bias) }), &[x])?;
        y = call.push("where", json!({}), &[beyond, shifted, y])?;
    }
    call.result_like(y, 0)
}

/// Bounds as attributes in old versions, as inputs in later ones.
pub fn clip(call: &mut Call) -> Read {
    if matches!(call.source(0)?, Source::Codes { .. }) {
        return super::quantize::clip_codes(call);
    }
    call.refuse_narrow(0)?;
    let bound = |call: &mut Call, name: &str, index: usize| -> Result<Option<f64>, Refusal> {
        match call.attributes.float(name)? {
            Some(bound) => Ok(Some(wide(bound))),
            None if call.has(index) => call.number(index).map(Some),
            None => Ok(None),
        }
    };
    let mut y = call.value(0)?;
    let (computed, is_float) = (
        call.has(1) && call.known(1).is_none() || call.has(2) && call.known(2).is_none(),
        call.ty(0)?.dtype == DType::F32,
    );
    if !computed {
        let (low, high) = (bound(call, "min", 1)?, bound(call, "max", 2)?);
        let unbounded = |bound: f64| bound.abs() >= f64::from(f32::MAX);
        let low = low.filter(|&low| !unbounded(low));
        let high = high.filter(|&high| !unbounded(high));
        match (low, high) {
            (Some(0.0), None) if is_float => return call.unary("relu", json!({})),
            (Some(0.0), Some(6.0)) if is_float => return call.unary("relu6", json!({})),
            (Some(low), Some(high)) if is_float && low < high => {
                return call.unary("hardtanh", json!({ "min_val": low, "max_val": high }));
            }
            _ => {}
        }
        for (name, bound) in [("max", low), ("min", high)] {
            if let Some(bound) = bound {
                y = call.push(name, json!({ "scalar": bound }), &[y])?;
            }
        }
        return call.result_like(y, 0);
    }
    for (name, index) in [("max", 1), ("min", 2)] {
        if call.has(index) {
            let bound = call.value(index)?;
            y = call.push(name, json!({}), &[y, bound])?;
        }
    }
    call.result_like(y, 0)
}

/// Along one axis from version 13 on; before, along all axes from the given one on.
pub fn softmax(call: &mut Call) -> Read {
    let op = if call.node.op_type() == "Softmax" {
        "softmax"
    } else {
        "log_softmax"
    };
    if call.version >= 13 {
        let axis = call.attributes.int_or("axis", -1)?;
        return call.unary(op, json!({ "dim": axis }));
    }
    let axis = call.attributes.int_or("axis", 1)?;
    let (axis, rank) = (call.axis(0, axis)?, call.rank(0)?);
    let shape = call.ty(0)?.shape;
    let all_ones = shape.0[axis..]
        .iter()
        .filter(|dim| dim.fixed() != Some(1))
        .count()
        <= 1;
    let last = (axis..rank)
        .find(|&k| shape.0[k].fixed() != Some(1))
        .unwrap_or(axis);
    if all_ones {
        return call.unary(op, json!({ "dim": last }));
    }
    let x = call.value(0)?;
    let flat = call.push("flatten", json!({ "start_dim": axis, "end_dim": -1 }), &[x])?;
    let y = call.push(op, json!({ "dim": -1 }), &[flat])?;
    let sizes: Vec<_> = shape.0.iter().map(constant::Size::of).collect();
    let sizes = crate::draft::axis_sizes(&sizes)?;
    let y = call.push("reshape", json!({ "shape": sizes }), &[y])?;
    call.result_like(y, 0)
}

/// 1 at the first largest element along the axis, else 0.
pub fn hardmax(call: &mut Call) -> Read {
    let axis = call.attributes.int_or("axis", -1)?;
    let axis = call.axis(0, axis)?;
    let size = call.ty(0)?.shape.0[axis].fixed();
    let size = size.ok_or_else(|| Refusal::new("its axis is the batch"))?;
    let x = call.value(0)?;
    let place = super::reduce::first_place(call, x, axis, false, true)?;
    let mut shape = vec![1; call.rank(0)?];
    shape[axis] = size;
    let places = Array::new(shape, constant::Values::I64((0..size as i64).collect()));
    let places = call.store(places)?;
    let y = call.push("eq", json!({}), &[places, place])?;
    let y = call.push("to", json!({ "dtype": "f32" }), &[y])?;
    call.result_like(y, 0)
}

/// In evaluation nothing happens; the probability is kept for training.
pub fn dropout(call: &mut Call) -> Read {
    call.attributes.int("seed")?;
    let trains = call
        .known(2)
        .and_then(Array::number)
        .is_some_and(|flag| flag != 0.0);
    if trains || call.has(2) && call.known(2).is_none() {
        return Err(Refusal::new("it drops elements in evaluation too"));
    }
    let ratio = match call.attributes.float("ratio")? {
        Some(ratio) => wide(ratio),
        None if call.has(1) => call.number(1)?,
        None => 0.5,
    };
    if call.ty(0)?.dtype != DType::F32 {
        return identity(call);
    }
    call.unary("dropout", json!({ "p": ratio }))
}

/// sin x/cos x.
pub fn tan(call: &mut Call) -> Read {
    let x = call.value(0)?;
    let sin = call.push("sin", json!({}), &[x])?;
    let cos = call.push("cos", json!({}), &[x])?;
    let y = call.push("div", json!({}), &[sin, cos])?;
    call.result_like(y, 0)
}

pub fn sinh(call: &mut Call) -> Read {
    let (up, down) = exponentials(call)?;
    half(call, "sub", up, down)
}

pub fn cosh(call: &mut Call) -> Read {
    let (up, down) = exponentials(call)?;
    half(call, "add", up, down)
}

/// eˣ and e⁻ˣ.
fn exponentials(call: &mut Call) -> Result<(Value, Value), Refusal> {
    let x = call.value(0)?;
    let up = call.push("exp", json!({}), &[x])?;
    let minus = call.push("neg", json!({}), &[x])?;
    let down = call.push("exp", json!({}), &[minus])?;
    Ok((up, down))
}

fn half(call: &mut Call, op: &str, a: Value, b: Value) -> Read {
    let y = call.push(op, json!({}), &[a, b])?;
    let y = call.push("mul", json!({ "scalar": 0.5 }), &[y])?;
    call.result_like(y, 0)
}

/// A float of a file as the shortest number that reads back as it, which is how people wrote it.
pub fn wide(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}
