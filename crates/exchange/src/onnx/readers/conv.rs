//! Convolutions.

use super::window::{Window, kernel_of};
use crate::constant::Refusal;
use crate::onnx::call::{Call, Read, expect_dtype};
use ir::DType;
use serde_json::json;

/// The weight's size of the window, which an attribute may repeat.
fn kernel(call: &Call) -> Result<Vec<usize>, Refusal> {
    let kernel = kernel_of(call.constant(1)?);
    if let Some(stated) = call.attributes.ints("kernel_shape")?
        && !stated.iter().eq(kernel
            .iter()
            .map(|&size| size as i64)
            .collect::<Vec<_>>()
            .iter())
    {
        return Err(Refusal::new(format!(
            "kernel_shape = {stated:?} is not that of the weight, {kernel:?}"
        )));
    }
    if call.rank(0)? != kernel.len() + 2 {
        return Err(Refusal::new(
            "its weight has another number of axes than its input",
        ));
    }
    Ok(kernel)
}

/// The number of groups.
fn groups(call: &Call) -> Result<usize, Refusal> {
    let groups = call.attributes.int_or("group", 1)?;
    let groups = usize::try_from(groups).ok().filter(|&groups| groups > 0);
    groups.ok_or_else(|| Refusal::new("group is not a positive number"))
}

pub fn conv(call: &mut Call) -> Read {
    expect_dtype(&call.ty(0)?, DType::F32)?;
    let mut window = Window::read(call, kernel(call)?)?;
    let groups = groups(call)?;
    let weight = call.param("weight", 1)?;
    let (op, shape) = (
        operator("conv", window.kernel.len())?,
        weight.array.shape.clone(),
    );
    let x = call.value(0)?;
    let x = window.pad_unequal(call, x, 0.0)?;
    let mut params = vec![weight];
    if call.has(2) {
        params.push(call.param("bias", 2)?);
    }
    let attributes = json!({
        "in_channels": shape[1].saturating_mul(groups),
        "out_channels": shape[0],
        "kernel_size": window.kernel,
        "stride": window.stride,
        "padding": window.before,
        "dilation": window.dilation,
        "groups": groups,
        "bias": call.has(2),
    });
    let y = call.layer(op, attributes, &[x], params)?;
    call.result_like(y, 0)
}

pub fn conv_transpose(call: &mut Call) -> Read {
    expect_dtype(&call.ty(0)?, DType::F32)?;
    let mut window = Window::read(call, kernel(call)?)?;
    let groups = groups(call)?;
    let n_axes = window.kernel.len();
    let output_padding = call
        .attributes
        .ints("output_padding")?
        .unwrap_or(vec![0; n_axes]);
    let mut output_padding: Vec<i64> = output_padding;
    let wanted = call.attributes.ints("output_shape")?;
    let is_list = |list: &Vec<i64>| list.len() == n_axes;
    if !is_list(&output_padding) || wanted.as_ref().is_some_and(|wanted| !is_list(wanted)) {
        return Err(Refusal::new(
            "output_padding or output_shape is not one number for each axis",
        ));
    }
    if let Some(wanted) = wanted {
        let space = super::window::space(call)?;
        let is_upper = call.attributes.text_or("auto_pad", "NOTSET")? == "SAME_UPPER";
        for axis in 0..n_axes {
            let full = ((space[axis] - 1) * window.stride[axis] + window.reach(axis)) as i64
                + output_padding[axis];
            let total = usize::try_from(full - wanted[axis]);
            let total =
                total.map_err(|_| Refusal::new("output_shape is larger than the result"))?;
            let (small, large) = (total / 2, total - total / 2);
            (window.before[axis], window.after[axis]) = if is_upper {
                (small, large)
            } else {
                (large, small)
            };
        }
    } else if call
        .attributes
        .text_or("auto_pad", "NOTSET")?
        .starts_with("SAME")
    {
        return Err(Refusal::new(
            "auto_pad of a transposed convolution is not read",
        ));
    }
    // Padding behind that is less than that in front makes the result longer there.
    for (axis, more) in output_padding.iter_mut().enumerate() {
        *more += window.before[axis] as i64 - window.after[axis] as i64;
    }
    if output_padding.iter().any(|&more| more < 0) {
        return Err(Refusal::new("it cuts more behind than in front"));
    }
    let weight = call.param("weight", 1)?;
    let (op, shape) = (
        operator("conv_transpose", n_axes)?,
        weight.array.shape.clone(),
    );
    let x = call.value(0)?;
    let mut params = vec![weight];
    if call.has(2) {
        params.push(call.param("bias", 2)?);
    }
    let attributes = json!({
        "in_channels": shape[0],
        "out_channels": shape[1].saturating_mul(groups),
        "kernel_size": window.kernel,
        "stride": window.stride,
        "padding": window.before,
        "output_padding": output_padding,
        "dilation": window.dilation,
        "groups": groups,
        "bias": call.has(2),
    });
    let y = call.layer(op, attributes, &[x], params)?;
    call.result_like(y, 0)
}

fn operator(stem: &str, n_axes: usize) -> Result<&'static str, Refusal> {
    match (stem, n_axes) {
        ("conv", 1) => Ok("conv1d"),
        ("conv", 2) => Ok("conv2d"),
        ("conv_transpose", 1) => Ok("conv_transpose1d"),
        ("conv_transpose", 2) => Ok("conv_transpose2d"),
        _ => Err(Refusal::new(format!(
            "{n_axes} axes of space are not computed"
        ))),
    }
}
