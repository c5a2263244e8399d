//! Moving rows between matrices whose rows lie at different distances.

use crate::isa::vector_versions;
use crate::simd::Vector;

/// The kinds of [`move_rows`].
pub(crate) const COPY: bool = false;
pub(crate) const ADD: bool = true;

/// Copies `rows` rows of `width` elements between row distances.
///
/// # Panics
/// When the rows do not fit: an error of the caller.
pub fn copy_rows(rows: usize, width: usize, x: &[f32], ldx: usize, y: &mut [f32], ldy: usize) {
    move_rows::<COPY>(rows, width, x, ldx, y, ldy);
}

/// Copies `rows` rows of `width` elements between row distances, or adds them to others.
#[inline(always)]
pub(crate) fn move_rows<const KIND: bool>(
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
        "rows out of bounds"
    );
    let (x, y) = (x.as_ptr(), y.as_mut_ptr());
    // SAFETY: checked above.
    unsafe {
        if KIND == ADD {
            add_rows_vector(rows, width, x, ldx, y, ldy);
        } else {
            copy_rows_unchecked(rows, width, x, ldx, y, ldy);
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
    /// [`move_rows`] of the kind [`COPY`] on pointers.
    ///
    /// # Safety
    /// `x` and `y` are valid for their sizes and row distances and do not overlap.
    pub(crate) unsafe fn copy_rows_unchecked<V>(rows: usize, width: usize, x: *const f32, ldx: usize, y: *mut f32, ldy: usize) {
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
