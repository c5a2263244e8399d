//! Steps at stored thresholds, as FINN has them.

use super::shape::permute_to;
use super::wide;
use crate::constant::Refusal;
use crate::onnx::call::{Call, Read, expect_dtype};
use ir::DType;
use serde_json::json;

/// Layouts that QONNX assumes where a node states none, by the number of axes.
const LAYOUTS: [(usize, &str); 3] = [(2, "NC"), (3, "NWC"), (4, "NCHW")];

/// The number of thresholds that an element reaches, scaled and shifted; channels that lie elsewhere are moved to axis 1 and back.
pub fn multi_threshold(call: &mut Call) -> Read {
    expect_dtype(&call.ty(0)?, DType::F32)?;
    let rank = call.rank(0)?;
    let stated = call.attributes.text_or("data_layout", "")?;
    let usual = LAYOUTS.iter().find(|row| row.0 == rank);
    let layout = match (stated.as_str(), usual) {
        ("", Some((_, layout))) => (*layout).to_owned(),
        _ => stated,
    };
    // What the results mean as integers is not needed to compute them.
    call.attributes.text_or("out_dtype", "")?;
    let scale = wide(call.attributes.float_or("out_scale", 1.0)?);
    let offset = wide(call.attributes.float_or("out_bias", 0.0)?);
    let thresholds = call.param("thresholds", 1)?;
    let [channels, steps] = thresholds.array.shape[..] else {
        return Err(Refusal::new(
            "its thresholds are not a list for each channel",
        ));
    };
    let axis = layout.find('C').unwrap_or(1);
    if axis >= rank {
        return Err(Refusal::new(format!(
            "its layout {layout} is not of {rank} axes"
        )));
    }
    let mut order: Vec<usize> = (0..rank).collect();
    if rank > 1 {
        order.swap(1, axis);
    }
    let mut y = call.value(0)?;
    y = permute_to(call, y, &order)?;
    let attributes =
        json!({ "channels": channels, "steps": steps, "scale": scale, "offset": offset });
    y = call.layer("thresholds", attributes, &[y], vec![thresholds])?;
    y = permute_to(call, y, &order)?;
    call.result_like(y, 0)
}
