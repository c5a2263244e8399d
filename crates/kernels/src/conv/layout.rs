//! Copies between layouts: strided rows, flipped weights.

use super::ConvShape;
use crate::isa::vector_versions;
use crate::simd::Vector;

/// Copies `rows` rows of `width` elements between row distances.
pub(super) fn copy_rows(
    rows: usize,
    width: usize,
    x: &[f32],
    ldx: usize,
    y: &mut [f32],
    ldy: usize,
) {
    move_rows::<false>(rows, width, x, ldx, y, ldy);
}

/// Adds `rows` rows of `width` elements to others.
pub(super) fn add_rows(
    rows: usize,
    width: usize,
    x: &[f32],
    ldx: usize,
    y: &mut [f32],
    ldy: usize,
) {
    move_rows::<true>(rows, width, x, ldx, y, ldy);
}

#[inline(always)]
fn move_rows<const ADD: bool>(
    rows: usize,
    width: usize,
    x: &[f32],
    ldx: usize,
    y: &mut [f32],
    ldy: usize,
) {
    if rows == 0 || width == 0 {
        return;
    }
    assert!(
        x.len() >= (rows - 1) * ldx + width && y.len() >= (rows - 1) * ldy + width,
        "conv: rows out of bounds"
    );
    let (x, y) = (x.as_ptr(), y.as_mut_ptr());
    // SAFETY: checked above.
    unsafe {
        if ADD {
            add_rows_vector(rows, width, x, ldx, y, ldy);
        } else {
            copy_rows_vector(rows, width, x, ldx, y, ldy);
        }
    }
}

/// Calls `f(x, y, mask)` with the offsets of every vector of the rows.
#[inline(always)]
unsafe fn for_vectors<V: Vector>(
    rows: usize,
    width: usize,
    ldx: usize,
    ldy: usize,
    f: impl Fn(usize, usize, V::Mask),
) {
    let whole = width / V::LANES * V::LANES;
    // SAFETY: the caller runs where the level's features are.
    let (full, tail) = unsafe { (V::mask(V::LANES), V::mask(width - whole)) };
    for r in 0..rows {
        for i in (0..whole).step_by(V::LANES) {
            f(r * ldx + i, r * ldy + i, full);
        }
        if whole < width {
            f(r * ldx + whole, r * ldy + whole, tail);
        }
    }
}

vector_versions! {
    unsafe fn copy_rows_vector<V>(rows: usize, width: usize, x: *const f32, ldx: usize, y: *mut f32, ldy: usize) {
        for_vectors::<V>(rows, width, ldx, ldy, #[inline(always)] |from, to, mask| {
            V::load_masked(x.add(from), mask).store_masked(y.add(to), mask);
        });
    }

    unsafe fn add_rows_vector<V>(rows: usize, width: usize, x: *const f32, ldx: usize, y: *mut f32, ldy: usize) {
        for_vectors::<V>(rows, width, ldx, ldy, #[inline(always)] |from, to, mask| {
            let sum = V::load_masked(x.add(from), mask).add(V::load_masked(y.add(to), mask));
            sum.store_masked(y.add(to), mask);
        });
    }
}

/// `flipped[ic, oc, ky, kx] = w[oc, ic, kh − 1 − ky, kw − 1 − kx]` within each group.
pub(super) fn flip_weights(s: &ConvShape, w: &[f32], flipped: &mut [f32]) {
    let (inputs, outputs, window) = (s.group_inputs(), s.group_outputs(), s.window());
    for group in 0..s.groups {
        for input in 0..inputs {
            for output in 0..outputs {
                let from = ((group * outputs + output) * inputs + input) * window;
                let to = ((group * inputs + input) * outputs + output) * window;
                for (out, &w) in flipped[to..to + window]
                    .iter_mut()
                    .zip(w[from..from + window].iter().rev())
                {
                    *out = w;
                }
            }
        }
    }
}
