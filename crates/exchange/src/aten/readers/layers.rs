//! Layers with weights, attention, pools.

use crate::aten::call::{Call, Read, made, one};
use crate::aten::source::Source;
use crate::constant::{self, Array, Refusal};
use crate::draft::Param;
use interop::pt2::Argument;
use ir::{DType, Dim, Shape, Value};
use serde_json::json;

/// `x·Wᵀ + b`; a weight that other calls read too stays one tensor.
pub fn linear(call: &mut Call) -> Read {
    let x = call.value("input")?;
    let has_bias = call.argument("bias").is_some();
    let bias = call.param("bias", "bias");
    if let Some(weight) = call.param("weight", "weight")
        && bias.is_some() == has_bias
    {
        return dense(call, x, weight, bias);
    }
    let weight = call.value("weight")?;
    let turned = call.push("transpose", json!({ "dim0": 0, "dim1": 1 }), &[weight])?;
    let mut y = call.push("matmul", json!({}), &[x, turned])?;
    if has_bias {
        let bias = call.value("bias")?;
        y = call.push("add", json!({}), &[y, bias])?;
    }
    Ok(one(y))
}

fn dense(call: &mut Call, x: Value, weight: Param, bias: Option<Param>) -> Read {
    let [out_features, in_features] = weight.array.shape[..] else {
        return Err(Refusal::new("its weight is not a matrix"));
    };
    let attributes = json!({
        "in_features": in_features, "out_features": out_features, "bias": bias.is_some(),
    });
    let params = [weight].into_iter().chain(bias).collect();
    Ok(one(call.layer("linear", attributes, &[x], params)?))
}

/// `b + x·W` for a stored matrix, which becomes the weight of a layer, turned.
pub fn addmm(call: &mut Call) -> Read {
    let scaled = |name: &str| call.number(name).is_some_and(|factor| factor != 1.0);
    if scaled("alpha") || scaled("beta") {
        return Err(Refusal::new("alpha and beta other than 1 are not computed"));
    }
    let x = call.value("mat1")?;
    let stored = (call.param("weight", "mat2"), call.param("bias", "self"));
    if let (Some(mut weight), Some(bias)) = stored
        && weight.array.shape.len() == 2
        && bias.array.shape.len() == 1
    {
        weight.array = constant::permute(&weight.array, &[1, 0])?;
        return dense(call, x, weight, Some(bias));
    }
    let (weight, bias) = (call.value("mat2")?, call.value("self")?);
    let y = call.push("matmul", json!({}), &[x, weight])?;
    Ok(one(call.push("add", json!({}), &[y, bias])?))
}

/// A convolution over one or two axes, plain or transposed.
pub fn conv(call: &mut Call) -> Read {
    let x = call.value("input")?;
    let weight = call.copied_param("weight", "weight")?;
    let has_bias = call.argument("bias").is_some();
    let bias = has_bias
        .then(|| call.copied_param("bias", "bias"))
        .transpose()?;
    let n = weight.array.shape.len().saturating_sub(2);
    if !(1..=2).contains(&n) {
        return Err(Refusal::new(format!(
            "convolutions over {n} axes are not computed"
        )));
    }
    let is_transposed = call.call.target.contains("transpose") || call.flag("transposed", false);
    let [stride, dilation] = [("stride", 1), ("dilation", 1)]
        .map(|(name, default)| call.ints(name, &vec![default; n], n));
    let padding = call.ints("padding", &vec![0; n], n)?;
    let groups = call.int("groups", Some(1))?;
    let shape = &weight.array.shape;
    let group = usize::try_from(groups).unwrap_or(1);
    let mut attributes = json!({
        "kernel_size": shape[2..], "stride": stride?, "padding": padding, "dilation": dilation?,
        "groups": groups, "bias": has_bias,
        "in_channels": if is_transposed { shape[0] } else { shape[1].saturating_mul(group) },
        "out_channels": if is_transposed { shape[1].saturating_mul(group) } else { shape[0] },
    });
    let name = if is_transposed {
        attributes["output_padding"] = json!(call.ints("output_padding", &vec![0; n], n)?);
        ["conv_transpose1d", "conv_transpose2d"][n - 1]
    } else {
        ["conv1d", "conv2d"][n - 1]
    };
    let params = [weight].into_iter().chain(bias).collect();
    Ok(one(call.layer(name, attributes, &[x], params)?))
}

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
    Ok(one(call.layer(name, attributes, &[x], params)?))
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

/// A norm over the last axes, or over groups of channels.
pub fn norm(call: &mut Call) -> Read {
    let x = call.value("input")?;
    let name = call.operator_name();
    let is_rms = name == "rms_norm";
    let mut params = Vec::new();
    let given = ["weight", "bias"]
        .into_iter()
        .find(|port| call.argument(port).is_some());
    let is_affine = given.is_some();
    if let Some(given) = given {
        let shape = call.copied_param(given, given)?.array.shape;
        params.push(filled_param(call, "weight", &shape, 1.0)?);
        if !is_rms {
            params.push(filled_param(call, "bias", &shape, 0.0)?);
        }
    }
    let default_eps = if is_rms {
        f64::from(f32::EPSILON)
    } else {
        1e-5
    };
    let eps = call.number("eps").unwrap_or(default_eps);
    let attributes = if name == "group_norm" {
        let channels = call.builder.type_of(x).shape.0.get(1).and_then(Dim::fixed);
        json!({
            "num_groups": call.int("num_groups", None)?, "num_channels": channels, "eps": eps, "affine": is_affine,
        })
    } else {
        let shape = call.ints("normalized_shape", &[], 0)?;
        json!({ "normalized_shape": shape, "eps": eps, "elementwise_affine": is_affine })
    };
    Ok(one(call.layer(name, attributes, &[x], params)?))
}

