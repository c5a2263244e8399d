//! Windows of 2 × 2 at stride 2: two vectors of a row and of the next become one vector of outputs.

use super::PoolShape;
use crate::isa::vector_versions;
use crate::simd::Vector;

/// Pointers to the planes of one pooling, and the widths between their rows.
#[derive(Clone, Copy)]
struct Rows {
    /// Output rows over all planes.
    count: usize,
    /// Output rows of a plane, and input rows.
    heights: [usize; 2],
    /// Output width, and input width.
    widths: [usize; 2],
}

impl Rows {
    fn new(s: &PoolShape) -> Self {
        let [oh, ow] = s.output();
        Self {
            count: s.planes * oh,
            heights: [oh, s.input[0]],
            widths: [ow, s.input[1]],
        }
    }

    /// The starts of output row `r` and of the first of its input rows.
    #[inline(always)]
    fn starts(&self, r: usize) -> (usize, usize) {
        let (plane, row) = (r / self.heights[0], r % self.heights[0]);
        (
            r * self.widths[0],
            (plane * self.heights[1] + 2 * row) * self.widths[1],
        )
    }
}

pub(super) fn max_forward(s: &PoolShape, x: &[f32], y: &mut [f32]) {
    // SAFETY: the caller checked the lengths against the shape.
    unsafe { max_forward_vector(Rows::new(s), x.as_ptr(), y.as_mut_ptr()) }
}

pub(super) fn max_backward(s: &PoolShape, x: &[f32], y: &[f32], dy: &[f32], dx: &mut [f32]) {
    clear_leftovers(s, dx);
    // SAFETY: as above.
    unsafe {
        max_backward_vector(
            Rows::new(s),
            x.as_ptr(),
            y.as_ptr(),
            dy.as_ptr(),
            dx.as_mut_ptr(),
        );
    }
}

pub(super) fn avg_forward(s: &PoolShape, x: &[f32], y: &mut [f32]) {
    // SAFETY: as above.
    unsafe { avg_forward_vector(Rows::new(s), x.as_ptr(), y.as_mut_ptr()) }
}

pub(super) fn avg_backward(s: &PoolShape, dy: &[f32], dx: &mut [f32]) {
    clear_leftovers(s, dx);
    // SAFETY: as above.
    unsafe { avg_backward_vector(Rows::new(s), dy.as_ptr(), dx.as_mut_ptr()) }
}

/// An odd last row or column belongs to no window.
fn clear_leftovers(s: &PoolShape, dx: &mut [f32]) {
    if s.input.iter().any(|size| size % 2 == 1) {
        dx.fill(0.0);
    }
}

/// Calls `f(output, input, masks)` for every vector of outputs: flat offsets, and the masks of the outputs and of the
/// two vectors of inputs they come from.
#[inline(always)]
unsafe fn for_vectors<V: Vector>(rows: Rows, f: impl Fn(usize, usize, [V::Mask; 3])) {
    for r in 0..rows.count {
        let (output, input) = rows.starts(r);
        let mut x = 0;
        while x < rows.widths[0] {
            let width = (rows.widths[0] - x).min(V::LANES);
            let low = (2 * width).min(V::LANES);
            // SAFETY: the caller runs where the level's features are.
            let masks = unsafe { [V::mask(width), V::mask(low), V::mask(2 * width - low)] };
            f(output + x, input + 2 * x, masks);
            x += V::LANES;
        }
    }
}

/// The even and odd elements of a row's pair of vectors.
#[inline(always)]
unsafe fn load_pairs<V: Vector>(p: *const f32, masks: [V::Mask; 3]) -> (V, V) {
    // SAFETY: the caller's masks stay inside the row.
    unsafe {
        V::load_masked(p, masks[1]).split_pairs(V::load_masked(p.wrapping_add(V::LANES), masks[2]))
    }
}

#[inline(always)]
unsafe fn store_pairs<V: Vector>(even: V, odd: V, p: *mut f32, masks: [V::Mask; 3]) {
    // SAFETY: the caller's masks stay inside the row.
    unsafe {
        let (low, high) = even.join_pairs(odd);
        low.store_masked(p, masks[1]);
        high.store_masked(p.wrapping_add(V::LANES), masks[2]);
    }
}

vector_versions! {
    unsafe fn max_forward_vector<V>(rows: Rows, x: *const f32, y: *mut f32) {
        for_vectors::<V>(rows, #[inline(always)] |o, i, masks| {
            let (a, b) = load_pairs::<V>(x.add(i), masks);
            let (c, d) = load_pairs::<V>(x.add(i + rows.widths[1]), masks);
            a.max_or_nan(b).max_or_nan(c.max_or_nan(d)).store_masked(y.add(o), masks[0]);
        });
    }

    unsafe fn max_backward_vector<V>(rows: Rows, x: *const f32, y: *const f32, dy: *const f32, dx: *mut f32) {
        for_vectors::<V>(rows, #[inline(always)] |o, i, masks| {
            let next = i + rows.widths[1];
            let (a, b) = load_pairs::<V>(x.add(i), masks);
            let (c, d) = load_pairs::<V>(x.add(next), masks);
            let y = V::load_masked(y.add(o), masks[0]);
            let dy = V::load_masked(dy.add(o), masks[0]);
            let (to_a, rest) = dy.split_where_equal(a, y);
            let (to_b, rest) = rest.split_where_equal(b, y);
            let (to_c, rest) = rest.split_where_equal(c, y);
            let (to_d, _) = rest.split_where_equal(d, y);
            store_pairs(to_a, to_b, dx.add(i), masks);
            store_pairs(to_c, to_d, dx.add(next), masks);
        });
    }

    unsafe fn avg_forward_vector<V>(rows: Rows, x: *const f32, y: *mut f32) {
        for_vectors::<V>(rows, #[inline(always)] |o, i, masks| {
            let (a, b) = load_pairs::<V>(x.add(i), masks);
            let (c, d) = load_pairs::<V>(x.add(i + rows.widths[1]), masks);
            a.add(b).add(c.add(d)).mul(V::splat(0.25)).store_masked(y.add(o), masks[0]);
        });
    }

    unsafe fn avg_backward_vector<V>(rows: Rows, dy: *const f32, dx: *mut f32) {
        for_vectors::<V>(rows, #[inline(always)] |o, i, masks| {
            let share = V::load_masked(dy.add(o), masks[0]).mul(V::splat(0.25));
            store_pairs(share, share, dx.add(i), masks);
            store_pairs(share, share, dx.add(i + rows.widths[1]), masks);
        });
    }
}
