//! Layers with weights, attention and pools.
#![expect(
    clippy::unnecessary_wraps,
    reason = "every writer has the signature of the table"
)]

use super::site::{Site, float, int, ints, text};
use super::writers::Written;
use super::{QONNX_DOMAIN, Style};
use crate::constant::{Refusal, element_count};
use interop::onnx::{Element, Values};
use ir::{DType, Dim};

/// A product of two axes as `Gemm`; of more as a product with the transposed weight.
pub fn linear(site: &mut Site) -> Written {
    let (x, weight, bias) = (site.x(), site.own_param("weight")?, site.param("bias")?);
    if site.input_type(0).shape.rank() == 2 {
        let inputs: Vec<&str> = [x.as_str(), &weight]
            .into_iter()
            .chain(bias.as_deref())
            .collect();
        return Ok(vec![site.emit("Gemm", &inputs, vec![int("transB", 1)])]);
    }
    let turned = site.emit("Transpose", &[&weight], vec![ints("perm", vec![1, 0])]);
    let y = site.emit("MatMul", &[&x, &turned], Vec::new());
    Ok(vec![match bias {
        Some(bias) => site.emit("Add", &[&y, &bias], Vec::new()),
        None => y,
    }])
}

/// The sizes of a window and its motion.
fn window(site: &Site, n_axes: usize) -> (Vec<i64>, Vec<i64>, Vec<i64>, Vec<i64>) {
    let kernel = site.ints("kernel_size", n_axes, 1);
    let stride = site.ints("stride", n_axes, 1);
    let padding = site.ints("padding", n_axes, 0);
    let dilation = site.ints("dilation", n_axes, 1);
    (
        kernel,
        stride,
        [padding.clone(), padding].concat(),
        dilation,
    )
}

/// The axes behind the channels.
fn n_axes(site: &Site) -> usize {
    site.input_type(0).shape.rank().saturating_sub(2)
}

pub fn conv(site: &mut Site) -> Written {
    let (kernel, stride, pads, dilation) = window(site, n_axes(site));
    let (x, weight, bias) = (site.x(), site.own_param("weight")?, site.param("bias")?);
    let inputs: Vec<&str> = [x.as_str(), &weight]
        .into_iter()
        .chain(bias.as_deref())
        .collect();
    let attributes = vec![
        ints("kernel_shape", kernel),
        ints("strides", stride),
        ints("pads", pads),
        ints("dilations", dilation),
        int("group", site.int("groups", 1)),
    ];
    Ok(vec![site.emit("Conv", &inputs, attributes)])
}

pub fn conv_transpose(site: &mut Site) -> Written {
    let n_axes = n_axes(site);
    let (kernel, stride, pads, dilation) = window(site, n_axes);
    let (x, weight, bias) = (site.x(), site.own_param("weight")?, site.param("bias")?);
    let inputs: Vec<&str> = [x.as_str(), &weight]
        .into_iter()
        .chain(bias.as_deref())
        .collect();
    let attributes = vec![
        ints("kernel_shape", kernel),
        ints("strides", stride),
        ints("pads", pads),
        ints("dilations", dilation),
        ints("output_padding", site.ints("output_padding", n_axes, 0)),
        int("group", site.int("groups", 1)),
    ];
    Ok(vec![site.emit("ConvTranspose", &inputs, attributes)])
}

pub fn embedding(site: &mut Site) -> Written {
    let (x, weight) = (site.x(), site.own_param("weight")?);
    Ok(vec![site.emit(
        "Gather",
        &[&weight, &x],
        vec![int("axis", 0)],
    )])
}

/// A slope for each channel stands on the axis of the channels.
pub fn prelu(site: &mut Site) -> Written {
    let (x, slope) = (site.x(), site.own_param("weight")?);
    let n = site.int("num_parameters", 1);
    let rank = site.input_type(0).shape.rank();
    let mut shape = vec![1; rank.saturating_sub(1).max(1)];
    shape[0] = n;
    let shape = site.store_ints("slope_shape", shape);
    let slope = site.emit("Reshape", &[&slope, &shape], Vec::new());
    Ok(vec![site.emit("PRelu", &[&x, &slope], Vec::new())])
}

/// QONNX's operator, or comparisons with every threshold on an axis of their own, counted.
pub fn thresholds(site: &mut Site) -> Written {
    let (x, thresholds) = (site.x(), site.own_param("thresholds")?);
    let (channels, steps) = (site.int("channels", 1), site.int("steps", 1));
    let (scale, offset) = (
        site.number("scale").unwrap_or(1.0),
        site.number("offset").unwrap_or(0.0),
    );
    let rank = site.input_type(0).shape.rank();
    if site.exporter.options.style == Style::Qonnx {
        let layout = format!("NC{}", "X".repeat(rank.saturating_sub(2)));
        let attributes = vec![
            float("out_scale", scale),
            float("out_bias", offset),
            text("out_dtype", "FLOAT32"),
            text("data_layout", &layout),
        ];
        let inputs = [x.as_str(), &thresholds];
        return Ok(site.emit_in(QONNX_DOMAIN, "MultiThreshold", &inputs, attributes, 1));
    }
    let mut shape = vec![1; rank.max(2)];
    (shape[0], shape[rank.max(2) - 1]) = (channels, steps);
    let shape = site.store_ints("shape", shape);
    let lists = site.emit("Reshape", &[&thresholds, &shape], Vec::new());
    let axis = site.store_ints("axis", vec![-1]);
    let column = site.emit("Unsqueeze", &[&x, &axis], Vec::new());
    let reached = site.emit("GreaterOrEqual", &[&column, &lists], Vec::new());
    let to = int("to", i64::from(Element::F32.code()));
    let reached = site.emit("Cast", &[&reached], vec![to]);
    let count = site.emit("ReduceSum", &[&reached, &axis], vec![int("keepdims", 0)]);
    let (scale, offset) = (
        site.store_number("scale", scale),
        site.store_number("offset", offset),
    );
    let y = site.emit("Mul", &[&count, &scale], Vec::new());
    Ok(vec![site.emit("Add", &[&y, &offset], Vec::new())])
}

