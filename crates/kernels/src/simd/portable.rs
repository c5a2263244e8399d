//! The base target: four lanes as an array, which the compiler maps to its registers where it has any.
#![expect(
    unsafe_op_in_unsafe_fn,
    reason = "each method is one expression under the trait's contract"
)]

use super::{TransposeBlock, Vector};
use std::array::from_fn;

/// Four lanes.
#[derive(Clone, Copy)]
pub(crate) struct F32x4([f32; 4]);

impl Vector for F32x4 {
    const LANES: usize = 4;
    type Mask = (usize, usize);

    #[inline(always)]
    unsafe fn mask(n: usize) -> (usize, usize) {
        (0, n)
    }
    #[inline(always)]
    unsafe fn mask_between(from: usize, to: usize) -> (usize, usize) {
        (from, to)
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Self([x; 4])
    }
    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        Self(p.cast::<[f32; 4]>().read_unaligned())
    }
    #[inline(always)]
    unsafe fn load_masked(p: *const f32, (from, to): (usize, usize)) -> Self {
        if (from, to) == (0, 4) {
            return Self::load(p);
        }
        Self(from_fn(|i| {
            if from <= i && i < to {
                *p.wrapping_add(i)
            } else {
                0.0
            }
        }))
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        p.cast::<[f32; 4]>().write_unaligned(self.0);
    }
    #[inline(always)]
    unsafe fn store_masked(self, p: *mut f32, (from, to): (usize, usize)) {
        if (from, to) == (0, 4) {
            return self.store(p);
        }
        for i in from..to {
            *p.wrapping_add(i) = self.0[i];
        }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] + other.0[i]))
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] - other.0[i]))
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] * other.0[i]))
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        Self(from_fn(|i| self.0[i] * b.0[i] + c.0[i]))
    }
    #[inline(always)]
    unsafe fn relu(self) -> Self {
        Self(self.0.map(|x| if x < 0.0 { 0.0 } else { x }))
    }
    #[inline(always)]
    unsafe fn clamp(self, low: Self, high: Self) -> Self {
        Self(from_fn(|i| match self.0[i] {
            x if x < low.0[i] => low.0[i],
            x if x > high.0[i] => high.0[i],
            x => x,
        }))
    }
    #[inline(always)]
    unsafe fn keep_where_positive(self, gate: Self) -> Self {
        Self(from_fn(|i| if gate.0[i] > 0.0 { self.0[i] } else { 0.0 }))
    }
    #[inline(always)]
    unsafe fn sum(self) -> f32 {
        (self.0[0] + self.0[2]) + (self.0[1] + self.0[3])
    }
    #[inline(always)]
    unsafe fn max_or_nan(self, other: Self) -> Self {
        Self(from_fn(|i| {
            let (a, b) = (self.0[i], other.0[i]);
            if a > b || a.is_nan() { a } else { b }
        }))
    }
    #[inline(always)]
    unsafe fn split_where_equal(self, a: Self, b: Self) -> (Self, Self) {
        let equal: [bool; 4] = from_fn(|i| a.0[i] == b.0[i] || a.0[i].is_nan() || b.0[i].is_nan());
        let part = |wanted| {
            Self(from_fn(
                |i| if equal[i] == wanted { self.0[i] } else { 0.0 },
            ))
        };
        (part(true), part(false))
    }
    #[inline(always)]
    unsafe fn split_pairs(self, next: Self) -> (Self, Self) {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, next.0);
        (Self([a, c, e, g]), Self([b, d, f, h]))
    }
    #[inline(always)]
    unsafe fn join_pairs(self, odd: Self) -> (Self, Self) {
        let ([a, c, e, g], [b, d, f, h]) = (self.0, odd.0);
        (Self([a, b, c, d]), Self([e, f, g, h]))
    }
    #[inline(always)]
    unsafe fn transpose_block(b: TransposeBlock) {
        for c in 0..b.cols {
            for r in 0..b.rows {
                *b.y.add(c * b.ldy + r) = *b.x.add(r * b.ldx + c);
            }
        }
    }
}
