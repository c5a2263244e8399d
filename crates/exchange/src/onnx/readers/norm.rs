//! Normalisations.

use super::activation::wide;
use super::shape::{permute_to, reshape_to};
use crate::constant::{self, Array, Refusal, Size, Values};
use crate::draft::Param;
use crate::onnx::call::{Call, Read, expect_dtype};
use ir::{DType, Value};
use serde_json::json;

/// By stored statistics, per channel.
pub fn batch(call: &mut Call) -> Read {
    expect_dtype(&call.ty(0)?, DType::F32)?;
    let eps = wide(call.attributes.float_or("epsilon", 1e-5)?);
    // The file keeps what stays of the old value, PyTorch what comes of the new one.
    let momentum = wide(call.attributes.float_or("momentum", 0.9)?);
    let momentum = ((1.0 - momentum) * 1e6).round() / 1e6;
    if call.attributes.flag_or("training_mode", false)? {
        return Err(Refusal::new("it normalises by the statistics of the batch"));
    }
    if !call.attributes.flag_or("spatial", true)? {
        return Err(Refusal::new("it normalises every element on its own"));
    }
    let ports = ["weight", "bias", "running_mean", "running_var"];
    let params = ports
        .iter()
        .enumerate()
        .map(|(k, port)| call.param(port, k + 1));
    let mut params: Vec<Param> = params.collect::<Result<_, _>>()?;
    // A graph rounds scale and shift, which are weight and bias where the statistics change nothing.
    let is_all = |param: &Param, value: f32| {
        let values = param.array.floats().unwrap_or_default();
        values.iter().all(|&own| own == value)
    };
    let is_plain = eps == 0.0 && is_all(&params[2], 0.0) && is_all(&params[3], 1.0);
    let n_kept = if is_plain { 2 } else { 0 };
    for param in &mut params[n_kept..] {
        if let Some(grid) = param.grid.take() {
            param.array = grid.round(&param.array)?;
        }
    }
    let dims = call.ty(0)?.shape.0;
    let channels = params[0].array.values.len();
    let attributes = json!({ "num_features": channels, "eps": eps, "momentum": momentum });
    let mut x = call.value(0)?;
    let op = match dims.len() {
        2 | 3 => "batch_norm1d",
        4 => "batch_norm2d",
        _ => {
            x = call.push("flatten", json!({ "start_dim": 2, "end_dim": -1 }), &[x])?;
            "batch_norm1d"
        }
    };
    let mut y = call.layer(op, attributes, &[x], params)?;
    if dims.len() > 4 {
        let sizes: Vec<Size> = dims.iter().map(Size::of).collect();
        y = reshape_to(call, y, &sizes)?;
    }
    call.result_like(y, 0)
}

/// Over the last axes, with stored or computed scale and shift.
pub fn layer(call: &mut Call) -> Read {
    let eps = wide(call.attributes.float_or("epsilon", 1e-5)?);
    call.attributes.int("stash_type")?;
    let axis = call.attributes.int_or("axis", -1)?;
    let axis = call.axis(0, axis)?;
    let shape = last_axes(call, axis)?;
    let x = call.value(0)?;
    let is_stored = call.known(1).is_some() && (!call.has(2) || call.known(2).is_some());
    if is_stored {
        let mut weight = call.param("weight", 1)?;
        weight.array = constant::expand(&weight.array, &shape)?;
        let mut bias = if call.has(2) {
            call.param("bias", 2)?
        } else {
            let array = Array::scalar(0.0);
            let path = String::new();
            Param {
                port: "bias",
                array,
                path,
                grid: None,
            }
        };
        bias.array = constant::expand(&bias.array, &shape)?;
        let attributes = json!({ "normalized_shape": shape, "eps": eps });
        let y = call.layer("layer_norm", attributes, &[x], vec![weight, bias])?;
        return call.result_like(y, 0);
    }
    let mut y = plain_layer(call, x, &shape, eps)?;
    let scale = call.value(1)?;
    y = call.push("mul", json!({}), &[y, scale])?;
    if call.has(2) {
        let shift = call.value(2)?;
        y = call.push("add", json!({}), &[y, shift])?;
    }
    call.result_like(y, 0)
}

fn plain_layer(call: &mut Call, x: Value, shape: &[usize], eps: f64) -> Result<Value, Refusal> {
    let attributes = json!({ "normalized_shape": shape, "eps": eps, "elementwise_affine": false });
    call.push("layer_norm", attributes, &[x])
}

