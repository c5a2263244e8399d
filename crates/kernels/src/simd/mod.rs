//! One vector of `f32` lanes per instruction set behind one trait, for kernels that must hold values in registers.
//!
//! Everything else is plain loops under [`crate::isa::versions!`].

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::{F32x8, store_first};
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::{F32x8Masked, F32x16};
pub(crate) use portable::F32x4;

/// A register of `f32` lanes.
///
/// # Safety
/// Every method needs the CPU features of the implementing type; those with pointers need `LANES` valid elements, or as
/// many as the mask has lanes.
pub(crate) trait Vector: Copy {
    /// Number of lanes.
    const LANES: usize;
    /// Selects a run of lanes.
    type Mask: Copy;

    /// The mask of the first `n ≤ LANES` lanes.
    unsafe fn mask(n: usize) -> Self::Mask;
    /// The mask of lanes `from..to`.
    unsafe fn mask_between(from: usize, to: usize) -> Self::Mask;
    /// `x` in every lane.
    unsafe fn splat(x: f32) -> Self;
    /// Loads all lanes.
    unsafe fn load(p: *const f32) -> Self;
    /// Loads the lanes of the mask, zero elsewhere.
    unsafe fn load_masked(p: *const f32, mask: Self::Mask) -> Self;
    /// Stores all lanes.
    unsafe fn store(self, p: *mut f32);
    /// Stores the lanes of the mask.
    unsafe fn store_masked(self, p: *mut f32, mask: Self::Mask);
    /// `self + other`.
    unsafe fn add(self, other: Self) -> Self;
    /// `self - other`.
    unsafe fn sub(self, other: Self) -> Self;
    /// `self · other`.
    unsafe fn mul(self, other: Self) -> Self;
    /// `self · b + c`, fused where the level has FMA.
    unsafe fn fma(self, b: Self, c: Self) -> Self;
    /// `max(self, 0)`; NaN stays NaN.
    unsafe fn relu(self) -> Self;
    /// `min(max(self, low), high)`; NaN stays NaN.
    unsafe fn clamp(self, low: Self, high: Self) -> Self;
    /// `self` where `gate > 0`, else zero.
    unsafe fn keep_where_positive(self, gate: Self) -> Self;
    /// The sum of the lanes, halves folded onto each other.
    unsafe fn sum(self) -> f32;
    /// The larger of each pair; NaN where either is.
    unsafe fn max_or_nan(self, other: Self) -> Self;
    /// `self` where `a = b` or either is NaN, and `self` elsewhere; zero in the other places.
    unsafe fn split_where_equal(self, a: Self, b: Self) -> (Self, Self);
    /// The even and the odd elements of `self` followed by `next`.
    unsafe fn split_pairs(self, next: Self) -> (Self, Self);
    /// The inverse of [`Vector::split_pairs`].
    unsafe fn join_pairs(self, odd: Self) -> (Self, Self);
    /// Transposes a block of at most `LANES` rows and columns.
    unsafe fn transpose_block(block: TransposeBlock);
}

/// `y[c·ldy + r] = x[r·ldx + c]` for `rows` × `cols` elements.
#[derive(Clone, Copy)]
pub(crate) struct TransposeBlock {
    pub rows: usize,
    pub cols: usize,
    pub x: *const f32,
    pub ldx: usize,
    pub y: *mut f32,
    pub ldy: usize,
}
