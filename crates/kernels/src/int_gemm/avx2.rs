//! AVX2: bytes are widened to words, whose pairwise products `vpmaddwd` sums exactly.
//!
//! `vpmaddubsw` would take bytes directly but saturates, so it is not used.
#![expect(
    unsafe_op_in_unsafe_fn,
    reason = "tiles are intrinsics on pointers that `int_gemm::run` checked"
)]

use super::{GROUP, I16_I16, IntProduct, U8_I8};
use std::arch::x86_64::*;

/// Columns of a tile: one vector of groups.
const LANES: usize = 8;

#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn run<const KIND: u8>(p: IntProduct) {
    let mut j = 0;
    while j < p.n {
        let width = (p.n - j).min(LANES);
        let mask = mask(width);
        let mut i = 0;
        while i < p.m {
            i += match p.m - i {
                4.. => tile::<KIND, 4>(p, i, j, mask),
                2.. => tile::<KIND, 2>(p, i, j, mask),
                _ => tile::<KIND, 1>(p, i, j, mask),
            };
        }
        j += LANES;
    }
}

/// All ones in the first `n` lanes.
#[inline(always)]
unsafe fn mask(n: usize) -> __m256i {
    let index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_cmpgt_epi32(_mm256_set1_epi32(n as i32), index)
}

/// MR rows × 8 columns; returns MR.
#[inline(always)]
unsafe fn tile<const KIND: u8, const MR: usize>(
    p: IntProduct,
    i: usize,
    j: usize,
    mask: __m256i,
) -> usize {
    // Byte kinds keep two partial sums a column, in one vector for four columns each.
    let mut acc = [[_mm256_setzero_si256(); 2]; MR];
    for group in 0..p.groups {
        let b = _mm256_maskload_epi32(p.b.add(group * p.n + j), mask);
        let b = if KIND == I16_I16 {
            [b, b]
        } else {
            [
                _mm256_cvtepi8_epi16(_mm256_castsi256_si128(b)),
                _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(b)),
            ]
        };
        for (r, acc) in acc.iter_mut().enumerate() {
            let a =
                p.a.add(((i + r) * p.groups + group) * GROUP)
                    .cast::<i32>()
                    .read_unaligned();
            let a = match KIND {
                I16_I16 => _mm256_set1_epi32(a),
                U8_I8 => _mm256_cvtepu8_epi16(_mm_set1_epi32(a)),
                _ => _mm256_cvtepi8_epi16(_mm_set1_epi32(a)),
            };
            acc[0] = _mm256_add_epi32(acc[0], _mm256_madd_epi16(a, b[0]));
            if KIND != I16_I16 {
                acc[1] = _mm256_add_epi32(acc[1], _mm256_madd_epi16(a, b[1]));
            }
        }
    }
    let bias = if p.bias.is_null() {
        _mm256_setzero_si256()
    } else {
        _mm256_maskload_epi32(p.bias.add(j), mask)
    };
    for (r, acc) in acc.iter().enumerate() {
        let sums = if KIND == I16_I16 {
            acc[0]
        } else {
            _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_hadd_epi32(acc[0], acc[1]))
        };
        _mm256_maskstore_epi32(
            p.c.add((i + r) * p.ldc + j),
            mask,
            _mm256_add_epi32(sums, bias),
        );
    }
    MR
}
