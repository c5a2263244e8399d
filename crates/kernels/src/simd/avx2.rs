//! AVX2 with FMA: eight lanes, with its own masks or with those of AVX-512.
#![expect(
    unsafe_op_in_unsafe_fn,
    reason = "each method is one intrinsic under the trait's contract"
)]

use super::x86::{one_intrinsic_each, transposed_quads};
use super::{TransposeBlock, Vector};
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// Eight lanes, and the kind of mask that selects a run of them.
#[derive(Clone, Copy)]
pub(crate) struct Lanes8<M>(__m256, PhantomData<M>);

/// Eight lanes of a machine without AVX-512.
pub(crate) type F32x8 = Lanes8<VectorMask>;

impl<M> From<__m256> for Lanes8<M> {
    #[inline(always)]
    fn from(lanes: __m256) -> Self {
        Self(lanes, PhantomData)
    }
}

/// A run of eight lanes.
///
/// # Safety
/// As [`Vector`].
pub(crate) trait Mask8: Copy {
    /// The first `n` lanes.
    unsafe fn first(n: usize) -> Self;
    /// Lanes `from..to`.
    unsafe fn between(from: usize, to: usize) -> Self;
    /// Loads the lanes of the mask, zero elsewhere.
    unsafe fn load(self, p: *const f32) -> __m256;
    /// Stores the lanes of the mask.
    unsafe fn store(self, p: *mut f32, lanes: __m256);
}

/// A mask in a vector register. Masked stores are microcode on some CPUs, tens of cycles each, so full masks and those of the
/// first lanes are told apart.
#[derive(Clone, Copy)]
pub(crate) struct VectorMask {
    from: usize,
    to: usize,
    lanes: __m256i,
}

/// Stores the first `n < 8` lanes.
///
/// # Safety
/// AVX2, and as many elements.
#[inline(always)]
pub(crate) unsafe fn store_first(p: *mut f32, n: usize, lanes: __m256) {
    let (mut p, mut rest) = (p, _mm256_castps256_ps128(lanes));
    if n & 4 != 0 {
        _mm_storeu_ps(p, rest);
        (p, rest) = (p.add(4), _mm256_extractf128_ps::<1>(lanes));
    }
    if n & 2 != 0 {
        _mm_storel_pd(p.cast(), _mm_castps_pd(rest));
        (p, rest) = (p.add(2), _mm_movehl_ps(rest, rest));
    }
    if n & 1 != 0 {
        _mm_store_ss(p, rest);
    }
}

/// Eight ones, then eight zeros: the mask of the first `n` lanes starts at `8 - n`.
static MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

impl Mask8 for VectorMask {
    #[inline(always)]
    unsafe fn first(n: usize) -> Self {
        Self {
            from: 0,
            to: n,
            lanes: _mm256_loadu_si256(MASKS.as_ptr().add(8 - n).cast()),
        }
    }
    #[inline(always)]
    unsafe fn between(from: usize, to: usize) -> Self {
        let (low, high) = (Self::first(from).lanes, Self::first(to).lanes);
        Self {
            from,
            to,
            lanes: _mm256_andnot_si256(low, high),
        }
    }
    #[inline(always)]
    unsafe fn load(self, p: *const f32) -> __m256 {
        if self.to - self.from == 8 {
            _mm256_loadu_ps(p)
        } else {
            _mm256_maskload_ps(p, self.lanes)
        }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32, lanes: __m256) {
        if self.to - self.from == 8 {
            _mm256_storeu_ps(p, lanes);
        } else if self.from == 0 {
            store_first(p, self.to, lanes);
        } else {
            _mm256_maskstore_ps(p, self.lanes, lanes);
        }
    }
}

impl<M: Mask8> Vector for Lanes8<M> {
    const LANES: usize = 8;
    type Mask = M;

    one_intrinsic_each!(
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps,
        _mm256_max_ps,
        _mm256_min_ps,
        _mm256_setzero_ps
    );
    #[inline(always)]
    unsafe fn mask(n: usize) -> M {
        M::first(n)
    }
    #[inline(always)]
    unsafe fn mask_between(from: usize, to: usize) -> M {
        M::between(from, to)
    }
    #[inline(always)]
    unsafe fn load_masked(p: *const f32, mask: M) -> Self {
        Self::from(mask.load(p))
    }
    #[inline(always)]
    unsafe fn store_masked(self, p: *mut f32, mask: M) {
        mask.store(p, self.0);
    }
    #[inline(always)]
    unsafe fn keep_where_positive(self, gate: Self) -> Self {
        let positive = _mm256_cmp_ps::<_CMP_GT_OQ>(gate.0, _mm256_setzero_ps());
        Self::from(_mm256_and_ps(positive, self.0))
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
        Self::from(_mm256_blendv_ps(
            _mm256_max_ps(self.0, other.0),
            sum,
            either,
        ))
    }
    #[inline(always)]
    unsafe fn split_where_equal(self, a: Self, b: Self) -> (Self, Self) {
        let equal = _mm256_cmp_ps::<_CMP_EQ_UQ>(a.0, b.0);
        (
            Self::from(_mm256_and_ps(equal, self.0)),
            Self::from(_mm256_andnot_ps(equal, self.0)),
        )
    }
    #[inline(always)]
    unsafe fn split_pairs(self, next: Self) -> (Self, Self) {
        let even = _mm256_shuffle_ps::<0b10_00_10_00>(self.0, next.0);
        let odd = _mm256_shuffle_ps::<0b11_01_11_01>(self.0, next.0);
        (
            Self::from(middle_quarters_swapped(even)),
            Self::from(middle_quarters_swapped(odd)),
        )
    }
    #[inline(always)]
    unsafe fn join_pairs(self, odd: Self) -> (Self, Self) {
        let (even, odd) = (
            middle_quarters_swapped(self.0),
            middle_quarters_swapped(odd.0),
        );
        (
            Self::from(_mm256_unpacklo_ps(even, odd)),
            Self::from(_mm256_unpackhi_ps(even, odd)),
        )
    }
    #[inline(always)]
    unsafe fn transpose_block(b: TransposeBlock) {
        let (wide, tall) = (M::first(b.cols), M::first(b.rows));
        let mut block = [_mm256_setzero_ps(); 8];
        for (r, row) in block.iter_mut().enumerate().take(b.rows) {
            *row = wide.load(b.x.add(r * b.ldx));
        }
        for (c, &column) in transposed_8x8(block).iter().enumerate().take(b.cols) {
            tall.store(b.y.add(c * b.ldy), column);
        }
    }
}

/// Lanes 2, 3 and 4, 5 in each other's place: the 256-bit shuffles work on halves apart.
#[inline(always)]
unsafe fn middle_quarters_swapped(x: __m256) -> __m256 {
    _mm256_castpd_ps(_mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_castps_pd(x)))
}

/// Three rounds of exchanges: pairs, pairs of pairs, halves.
#[inline(always)]
unsafe fn transposed_8x8(rows: [__m256; 8]) -> [__m256; 8] {
    let quads = transposed_quads!(
        rows,
        [0, 4],
        _mm256_unpacklo_ps,
        _mm256_unpackhi_ps,
        _mm256_unpacklo_pd,
        _mm256_unpackhi_pd,
        _mm256_castps_pd,
        _mm256_castpd_ps
    );
    let mut out = rows;
    for q in 0..4 {
        out[q] = _mm256_permute2f128_ps::<0x20>(quads[q], quads[4 + q]);
        out[4 + q] = _mm256_permute2f128_ps::<0x31>(quads[q], quads[4 + q]);
    }
    out
}
