//! Spelled-out columns for strides other than one: `columns[ic, ky, kx, oy, ox]`.

use super::ConvShape;
use crate::gemm::{Init, gemm};

/// Calls `f(column, image, count)` for every run of outputs in one row that read the image: where the run starts in
/// the columns and in the image, and its length. Neighbours are a stride apart in the image.
#[inline(always)]
fn for_each_run(s: &ConvShape, mut f: impl FnMut(usize, usize, usize)) {
    let [oh, ow] = s.output();
    let mut column = 0;
    for channel in 0..s.in_channels {
        for ky in 0..s.kernel[0] {
            for kx in 0..s.kernel[1] {
                let [top, left] = [ky * s.dilation[0], kx * s.dilation[1]];
                let (first, count) = inside(ow, left, s.stride[1], s.padding[1], s.input[1]);
                for oy in 0..oh {
                    let row = (oy * s.stride[0] + top).wrapping_sub(s.padding[0]);
                    if row < s.input[0] && count > 0 {
                        let x = first * s.stride[1] + left - s.padding[1];
                        f(
                            column + oy * ow + first,
                            (channel * s.input[0] + row) * s.input[1] + x,
                            count,
                        );
                    }
                }
                column += oh * ow;
            }
        }
    }
}

/// The first output and the number of outputs whose position `o · stride + offset − padding` lies in `0..size`.
fn inside(
    outputs: usize,
    offset: usize,
    stride: usize,
    padding: usize,
    size: usize,
) -> (usize, usize) {
    let first = padding.saturating_sub(offset).div_ceil(stride);
    let end = (size + padding)
        .saturating_sub(offset)
        .div_ceil(stride)
        .min(outputs);
    (first.min(end), end.saturating_sub(first))
}

/// Writes the columns of one image.
pub(super) fn spell_out(s: &ConvShape, image: &[f32], columns: &mut [f32]) {
    columns.fill(0.0);
    let step = s.stride[1];
    for_each_run(s, |column, at, count| {
        for (i, column) in columns[column..column + count].iter_mut().enumerate() {
            *column = image[at + i * step];
        }
    });
}

/// Input gradient: the columns' gradients, added back where they came from.
pub(super) fn backward_data(
    s: &ConvShape,
    dy: &[f32],
    w: &[f32],
    dx: &mut [f32],
    scratch: &mut [f32],
) {
    let [oh, ow] = s.output();
    let (n, step) = (oh * ow, s.stride[1]);
    let (window, m) = (s.group_inputs() * s.window(), s.group_outputs());
    let columns = &mut scratch[..s.groups * window * n];
    let (x_image, y_image) = (dx.len() / s.batch, dy.len() / s.batch);
    for (dx, dy) in dx.chunks_exact_mut(x_image).zip(dy.chunks_exact(y_image)) {
        for (group, columns) in columns.chunks_exact_mut((window * n).max(1)).enumerate() {
            let (w, dy) = (&w[group * m * window..], &dy[group * m * n..]);
            gemm(window, m, n, w, 1, window, dy, n, columns, n, Init::Zero);
        }
        dx.fill(0.0);
        for_each_run(s, |column, at, count| {
            for (i, &column) in columns[column..column + count].iter().enumerate() {
                dx[at + i * step] += column;
            }
        });
    }
}
