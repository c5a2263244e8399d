//! Pooling over any windows, one at a time.

use super::pixels;
use crate::isa::versions;
use crate::row_reduce::add_lanes;

/// The positions of a window along one axis that lie inside the input.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) at: usize,
    pub(super) count: usize,
    pub(super) step: usize,
}

/// Planes and the windows of their outputs; `span(axis, o)` is the window of output `o` along an axis.
#[derive(Clone, Copy)]
pub(super) struct Windows<F> {
    pub(super) planes: usize,
    pub(super) channels: usize,
    pub(super) input: [usize; 2],
    pub(super) output: [usize; 2],
    pub(super) span: F,
}

impl<F: Fn(usize, usize) -> Span + Copy> Windows<F> {
    pub(super) fn check(&self, x: usize, y: usize) {
        let (input, output) = (
            self.planes * self.channels * self.input[0] * self.input[1],
            self.planes * self.channels * self.output[0] * self.output[1],
        );
        assert_eq!(
            x, input,
            "pool: the input has {x} elements, {} planes of {:?} need {input}",
            self.planes, self.input
        );
        assert_eq!(
            y, output,
            "pool: the output has {y} elements, {} planes of {:?} need {output}",
            self.planes, self.output
        );
    }

    pub(super) fn max_forward(&self, x: &[f32], y: &mut [f32]) {
        if self.channels == 1 {
            max_forward(*self, x, y);
        } else {
            pixels::max_forward(*self, x, y);
        }
    }

    pub(super) fn max_backward(&self, x: &[f32], y: &[f32], dy: &[f32], dx: &mut [f32]) {
        if self.channels != 1 {
            pixels::max_backward(*self, x, y, dy, dx);
            return;
        }
        dx.fill(0.0);
        self.for_each(
            #[inline(always)]
            |o, rows, cols| {
                let winner = positions(rows, cols, self.input[1])
                    .find(|&i| x[i + o.plane] == y[o.index] || x[i + o.plane].is_nan());
                if let Some(i) = winner {
                    dx[i + o.plane] += dy[o.index];
                }
            },
        );
    }

    pub(super) fn avg_forward(&self, divisor: Option<usize>, x: &[f32], y: &mut [f32]) {
        if self.channels == 1 {
            avg_forward(*self, divisor, x, y);
        } else {
            pixels::avg_forward(*self, divisor, x, y);
        }
    }

    pub(super) fn avg_backward(&self, divisor: Option<usize>, dy: &[f32], dx: &mut [f32]) {
        if self.channels == 1 {
            avg_backward(*self, divisor, dy, dx);
        } else {
            pixels::avg_backward(*self, divisor, dy, dx);
        }
    }

    /// Calls `f` with every output pixel.
    #[inline(always)]
    pub(super) fn for_each(&self, mut f: impl FnMut(Output, Span, Span)) {
        let plane_len = self.input[0] * self.input[1];
        let mut index = 0;
        for plane in 0..self.planes {
            for oy in 0..self.output[0] {
                let rows = (self.span)(0, oy);
                for ox in 0..self.output[1] {
                    f(
                        Output {
                            index,
                            plane: plane * plane_len,
                        },
                        rows,
                        (self.span)(1, ox),
                    );
                    index += 1;
                }
            }
        }
    }
}

/// An output pixel and where its plane of the input starts, in pixels.
pub(super) struct Output {
    pub(super) index: usize,
    pub(super) plane: usize,
}

/// The window's positions in its plane, row by row.
#[inline(always)]
pub(super) fn positions(rows: Span, cols: Span, width: usize) -> impl Iterator<Item = usize> {
    (0..rows.count).flat_map(move |r| {
        let row = (rows.at + r * rows.step) * width + cols.at;
        (0..cols.count).map(move |c| row + c * cols.step)
    })
}

/// Calls `f` with the start of each row of the window.
#[inline(always)]
fn for_rows(rows: Span, cols: Span, width: usize, mut f: impl FnMut(usize)) {
    for r in 0..rows.count {
        f((rows.at + r * rows.step) * width + cols.at);
    }
}

versions! {
    fn max_forward(w: Windows<impl Fn(usize, usize) -> Span + Copy>, x: &[f32], y: &mut [f32]) {
        w.for_each(#[inline(always)] |o, rows, cols| {
            let mut best = f32::NEG_INFINITY;
            for_rows(rows, cols, w.input[1], |start| {
                for c in 0..cols.count {
                    let value = x[o.plane + start + c * cols.step];
                    best = if value > best || value.is_nan() { value } else { best };
                }
            });
            y[o.index] = best;
        });
    }

    fn avg_forward(w: Windows<impl Fn(usize, usize) -> Span + Copy>, divisor: Option<usize>, x: &[f32], y: &mut [f32]) {
        w.for_each(#[inline(always)] |o, rows, cols| {
            let mut sum = 0.0;
            for_rows(rows, cols, w.input[1], |start| {
                let row = &x[o.plane + start..];
                sum += if cols.step == 1 {
                    add_lanes(&row[..cols.count])
                } else {
                    row.iter().step_by(cols.step).take(cols.count).sum::<f32>()
                };
            });
            y[o.index] = sum / divisor.unwrap_or(rows.count * cols.count) as f32;
        });
    }

    fn avg_backward(w: Windows<impl Fn(usize, usize) -> Span + Copy>, divisor: Option<usize>, dy: &[f32], dx: &mut [f32]) {
        dx.fill(0.0);
        w.for_each(#[inline(always)] |o, rows, cols| {
            let share = dy[o.index] / divisor.unwrap_or(rows.count * cols.count) as f32;
            for_rows(rows, cols, w.input[1], |start| {
                for c in 0..cols.count {
                    dx[o.plane + start + c * cols.step] += share;
                }
            });
        });
    }
}