/// The sizes of the axes from one on.
fn last_axes(call: &Call, axis: usize) -> Result<Vec<usize>, Refusal> {
    let dims = call.ty(0)?.shape.0;
    let dims = dims.get(axis..).unwrap_or_default();
    let sizes: Option<Vec<usize>> = dims.iter().map(ir::Dim::fixed).collect();
    sizes.ok_or_else(|| Refusal::new("it normalises over the batch"))
}

/// Each channel of each sample.
pub fn instance(call: &mut Call) -> Read {
    let eps = call.attributes.float_or("epsilon", 1e-5)?;
    let channels = last_axes(call, 1)?.first().copied();
    let channels = channels.ok_or_else(|| Refusal::new("it has no channels"))?;
    if let Some(params) = stored_affine(call, channels)? {
        let attributes = json!({ "num_features": channels, "eps": wide(eps), "affine": true });
        let x = call.value(0)?;
        let y = call.layer("instance_norm", attributes, &[x], params)?;
        return call.result_like(y, 0);
    }
    grouped(call, channels, eps)
}

/// Scale and shift of every channel as parameters, where both are stored.
fn stored_affine(call: &Call, channels: usize) -> Result<Option<Vec<Param>>, Refusal> {
    let is_list = |index: usize| {
        let array = call.known(index);
        array.is_some_and(|array| array.shape == [channels] && array.floats().is_some())
    };
    if !is_list(1) || !is_list(2) {
        return Ok(None);
    }
    Ok(Some(vec![call.param("weight", 1)?, call.param("bias", 2)?]))
}

/// Each group of channels of each sample.
pub fn group(call: &mut Call) -> Read {
    let eps = call.attributes.float_or("epsilon", 1e-5)?;
    call.attributes.int("stash_type")?;
    let groups = call.attributes.int_or("num_groups", 0)?;
    let groups = usize::try_from(groups).unwrap_or(0);
    let channels = last_axes(call, 1)?.first().copied().unwrap_or(0);
    if let Some(params) = stored_affine(call, channels)? {
        let attributes = json!({
            "num_groups": groups, "num_channels": channels, "eps": wide(eps), "affine": true,
        });
        let x = call.value(0)?;
        let y = call.layer("group_norm", attributes, &[x], params)?;
        return call.result_like(y, 0);
    }
    grouped(call, groups, eps)
}

/// A layer norm over the elements of a group, then scale and shift per channel.
fn grouped(call: &mut Call, groups: usize, eps: f32) -> Read {
    let dims = call.ty(0)?.shape.0;
    let sizes: Vec<Size> = dims.iter().map(Size::of).collect();
    let rest = last_axes(call, 1)?
        .into_iter()
        .try_fold(1_usize, usize::checked_mul)
        .ok_or_else(|| Refusal::new("a sample has more elements than memory could hold"))?;
    let channels = dims.get(1).and_then(ir::Dim::fixed).unwrap_or(0);
    if groups == 0 || channels == 0 || !channels.is_multiple_of(groups) {
        return Err(Refusal::new(format!(
            "{groups} groups do not divide {channels} channels"
        )));
    }
    let x = call.value(0)?;
    let split = [
        sizes[0],
        (groups as i64).into(),
        ((rest / groups) as i64).into(),
    ];
    let x = reshape_to(call, x, &split)?;
    let y = plain_layer(call, x, &[rest / groups], wide(eps))?;
    let mut y = reshape_to(call, y, &sizes)?;
    let mut by_channel = vec![Size::from(1); dims.len() - 1];
    by_channel[0] = Size::from(channels as i64);
    for (index, op) in [(1, "mul"), (2, "add")] {
        let factor = call.value(index)?;
        let factor = reshape_to(call, factor, &by_channel)?;
        y = call.push(op, json!({}), &[y, factor])?;
    }
    call.result_like(y, 0)
}

/// By the root of the mean square over the last axes.
pub fn rms(call: &mut Call) -> Read {
    let eps = wide(call.attributes.float_or("epsilon", 1e-5)?);
    call.attributes.int("stash_type")?;
    let axis = call.attributes.int_or("axis", -1)?;
    let axis = call.axis(0, axis)?;
    let axes: Vec<usize> = (axis..call.rank(0)?).collect();
    let x = call.value(0)?;
    if call.known(1).is_some_and(|scale| scale.floats().is_some()) {
        let shape = last_axes(call, axis)?;
        let mut weight = call.param("weight", 1)?;
        weight.array = constant::expand(&weight.array, &shape)?;
        let attributes = json!({ "normalized_shape": shape, "eps": eps });
        let y = call.layer("rms_norm", attributes, &[x], vec![weight])?;
        return call.result_like(y, 0);
    }
    let square = call.push("mul", json!({}), &[x, x])?;
    let mean = call.push("mean", json!({ "dim": axes, "keepdim": true }), &[square])?;
    let shifted = call.push("add", json!({ "scalar": eps }), &[mean])?;
    let root = call.push("sqrt", json!({}), &[shifted])?;
    let y = call.push("div", json!({}), &[x, root])?;
    let scale = call.value(1)?;
    let y = call.push("mul", json!({}), &[y, scale])?;
    call.result_like(y, 0)
}