/// `softmax(q·kᵀ·scale + mask)·v`, written out.
pub fn attention(site: &mut Site) -> Written {
    if site.flag("enable_gqa", false) {
        return Err(Refusal::new("grouped heads are not written"));
    }
    let [q, k, v] = [0, 1, 2].map(|index| site.inputs[index].clone());
    let (q_dims, k_dims) = (site.input_type(0).shape.0, site.input_type(1).shape.0);
    let rank = q_dims.len();
    let depth = q_dims[rank - 1].factor as f64;
    let mut order: Vec<i64> = (0..rank as i64).collect();
    order.swap(rank - 1, rank - 2);
    let turned = site.emit("Transpose", &[&k], vec![ints("perm", order)]);
    let scores = site.emit("MatMul", &[&q, &turned], Vec::new());
    let scale = site.number("scale").unwrap_or(1.0 / depth.sqrt());
    let scale = site.store_number("scale", scale);
    let mut scores = site.emit("Mul", &[&scores, &scale], Vec::new());
    if site.flag("is_causal", false) {
        let mask = causal_mask(site, &q_dims[rank - 2], &k_dims[rank - 2])?;
        scores = site.emit("Add", &[&scores, &mask], Vec::new());
    }
    if let Some(mask) = site.inputs.get(3).cloned() {
        scores = match site.input_type(3).dtype {
            DType::Bool => {
                let low = site.store_number("masked", f64::from(f32::NEG_INFINITY));
                site.emit("Where", &[&mask, &scores, &low], Vec::new())
            }
            _ => site.emit("Add", &[&scores, &mask], Vec::new()),
        };
    }
    let weights = site.emit("Softmax", &[&scores], vec![int("axis", -1)]);
    Ok(vec![site.emit("MatMul", &[&weights, &v], Vec::new())])
}

/// The lowest float above the diagonal: a sum with it has no weight in a softmax, and files with infinities are refused by some.
fn causal_mask(site: &mut Site, steps: &Dim, positions: &Dim) -> Result<String, Refusal> {
    let (Some(rows), Some(columns)) = (steps.fixed(), positions.fixed()) else {
        return Err(Refusal::new("the size of its causal mask is not fixed"));
    };
    let n = element_count(&[rows, columns])?;
    let value = |at: usize| {
        if at % columns > at / columns {
            f32::MIN
        } else {
            0.0
        }
    };
    let mask = (0..n).map(value).collect();
    let stem = format!("{}/causal_mask", site.node.name);
    Ok(site.exporter.store(
        &stem,
        vec![rows, columns],
        Element::F32,
        Values::Floats(mask),
    ))
}

pub fn pool(site: &mut Site) -> Written {
    let (kernel, stride, pads, dilation) = window(site, n_axes(site));
    let x = site.x();
    let mut attributes = vec![
        ints("kernel_shape", kernel),
        ints("strides", stride),
        ints("pads", pads),
    ];
    let rounds_up = site.flag("ceil_mode", false);
    if rounds_up {
        attributes.push(int("ceil_mode", 1));
    }
    let op = if site.node.op.name().starts_with("max") {
        attributes.push(ints("dilations", dilation));
        "MaxPool"
    } else {
        attributes.push(int(
            "count_include_pad",
            i64::from(site.flag("count_include_pad", true)),
        ));
        "AveragePool"
    };
    Ok(vec![site.emit(op, &[&x], attributes)])
}

/// One window over everything, or windows of one size.
pub fn adaptive_pool(site: &mut Site) -> Written {
    let n_axes = n_axes(site);
    let wanted = site.ints("output_size", n_axes, 1);
    let is_average = site.node.op.name().contains("avg");
    let x = site.x();
    if wanted.iter().all(|&size| size == 1) {
        let op = if is_average {
            "GlobalAveragePool"
        } else {
            "GlobalMaxPool"
        };
        return Ok(vec![site.emit(op, &[&x], Vec::new())]);
    }
    let sizes: Vec<i64> = site.input_type(0).shape.0[2..]
        .iter()
        .map(|dim| dim.factor as i64)
        .collect();
    let divides = sizes
        .iter()
        .zip(&wanted)
        .all(|(size, wanted)| size % wanted == 0);
    if !divides {
        return Err(Refusal::new(
            "its windows have different sizes, which ONNX's pools have not",
        ));
    }
    let kernel: Vec<i64> = sizes
        .iter()
        .zip(&wanted)
        .map(|(size, wanted)| size / wanted)
        .collect();
    let op = if is_average { "AveragePool" } else { "MaxPool" };
    let attributes = vec![
        ints("kernel_shape", kernel.clone()),
        ints("strides", kernel),
        text("auto_pad", "VALID"),
    ];
    Ok(vec![site.emit(op, &[&x], attributes)])
}
