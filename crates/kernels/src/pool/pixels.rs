//! Pooling over pixels of several channels: every channel of a window at once, some channels at a time.

use super::window::{Span, Windows, positions};
use crate::isa::{vector_versions, versions};

/// Channels that are pooled at a time: their results stay in registers.
const TOGETHER: usize = 32;

/// Calls `f(first channel, channels)` for parts of the channels.
#[inline(always)]
fn for_parts(channels: usize, mut f: impl FnMut(usize, usize)) {
    for from in (0..channels).step_by(TOGETHER) {
        f(from, TOGETHER.min(channels - from));
    }
}

/// The window of one output pixel in its plane.
#[derive(Clone, Copy)]
struct Window {
    rows: Span,
    cols: Span,
    width: usize,
    channels: usize,
    x: *const f32,
}

impl Window {
    fn new(
        w: &Windows<impl Fn(usize, usize) -> Span + Copy>,
        [rows, cols]: [Span; 2],
        x: &[f32],
    ) -> Self {
        Self {
            rows,
            cols,
            width: w.input[1],
            channels: w.channels,
            x: x[..w.input[0] * w.input[1] * w.channels].as_ptr(),
        }
    }

    /// Calls `f` with the offset of every position of the window.
    #[inline(always)]
    fn for_each(&self, mut f: impl FnMut(usize)) {
        for r in 0..self.rows.count {
            let row = (self.rows.at + r * self.rows.step) * self.width + self.cols.at;
            for c in 0..self.cols.count {
                f((row + c * self.cols.step) * self.channels);
            }
        }
    }
}

/// The result and the gradient of one output pixel, and the gradient of its plane.
#[derive(Clone, Copy)]
struct Gradients {
    y: *const f32,
    dy: *const f32,
    dx: *mut f32,
}

vector_versions! {
    unsafe fn largest<V>(window: Window, y: *mut f32) {
        for from in (0..window.channels).step_by(V::LANES) {
            let mask = V::mask(V::LANES.min(window.channels - from));
            let mut best = V::splat(f32::NEG_INFINITY);
            window.for_each(#[inline(always)] |at| {
                best = best.max_or_nan(V::load_masked(window.x.add(at + from), mask));
            });
            best.store_masked(y.add(from), mask);
        }
    }

    unsafe fn to_first_largest<V>(window: Window, g: Gradients) {
        for from in (0..window.channels).step_by(V::LANES) {
            let mask = V::mask(V::LANES.min(window.channels - from));
            let y = V::load_masked(g.y.add(from), mask);
            // The gradient that no earlier position has taken.
            let mut left = V::load_masked(g.dy.add(from), mask);
            window.for_each(#[inline(always)] |at| {
                let x = V::load_masked(window.x.add(at + from), mask);
                let (taken, rest) = left.split_where_equal(x, y);
                left = rest;
                let dx = g.dx.add(at + from);
                V::load_masked(dx, mask).add(taken).store_masked(dx, mask);
            });
        }
    }
}

pub(super) fn max_forward(
    w: Windows<impl Fn(usize, usize) -> Span + Copy>,
    x: &[f32],
    y: &mut [f32],
) {
    w.for_each(|o, rows, cols| {
        let window = Window::new(&w, [rows, cols], &x[o.plane * w.channels..]);
        let y = y[o.index * w.channels..][..w.channels].as_mut_ptr();
        // SAFETY: spans lie inside the plane, and the pointers are those of a whole plane and a whole pixel.
        unsafe { largest(window, y) };
    });
}

pub(super) fn max_backward(
    w: Windows<impl Fn(usize, usize) -> Span + Copy>,
    x: &[f32],
    y: &[f32],
    dy: &[f32],
    dx: &mut [f32],
) {
    dx.fill(0.0);
    let (plane, channels) = (w.input[0] * w.input[1], w.channels);
    w.for_each(|o, rows, cols| {
        let window = Window::new(&w, [rows, cols], &x[o.plane * channels..]);
        let output = o.index * channels..(o.index + 1) * channels;
        let gradients = Gradients {
            y: y[output.clone()].as_ptr(),
            dy: dy[output].as_ptr(),
            dx: dx[o.plane * channels..][..plane * channels].as_mut_ptr(),
        };
        // SAFETY: as above.
        unsafe { to_first_largest(window, gradients) };
    });
}

versions! {
    pub(super) fn avg_forward(w: Windows<impl Fn(usize, usize) -> Span + Copy>, divisor: Option<usize>, x: &[f32], y: &mut [f32]) {
        let channels = w.channels;
        w.for_each(#[inline(always)] |o, rows, cols| {
            let divisor = divisor.unwrap_or(rows.count * cols.count) as f32;
            for_parts(channels, #[inline(always)] |from, count| {
                let mut sum = [0.0; TOGETHER];
                for pixel in positions(rows, cols, w.input[1]) {
                    let x = &x[(o.plane + pixel) * channels + from..][..count];
                    for (sum, &x) in sum.iter_mut().zip(x) {
                        *sum += x;
                    }
                }
                let y = &mut y[o.index * channels + from..][..count];
                for (y, sum) in y.iter_mut().zip(sum) {
                    *y = sum / divisor;
                }
            });
        });
    }

    pub(super) fn avg_backward(w: Windows<impl Fn(usize, usize) -> Span + Copy>, divisor: Option<usize>, dy: &[f32], dx: &mut [f32]) {
        dx.fill(0.0);
        let channels = w.channels;
        w.for_each(#[inline(always)] |o, rows, cols| {
            let divisor = divisor.unwrap_or(rows.count * cols.count) as f32;
            for pixel in positions(rows, cols, w.input[1]) {
                let dx = &mut dx[(o.plane + pixel) * channels..][..channels];
                for (dx, &dy) in dx.iter_mut().zip(&dy[o.index * channels..][..channels]) {
                    *dx += dy / divisor;
                }
            }
        });
    }
}
