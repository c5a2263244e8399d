//! AVX2 with FMA: eight lanes.
#![expect(
    unsafe_op_in_unsafe_fn,
    reason = "each method is one intrinsic under the trait's contract"
)]
#![allow(
    clippy::wildcard_imports,
    reason = "intrinsics carry their prefix; the lint is silent in test builds, so no expect"
)]

use super::Vector;
use std::arch::x86_64::*;

/// Eight lanes.
#[derive(Clone, Copy)]
pub(crate) struct F32x8(__m256);

/// A run of lanes. Masked loads and stores are slow here, so full masks are told apart.
#[derive(Clone, Copy)]
pub(crate) struct Mask {
    full: bool,
    lanes: __m256i,
}

/// Eight ones, then eight zeros: the mask of the first `n` lanes starts at `8 - n`.
static MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

impl Vector for F32x8 {
    const LANES: usize = 8;
    type Mask = Mask;

    #[inline(always)]
    unsafe fn mask(n: usize) -> Mask {
        Mask {
            full: n == 8,
            lanes: _mm256_loadu_si256(MASKS.as_ptr().add(8 - n).cast()),
        }
    }
    #[inline(always)]
    unsafe fn mask_between(from: usize, to: usize) -> Mask {
        let (low, high) = (Self::mask(from).lanes, Self::mask(to).lanes);
        Mask {
            full: to - from == 8,
            lanes: _mm256_andnot_si256(low, high),
        }
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Self(_mm256_set1_ps(x))
    }
    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        Self(_mm256_loadu_ps(p))
    }
    #[inline(always)]
    unsafe fn load_masked(p: *const f32, mask: Mask) -> Self {
        if mask.full {
            Self::load(p)
        } else {
            Self(_mm256_maskload_ps(p, mask.lanes))
        }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        _mm256_storeu_ps(p, self.0);
    }
    #[inline(always)]
    unsafe fn store_masked(self, p: *mut f32, mask: Mask) {
        if mask.full {
            self.store(p);
        } else {
            _mm256_maskstore_ps(p, mask.lanes, self.0);
        }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(_mm256_add_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Self(_mm256_sub_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        Self(_mm256_mul_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        Self(_mm256_fmadd_ps(self.0, b.0, c.0))
    }
    #[inline(always)]
    unsafe fn relu(self) -> Self {
        Self(_mm256_max_ps(_mm256_setzero_ps(), self.0))
    }
    #[inline(always)]
    unsafe fn keep_where_positive(self, gate: Self) -> Self {
        let positive = _mm256_cmp_ps::<_CMP_GT_OQ>(gate.0, _mm256_setzero_ps());
        Self(_mm256_and_ps(positive, self.0))
    }
    #[inline(always)]
    unsafe fn sum(self) -> f32 {
        let low = _mm256_castps256_ps128(self.0);
        let four = _mm_add_ps(low, _mm256_extractf128_ps::<1>(self.0));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
    }
    #[inline(always)]
    unsafe fn max_or_nan(self, other: Self) -> Self {
        let either = _mm256_cmp_ps::<_CMP_UNORD_Q>(self.0, other.0);
        let sum = _mm256_add_ps(self.0, other.0);
        Self(_mm256_blendv_ps(
            _mm256_max_ps(self.0, other.0),
            sum,
            either,
        ))
    }
    #[inline(always)]
    unsafe fn split_where_equal(self, a: Self, b: Self) -> (Self, Self) {
        let equal = _mm256_cmp_ps::<_CMP_EQ_UQ>(a.0, b.0);
        (
            Self(_mm256_and_ps(equal, self.0)),
            Self(_mm256_andnot_ps(equal, self.0)),
        )
    }
    #[inline(always)]
    unsafe fn split_pairs(self, next: Self) -> (Self, Self) {
        let even = _mm256_shuffle_ps::<0b10_00_10_00>(self.0, next.0);
        let odd = _mm256_shuffle_ps::<0b11_01_11_01>(self.0, next.0);
        (
            Self(middle_quarters_swapped(even)),
            Self(middle_quarters_swapped(odd)),
        )
    }
    #[inline(always)]
    unsafe fn join_pairs(self, odd: Self) -> (Self, Self) {
        let (even, odd) = (
            middle_quarters_swapped(self.0),
            middle_quarters_swapped(odd.0),
        );
        (
            Self(_mm256_unpacklo_ps(even, odd)),
            Self(_mm256_unpackhi_ps(even, odd)),
        )
    }
    #[inline(always)]
    unsafe fn transpose_block(
        rows: usize,
        cols: usize,
        x: *const f32,
        ldx: usize,
        y: *mut f32,
        ldy: usize,
    ) {
        let (wide, tall) = (Self::mask(cols), Self::mask(rows));
        let mut block = [_mm256_setzero_ps(); 8];
        for (r, row) in block.iter_mut().enumerate().take(rows) {
            *row = Self::load_masked(x.add(r * ldx), wide).0;
        }
        for (c, &column) in transposed_8x8(block).iter().enumerate().take(cols) {
            Self(column).store_masked(y.add(c * ldy), tall);
        }
    }
}

/// Lanes 2, 3 and 4, 5 in each other's place: the 256-bit shuffles work on halves apart.
#[inline(always)]
pub(super) unsafe fn middle_quarters_swapped(x: __m256) -> __m256 {
    _mm256_castpd_ps(_mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_castps_pd(x)))
}

/// Three rounds of exchanges: pairs, pairs of pairs, halves.
#[inline(always)]
pub(super) unsafe fn transposed_8x8(r: [__m256; 8]) -> [__m256; 8] {
    let mut quads = r;
    for g in [0, 4] {
        let pairs = [
            _mm256_castps_pd(_mm256_unpacklo_ps(r[g], r[g + 1])),
            _mm256_castps_pd(_mm256_unpackhi_ps(r[g], r[g + 1])),
            _mm256_castps_pd(_mm256_unpacklo_ps(r[g + 2], r[g + 3])),
            _mm256_castps_pd(_mm256_unpackhi_ps(r[g + 2], r[g + 3])),
        ];
        quads[g] = _mm256_castpd_ps(_mm256_unpacklo_pd(pairs[0], pairs[2]));
        quads[g + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(pairs[0], pairs[2]));
        quads[g + 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(pairs[1], pairs[3]));
        quads[g + 3] = _mm256_castpd_ps(_mm256_unpackhi_pd(pairs[1], pairs[3]));
    }
    let mut out = r;
    for q in 0..4 {
        out[q] = _mm256_permute2f128_ps::<0x20>(quads[q], quads[4 + q]);
        out[4 + q] = _mm256_permute2f128_ps::<0x31>(quads[q], quads[4 + q]);
    }
    out
}
