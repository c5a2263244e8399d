//! Bounds of values and their gradients, in place.
//!
//! In vectors of their own: of a loop that leaves some elements as they are, the compiler makes masked stores, which are
//! microcode on some CPUs and take ten times as long as storing everything.

use crate::isa::vector_versions;

/// `y = min(max(y, low), high)`; NaN stays NaN.
pub fn clamp(y: &mut [f32], low: f32, high: f32) {
    // SAFETY: the length is that of the slice.
    unsafe { clamp_vectors(y.as_mut_ptr(), y.len(), low, high) }
}

/// The gradient before a relu with the result `y`: zero where the result is not positive.
///
/// # Panics
/// When the lengths differ: an error of the caller.
pub fn relu_backward(y: &[f32], dy: &mut [f32]) {
    assert_eq!(
        y.len(),
        dy.len(),
        "relu_backward: y has {} elements, dy {}",
        y.len(),
        dy.len()
    );
    // SAFETY: both have as many elements.
    unsafe { relu_backward_vectors(y.as_ptr(), dy.as_mut_ptr(), dy.len()) }
}

vector_versions! {
    unsafe fn clamp_vectors<V>(y: *mut f32, len: usize, low: f32, high: f32) {
        let (low, high) = (V::splat(low), V::splat(high));
        let whole = len / V::LANES * V::LANES;
        for at in (0..whole).step_by(V::LANES) {
            V::load(y.add(at)).clamp(low, high).store(y.add(at));
        }
        if whole < len {
            let (y, mask) = (y.add(whole), V::mask(len - whole));
            V::load_masked(y, mask).clamp(low, high).store_masked(y, mask);
        }
    }

    unsafe fn relu_backward_vectors<V>(y: *const f32, dy: *mut f32, len: usize) {
        let whole = len / V::LANES * V::LANES;
        for at in (0..whole).step_by(V::LANES) {
            let gate = V::load(y.add(at));
            V::load(dy.add(at)).keep_where_positive(gate).store(dy.add(at));
        }
        if whole < len {
            let (y, dy, mask) = (y.add(whole), dy.add(whole), V::mask(len - whole));
            let gate = V::load_masked(y, mask);
            V::load_masked(dy, mask).keep_where_positive(gate).store_masked(dy, mask);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::noise;

    #[test]
    fn bounds_hold_for_every_length_and_nan_stays() {
        on_every_isa(|isa| {
            for n in (0..40).chain([100, 1000]) {
                let mut x = noise(n, 1);
                if n > 2 {
                    (x[0], x[n / 2]) = (f32::NAN, -0.0);
                }
                let mut y = x.clone();
                clamp(&mut y, -0.5, 0.25);
                for (x, y) in x.iter().zip(&y) {
                    let want = if x.is_nan() { *x } else { x.clamp(-0.5, 0.25) };
                    assert_eq!(y.to_bits(), want.to_bits(), "{isa:?} {n}: {x}");
                }
                let dy = noise(n, 2);
                let mut dx = dy.clone();
                relu_backward(&x, &mut dx);
                for ((x, dy), dx) in x.iter().zip(&dy).zip(&dx) {
                    let want = if *x > 0.0 { *dy } else { 0.0 };
                    assert_eq!(dx.to_bits(), want.to_bits(), "{isa:?} {n}: {x}, {dy}");
                }
            }
        });
    }
}
