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

/// The windows of a row of output pixels in its plane.
#[derive(Clone, Copy)]
struct WindowRow<'a> {
    rows: Span,
    cols: &'a [Span],
    width: usize,
    channels: usize,
    x: *const f32,
}

impl WindowRow<'_> {
    /// Calls `f` with the offset of every position of a window.
    #[inline(always)]
    fn for_each(&self, cols: Span, mut f: impl FnMut(usize)) {
        for r in 0..self.rows.count {
            let row = (self.rows.at + r * self.rows.step) * self.width + cols.at;
            for c in 0..cols.count {
                f((row + c * cols.step) * self.channels);
            }
        }
    }
}

/// The results and the gradients of a row of output pixels, and the gradient of its plane.
#[derive(Clone, Copy)]
struct Gradients {
    y: *const f32,
    dy: *const f32,
    dx: *mut f32,
}

vector_versions! {
    unsafe fn largest<V>(row: WindowRow, y: *mut f32) {
        for (pixel, &cols) in row.cols.iter().enumerate() {
            for from in (0..row.channels).step_by(V::LANES) {
                let mask = V::mask(V::LANES.min(row.channels - from));
                let mut best = V::splat(f32::NEG_INFINITY);
                row.for_each(cols, #[inline(always)] |at| {
                    best = best.max_or_nan(V::load_masked(row.x.add(at + from), mask));
                });
                best.store_masked(y.add(pixel * row.channels + from), mask);
            }
        }
    }

    unsafe fn to_first_largest<V>(row: WindowRow, g: Gradients) {
        for (pixel, &cols) in row.cols.iter().enumerate() {
            for from in (0..row.channels).step_by(V::LANES) {
                let mask = V::mask(V::LANES.min(row.channels - from));
                let own = pixel * row.channels + from;
                let y = V::load_masked(g.y.add(own), mask);
                // The gradient that no earlier position has taken.
                let mut left = V::load_masked(g.dy.add(own), mask);
                row.for_each(cols, #[inline(always)] |at| {
                    let x = V::load_masked(row.x.add(at + from), mask);
                    let (taken, rest) = left.split_where_equal(x, y);
                    left = rest;
                    let dx = g.dx.add(at + from);
                    V::load_masked(dx, mask).add(taken).store_masked(dx, mask);
                });
            }
        }
    }
}

/// Calls `f` with every row of output pixels, and where its plane and its results begin.
fn for_each_row(
    w: &Windows<impl Fn(usize, usize) -> Span + Copy>,
    x: &[f32],
    mut f: impl FnMut(WindowRow, usize, usize),
) {
    let (plane, [height, width]) = (w.input[0] * w.input[1] * w.channels, w.output);
    let cols: Vec<Span> = (0..width).map(|ox| (w.span)(1, ox)).collect();
    for at in 0..w.planes {
        for oy in 0..height {
            let row = WindowRow {
                rows: (w.span)(0, oy),
                cols: &cols,
                width: w.input[1],
                channels: w.channels,
                x: x[at * plane..][..plane].as_ptr(),
            };
            f(row, at * plane, (at * height + oy) * width * w.channels);
        }
    }
}

pub(super) fn max_forward(
    w: Windows<impl Fn(usize, usize) -> Span + Copy>,
    x: &[f32],
    y: &mut [f32],
) {
    let len = w.output[1] * w.channels;
    for_each_row(&w, x, |row, _, first| {
        let y = y[first..][..len].as_mut_ptr();
        // SAFETY: spans lie inside the plane, and the pointers are those of a whole plane and a whole row of pixels.
        unsafe { largest(row, y) };
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
    let plane_len = w.input[0] * w.input[1] * w.channels;
    let len = w.output[1] * w.channels;
    for_each_row(&w, x, |row, plane, first| {
        let gradients = Gradients {
            y: y[first..][..len].as_ptr(),
            dy: dy[first..][..len].as_ptr(),
            dx: dx[plane..][..plane_len].as_mut_ptr(),
        };
        // SAFETY: as above.
        unsafe { to_first_largest(row, gradients) };
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
