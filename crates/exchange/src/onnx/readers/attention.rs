//! Attention.

use super::activation::wide;
use super::shape::{permute_to, reshape_to};
use crate::constant::{Refusal, Size};
use crate::onnx::call::{Call, Read};
use ir::Value;
use serde_json::{Map, Value as Json};

/// `softmax(q·kᵀ·scale + mask)·v` on heads that are an axis of their own or part of the last one.
pub fn attention(call: &mut Call) -> Read {
    let heads = call.attributes.int("q_num_heads")?;
    let kv_heads = call.attributes.int("kv_num_heads")?;
    let scale = call.attributes.float("scale")?;
    let is_causal = call.attributes.flag_or("is_causal", false)?;
    call.attributes.int("softmax_precision")?;
    call.attributes.int("qk_matmul_output_mode")?;
    if call.attributes.float_or("softcap", 0.0)? != 0.0 {
        return Err(Refusal::new("softcap is not computed"));
    }
    if (4..call.inputs.len()).any(|index| call.has(index)) {
        return Err(Refusal::new(
            "keys and values of earlier steps are not computed",
        ));
    }
    if is_causal && call.has(3) {
        return Err(Refusal::new("a mask beside a causal one is not computed"));
    }
    let rank = call.rank(0)?;
    let mut operands = Vec::new();
    for index in 0..3 {
        let own = if index == 0 { heads } else { kv_heads };
        operands.push(with_heads(call, index, own)?);
    }
    if call.has(3) {
        operands.push(call.value(3)?);
    }
    let mut attributes = Map::new();
    let heads = |call: &Call, k: usize| call.type_of(operands[k]).shape.0.get(1).cloned();
    if heads(call, 0) != heads(call, 1) {
        attributes.insert("enable_gqa".to_owned(), Json::from(true));
    }
    if is_causal {
        attributes.insert("is_causal".to_owned(), Json::from(true));
    }
    if let Some(scale) = scale {
        attributes.insert("scale".to_owned(), Json::from(wide(scale)));
    }
    let mut y = call.push(
        "scaled_dot_product_attention",
        Json::Object(attributes),
        &operands,
    )?;
    if rank == 3 {
        let dims = call.type_of(y).shape.0;
        let sizes: Vec<Size> = dims.iter().map(Size::of).collect();
        y = permute_to(call, y, &[0, 2, 1, 3])?;
        let joined = Size::from(sizes[1].factor * sizes[3].factor);
        y = reshape_to(call, y, &[sizes[0], sizes[2], joined])?;
    }
    call.result_like(y, 0)
}

/// An operand with an axis for its heads: `[batch, heads, steps, depth]`.
fn with_heads(call: &mut Call, index: usize, heads: Option<i64>) -> Result<Value, Refusal> {
    let x = call.value(index)?;
    if call.rank(index)? == 4 {
        return Ok(x);
    }
    let sizes: Vec<Size> = call.ty(index)?.shape.0.iter().map(Size::of).collect();
    let heads = heads.filter(|&heads| heads > 0);
    let heads = heads.ok_or_else(|| Refusal::new("the number of its heads is missing"))?;
    let [batch, steps, width] = sizes[..] else {
        return Err(Refusal::new("its operands have neither 3 nor 4 axes"));
    };
    let split = [batch, steps, heads.into(), (width.factor / heads).into()];
    let x = reshape_to(call, x, &split)?;
    permute_to(call, x, &[0, 2, 1, 3])
}
