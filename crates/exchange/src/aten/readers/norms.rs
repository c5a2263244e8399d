//! Normalisations.

use crate::aten::call::{Call, Read};
use crate::constant::{self, Array, Refusal};
use crate::draft::Param;
use ir::Dim;
use serde_json::json;

/// A batch norm in evaluation.
pub fn batch_norm(call: &mut Call) -> Read {
    if call.flag("training", false) {
        let why = "its statistics are those of the batch; export the network after .eval()";
        return Err(Refusal::new(why));
    }
    let x = call.value("input")?;
    let mean = call.copied_param("running_mean", "running_mean")?;
    let variance = call.copied_param("running_var", "running_var")?;
    let channels = mean.array.values.len();
    let weight = filled_param(call, "weight", &[channels], 1.0)?;
    let bias = filled_param(call, "bias", &[channels], 0.0)?;
    let rank = call.builder.type_of(x).shape.rank();
    let name = if rank == 4 {
        "batch_norm2d"
    } else {
        "batch_norm1d"
    };
    let attributes = json!({
        "num_features": channels, "eps": call.number("eps").unwrap_or(1e-5),
        "momentum": call.number("momentum").unwrap_or(0.1),
    });
    let params = vec![weight, bias, mean, variance];
    let y = call.layer(name, attributes, &[x], params)?;
    call.first_alone(y)
}

/// A norm of each channel of each sample: by its own moments, or by running ones as a batch norm.
pub fn instance_norm(call: &mut Call) -> Read {
    if !call.flag("use_input_stats", true) {
        return batch_norm(call);
    }
    call.argument("running_mean");
    call.argument("running_var");
    call.number("momentum");
    let x = call.value("input")?;
    let channels = call.builder.type_of(x).shape.0.get(1).and_then(Dim::fixed);
    let channels = channels.ok_or_else(|| Refusal::new("its channels are not on axis 1"))?;
    let params = affine(call, &[channels])?;
    let attributes = json!({
        "num_features": channels, "eps": call.number("eps").unwrap_or(1e-5), "affine": !params.is_empty(),
    });
    let y = call.layer("instance_norm", attributes, &[x], params)?;
    call.first_alone(y)
}

/// A parameter that may be left out.
fn filled_param(
    call: &Call,
    port: &'static str,
    shape: &[usize],
    value: f32,
) -> Result<Param, Refusal> {
    if call.argument(port).is_some() {
        return call.copied_param(port, port);
    }
    Ok(Param {
        grid: None,
        port,
        array: constant::filled(shape, &Array::scalar(value))?,
        path: String::new(),
    })
}

/// Weight and bias, or nothing when both are left out.
fn affine(call: &Call, shape: &[usize]) -> Result<Vec<Param>, Refusal> {
    let is_given = |port: &str| call.argument(port).is_some();
    if !is_given("weight") && !is_given("bias") {
        return Ok(Vec::new());
    }
    let weight = filled_param(call, "weight", shape, 1.0)?;
    Ok(vec![weight, filled_param(call, "bias", shape, 0.0)?])
}

/// A norm over the last axes.
pub fn layer_norm(call: &mut Call) -> Read {
    let x = call.value("input")?;
    let shape = call.ints("normalized_shape", &[], 0)?;
    let sizes: Result<Vec<usize>, _> = shape.iter().map(|&size| usize::try_from(size)).collect();
    let sizes = sizes.map_err(|_| Refusal::new("its shape is not of sizes"))?;
    let is_rms = call.operator_name() == "rms_norm";
    let (name, default_eps, params) = if is_rms {
        let weight = call.argument("weight").is_some();
        let weight = weight.then(|| call.copied_param("weight", "weight"));
        let params = weight.transpose()?.into_iter().collect();
        ("rms_norm", f64::from(f32::EPSILON), params)
    } else {
        ("layer_norm", 1e-5, affine(call, &sizes)?)
    };
    let eps = call.number("eps").unwrap_or(default_eps);
    let attributes = json!({
        "normalized_shape": shape, "eps": eps, "elementwise_affine": !params.is_empty(),
    });
    let y = call.layer(name, attributes, &[x], params)?;
    call.first_alone(y)
}

/// A norm over groups of channels.
pub fn group_norm(call: &mut Call) -> Read {
    let x = call.value("input")?;
    let channels = call.builder.type_of(x).shape.0.get(1).and_then(Dim::fixed);
    let channels = channels.ok_or_else(|| Refusal::new("its channels are not on axis 1"))?;
    // The sizes of the decomposed form are those of the input.
    for name in ["N", "C", "HxW"] {
        call.argument(name);
    }
    let groups = if call.argument("group").is_some() {
        "group"
    } else {
        "num_groups"
    };
    let params = affine(call, &[channels])?;
    let attributes = json!({
        "num_groups": call.int(groups, None)?, "num_channels": channels,
        "eps": call.number("eps").unwrap_or(1e-5), "affine": !params.is_empty(),
    });
    let y = call.layer("group_norm", attributes, &[x], params)?;
    call.first_alone(y)
}
