//! AVX2: `vpmaddwd` multiplies words and sums pairs of products exactly; bytes are widened to words first.
//!
//! `vpmaddubsw` takes bytes directly, but saturates, and its sums of words need a second multiplication to become those of
//! 32 bits: no more products in a cycle than from words, unless bytes are so small that words hold the sums of several. Who has
//! the choice widens other bytes once and multiplies words.
#![expect(
    unsafe_op_in_unsafe_fn,
    reason = "tiles are intrinsics on pointers that `int_gemm::run` checked"
)]

use super::left::{GROUP, group};
use super::{I16_I16, IntProduct, NARROW, U8_I8};
use crate::simd::store_first;
use std::arch::x86_64::*;

/// Columns of a vector of groups.
const LANES: usize = 8;

#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn run<const KIND: u8>(p: IntProduct) {
    let mut j = 0;
    while j < p.n {
        let width = match (KIND, p.n - j) {
            (I16_I16 | NARROW, rest @ ..=24) => rest,
            (I16_I16 | NARROW, _) => 2 * LANES,
            (_, rest) => rest.min(LANES),
        };
        match (KIND, width.div_ceil(LANES)) {
            (I16_I16 | NARROW, 3) => strip::<KIND, 3, 3>(p, j, width),
            (I16_I16 | NARROW, 2) => strip::<KIND, 6, 2>(p, j, width),
            (I16_I16 | NARROW, _) => strip::<KIND, 6, 1>(p, j, width),
            _ => bytes::<KIND>(p, j, width),
        }
        j += width;
    }
}

/// All ones in the first `n` lanes.
#[inline(always)]
unsafe fn mask(n: usize) -> __m256i {
    let index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_cmpgt_epi32(_mm256_set1_epi32(n as i32), index)
}

/// Stores the first `n` lanes.
#[inline(always)]
unsafe fn store(p: *mut i32, n: usize, lanes: __m256i) {
    if n < LANES {
        store_first(p.cast(), n, _mm256_castsi256_ps(lanes));
    } else {
        _mm256_storeu_si256(p.cast(), lanes);
    }
}

/// NV vectors, the last of them under a mask.
#[inline(always)]
unsafe fn load<const NV: usize>(p: *const i32, mask: __m256i) -> [__m256i; NV] {
    std::array::from_fn(|v| {
        let at = p.add(v * LANES);
        if v + 1 == NV {
            _mm256_maskload_epi32(at, mask)
        } else {
            _mm256_loadu_si256(at.cast())
        }
    })
}

/// The initial values of sums.
#[inline(always)]
unsafe fn start<const NV: usize>(p: &IntProduct, j: usize, mask: __m256i) -> [__m256i; NV] {
    if p.bias.is_null() {
        [_mm256_setzero_si256(); NV]
    } else {
        load(p.bias.add(j), mask)
    }
}

/// All rows of up to NV vectors of columns from column `j`, from words or narrow bytes.
#[inline(always)]
unsafe fn strip<const KIND: u8, const MR: usize, const NV: usize>(
    p: IntProduct,
    j: usize,
    width: usize,
) {
    let mut i = 0;
    while i < p.m {
        i += match p.m - i {
            rest if rest >= MR => tile::<KIND, MR, NV>(p, i, j, width),
            4.. => tile::<KIND, 4, NV>(p, i, j, width),
            2.. => tile::<KIND, 2, NV>(p, i, j, width),
            _ => tile::<KIND, 1, NV>(p, i, j, width),
        };
    }
}

/// MR rows × NV vectors; returns MR.
#[inline(always)]
unsafe fn tile<const KIND: u8, const MR: usize, const NV: usize>(
    p: IntProduct,
    i: usize,
    j: usize,
    width: usize,
) -> usize {
    let last = width - (NV - 1) * LANES;
    let mask = mask(last);
    let rows = p.a.rows::<MR>(i);
    let start = start::<NV>(&p, j, mask);
    let acc = if KIND == NARROW {
        narrow_sums::<MR, NV>(&p, rows, j, mask, start)
    } else {
        word_sums::<MR, NV>(&p, rows, j, mask, start)
    };
    for (r, acc) in acc.iter().enumerate() {
        let c = p.c.add((i + r) * p.ldc + j);
        for (v, &acc) in acc.iter().enumerate() {
            store(
                c.add(v * LANES),
                if v + 1 == NV { last } else { LANES },
                acc,
            );
        }
    }
    MR
}

