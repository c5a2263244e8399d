//! AVX-512: sixteen lanes, and eight for narrow tails, where two 256-bit operations run in a cycle.
#![expect(
    unsafe_op_in_unsafe_fn,
    reason = "each method is one intrinsic under the trait's contract"
)]

use super::avx2::{Lanes8, Mask8};
use super::x86::{one_intrinsic_each, transposed_quads};
use super::{TransposeBlock, Vector};
use std::arch::x86_64::*;

/// Sixteen lanes.
#[derive(Clone, Copy)]
pub(crate) struct F32x16(__m512);

/// Eight lanes with AVX-512 masks.
pub(crate) type F32x8Masked = Lanes8<__mmask8>;

impl From<__m512> for F32x16 {
    #[inline(always)]
    fn from(lanes: __m512) -> Self {
        Self(lanes)
    }
}

impl F32x16 {
    /// Two choices from the lanes of `self` followed by those of `other`.
    #[inline(always)]
    unsafe fn permuted(self, other: Self, [first, second]: [__m512i; 2]) -> (Self, Self) {
        (
            Self(_mm512_permutex2var_ps(self.0, first, other.0)),
            Self(_mm512_permutex2var_ps(self.0, second, other.0)),
        )
    }
}

impl Mask8 for __mmask8 {
    #[inline(always)]
    unsafe fn first(n: usize) -> Self {
        ((1u32 << n) - 1) as Self
    }
    #[inline(always)]
    unsafe fn between(from: usize, to: usize) -> Self {
        Self::first(to) & !Self::first(from)
    }
    #[inline(always)]
    unsafe fn load(self, p: *const f32) -> __m256 {
        _mm256_maskz_loadu_ps(self, p)
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32, lanes: __m256) {
        _mm256_mask_storeu_ps(p, self, lanes);
    }
}

impl Vector for F32x16 {
    const LANES: usize = 16;
    type Mask = __mmask16;

    one_intrinsic_each!(
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_fmadd_ps,
        _mm512_max_ps,
        _mm512_min_ps,
        _mm512_setzero_ps
    );
    #[inline(always)]
    unsafe fn mask(n: usize) -> __mmask16 {
        ((1u32 << n) - 1) as __mmask16
    }
    #[inline(always)]
    unsafe fn mask_between(from: usize, to: usize) -> __mmask16 {
        Self::mask(to) & !Self::mask(from)
    }
    #[inline(always)]
    unsafe fn load_masked(p: *const f32, mask: __mmask16) -> Self {
        Self(_mm512_maskz_loadu_ps(mask, p))
    }
    #[inline(always)]
    unsafe fn store_masked(self, p: *mut f32, mask: __mmask16) {
        _mm512_mask_storeu_ps(p, mask, self.0);
    }
    #[inline(always)]
    unsafe fn keep_where_positive(self, gate: Self) -> Self {
        let positive = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(gate.0, _mm512_setzero_ps());
        Self::from(_mm512_maskz_mov_ps(positive, self.0))
    }
    #[inline(always)]
    unsafe fn sum(self) -> f32 {
        let low = F32x8Masked::from(_mm512_castps512_ps256(self.0));
        let high = F32x8Masked::from(_mm512_extractf32x8_ps::<1>(self.0));
        low.add(high).sum()
    }
    #[inline(always)]
    unsafe fn max_or_nan(self, other: Self) -> Self {
        let either = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(self.0, other.0);
        let max = _mm512_max_ps(self.0, other.0);
        Self::from(_mm512_mask_add_ps(max, either, self.0, other.0))
    }
    #[inline(always)]
    unsafe fn split_where_equal(self, a: Self, b: Self) -> (Self, Self) {
        let equal = _mm512_cmp_ps_mask::<_CMP_EQ_UQ>(a.0, b.0);
        let (yes, no) = (
            _mm512_maskz_mov_ps(equal, self.0),
            _mm512_maskz_mov_ps(!equal, self.0),
        );
        (Self::from(yes), Self::from(no))
    }
    #[inline(always)]
    unsafe fn split_pairs(self, next: Self) -> (Self, Self) {
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        self.permuted(next, [even, odd])
    }
    #[inline(always)]
    unsafe fn join_pairs(self, odd: Self) -> (Self, Self) {
        let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        self.permuted(odd, [low, high])
    }
    #[inline(always)]
    unsafe fn transpose_block(b: TransposeBlock) {
        let (wide, tall) = (Self::mask(b.cols), Self::mask(b.rows));
        let mut block = [_mm512_setzero_ps(); 16];
        for (r, row) in block.iter_mut().enumerate() {
            let wide = if r < b.rows { wide } else { 0 };
            *row = _mm512_maskz_loadu_ps(wide, b.x.wrapping_add(r * b.ldx));
        }
        for (c, &column) in transposed_16x16(block).iter().enumerate() {
            let tall = if c < b.cols { tall } else { 0 };
            _mm512_mask_storeu_ps(b.y.wrapping_add(c * b.ldy), tall, column);
        }
    }
}

/// Four rounds of exchanges: pairs, pairs of pairs, then the quarters twice.
#[inline(always)]
unsafe fn transposed_16x16(rows: [__m512; 16]) -> [__m512; 16] {
    let quads = transposed_quads!(
        rows,
        [0, 4, 8, 12],
        _mm512_unpacklo_ps,
        _mm512_unpackhi_ps,
        _mm512_unpacklo_pd,
        _mm512_unpackhi_pd,
        _mm512_castps_pd,
        _mm512_castpd_ps
    );
    let mut out = rows;
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