/// Rows of a table; a table that other calls read too stays one tensor.
pub fn embedding(call: &mut Call) -> Read {
    let indices = call.value("indices")?;
    let Some(weight) = call.param("weight", "weight") else {
        let table = call.value("weight")?;
        return Ok(one(call.push("gather", json!({}), &[table, indices])?));
    };
    let [rows, columns] = weight.array.shape[..] else {
        return Err(Refusal::new("its table is not a matrix"));
    };
    let attributes = json!({ "num_embeddings": rows, "embedding_dim": columns });
    Ok(one(call.layer(
        "embedding",
        attributes,
        &[indices],
        vec![weight],
    )?))
}

/// Attention with an optional mask.
pub fn attention(call: &mut Call) -> Read {
    if call.number("dropout_p").is_some_and(|p| p != 0.0) {
        return Err(Refusal::new("dropout inside of attention is not computed"));
    }
    let mut inputs = vec![
        call.value("query")?,
        call.value("key")?,
        call.value("value")?,
    ];
    if call.argument("attn_mask").is_some() {
        inputs.push(call.value("attn_mask")?);
    }
    let mut attributes = json!({
        "is_causal": call.flag("is_causal", false), "enable_gqa": call.flag("enable_gqa", false),
    });
    if let Some(scale) = call.number("scale") {
        attributes["scale"] = json!(scale);
    }
    Ok(one(call.push(
        "scaled_dot_product_attention",
        attributes,
        &inputs,
    )?))
}

/// A pool with a moving window.
pub fn pool(call: &mut Call) -> Read {
    let name = call.operator_name();
    let n = if name.ends_with("1d") { 1 } else { 2 };
    if call.argument("divisor_override").is_some() {
        return Err(Refusal::new("a divisor of its own is not computed"));
    }
    let x = call.value("self")?;
    let kernel = call.ints("kernel_size", &[], n)?;
    let mut attributes = json!({
        "kernel_size": kernel, "stride": call.ints("stride", &kernel, n)?,
        "padding": call.ints("padding", &vec![0; n], n)?, "ceil_mode": call.flag("ceil_mode", false),
    });
    if name.starts_with("max") {
        attributes["dilation"] = json!(call.ints("dilation", &vec![1; n], n)?);
    } else {
        attributes["count_include_pad"] = json!(call.flag("count_include_pad", true));
    }
    Ok(one(call.push(name, attributes, &[x])?))
}

/// A pool whose windows follow from the size of the result. The places of extremes are not computed.
pub fn adaptive_pool(call: &mut Call) -> Read {
    let name = call.operator_name();
    let n = if name.ends_with("1d") { 1 } else { 2 };
    let x = call.value("self")?;
    let attributes = json!({ "output_size": call.ints("output_size", &[], n)? });
    let y = call.push(name, attributes, &[x])?;
    Ok(vec![Source::Live(y), Source::Missing])
}

/// A picture of another size.
pub fn upsample(call: &mut Call) -> Read {
    let x = call.value("input").or_else(|_| call.value("self"))?;
    let sizes = call.builder.type_of(x).shape;
    let output_size = if call.argument("output_size").is_some() {
        call.ints("output_size", &[], 2)?
    } else {
        scaled_size(call, &sizes)?
    };
    let is_bilinear = call.call.target.contains("bilinear");
    let attributes = json!({
        "output_size": output_size, "mode": if is_bilinear { "bilinear" } else { "nearest" },
        "align_corners": is_bilinear && call.flag("align_corners", false),
    });
    Ok(one(call.push("upsample", attributes, &[x])?))
}

/// The size of a picture that is scaled by factors.
fn scaled_size(call: &Call, shape: &Shape) -> Result<Vec<i64>, Refusal> {
    let Some(Argument::Floats(factors)) = call.argument("scale_factors") else {
        return Err(Refusal::new("it has no size"));
    };
    let space = shape.0.iter().skip(2).zip(factors);
    let scaled = |(dim, factor): (&Dim, &f64)| Some((dim.fixed()? as f64 * factor) as i64);
    let sizes: Option<Vec<i64>> = space.map(scaled).collect();
    sizes.ok_or_else(|| Refusal::new("it has no size"))
}

/// A matrix product.
pub fn matmul(call: &mut Call) -> Read {
    let right = if call.argument("other").is_some() {
        "other"
    } else {
        "mat2"
    };
    if let (Some(a), Some(b)) = (call.known("self"), call.known(right)) {
        return Ok(made(constant::matmul(&a, &b)?));
    }
    let (a, b) = (call.value("self")?, call.value(right)?);
    if [a, b]
        .iter()
        .any(|&v| call.builder.type_of(v).dtype != DType::F32)
    {
        return Err(Refusal::new("products of integers are not computed"));
    }
    Ok(one(call.push("matmul", json!({}), &[a, b])?))
}

/// `x` above zero, a trained part of it below.
pub fn prelu(call: &mut Call) -> Read {
    let x = call.value("self")?;
    let weight = call.copied_param("weight", "weight")?;
    let attributes = json!({ "num_parameters": weight.array.values.len() });
    Ok(one(call.layer("prelu", attributes, &[x], vec![weight])?))
}
