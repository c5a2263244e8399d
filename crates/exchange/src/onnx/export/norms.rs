//! Normalisations.

use super::site::{Site, float, int};
use super::writers::Written;
use crate::constant::{Refusal, element_count};
use interop::onnx::{Element, Values};
use ir::{Node, Tensor};

/// A stored list of one number.
fn filled(site: &mut Site, what: &str, shape: &[i64], value: f32) -> Result<String, Refusal> {
    let sizes: Vec<usize> = shape.iter().map(|&size| size as usize).collect();
    let values = Values::Floats(vec![value; element_count(&sizes)?]);
    let stem = format!("{}/{what}", site.node.name);
    Ok(site.exporter.store(&stem, sizes, Element::F32, values))
}

/// The parameter of a port, or one number for every element where the layer has none.
fn param_or(site: &mut Site, port: &str, shape: &[i64], value: f32) -> Result<String, Refusal> {
    match site.param(port)? {
        Some(name) => Ok(name),
        None => filled(site, port, shape, value),
    }
}

/// Added to a variance, or to a mean of squares.
fn epsilon(site: &Site) -> f64 {
    site.number("eps").unwrap_or(1e-5)
}

/// The parameters of a batch norm.
pub const NORM_PORTS: [&str; 4] = ["weight", "bias", "running_mean", "running_var"];

/// True for a batch norm with a format on its weight or its bias, which then round scale and shift.
pub fn rounds_scale(node: &Node) -> bool {
    let is_rounded = |port: &str| node.formats.contains_key(port);
    ir::norm_eps(&node.op).is_some() && (is_rounded("weight") || is_rounded("bias"))
}

/// By stored statistics, per channel.
pub fn batch_norm(site: &mut Site) -> Written {
    let x = site.x();
    let scaled = rounds_scale(site.node).then(|| with_rounded_scale(site.node));
    let scaled = scaled.transpose()?;
    let eps = if scaled.is_some() { 0.0 } else { epsilon(site) };
    let params = NORM_PORTS.map(|port| match &scaled {
        Some(node) => site.exporter.param(node, port),
        None => site.own_param(port),
    });
    let [weight, bias, mean, variance] = params;
    let (weight, bias, mean, variance) = (weight?, bias?, mean?, variance?);
    let momentum = 1.0 - site.number("momentum").unwrap_or(0.1);
    let attributes = vec![float("epsilon", eps), float("momentum", momentum)];
    let inputs = [x.as_str(), &weight, &bias, &mean, &variance];
    Ok(vec![site.emit("BatchNormalization", &inputs, attributes)])
}

/// The batch norm with its rounded scale and shift as weight and bias, and statistics that change nothing: ONNX rounds weight and
/// bias, a graph what they come to with the statistics.
fn with_rounded_scale(node: &Node) -> Result<Node, Refusal> {
    let values = |port: &str| {
        let tensor = node.params.get(port).map(Tensor::values);
        tensor.ok_or_else(|| Refusal::new(format!("{port} has no value; load a checkpoint")))
    };
    let [gamma, beta, mean, variance] = NORM_PORTS.map(values);
    let (gamma, beta, mean, variance) = (gamma?, beta?, mean?, variance?);
    let eps = ir::norm_eps(&node.op).unwrap_or_default();
    // In double precision, and in the order in which the engine computes it.
    let scale = |c: usize| {
        let inverse = 1.0 / (f64::from(variance[c]) + eps).sqrt();
        f64::from(gamma[c]) * inverse
    };
    let shift = |c: usize| f64::from(beta[c]) - f64::from(mean[c]) * scale(c);
    let rounded = |port: &str, value: &dyn Fn(usize) -> f64| {
        let shape = vec![gamma.len()];
        let floats: Vec<f32> = (0..gamma.len()).map(|c| value(c) as f32).collect();
        let mut rounded = floats.clone();
        if let Some(format) = node.formats.get(port)
            && !format.round_doubles(value, &shape, &mut rounded)
        {
            format.quantize(&floats, &shape, &mut rounded);
        }
        Tensor::new(shape, rounded).ok_or_else(|| Refusal::new("its parameters have no elements"))
    };
    let constant = |value: f32| Tensor::new(vec![gamma.len()], vec![value; gamma.len()]);
    let missing = || Refusal::new("its statistics have no elements");
    let mut scaled = node.clone();
    let params = [
        rounded("weight", &scale)?,
        rounded("bias", &shift)?,
        constant(0.0).ok_or_else(missing)?,
        constant(1.0).ok_or_else(missing)?,
    ];
    for (port, tensor) in NORM_PORTS.into_iter().zip(params) {
        scaled.params.insert(port.to_owned(), tensor);
    }
    Ok(scaled)
}

