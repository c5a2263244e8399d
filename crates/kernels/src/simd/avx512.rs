//! AVX-512: sixteen lanes, and eight for narrow tails, where two 256-bit operations run in a cycle.
#![expect(
    unsafe_op_in_unsafe_fn,
    reason = "each method is one intrinsic under the trait's contract"
)]
#![allow(
    clippy::wildcard_imports,
    reason = "intrinsics carry their prefix; the lint is silent in test builds, so no expect"
)]

use super::Vector;
use super::avx2::{middle_quarters_swapped, transposed_8x8};
use std::arch::x86_64::*;

/// Sixteen lanes.
#[derive(Clone, Copy)]
pub(crate) struct F32x16(__m512);

/// Eight lanes with AVX-512 masks.
#[derive(Clone, Copy)]
pub(crate) struct F32x8Masked(__m256);

impl Vector for F32x16 {
    const LANES: usize = 16;
    type Mask = __mmask16;

    #[inline(always)]
    unsafe fn mask(n: usize) -> __mmask16 {
        ((1u32 << n) - 1) as __mmask16
    }
    #[inline(always)]
    unsafe fn mask_between(from: usize, to: usize) -> __mmask16 {
        Self::mask(to) & !Self::mask(from)
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Self(_mm512_set1_ps(x))
    }
    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        Self(_mm512_loadu_ps(p))
    }
    #[inline(always)]
    unsafe fn load_masked(p: *const f32, mask: __mmask16) -> Self {
        Self(_mm512_maskz_loadu_ps(mask, p))
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        _mm512_storeu_ps(p, self.0);
    }
    #[inline(always)]
    unsafe fn store_masked(self, p: *mut f32, mask: __mmask16) {
        _mm512_mask_storeu_ps(p, mask, self.0);
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(_mm512_add_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Self(_mm512_sub_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        Self(_mm512_mul_ps(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        Self(_mm512_fmadd_ps(self.0, b.0, c.0))
    }
    #[inline(always)]
    unsafe fn relu(self) -> Self {
        Self(_mm512_max_ps(_mm512_setzero_ps(), self.0))
    }
    #[inline(always)]
    unsafe fn keep_where_positive(self, gate: Self) -> Self {
        let positive = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(gate.0, _mm512_setzero_ps());
        Self(_mm512_maskz_mov_ps(positive, self.0))
    }
    #[inline(always)]
    unsafe fn sum(self) -> f32 {
        let low = F32x8Masked(_mm512_castps512_ps256(self.0));
        let high = F32x8Masked(_mm512_extractf32x8_ps::<1>(self.0));
        low.add(high).sum()
    }
    #[inline(always)]
    unsafe fn max_or_nan(self, other: Self) -> Self {
        let either = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(self.0, other.0);
        let max = _mm512_max_ps(self.0, other.0);
        Self(_mm512_mask_add_ps(max, either, self.0, other.0))
    }
    #[inline(always)]
    unsafe fn split_where_equal(self, a: Self, b: Self) -> (Self, Self) {
        let equal = _mm512_cmp_ps_mask::<_CMP_EQ_UQ>(a.0, b.0);
        let (yes, no) = (
            _mm512_maskz_mov_ps(equal, self.0),
            _mm512_maskz_mov_ps(!equal, self.0),
        );
        (Self(yes), Self(no))
    }
    #[inline(always)]
    unsafe fn split_pairs(self, next: Self) -> (Self, Self) {
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        (
            Self(_mm512_permutex2var_ps(self.0, even, next.0)),
            Self(_mm512_permutex2var_ps(self.0, odd, next.0)),
        )
    }
    #[inline(always)]
    unsafe fn join_pairs(self, odd: Self) -> (Self, Self) {
        let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        (
            Self(_mm512_permutex2var_ps(self.0, low, odd.0)),
            Self(_mm512_permutex2var_ps(self.0, high, odd.0)),
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
        let mut block = [_mm512_setzero_ps(); 16];
        for (r, row) in block.iter_mut().enumerate() {
            let wide = if r < rows { wide } else { 0 };
            *row = _mm512_maskz_loadu_ps(wide, x.wrapping_add(r * ldx));
        }
        for (c, &column) in transposed_16x16(block).iter().enumerate() {
            let tall = if c < cols { tall } else { 0 };
            _mm512_mask_storeu_ps(y.wrapping_add(c * ldy), tall, column);
        }
    }
}

impl Vector for F32x8Masked {
    const LANES: usize = 8;
    type Mask = __mmask8;

    #[inline(always)]
    unsafe fn mask(n: usize) -> __mmask8 {
        ((1u32 << n) - 1) as __mmask8
    }
    #[inline(always)]
    unsafe fn mask_between(from: usize, to: usize) -> __mmask8 {
        Self::mask(to) & !Self::mask(from)
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
    unsafe fn load_masked(p: *const f32, mask: __mmask8) -> Self {
        Self(_mm256_maskz_loadu_ps(mask, p))
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        _mm256_storeu_ps(p, self.0);
    }
    #[inline(always)]
    unsafe fn store_masked(self, p: *mut f32, mask: __mmask8) {
        _mm256_mask_storeu_ps(p, mask, self.0);
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
        let positive = _mm256_cmp_ps_mask::<_CMP_GT_OQ>(gate.0, _mm256_setzero_ps());
        Self(_mm256_maskz_mov_ps(positive, self.0))
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

/// Four rounds of exchanges: pairs, pairs of pairs, then the quarters twice.
#[inline(always)]
unsafe fn transposed_16x16(r: [__m512; 16]) -> [__m512; 16] {
    let mut quads = r;
    for g in [0, 4, 8, 12] {
        let pairs = [
            _mm512_castps_pd(_mm512_unpacklo_ps(r[g], r[g + 1])),
            _mm512_castps_pd(_mm512_unpackhi_ps(r[g], r[g + 1])),
            _mm512_castps_pd(_mm512_unpacklo_ps(r[g + 2], r[g + 3])),
            _mm512_castps_pd(_mm512_unpackhi_ps(r[g + 2], r[g + 3])),
        ];
        quads[g] = _mm512_castpd_ps(_mm512_unpacklo_pd(pairs[0], pairs[2]));
        quads[g + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(pairs[0], pairs[2]));
        quads[g + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(pairs[1], pairs[3]));
        quads[g + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(pairs[1], pairs[3]));
    }
    let mut out = r;
    for q in 0..4 {
        let even = _mm512_shuffle_f32x4::<0b10_00_10_00>(quads[q], quads[4 + q]);
        let odd = _mm512_shuffle_f32x4::<0b11_01_11_01>(quads[q], quads[4 + q]);
        let low_even = _mm512_shuffle_f32x4::<0b10_00_10_00>(quads[8 + q], quads[12 + q]);
        let low_odd = _mm512_shuffle_f32x4::<0b11_01_11_01>(quads[8 + q], quads[12 + q]);
        out[q] = _mm512_shuffle_f32x4::<0b10_00_10_00>(even, low_even);
        out[4 + q] = _mm512_shuffle_f32x4::<0b10_00_10_00>(odd, low_odd);
        out[8 + q] = _mm512_shuffle_f32x4::<0b11_01_11_01>(even, low_even);
        out[12 + q] = _mm512_shuffle_f32x4::<0b11_01_11_01>(odd, low_odd);
    }
    out
}
