//! Spelled-out columns, `columns[ic, ky, kx, oy, ox]`: for strides other than one, and for gradients of the data
//! where they are less work.

use super::ConvShape;
use crate::gemm::{Init, gemm};
use crate::isa::vector_versions;
use crate::strided::{ADD, move_rows};

/// Widest window whose gradients are gathered.
const MAX_TAPS: usize = 32;

/// The outputs that read the image through one window element: a block of rows.
struct Block {
    /// Its start in the columns; its rows are an output row apart.
    column: usize,
    /// Its start in the image; its rows and elements are a stride apart.
    image: usize,
    rows: usize,
    width: usize,
}

/// Calls `f` for every channel and window element.
#[inline(always)]
fn for_each_block(s: &ConvShape, mut f: impl FnMut(Block)) {
    let [oh, ow] = s.output();
    let mut column = 0;
    for channel in 0..s.in_channels {
        for ky in 0..s.kernel[0] {
            for kx in 0..s.kernel[1] {
                let offset = [ky * s.dilation[0], kx * s.dilation[1]];
                let [(top, rows), (left, width)] = [0, 1].map(|i| inside(s, i, offset[i]));
                if rows > 0 && width > 0 {
                    let y = top * s.stride[0] + offset[0] - s.padding[0];
                    let x = left * s.stride[1] + offset[1] - s.padding[1];
                    let image = (channel * s.input[0] + y) * s.input[1] + x;
                    f(Block {
                        column: column + top * ow + left,
                        image,
                        rows,
                        width,
                    });
                }
                column += oh * ow;
            }
        }
    }
}

/// Along an axis, the first output and the number of outputs whose position `o · stride + offset − padding` is inside
/// the input.
fn inside(s: &ConvShape, axis: usize, offset: usize) -> (usize, usize) {
    let (stride, padding) = (s.stride[axis], s.padding[axis]);
    let first = padding.saturating_sub(offset).div_ceil(stride);
    let end = (s.input[axis] + padding)
        .saturating_sub(offset)
        .div_ceil(stride)
        .min(s.output()[axis]);
    (first.min(end), end.saturating_sub(first))
}

/// Writes the columns of one image.
pub(super) fn spell_out(s: &ConvShape, image: &[f32], columns: &mut [f32]) {
    columns.fill(0.0);
    let (ow, distance) = (s.output()[1], s.stride[0] * s.input[1]);
    for_each_block(
        s,
        #[inline(always)]
        |b| {
            for r in 0..b.rows {
                let from = image[b.image + r * distance..].iter().step_by(s.stride[1]);
                for (column, &x) in columns[b.column + r * ow..][..b.width].iter_mut().zip(from) {
                    *column = x;
                }
            }
        },
    );
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
    let n = oh * ow;
    let (window, m) = (s.group_inputs() * s.window(), s.group_outputs());
    let columns = &mut scratch[..s.groups * window * n];
    let (x_image, y_image) = (dx.len() / s.batch, dy.len() / s.batch);
    for (dx, dy) in dx.chunks_exact_mut(x_image).zip(dy.chunks_exact(y_image)) {
        for (group, columns) in columns.chunks_exact_mut((window * n).max(1)).enumerate() {
            let (w, dy) = (&w[group * m * window..], &dy[group * m * n..]);
            gemm(window, m, n, w, 1, window, dy, n, columns, n, Init::Zero);
        }
        if s.stride == [1, 1] && s.kernel[1] <= MAX_TAPS {
            // SAFETY: `dx` is one image, and the columns are of the shape.
            unsafe { gather(s, columns.as_ptr(), dx.as_mut_ptr()) };
        } else {
            dx.fill(0.0);
            add_back(s, columns, dx);
        }
    }
}

/// Adds every column element to the input element it was read from.
fn add_back(s: &ConvShape, columns: &[f32], dx: &mut [f32]) {
    let (ow, distance) = (s.output()[1], s.stride[0] * s.input[1]);
    for_each_block(
        s,
        #[inline(always)]
        |b| {
            let (columns, dx) = (&columns[b.column..], &mut dx[b.image..]);
            if s.stride[1] == 1 {
                move_rows::<ADD>(b.rows, b.width, columns, ow, dx, distance);
                return;
            }
            for r in 0..b.rows {
                let to = dx[r * distance..].iter_mut().step_by(s.stride[1]);
                for (dx, &column) in to.zip(&columns[r * ow..][..b.width]) {
                    *dx += column;
                }
            }
        },
    );
}

vector_versions! {
    /// At stride one, each input element adds up its column elements: the sums stay in registers, where adding back would
    /// wait for its own stores.
    unsafe fn gather<V>(s: &ConvShape, columns: *const f32, dx: *mut f32) {
        let ([oh, ow], [h, w]) = (s.output(), s.input);
        let mut taps = [(0, V::mask(0)); MAX_TAPS];
        let taps = &mut taps[..s.kernel[1]];
        for x in (0..w).step_by(V::LANES) {
            let width = V::mask((w - x).min(V::LANES));
            for (kx, tap) in taps.iter_mut().enumerate() {
                // The vector starts at output column `at - left`, and lanes outside 0..ow have no column.
                let (at, left) = (x + s.padding[1], kx * s.dilation[1]);
                let from = left.saturating_sub(at).min(V::LANES);
                let to = (ow + left).saturating_sub(at).clamp(from, V::LANES);
                *tap = ((kx * oh * ow + at).wrapping_sub(left), V::mask_between(from, to));
            }
            for row in 0..s.in_channels * h {
                let (channel, y) = (row / h, row % h);
                let mut sum = V::splat(0.0);
                for ky in 0..s.kernel[0] {
                    let oy = (y + s.padding[0]).wrapping_sub(ky * s.dilation[0]);
                    if oy < oh {
                        let first = ((channel * s.kernel[0] + ky) * s.kernel[1] * oh + oy) * ow;
                        for &(offset, mask) in taps.iter() {
                            sum = sum.add(V::load_masked(columns.wrapping_add(first.wrapping_add(offset)), mask));
                        }
                    }
                }
                sum.store_masked(dx.add(row * w + x), width);
            }
        }
    }
}