#[inline(always)]
unsafe fn word_sums<const MR: usize, const NV: usize>(
    p: &IntProduct,
    rows: [*const u8; MR],
    j: usize,
    mask: __m256i,
    start: [__m256i; NV],
) -> [[__m256i; NV]; MR] {
    let mut acc = [start; MR];
    let mut b_at = p.b.add(j);
    for run in 0..p.a.n_runs {
        let mut at = p.a.run(run);
        for _ in 0..p.a.groups {
            let b = load::<NV>(b_at, mask);
            for (&row, acc) in rows.iter().zip(&mut acc) {
                let a = _mm256_set1_epi32(group(row, at));
                for (acc, b) in acc.iter_mut().zip(b) {
                    *acc = _mm256_add_epi32(*acc, _mm256_madd_epi16(a, b));
                }
            }
            at += GROUP;
            b_at = b_at.add(p.n);
        }
    }
    acc
}

/// Sums of words, which are added to those of 32 bits before they could overflow.
#[inline(always)]
unsafe fn narrow_sums<const MR: usize, const NV: usize>(
    p: &IntProduct,
    rows: [*const u8; MR],
    j: usize,
    mask: __m256i,
    start: [__m256i; NV],
) -> [[__m256i; NV]; MR] {
    let mut wide = [start; MR];
    let mut acc = [[_mm256_setzero_si256(); NV]; MR];
    let mut b_at = p.b.add(j);
    let mut left = p.chunk;
    for run in 0..p.a.n_runs {
        let mut at = p.a.run(run);
        let mut groups = p.a.groups;
        while groups > 0 {
            let count = groups.min(left);
            for _ in 0..count {
                let b = load::<NV>(b_at, mask);
                for (&row, acc) in rows.iter().zip(&mut acc) {
                    let a = _mm256_set1_epi32(group(row, at));
                    for (acc, b) in acc.iter_mut().zip(b) {
                        *acc = _mm256_add_epi16(*acc, _mm256_maddubs_epi16(a, b));
                    }
                }
                at += GROUP;
                b_at = b_at.add(p.n);
            }
            groups -= count;
            left -= count;
            if left == 0 {
                add_words(&mut wide, &mut acc);
                left = p.chunk;
            }
        }
    }
    add_words(&mut wide, &mut acc);
    wide
}

#[inline(always)]
unsafe fn add_words<const MR: usize, const NV: usize>(
    wide: &mut [[__m256i; NV]; MR],
    acc: &mut [[__m256i; NV]; MR],
) {
    let ones = _mm256_set1_epi16(1);
    for (wide, acc) in wide
        .as_flattened_mut()
        .iter_mut()
        .zip(acc.as_flattened_mut())
    {
        *wide = _mm256_add_epi32(*wide, _mm256_madd_epi16(*acc, ones));
        *acc = _mm256_setzero_si256();
    }
}

/// All rows of up to 8 columns from column `j`, from bytes.
#[inline(always)]
unsafe fn bytes<const KIND: u8>(p: IntProduct, j: usize, width: usize) {
    let mut i = 0;
    while i < p.m {
        i += match p.m - i {
            4.. => byte_tile::<KIND, 4>(p, i, j, width),
            2.. => byte_tile::<KIND, 2>(p, i, j, width),
            _ => byte_tile::<KIND, 1>(p, i, j, width),
        };
    }
}

/// MR rows × 8 columns; returns MR.
#[inline(always)]
unsafe fn byte_tile<const KIND: u8, const MR: usize>(
    p: IntProduct,
    i: usize,
    j: usize,
    width: usize,
) -> usize {
    let mask = mask(width);
    // Two partial sums a column, in one vector for four columns each.
    let mut acc = [[_mm256_setzero_si256(); 2]; MR];
    let rows = p.a.rows::<MR>(i);
    let mut b_at = p.b.add(j);
    for run in 0..p.a.n_runs {
        let mut at = p.a.run(run);
        for _ in 0..p.a.groups {
            let b = _mm256_maskload_epi32(b_at, mask);
            let b = [
                _mm256_cvtepi8_epi16(_mm256_castsi256_si128(b)),
                _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(b)),
            ];
            for (&row, acc) in rows.iter().zip(&mut acc) {
                let a = _mm_set1_epi32(group(row, at));
                let a = if KIND == U8_I8 {
                    _mm256_cvtepu8_epi16(a)
                } else {
                    _mm256_cvtepi8_epi16(a)
                };
                for (acc, b) in acc.iter_mut().zip(b) {
                    *acc = _mm256_add_epi32(*acc, _mm256_madd_epi16(a, b));
                }
            }
            at += GROUP;
            b_at = b_at.add(p.n);
        }
    }
    let [bias] = start::<1>(&p, j, mask);
    for (r, &[low, high]) in acc.iter().enumerate() {
        let sums = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_hadd_epi32(low, high));
        let c = p.c.add((i + r) * p.ldc + j);
        store(c, width, _mm256_add_epi32(sums, bias));
    }
    MR
}
