//! Matrix transpose.

use crate::isa::vector_versions;
use crate::simd::TransposeBlock;

/// `y[c·ldy + r] = x[r·ldx + c]` for `rows` × `cols` elements of `x`.
///
/// # Panics
/// When a slice is too short for its sizes and stride: an error of the caller.
pub fn transpose(rows: usize, cols: usize, x: &[f32], ldx: usize, y: &mut [f32], ldy: usize) {
    if rows == 0 || cols == 0 {
        return;
    }
    let (x_len, y_len) = ((rows - 1) * ldx + cols, (cols - 1) * ldy + rows);
    assert!(
        x.len() >= x_len,
        "transpose: x has {} elements, {rows} rows, ldx = {ldx} need {x_len}",
        x.len()
    );
    assert!(
        y.len() >= y_len,
        "transpose: y has {} elements, {cols} rows, ldy = {ldy} need {y_len}",
        y.len()
    );
    match rows {
        2 => return interleave::<2>(cols, x, ldx, y, ldy),
        3 => return interleave::<3>(cols, x, ldx, y, ldy),
        _ => {}
    }
    // SAFETY: the lengths were checked above.
    unsafe { transpose_unchecked(rows, cols, x.as_ptr(), ldx, y.as_mut_ptr(), ldy) }
}

/// [`transpose`] of a few rows, element by element: vectors would be stored in part, which is slow.
fn interleave<const R: usize>(cols: usize, x: &[f32], ldx: usize, y: &mut [f32], ldy: usize) {
    let rows: [&[f32]; R] = std::array::from_fn(|r| &x[r * ldx..][..cols]);
    for (c, y) in y.chunks_mut(ldy.max(1)).take(cols).enumerate() {
        for (y, row) in y[..R].iter_mut().zip(rows) {
            *y = row[c];
        }
    }
}

vector_versions! {
    /// [`transpose`] on pointers: square blocks of registers, in part at the edges.
    ///
    /// # Safety
    /// `x` and `y` are valid for their sizes and strides and do not overlap.
    pub(super) unsafe fn transpose_unchecked<V>(rows: usize, cols: usize, x: *const f32, ldx: usize, y: *mut f32, ldy: usize) {
        let mut c = 0;
        while c < cols {
            let width = (cols - c).min(V::LANES);
            let mut r = 0;
            while r < rows {
                let height = (rows - r).min(V::LANES);
                let (x, y) = (x.add(r * ldx + c), y.add(c * ldy + r));
                V::transpose_block(TransposeBlock { rows: height, cols: width, x, ldx, y, ldy });
                r += V::LANES;
            }
            c += V::LANES;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::noise;

    #[test]
    fn every_element_moves_and_nothing_else() {
        on_every_isa(|isa| {
            for rows in [0, 1, 3, 15, 16, 17, 33, 64] {
                for cols in [0, 1, 5, 16, 31, 48] {
                    for pad in [0, 3] {
                        let (ldx, ldy) = (cols + pad, rows + pad);
                        let x = noise(rows * ldx, 1);
                        let old = noise(cols * ldy, 2);
                        let mut y = old.clone();
                        transpose(rows, cols, &x, ldx, &mut y, ldy);
                        for (at, &got) in y.iter().enumerate() {
                            let (c, r) = (at / ldy.max(1), at % ldy.max(1));
                            let want = if r < rows { x[r * ldx + c] } else { old[at] };
                            assert_eq!(got, want, "{isa:?} {rows}×{cols} at {r}, {c}");
                        }
                    }
                }
            }
        });
    }
}
