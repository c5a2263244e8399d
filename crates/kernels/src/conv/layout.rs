//! Copies between layouts: strided rows, flipped weights.

use super::ConvShape;
use crate::isa::vector_versions;

/// Copies `rows` rows of `width` elements between row distances.
pub(super) fn copy_rows(
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
    // SAFETY: checked above.
    unsafe { copy_rows_vector(rows, width, x.as_ptr(), ldx, y.as_mut_ptr(), ldy) }
}

vector_versions! {
    unsafe fn copy_rows_vector<V>(rows: usize, width: usize, x: *const f32, ldx: usize, y: *mut f32, ldy: usize) {
        let whole = width / V::LANES * V::LANES;
        let tail = V::mask(width - whole);
        for r in 0..rows {
            let (x, y) = (x.add(r * ldx), y.add(r * ldy));
            let mut i = 0;
            while i < whole {
                V::load(x.add(i)).store(y.add(i));
                i += V::LANES;
            }
            if whole < width {
                V::load_masked(x.add(whole), tail).store_masked(y.add(whole), tail);
            }
        }
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
