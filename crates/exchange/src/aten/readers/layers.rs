//! Layers with weights, attention, pools, products.

use crate::aten::call::{Call, Read, made, one};
use crate::constant::{self, Refusal};
use crate::draft::Param;
use interop::pt2::Argument;
use ir::{DType, Value};
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
    if let Some(weight) = call.turned_param("weight", "mat2")?
        && let Some(bias) = call.param("bias", "self")
        && bias.array.shape.len() == 1
    {
        return dense(call, x, weight, Some(bias));
    }
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
    let is_transposed = call.node.target.contains("transpose") || call.flag("transposed", false);
    let ones = vec![1; n];
    let (stride, dilation) = (
        call.ints("stride", &ones, n)?,
        call.ints("dilation", &ones, n)?,
    );
    let (x, padding) = padded(call, x, &weight.array.shape[2..], &stride, &dilation)?;
    let groups = call.int("groups", Some(1))?;
    let shape = &weight.array.shape;
    let group = usize::try_from(groups).unwrap_or(1);
    let mut attributes = json!({
        "kernel_size": shape[2..], "stride": stride, "padding": padding, "dilation": dilation,
        "groups": groups, "bias": has_bias,
        "in_channels": if is_transposed { shape[0] } else { shape[1].saturating_mul(group) },
        "out_channels": if is_transposed { shape[1].saturating_mul(group) } else { shape[0] },
    });
    let output_padding = call.ints("output_padding", &vec![0; n], n)?;
    let name = if is_transposed {
        attributes["output_padding"] = json!(output_padding);
        ["conv_transpose1d", "conv_transpose2d"][n - 1]
    } else {
        ["conv1d", "conv2d"][n - 1]
    };
    let params = [weight].into_iter().chain(bias).collect();
    Ok(one(call.layer(name, attributes, &[x], params)?))
}

/// The padding of a convolution. For `same`, which may need more behind than in front, the input is padded where it does.
fn padded(
    call: &mut Call,
    x: Value,
    kernel: &[usize],
    stride: &[i64],
    dilation: &[i64],
) -> Result<(Value, Vec<i64>), Refusal> {
    let n = kernel.len();
    let none = vec![0; n];
    match call.argument("padding") {
        Some(Argument::Text(word)) if word == "valid" => return Ok((x, none)),
        Some(Argument::Text(word)) if word == "same" => {}
        _ => return Ok((x, call.ints("padding", &none, n)?)),
    }
    let is_small = |&size: &i64| (1..1 << 24).contains(&size);
    let fits = kernel.iter().all(|&size| (1..1 << 24).contains(&size));
    if stride.iter().any(|&step| step != 1) || !dilation.iter().all(is_small) || !fits {
        return Err(Refusal::new(
            "padding = same is of windows one after another",
        ));
    }
    let total = |(&size, &step): (&usize, &i64)| (size as i64 - 1) * step;
    let totals: Vec<i64> = kernel.iter().zip(dilation).map(total).collect();
    if totals.iter().all(|total| total % 2 == 0) {
        return Ok((x, totals.iter().map(|total| total / 2).collect()));
    }
    let pairs = totals
        .iter()
        .rev()
        .flat_map(|total| [total / 2, total - total / 2]);
    let pad: Vec<i64> = pairs.collect();
    Ok((call.push("pad", json!({ "pad": pad }), &[x])?, none))
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
        let mask = call.source("attn_mask")?;
        let mask = call.kept_once(mask, call.sizes_of(inputs[0]).len())?;
        inputs.push(call.builder.value_of(&mask)?);
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
    let name = call.operator_name().trim_end_matches("_with_indices");
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
    let y = call.push(name, attributes, &[x])?;
    call.first_alone(y)
}

/// A pool whose windows follow from the size of the result. The places of extremes are not computed.
pub fn adaptive_pool(call: &mut Call) -> Read {
    let name = call.operator_name().trim_start_matches('_');
    let n = if name.ends_with("1d") { 1 } else { 2 };
    let x = call.value("self")?;
    let attributes = json!({ "output_size": call.ints("output_size", &[], n)? });
    let y = call.push(name, attributes, &[x])?;
    call.first_alone(y)
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
    if let Some(weight) = call.turned_param("weight", right)? {
        let x = call.value("self")?;
        return dense(call, x, weight, None);
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

/// A sum with a product of stacks of matrices.
pub fn baddbmm(call: &mut Call) -> Read {
    let scaled = |name: &str| call.number(name).is_some_and(|factor| factor != 1.0);
    if scaled("alpha") || scaled("beta") {
        return Err(Refusal::new("alpha and beta other than 1 are not computed"));
    }
    let (c, a, b) = (
        call.value("self")?,
        call.value("batch1")?,
        call.value("batch2")?,
    );
    let y = call.push("matmul", json!({}), &[a, b])?;
    Ok(one(call.push("add", json!({}), &[y, c])?))
}

/// `x` above zero, a trained part of it below.
pub fn prelu(call: &mut Call) -> Read {
    let x = call.value("self")?;
    let weight = call.copied_param("weight", "weight")?;
    let attributes = json!({ "num_parameters": weight.array.values.len() });
    Ok(one(call.layer("prelu", attributes, &[x], vec![weight])?))
}
