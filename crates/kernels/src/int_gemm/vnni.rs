//! AVX-512 VNNI: `vpdpbusd` and `vpdpwssd` multiply and sum a whole group per lane.
//!
//! `vpdpbusd` wants an unsigned A. A signed one is shifted by 128, and 128 times the column sums of B, found by the same
//! instruction, is taken off the start; with wrapping sums that is exact.
#![expect(
    unsafe_op_in_unsafe_fn,
    reason = "tiles are intrinsics on pointers that `int_gemm::run` checked"
)]

use super::left::{GROUP, group};
use super::{I8_I8, I16_I16, IntProduct};
use std::arch::x86_64::*;

const LANES: usize = 16;
/// 128 in every byte.
const HALF: i32 = i32::from_ne_bytes([0x80; 4]);

#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx512vnni,avx2,fma")]
pub(super) unsafe fn run<const KIND: u8>(p: IntProduct) {
    let mut j = 0;
    while j < p.n {
        let width = (p.n - j).min(4 * LANES);
        match width.div_ceil(LANES) {
            1 => strip::<KIND, 12, 1>(p, j, width),
            2 => strip::<KIND, 12, 2>(p, j, width),
            3 => strip::<KIND, 8, 3>(p, j, width),
            _ => strip::<KIND, 6, 4>(p, j, width),
        }
        j += width;
    }
}

/// All rows of up to NV vectors of columns from column `j`.
#[inline(always)]
unsafe fn strip<const KIND: u8, const MR: usize, const NV: usize>(
    p: IntProduct,
    j: usize,
    width: usize,
) {
    let mask = ((1u32 << (width - (NV - 1) * LANES)) - 1) as __mmask16;
    let start = start::<KIND, NV>(p, j, mask);
    let mut i = 0;
    while i < p.m {
        i += match p.m - i {
            rest if rest >= MR => tile::<KIND, MR, NV>(p, i, j, mask, &start),
            4.. => tile::<KIND, 4, NV>(p, i, j, mask, &start),
            2.. => tile::<KIND, 2, NV>(p, i, j, mask, &start),
            _ => tile::<KIND, 1, NV>(p, i, j, mask, &start),
        };
    }
}

/// The initial value of every row's sums: the bias, less the correction for a shifted A.
#[inline(always)]
unsafe fn start<const KIND: u8, const NV: usize>(
    p: IntProduct,
    j: usize,
    mask: __mmask16,
) -> [__m512i; NV] {
    let mut start = [_mm512_setzero_si512(); NV];
    if KIND == I8_I8 {
        for group in 0..p.a.n_runs * p.a.groups {
            let b = load::<NV>(p.b.add(group * p.n + j), mask);
            for (sum, b) in start.iter_mut().zip(b) {
                *sum = _mm512_dpbusd_epi32(*sum, _mm512_set1_epi32(HALF), b);
            }
        }
    }
    let bias = if p.bias.is_null() {
        [_mm512_setzero_si512(); NV]
    } else {
        load::<NV>(p.bias.add(j), mask)
    };
    for (sum, bias) in start.iter_mut().zip(bias) {
        *sum = _mm512_sub_epi32(bias, *sum);
    }
    start
}

/// MR rows × NV vectors; returns MR.
#[inline(always)]
unsafe fn tile<const KIND: u8, const MR: usize, const NV: usize>(
    p: IntProduct,
    i: usize,
    j: usize,
    mask: __mmask16,
    start: &[__m512i; NV],
) -> usize {
    let mut acc = [*start; MR];
    let rows = p.a.rows::<MR>(i);
    let mut b_at = p.b.add(j);
    for run in 0..p.a.n_runs {
        let mut at = p.a.run(run);
        for _ in 0..p.a.groups {
            let b = load::<NV>(b_at, mask);
            for (&row, acc) in rows.iter().zip(&mut acc) {
                let a = _mm512_set1_epi32(group(row, at));
                let a = if KIND == I8_I8 {
                    _mm512_xor_si512(a, _mm512_set1_epi32(HALF))
                } else {
                    a
                };
                for (acc, b) in acc.iter_mut().zip(b) {
                    *acc = if KIND == I16_I16 {
                        _mm512_dpwssd_epi32(*acc, a, b)
                    } else {
                        _mm512_dpbusd_epi32(*acc, a, b)
                    };
                }
            }
            at += GROUP;
            b_at = b_at.add(p.n);
        }
    }
    for (r, acc) in acc.iter().enumerate() {
        let c = p.c.add((i + r) * p.ldc + j);
        for (v, &acc) in acc.iter().enumerate() {
            let mask = if v + 1 == NV { mask } else { !0 };
            _mm512_mask_storeu_epi32(c.add(v * LANES), mask, acc);
        }
    }
    MR
}

#[inline(always)]
unsafe fn load<const NV: usize>(p: *const i32, mask: __mmask16) -> [__m512i; NV] {
    let mut out = [_mm512_setzero_si512(); NV];
    for (v, out) in out.iter_mut().enumerate() {
        let at = p.add(v * LANES);
        *out = if v + 1 == NV {
            _mm512_maskz_loadu_epi32(mask, at)
        } else {
            _mm512_loadu_epi32(at)
        };
    }
    out
}
