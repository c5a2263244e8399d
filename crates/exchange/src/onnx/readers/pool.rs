//! Pools.

use super::window::{Window, space};
use crate::constant::{self, Array, Refusal, Values};
use crate::onnx::call::{Call, Read};
use serde_json::json;

fn kernel(call: &Call) -> Result<Vec<usize>, Refusal> {
    let stated = call.attributes.ints("kernel_shape")?.unwrap_or_default();
    let sizes: Result<Vec<usize>, _> = stated.iter().map(|&size| usize::try_from(size)).collect();
    let sizes = sizes
        .ok()
        .filter(|sizes| sizes.len() + 2 == call.rank(0).unwrap_or(0))
        .filter(|sizes| sizes.iter().all(|&size| size < 1 << 24));
    sizes.ok_or_else(|| Refusal::new(format!("kernel_shape = {stated:?} does not fit its input")))
}

fn operator(stem: [&'static str; 2], n_axes: usize) -> Result<&'static str, Refusal> {
    let found = n_axes.checked_sub(1).and_then(|index| stem.get(index));
    found
        .copied()
        .ok_or_else(|| Refusal::new(format!("{n_axes} axes of space are not computed")))
}

/// Rounds the number of windows up by padding behind, where padding is not the same on both sides; where it is, the operator
/// does so itself.
fn round_up(call: &Call, window: &mut Window) -> Result<bool, Refusal> {
    if !call.attributes.flag_or("ceil_mode", false)? {
        return Ok(false);
    }
    let mut longer = window.after.clone();
    for (axis, size) in space(call)?.into_iter().enumerate() {
        let stride = window.stride[axis];
        let padded = size + window.before[axis] + window.after[axis];
        let Some(room) = padded.checked_sub(window.reach(axis)) else {
            return Err(Refusal::new("its window is larger than its input"));
        };
        let rest = room % stride;
        // A window that would start in the padding behind is left out.
        let starts = (room / stride + 1) * stride;
        if rest != 0 && starts < size + window.before[axis] {
            longer[axis] += stride - rest;
        }
    }
    let gains = longer != window.after;
    if gains && window.is_symmetric() {
        return Ok(true);
    }
    window.after = longer;
    Ok(false)
}

pub fn max_pool(call: &mut Call) -> Read {
    let mut window = Window::read(call, kernel(call)?)?;
    let ceil_mode = round_up(call, &mut window)?;
    let order = call.attributes.int_or("storage_order", 0)?;
    if order != 0 && call.node.output.len() > 1 {
        return Err(Refusal::new("storage_order is not understood"));
    }
    let op = operator(["max_pool1d", "max_pool2d"], window.kernel.len())?;
    let x = call.value(0)?;
    let x = window.pad_unequal(call, x, f64::from(f32::MIN))?;
    let attributes = json!({
        "kernel_size": window.kernel,
        "stride": window.stride,
        "padding": window.before,
        "dilation": window.dilation,
        "ceil_mode": ceil_mode,
    });
    let y = call.push(op, attributes, &[x])?;
    call.result_like(y, 0)
}

pub fn average_pool(call: &mut Call) -> Read {
    let mut window = Window::read(call, kernel(call)?)?;
    let counts_padding = call.attributes.flag_or("count_include_pad", false)?;
    let before = (window.before.clone(), window.after.clone());
    let ceil_mode = round_up(call, &mut window)?;
    let is_longer = (window.before.clone(), window.after.clone()) != before;
    if window.dilation.iter().any(|&d| d != 1) {
        return Err(Refusal::new(
            "an average over a dilated window is not computed",
        ));
    }
    let is_unequal = !window.is_symmetric();
    let op = operator(["avg_pool1d", "avg_pool2d"], window.kernel.len())?;
    let x = call.value(0)?;
    let shares = if is_unequal && (!counts_padding || is_longer) {
        let counted = if counts_padding { Some(before) } else { None };
        Some(shares(&space(call)?, &window, counted.as_ref())?)
    } else {
        None
    };
    let x = window.pad_unequal(call, x, 0.0)?;
    let attributes = json!({
        "kernel_size": window.kernel,
        "stride": window.stride,
        "padding": window.before,
        "count_include_pad": counts_padding,
        "ceil_mode": ceil_mode,
    });
    let mut y = call.push(op, attributes, &[x])?;
    if let Some(shares) = shares {
        let shares = call.store(shares)?;
        y = call.push("mul", json!({}), &[y, shares])?;
    }
    call.result_like(y, 0)
}

/// For each window of a padded input, the elements of a window over those that count: the elements of the input, or also the padding
/// that is `counted`.
fn shares(
    sizes: &[usize],
    window: &Window,
    counted: Option<&(Vec<usize>, Vec<usize>)>,
) -> Result<Array, Refusal> {
    let room = |axis: usize| {
        let padded = sizes[axis] + window.before[axis] + window.after[axis];
        padded.saturating_sub(window.kernel[axis])
    };
    let n_windows = |axis: usize| room(axis) / window.stride[axis] + 1;
    let count = (0..sizes.len()).try_fold(1_usize, |n, axis| n.checked_mul(n_windows(axis)));
    if count.is_none_or(|count| count > constant::MAX_ELEMENTS) {
        return Err(Refusal::new("it has too many windows"));
    }
    let axis = |axis: usize| -> Vec<f32> {
        let (size, kernel) = (sizes[axis], window.kernel[axis]);
        let before = window.before[axis];
        let (low, high) = match counted {
            Some((front, back)) => (before - front[axis], before + size + back[axis]),
            None => (before, before + size),
        };
        let share = |at: usize| {
            let start = at * window.stride[axis];
            let n = (start + kernel).min(high).saturating_sub(start.max(low));
            kernel as f32 / n.max(1) as f32
        };
        (0..n_windows(axis)).map(share).collect()
    };
    let axes: Vec<Vec<f32>> = (0..sizes.len()).map(axis).collect();
    let times = |all: Vec<f32>, own: &Vec<f32>| {
        let products = all.iter().flat_map(|a| own.iter().map(move |b| a * b));
        products.collect()
    };
    let values = axes.iter().fold(vec![1.0], times);
    let shape = axes.iter().map(Vec::len).collect();
    Ok(Array::new(shape, Values::F32(values)))
}

/// One window over all axes of space.
pub fn global(call: &mut Call) -> Read {
    let n_axes = space(call)?.len();
    let op = match call.node.op_type() {
        "GlobalAveragePool" => operator(["adaptive_avg_pool1d", "adaptive_avg_pool2d"], n_axes)?,
        _ => operator(["adaptive_max_pool1d", "adaptive_max_pool2d"], n_axes)?,
    };
    call.unary(op, json!({ "output_size": vec![1; n_axes] }))
}
