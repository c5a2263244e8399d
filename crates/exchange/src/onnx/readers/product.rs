//! Matrix products.

use crate::constant::{self, Array, Refusal, Values};
use crate::draft::Param;
use crate::onnx::call::{Call, Read, expect_dtype};
use ir::{DType, Value};
use serde_json::json;

/// A product with a stored matrix is a layer; others are products of values.
pub fn matmul(call: &mut Call) -> Read {
    expect_dtype(&call.ty(0)?, DType::F32)?;
    let is_matrix = call
        .known(1)
        .is_some_and(|b| b.shape.len() == 2 && b.floats().is_some());
    if is_matrix {
        let mut weight = call.param("weight", 1)?;
        weight.array = constant::permute(&weight.array, &[1, 0])?;
        weight.grid = weight.grid.map(|grid| grid.permuted(&[1, 0])).transpose()?;
        let x = call.value(0)?;
        let y = linear(call, x, weight, None)?;
        return call.result_like(y, 0);
    }
    let (ranks, mut a, mut b) = (
        (call.rank(0)?, call.rank(1)?),
        call.value(0)?,
        call.value(1)?,
    );
    // A vector is a row on the left and a column on the right.
    if ranks.0 == 1 {
        a = call.push("reshape", json!({ "shape": [1, -1] }), &[a])?;
    }
    if ranks.1 == 1 {
        b = call.push("reshape", json!({ "shape": [-1, 1] }), &[b])?;
    }
    let mut y = call.push("matmul", json!({}), &[a, b])?;
    if ranks.0 == 1 || ranks.1 == 1 {
        let mut dims = call.type_of(y).shape.0;
        let rank = dims.len();
        if ranks.1 == 1 {
            dims.remove(rank - 1);
        }
        if ranks.0 == 1 {
            dims.remove(rank - 2);
        }
        let sizes: Vec<_> = dims.iter().map(constant::Size::of).collect();
        let shape = crate::draft::axis_sizes(&sizes)?;
        y = call.push("reshape", json!({ "shape": shape }), &[y])?;
    }
    call.result_like(y, 0)
}

/// The evaluation of a product.
pub fn fold(call: &Call) -> Result<Vec<Array>, Refusal> {
    Ok(vec![constant::matmul(
        call.constant(0)?,
        call.constant(1)?,
    )?])
}

/// `alpha·A·B + beta·C`, with A and B transposed where asked.
pub fn gemm(call: &mut Call) -> Read {
    expect_dtype(&call.ty(0)?, DType::F32)?;
    let alpha = call.attributes.float_or("alpha", 1.0)?;
    let beta = call.attributes.float_or("beta", 1.0)?;
    let (turns_a, turns_b) = (
        call.attributes.flag_or("transA", false)?,
        call.attributes.flag_or("transB", false)?,
    );
    let mut a = call.value(0)?;
    if turns_a {
        a = call.push("transpose", json!({ "dim0": 0, "dim1": 1 }), &[a])?;
    }
    let y = if call.known(1).is_some() {
        let mut weight = call.param("weight", 1)?;
        if weight.array.shape.len() != 2 {
            return Err(Refusal::new("its weight is not a matrix"));
        }
        if !turns_b {
            weight.array = constant::permute(&weight.array, &[1, 0])?;
            weight.grid = weight.grid.map(|grid| grid.permuted(&[1, 0])).transpose()?;
        }
        scale(&mut weight, alpha);
        let bias = gemm_bias(call, weight.array.shape[0], beta)?;
        let is_whole = bias.is_some() || !call.has(2);
        let y = linear(call, a, weight, bias)?;
        if is_whole {
            return call.result_like(y, 0);
        }
        y
    } else {
        let mut b = call.value(1)?;
        if turns_b {
            b = call.push("transpose", json!({ "dim0": 0, "dim1": 1 }), &[b])?;
        }
        let y = call.push("matmul", json!({}), &[a, b])?;
        times(call, y, alpha)?
    };
    if !call.has(2) {
        return call.result_like(y, 0);
    }
    let c = call.value(2)?;
    let c = times(call, c, beta)?;
    let y = call.push("add", json!({}), &[y, c])?;
    call.result_like(y, 0)
}

/// The third operand as a bias, where it is a known vector or number.
fn gemm_bias(call: &Call, out_features: usize, beta: f32) -> Result<Option<Param>, Refusal> {
    let Some(c) = call.known(2) else {
        return Ok(None);
    };
    let is_vector = c.shape.iter().rev().skip(1).all(|&size| size == 1);
    if !is_vector || c.shape.len() > 2 {
        return Ok(None);
    }
    let mut bias = call.param("bias", 2)?;
    bias.flatten()?;
    if bias.array.shape != [out_features] {
        bias.grid = bias.grid.filter(|grid| grid.axis.is_none());
        bias.array = constant::expand(&bias.array, &[out_features])?;
    }
    scale(&mut bias, beta);
    Ok(Some(bias))
}

/// Multiplies a parameter, whose values then lie on no grid of the file.
fn scale(param: &mut Param, factor: f32) {
    if factor != 1.0
        && let Values::F32(values) = &mut param.array.values
    {
        param.grid = None;
        for value in values {
            *value *= factor;
        }
    }
}

fn times(call: &mut Call, value: Value, factor: f32) -> Result<Value, Refusal> {
    if factor == 1.0 {
        return Ok(value);
    }
    let factor = super::activation::wide(factor);
    call.push("mul", json!({ "scalar": factor }), &[value])
}

/// A fully connected layer.
fn linear(call: &mut Call, x: Value, weight: Param, bias: Option<Param>) -> Result<Value, Refusal> {
    let [out_features, in_features] = weight.array.shape[..] else {
        return Err(Refusal::new("its weight is not a matrix"));
    };
    let attributes = json!({
        "in_features": in_features,
        "out_features": out_features,
        "bias": bias.is_some(),
    });
    let params = [weight].into_iter().chain(bias).collect();
    call.layer("linear", attributes, &[x], params)
}
