//! Pooling on planes; 1-D is height one. A plane of pixels with several channels pools each channel for itself: data as
//! `[image, channel, y, x]` are `image · channel` planes of one channel, as `[image, y, x, channel]` one plane an image.
//!
//! Windows of 2 × 2 at stride 2 and pixels of several channels run on vectors; every other shape, adaptive windows included, walks its windows.
//! A NaN in a window makes its maximum NaN.

mod halve;
mod pixels;
#[cfg(test)]
mod tests;
mod window;

use crate::shape::windows;
use window::{Span, Windows};

/// Sizes of a pooling. `[height, width]` throughout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolShape {
    /// Number of planes.
    pub planes: usize,
    /// Channels of a pixel.
    pub channels: usize,
    /// Input plane.
    pub input: [usize; 2],
    /// Window.
    pub kernel: [usize; 2],
    /// Distance of neighbouring windows.
    pub stride: [usize; 2],
    /// Positions added on both sides; they never win a maximum.
    pub padding: [usize; 2],
    /// Distance of neighbouring window elements.
    pub dilation: [usize; 2],
    /// Positions that windows reach beyond the padding at the end; they do not count in a mean.
    pub overhang: [usize; 2],
}

impl PoolShape {
    /// Output plane; zero along an axis where the window does not fit.
    pub fn output(&self) -> [usize; 2] {
        let sizes = |i: usize| [self.kernel[i], self.stride[i], self.dilation[i]];
        let padded = |i: usize| self.input[i] + 2 * self.padding[i] + self.overhang[i];
        [0, 1].map(|i| windows(padded(i), sizes(i)))
    }

    /// The overhang of windows that make this output.
    pub fn overhang_of(&self, output: [usize; 2]) -> [usize; 2] {
        let last = |i: usize| output[i].saturating_sub(1) * self.stride[i];
        let span = |i: usize| self.dilation[i] * self.kernel[i].saturating_sub(1) + 1;
        let padded = |i: usize| self.input[i] + 2 * self.padding[i];
        [0, 1].map(|i| (last(i) + span(i)).saturating_sub(padded(i)))
    }

    fn windows(&self) -> Windows<impl Fn(usize, usize) -> Span + Copy> {
        let s = *self;
        Windows {
            planes: s.planes,
            channels: s.channels,
            input: s.input,
            output: s.output(),
            span: move |axis: usize, o: usize| {
                let (start, size) = (o * s.stride[axis], s.input[axis] + s.padding[axis]);
                let first = s.padding[axis]
                    .saturating_sub(start)
                    .div_ceil(s.dilation[axis]);
                let end = size
                    .saturating_sub(start)
                    .div_ceil(s.dilation[axis])
                    .min(s.kernel[axis]);
                let at = (start + first * s.dilation[axis]).saturating_sub(s.padding[axis]);
                Span {
                    at,
                    count: end.saturating_sub(first),
                    step: s.dilation[axis],
                }
            },
        }
    }

    fn halves(&self) -> bool {
        let sizes = (self.kernel, self.stride, self.padding, self.dilation);
        self.channels == 1 && self.overhang == [0, 0] && sizes == ([2, 2], [2, 2], [0, 0], [1, 1])
    }
}

/// Sizes of an adaptive pool, whose windows cut `input` into `output` nearly equal parts, as `PyTorch` does: from
/// `⌊i·in/out⌋` to `⌈(i+1)·in/out⌉`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptiveShape {
    /// Number of planes.
    pub planes: usize,
    /// Channels of a pixel.
    pub channels: usize,
    /// Input plane.
    pub input: [usize; 2],
    /// Output plane.
    pub output: [usize; 2],
}

impl AdaptiveShape {
    fn windows(self) -> Windows<impl Fn(usize, usize) -> Span + Copy> {
        let Self {
            planes,
            channels,
            input,
            output,
        } = self;
        Windows {
            planes,
            channels,
            input,
            output,
            span: move |axis: usize, o: usize| {
                let at = o * input[axis] / output[axis];
                let end = ((o + 1) * input[axis]).div_ceil(output[axis]);
                Span {
                    at,
                    count: end - at,
                    step: 1,
                }
            },
        }
    }
}

/// Maximum of each window.
///
/// # Panics
/// Like every function here, when lengths do not fit the shape: an error of the caller.
pub fn max_pool_forward(s: &PoolShape, x: &[f32], y: &mut [f32]) {
    let windows = s.windows();
    windows.check(x.len(), y.len());
    if s.halves() {
        halve::max_forward(s, x, y);
    } else {
        windows.max_forward(x, y);
    }
}

/// Gradient of [`max_pool_forward`], to the first maximum of each window in row-major order. Overwrites `dx`.
pub fn max_pool_backward(s: &PoolShape, x: &[f32], y: &[f32], dy: &[f32], dx: &mut [f32]) {
    let windows = s.windows();
    windows.check(x.len(), y.len());
    windows.check(dx.len(), dy.len());
    if s.halves() {
        halve::max_backward(s, x, y, dy, dx);
    } else {
        windows.max_backward(x, y, dy, dx);
    }
}

/// Mean of each window; padding counts as zeros when `count_include_pad`, else it does not count.
pub fn avg_pool_forward(s: &PoolShape, count_include_pad: bool, x: &[f32], y: &mut [f32]) {
    let windows = s.windows();
    windows.check(x.len(), y.len());
    if s.halves() {
        halve::avg_forward(s, x, y);
    } else {
        windows.avg_forward(s.divisor(count_include_pad), x, y);
    }
}

/// Gradient of [`avg_pool_forward`]. Overwrites `dx`.
pub fn avg_pool_backward(s: &PoolShape, count_include_pad: bool, dy: &[f32], dx: &mut [f32]) {
    let windows = s.windows();
    windows.check(dx.len(), dy.len());
    if s.halves() {
        halve::avg_backward(s, dy, dx);
    } else {
        windows.avg_backward(s.divisor(count_include_pad), dy, dx);
    }
}

/// Mean over adaptive windows.
pub fn adaptive_avg_forward(s: &AdaptiveShape, x: &[f32], y: &mut [f32]) {
    let windows = s.windows();
    windows.check(x.len(), y.len());
    windows.avg_forward(None, x, y);
}

/// Gradient of [`adaptive_avg_forward`]. Overwrites `dx`.
pub fn adaptive_avg_backward(s: &AdaptiveShape, dy: &[f32], dx: &mut [f32]) {
    let windows = s.windows();
    windows.check(dx.len(), dy.len());
    windows.avg_backward(None, dy, dx);
}

/// Maximum over adaptive windows.
pub fn adaptive_max_forward(s: &AdaptiveShape, x: &[f32], y: &mut [f32]) {
    let windows = s.windows();
    windows.check(x.len(), y.len());
    windows.max_forward(x, y);
}

/// Gradient of [`adaptive_max_forward`], to the first maximum of each window. Overwrites `dx`.
pub fn adaptive_max_backward(s: &AdaptiveShape, x: &[f32], y: &[f32], dy: &[f32], dx: &mut [f32]) {
    let windows = s.windows();
    windows.check(x.len(), y.len());
    windows.check(dx.len(), dy.len());
    windows.max_backward(x, y, dy, dx);
}

impl PoolShape {
    /// The divisor of a mean: the whole window, or (`None`) the positions inside the input.
    fn divisor(&self, count_include_pad: bool) -> Option<usize> {
        let is_same_everywhere = count_include_pad && self.overhang == [0, 0];
        is_same_everywhere.then_some(self.kernel[0] * self.kernel[1])
    }
}
