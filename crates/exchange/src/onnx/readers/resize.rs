//! Padding and changes of resolution.

use super::window;
use crate::constant::Refusal;
use crate::onnx::call::{Call, Read};

pub fn pad(call: &mut Call) -> Read {
    let mode = call.attributes.text_or("mode", "constant")?;
    if mode != "constant" {
        return Err(Refusal::new(format!("mode = {mode} is not computed")));
    }
    let pads = call
        .ints_of("pads", 1)?
        .ok_or_else(|| Refusal::new("its pads are missing"))?;
    let value = match call.attributes.float("value")? {
        Some(value) => f64::from(value),
        None if call.has(2) => call.number(2)?,
        None => 0.0,
    };
    let rank = call.rank(0)?;
    let axes = if call.has(3) {
        let axes = call.ints(3)?;
        axes.iter()
            .map(|&axis| call.axis(0, axis))
            .collect::<Result<Vec<_>, _>>()?
    } else {
        (0..rank).collect()
    };
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    if pads.len() != 2 * axes.len() {
        return Err(Refusal::new("its pads are not two for each axis"));
    }
    for (k, &axis) in axes.iter().enumerate() {
        let size = |value: i64| {
            usize::try_from(value).map_err(|_| Refusal::new("negative padding is not computed"))
        };
        (before[axis], after[axis]) = (size(pads[k])?, size(pads[k + axes.len()])?);
    }
    let first = (0..rank)
        .find(|&axis| before[axis] + after[axis] > 0)
        .unwrap_or(rank);
    let x = call.value(0)?;
    if first == rank {
        return call.result_like(x, 0);
    }
    let y = window::pad(call, x, &before[first..], &after[first..], value)?;
    call.result_like(y, 0)
}

pub fn resize(_call: &mut Call) -> Read {
    Err(Refusal::new("a change of resolution is not computed"))
}