/// Over the last axes.
pub fn layer_norm(site: &mut Site) -> Written {
    let shape = site.ints("normalized_shape", 1, 1);
    let x = site.x();
    let weight = param_or(site, "weight", &shape, 1.0)?;
    let bias = site.param("bias")?;
    let inputs: Vec<&str> = [x.as_str(), &weight]
        .into_iter()
        .chain(bias.as_deref())
        .collect();
    let attributes = vec![
        int("axis", -(shape.len() as i64)),
        float("epsilon", epsilon(site)),
    ];
    Ok(vec![site.emit("LayerNormalization", &inputs, attributes)])
}

/// An operator of its own from version 23 on; before, by its formula.
pub fn rms_norm(site: &mut Site) -> Written {
    let shape = site.ints("normalized_shape", 1, 1);
    let (x, n_axes, eps) = (site.x(), shape.len() as i64, epsilon(site));
    if site.exporter.options.opset >= 23 {
        let weight = param_or(site, "weight", &shape, 1.0)?;
        let attributes = vec![int("axis", -n_axes), float("epsilon", eps)];
        return Ok(vec![site.emit(
            "RMSNormalization",
            &[&x, &weight],
            attributes,
        )]);
    }
    let square = site.emit("Mul", &[&x, &x], Vec::new());
    let axes = site.store_ints("axes", (-n_axes..0).collect());
    let mean = site.emit("ReduceMean", &[&square, &axes], vec![int("keepdims", 1)]);
    let eps = site.store_number("eps", eps);
    let shifted = site.emit("Add", &[&mean, &eps], Vec::new());
    let root = site.emit("Sqrt", &[&shifted], Vec::new());
    let y = site.emit("Div", &[&x, &root], Vec::new());
    Ok(vec![match site.param("weight")? {
        Some(weight) => site.emit("Mul", &[&y, &weight], Vec::new()),
        None => y,
    }])
}

/// An operator with a scale for each channel from version 21 on; before, each group as a channel, and then a line for each channel.
pub fn group_norm(site: &mut Site) -> Written {
    let (groups, channels) = (site.int("num_groups", 1), site.int("num_channels", 1));
    let x = site.x();
    let eps = float("epsilon", epsilon(site));
    if site.exporter.options.opset >= 21 {
        let weight = param_or(site, "weight", &[channels], 1.0)?;
        let bias = param_or(site, "bias", &[channels], 0.0)?;
        let attributes = vec![int("num_groups", groups), eps];
        let inputs = [x.as_str(), &weight, &bias];
        return Ok(vec![site.emit("GroupNormalization", &inputs, attributes)]);
    }
    // 0 keeps the size of the batch.
    let grouped = site.store_ints("grouped", vec![0, groups, -1]);
    let y = site.emit("Reshape", &[&x, &grouped], Vec::new());
    let one = filled(site, "ones", &[groups], 1.0)?;
    let zero = filled(site, "zeros", &[groups], 0.0)?;
    let y = site.emit("InstanceNormalization", &[&y, &one, &zero], vec![eps]);
    let dims = site.result_type().shape.0;
    let shape = site.store_shape(&dims);
    let mut y = site.emit("Reshape", &[&y, &shape], Vec::new());
    let mut column = vec![1; dims.len().saturating_sub(1)];
    column[0] = channels;
    for (port, op) in [("weight", "Mul"), ("bias", "Add")] {
        if let Some(param) = site.param(port)? {
            let shape = site.store_ints("channels", column.clone());
            let param = site.emit("Reshape", &[&param, &shape], Vec::new());
            y = site.emit(op, &[&y, &param], Vec::new());
        }
    }
    Ok(vec![y])
}

/// Each channel of each sample; a value without axes of space gets one.
pub fn instance_norm(site: &mut Site) -> Written {
    let channels = site.int("num_features", 1);
    let mut x = site.x();
    let weight = param_or(site, "weight", &[channels], 1.0)?;
    let bias = param_or(site, "bias", &[channels], 0.0)?;
    let is_flat = site.input_type(0).shape.rank() == 2;
    if is_flat {
        let axis = site.store_ints("axis", vec![2]);
        x = site.emit("Unsqueeze", &[&x, &axis], Vec::new());
    }
    let eps = float("epsilon", epsilon(site));
    let mut y = site.emit("InstanceNormalization", &[&x, &weight, &bias], vec![eps]);
    if is_flat {
        let axis = site.store_ints("axis", vec![2]);
        y = site.emit("Squeeze", &[&y, &axis], Vec::new());
    }
    Ok(vec![y])
}
