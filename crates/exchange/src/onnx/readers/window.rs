//! Windows that slide over axes of space: sizes, strides and padding as files state them.

use crate::constant::{Array, Refusal};
use crate::onnx::call::Call;
use ir::Value;
use serde_json::json;

/// The bound on a stride, a dilation and a padding, so that their sums are numbers.
const MAX_SIZE: usize = 1 << 24;

/// A window over `K` axes of space.
pub struct Window {
    /// Its size.
    pub kernel: Vec<usize>,
    /// The distance between two windows.
    pub stride: Vec<usize>,
    /// The distance between two of its elements.
    pub dilation: Vec<usize>,
    /// Padding in front of each axis.
    pub before: Vec<usize>,
    /// Padding behind each axis.
    pub after: Vec<usize>,
}

impl Window {
    /// The window of a node over the axes behind the second of its first input.
    pub fn read(call: &Call, kernel: Vec<usize>) -> Result<Self, Refusal> {
        let n_axes = kernel.len();
        let list = |name: &str, n: usize, default: usize| -> Result<Vec<usize>, Refusal> {
            let Some(values) = call.attributes.ints(name)? else {
                return Ok(vec![default; n]);
            };
            let sizes: Result<Vec<usize>, _> =
                values.iter().map(|&value| usize::try_from(value)).collect();
            let fits = |sizes: &Vec<usize>| sizes.len() == n && sizes.iter().all(|&s| s < MAX_SIZE);
            let sizes = sizes.ok().filter(fits);
            sizes.ok_or_else(|| Refusal::new(format!("{name} = {values:?} is not {n} sizes")))
        };
        let (stride, dilation) = (list("strides", n_axes, 1)?, list("dilations", n_axes, 1)?);
        if stride.contains(&0) || dilation.contains(&0) {
            return Err(Refusal::new("a stride or a dilation is 0"));
        }
        let pads = list("pads", 2 * n_axes, 0)?;
        let mut window = Self {
            kernel,
            stride,
            dilation,
            before: pads[..n_axes].to_vec(),
            after: pads[n_axes..].to_vec(),
        };
        match call.attributes.text_or("auto_pad", "NOTSET")?.as_str() {
            "NOTSET" => {}
            "VALID" => {
                window.before = vec![0; n_axes];
                window.after = vec![0; n_axes];
            }
            "SAME_UPPER" => window.pad_to_same(call, false)?,
            "SAME_LOWER" => window.pad_to_same(call, true)?,
            other => return Err(Refusal::new(format!("auto_pad = {other} is not known"))),
        }
        Ok(window)
    }

    /// Pads so that a stride of 1 keeps the size.
    fn pad_to_same(&mut self, call: &Call, lower: bool) -> Result<(), Refusal> {
        let sizes = space(call)?;
        for (axis, &size) in sizes.iter().enumerate() {
            let (stride, reach) = (self.stride[axis].max(1), self.reach(axis));
            let result = size.div_ceil(stride);
            let padding = ((result - 1) * stride + reach).saturating_sub(size);
            let (small, large) = (padding / 2, padding - padding / 2);
            (self.before[axis], self.after[axis]) = if lower {
                (large, small)
            } else {
                (small, large)
            };
        }
        Ok(())
    }

    /// The elements that the window spans along an axis.
    pub fn reach(&self, axis: usize) -> usize {
        (self.kernel[axis].max(1) - 1) * self.dilation[axis] + 1
    }

    /// True when every axis has the same padding on both sides.
    pub fn is_symmetric(&self) -> bool {
        self.before == self.after
    }

    /// Pads the input with a value where the padding is not the same on both sides, and forgets the padding then.
    pub fn pad_unequal(&mut self, call: &mut Call, x: Value, value: f64) -> Result<Value, Refusal> {
        if self.is_symmetric() {
            return Ok(x);
        }
        let padded = pad(
            call,
            x,
            &self.before.clone(),
            &self.after.clone(),
            "constant",
            value,
        )?;
        self.before = vec![0; self.kernel.len()];
        self.after.clone_from(&self.before);
        Ok(padded)
    }
}

/// The sizes of the axes behind the second of the first input.
pub fn space(call: &Call) -> Result<Vec<usize>, Refusal> {
    let dims = call.ty(0)?.shape.0;
    let size = |dim: &ir::Dim| dim.fixed().filter(|&size| size < MAX_SIZE << 16);
    let sizes = dims.iter().skip(2).map(size);
    let sizes: Option<Vec<usize>> = sizes.collect();
    sizes.ok_or_else(|| Refusal::new("an axis of space is free, or larger than memory"))
}

/// The last axes padded with a value.
pub fn pad(
    call: &mut Call,
    x: Value,
    before: &[usize],
    after: &[usize],
    mode: &str,
    value: f64,
) -> Result<Value, Refusal> {
    // The list runs from the last axis to the first, as PyTorch's does.
    let pairs = before.iter().zip(after).rev().flat_map(|(&b, &a)| [b, a]);
    let padding: Vec<usize> = pairs.collect();
    call.push(
        "pad",
        json!({ "pad": padding, "mode": mode, "value": value }),
        &[x],
    )
}

/// The sizes of a stored tensor behind its second axis.
pub fn kernel_of(weight: &Array) -> Vec<usize> {
    weight.shape.iter().skip(2).copied().collect()
}