/// By the sum of magnitudes or the root of the sum of squares along one axis.
pub fn lp(call: &mut Call) -> Read {
    let axis = call.attributes.int_or("axis", -1)?;
    let axis = call.axis(0, axis)?;
    let x = call.value(0)?;
    let keep = json!({ "dim": [axis], "keepdim": true });
    let norm = match call.attributes.int_or("p", 2)? {
        1 => {
            let magnitude = call.push("abs", json!({}), &[x])?;
            call.push("sum", keep, &[magnitude])?
        }
        2 => {
            let square = call.push("mul", json!({}), &[x, x])?;
            let sum = call.push("sum", keep, &[square])?;
            call.push("sqrt", json!({}), &[sum])?
        }
        p => return Err(Refusal::new(format!("p = {p} is not understood"))),
    };
    // A line of zeros stays zero instead of becoming 0/0.
    let zero = call.store(Array::scalar(0.0))?;
    let is_zero = call.push("eq", json!({ "scalar": 0.0 }), &[norm])?;
    let quotient = call.push("div", json!({}), &[x, norm])?;
    let y = call.push("where", json!({}), &[is_zero, zero, quotient])?;
    call.result_like(y, 0)
}

/// By mean and deviation over the given axes.
pub fn mean_variance(call: &mut Call) -> Read {
    let axes = call.attributes.ints("axes")?.unwrap_or(vec![0, 2, 3]);
    let keep = json!({ "dim": axes, "keepdim": true });
    let x = call.value(0)?;
    let mean = call.push("mean", keep.clone(), &[x])?;
    let centred = call.push("sub", json!({}), &[x, mean])?;
    let square = call.push("mul", json!({}), &[centred, centred])?;
    let variance = call.push("mean", keep, &[square])?;
    let deviation = call.push("sqrt", json!({}), &[variance])?;
    let tiny = Array::new(Vec::new(), Values::F32(vec![1e-9]));
    let tiny = call.store(tiny)?;
    let deviation = call.push("add", json!({}), &[deviation, tiny])?;
    let y = call.push("div", json!({}), &[centred, deviation])?;
    call.result_like(y, 0)
}

/// By the squares of neighbouring channels: a product with a band of ones sums them.
pub fn local_response(call: &mut Call) -> Read {
    expect_dtype(&call.ty(0)?, DType::F32)?;
    let size = call.attributes.int_or("size", 0)?;
    let alpha = wide(call.attributes.float_or("alpha", 1e-4)?);
    let beta = wide(call.attributes.float_or("beta", 0.75)?);
    let bias = wide(call.attributes.float_or("bias", 1.0)?);
    let channels = last_axes(call, 1)?.first().copied().unwrap_or(0);
    if !(1..=4096).contains(&size) || !(1..=4096).contains(&channels) {
        return Err(Refusal::new(
            "its window, or its channels, are not 1 to 4096",
        ));
    }
    let (before, after) = ((size - 1) / 2, size / 2);
    let ones = constant::filled(&[channels, channels], &Array::scalar(1.0))?;
    let band = constant::band(&constant::band(&ones, false, before)?, true, -after)?;
    let rank = call.rank(0)?;
    let last: Vec<usize> = [0].into_iter().chain(2..rank).chain([1]).collect();
    let first: Vec<usize> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
    let (x, band) = (call.value(0)?, call.store(band)?);
    let square = call.push("mul", json!({}), &[x, x])?;
    let square = permute_to(call, square, &last)?;
    let sum = call.push("matmul", json!({}), &[square, band])?;
    let sum = permute_to(call, sum, &first)?;
    let scaled = call.push("mul", json!({ "scalar": alpha / size as f64 }), &[sum])?;
    let shifted = call.push("add", json!({ "scalar": bias }), &[scaled])?;
    let power = call.push("pow", json!({ "scalar": beta }), &[shifted])?;
    let y = call.push("div", json!({}), &[x, power])?;
    call.result_like(y, 0)
}
