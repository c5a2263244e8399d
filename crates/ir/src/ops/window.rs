//! Sliding windows, as convolutions and pools lay them.

use crate::OpError;

/// The motion of a window over one or two axes of space.
#[derive(Clone, Copy, Debug)]
pub struct Window<const K: usize> {
    /// Size of the window.
    pub kernel_size: [usize; K],
    /// Distance between two windows.
    pub stride: [usize; K],
    /// Rows added on both sides.
    pub padding: [usize; K],
    /// Distance between two elements of a window.
    pub dilation: [usize; K],
    /// Adds a last window that reaches beyond the padding, if it starts before it.
    pub ceil_mode: bool,
}

impl<const K: usize> Window<K> {
    /// The number of windows along each axis: `⌊(n + 2p − d(k − 1) − 1)/s⌋ + 1`, or rounded up with `ceil_mode`.
    pub fn output_sizes(&self, input: [usize; K]) -> Result<[usize; K], OpError> {
        super::check::all_positive("kernel_size", &self.kernel_size)?;
        super::check::all_positive("stride", &self.stride)?;
        super::check::all_positive("dilation", &self.dilation)?;
        let mut sizes = [0; K];
        for (axis, size) in sizes.iter_mut().enumerate() {
            *size = self.output_size(axis, input[axis])?;
        }
        Ok(sizes)
    }

    /// Pools refuse windows that may lie wholly in the padding.
    pub fn check_padding(&self) -> Result<(), OpError> {
        for axis in 0..K {
            let (padding, extent) = (self.padding[axis], self.extent(axis));
            if padding > extent / 2 {
                let why = format!("must be at most half of the window's extent {extent}");
                return Err(OpError::attribute(
                    "padding",
                    format!("{:?}", self.padding),
                    why,
                ));
            }
        }
        Ok(())
    }

    /// The number of elements in a window.
    pub fn numel(&self) -> u64 {
        super::check::numel(&self.kernel_size)
    }

    /// The extent of a window along `axis`: d(k − 1) + 1.
    fn extent(&self, axis: usize) -> usize {
        let steps = self.kernel_size[axis].saturating_sub(1);
        self.dilation[axis].saturating_mul(steps).saturating_add(1)
    }

    fn output_size(&self, axis: usize, input: usize) -> Result<usize, OpError> {
        let padded = self.padding[axis].saturating_mul(2).saturating_add(input);
        let extent = self.extent(axis);
        let Some(room) = padded.checked_sub(extent) else {
            let why = format!("the window spans {extent}, more than the padded input's {padded}");
            let value = format!("{:?}", self.kernel_size);
            return Err(OpError::attribute("kernel_size", value, why));
        };
        let stride = self.stride[axis];
        let more = room.div_ceil(stride);
        // PyTorch leaves out a window that would start in the padding behind the input.
        let starts_inside = more.saturating_mul(stride) < input.saturating_add(self.padding[axis]);
        let steps = if self.ceil_mode && starts_inside {
            more
        } else {
            room / stride
        };
        Ok(steps.saturating_add(1))
    }
}
