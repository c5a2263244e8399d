//! AVX-512 VNNI: products of bytes with everything that follows done in registers.
//!
//! Sums of four vectors are rescaled, packed with saturation into one vector of bytes, and clamped there. A signed left
//! operand is shifted by 128 as in `int_gemm`.
#![expect(
    unsafe_op_in_unsafe_fn,
    reason = "tiles are intrinsics on pointers that `requantize::fused_layer` checked"
)]

use super::{MAGIC, Rescale};
use crate::int_gemm::left::{GROUP, RowPointers, group};
use std::arch::x86_64::*;

const LANES: usize = 16;
/// 128 in every byte.
const HALF: i32 = i32::from_ne_bytes([0x80; 4]);

/// A layer as pointers; all lengths were checked.
#[derive(Clone, Copy)]
pub(super) struct LayerTask {
    pub m: usize,
    pub n: usize,
    pub a: RowPointers,
    pub b: *const i32,
    pub start: *const i32,
    /// A rounding before the map, if the tiles are told that there is one.
    pub before: Shift,
    pub map: Map,
    pub y: *mut u8,
}

/// A [`Rescale`] with a place for every column, as pointers.
#[derive(Clone, Copy)]
pub(super) struct Map {
    scale: *const f32,
    offset: *const f32,
    lo: f32,
    hi: f32,
}

/// `clamp(round(x·factor), lo, hi)`.
#[derive(Clone, Copy, Default)]
pub(super) struct Shift {
    pub factor: f32,
    pub lo: f32,
    pub hi: f32,
}

impl From<&Rescale> for Map {
    fn from(rescale: &Rescale) -> Self {
        let (scale, offset) = (rescale.scale.as_ptr(), rescale.offset.as_ptr());
        Self {
            scale,
            offset,
            lo: rescale.lo,
            hi: rescale.hi,
        }
    }
}

/// Runs all tiles; the parameters say whether A and the result are signed bytes, and whether a rounding comes first.
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx512vnni,avx2,fma")]
pub(super) unsafe fn run<const A_SIGNED: bool, const Y_SIGNED: bool, const BEFORE: bool>(
    task: LayerTask,
) {
    let mut j = 0;
    while j < task.n {
        let width = (task.n - j).min(4 * LANES);
        match width.div_ceil(LANES) {
            1 => strip::<A_SIGNED, Y_SIGNED, BEFORE, 12, 1, 4>(task, j, width),
            2 => strip::<A_SIGNED, Y_SIGNED, BEFORE, 12, 2, 2>(task, j, width),
            3 => strip::<A_SIGNED, Y_SIGNED, BEFORE, 8, 3, 1>(task, j, width),
            _ => strip::<A_SIGNED, Y_SIGNED, BEFORE, 6, 4, 1>(task, j, width),
        }
        j += width;
    }
}

/// All rows of up to NV vectors of columns from column `j`; RP rows are packed together.
#[inline(always)]
unsafe fn strip<
    const A: bool,
    const Y: bool,
    const BEFORE: bool,
    const MR: usize,
    const NV: usize,
    const RP: usize,
>(
    task: LayerTask,
    j: usize,
    width: usize,
) {
    let mask = ((1u32 << (width - (NV - 1) * LANES)) - 1) as __mmask16;
    let mut start = load::<NV>(task.start.add(j), mask);
    if A {
        for group in 0..task.a.n_runs * task.a.groups {
            let b = load::<NV>(task.b.add(group * task.n + j), mask);
            for (start, b) in start.iter_mut().zip(b) {
                let shifted =
                    _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi32(HALF), b);
                *start = _mm512_sub_epi32(*start, shifted);
            }
        }
    }
    let mut i = 0;
    while i < task.m {
        i += match task.m - i {
            rest if rest >= MR => tile::<A, Y, BEFORE, MR, NV, RP>(task, i, j, width, &start),
            4.. => tile::<A, Y, BEFORE, 4, NV, RP>(task, i, j, width, &start),
            2.. => tile::<A, Y, BEFORE, 2, NV, RP>(task, i, j, width, &start),
            _ => tile::<A, Y, BEFORE, 1, NV, RP>(task, i, j, width, &start),
        };
    }
}

/// MR rows × NV vectors; returns MR.
#[inline(always)]
unsafe fn tile<
    const A: bool,
    const Y: bool,
    const BEFORE: bool,
    const MR: usize,
    const NV: usize,
    const RP: usize,
>(
    task: LayerTask,
    i: usize,
    j: usize,
    width: usize,
    start: &[__m512i; NV],
) -> usize {
    let mask = ((1u32 << (width - (NV - 1) * LANES)) - 1) as __mmask16;
    let mut acc = [*start; MR];
    let rows = task.a.rows::<MR>(i);
    let mut b_at = task.b.add(j);
    for run in 0..task.a.n_runs {
        let mut at = task.a.run(run);
        for _ in 0..task.a.groups {
            let b = load::<NV>(b_at, mask);
            for (&row, acc) in rows.iter().zip(&mut acc) {
                let a = group(row, at);
                let a = _mm512_set1_epi32(if A { a ^ HALF } else { a });
                for (acc, b) in acc.iter_mut().zip(b) {
                    *acc = _mm512_dpbusd_epi32(*acc, a, b);
                }
            }
            at += GROUP;
            b_at = b_at.add(task.n);
        }
    }
    // Loops of constant length, so that the sums stay in registers.
    for first in (0..MR).step_by(RP) {
        let mut quad = [_mm512_setzero_si512(); 4];
        for r in 0..RP {
            for v in 0..NV {
                if first + r < MR {
                    let mask = if v + 1 == NV { mask } else { !0 };
                    quad[r * NV + v] =
                        rescale::<BEFORE>(&task, acc[first + r][v], j + v * LANES, mask);
                }
            }
        }
        let bytes = pack::<Y>(&task.map, quad);
        for r in 0..RP {
            if first + r < MR {
                store::<NV>(bytes, r, width, task.y.add((i + first + r) * task.n + j));
            }
        }
    }
    MR
}

/// The map of one vector of sums, up to the clamp.
#[inline(always)]
unsafe fn rescale<const BEFORE: bool>(
    task: &LayerTask,
    sum: __m512i,
    j: usize,
    mask: __mmask16,
) -> __m512i {
    let mut x = _mm512_cvtepi32_ps(sum);
    if BEFORE {
        // One rounding: what lies beyond ±2^22, where it is not to whole numbers, is beyond the bounds as well.
        let (factor, magic) = (_mm512_set1_ps(task.before.factor), _mm512_set1_ps(MAGIC));
        x = _mm512_sub_ps(_mm512_fmadd_ps(x, factor, magic), magic);
        x = _mm512_min_ps(x, _mm512_set1_ps(task.before.hi));
        x = _mm512_max_ps(x, _mm512_set1_ps(task.before.lo));
    }
    let scale = _mm512_maskz_loadu_ps(mask, task.map.scale.add(j));
    let offset = _mm512_maskz_loadu_ps(mask, task.map.offset.add(j));
    _mm512_cvtps_epi32(_mm512_fmadd_ps(x, scale, offset))
}

/// Four vectors as bytes, clamped to the bounds of the last map.
#[inline(always)]
unsafe fn pack<const SIGNED: bool>(last: &Map, [a, b, c, d]: [__m512i; 4]) -> __m512i {
    let (ab, cd) = (_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
    let bound = |bound: f32| _mm512_set1_epi8(bound.round_ties_even() as i32 as i8);
    let (lo, hi) = (bound(last.lo), bound(last.hi));
    let bytes = if SIGNED {
        _mm512_max_epi8(_mm512_min_epi8(_mm512_packs_epi16(ab, cd), hi), lo)
    } else {
        _mm512_max_epu8(_mm512_min_epu8(_mm512_packus_epi16(ab, cd), hi), lo)
    };
    // Packing works within quarters: groups of four bytes go back to their vectors.
    let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_permutexvar_epi32(order, bytes)
}

/// Stores row `r` of a packed vector.
#[inline(always)]
unsafe fn store<const NV: usize>(bytes: __m512i, r: usize, width: usize, y: *mut u8) {
    match NV {
        1 => {
            let row = match r {
                0 => _mm512_castsi512_si128(bytes),
                1 => _mm512_extracti32x4_epi32::<1>(bytes),
                2 => _mm512_extracti32x4_epi32::<2>(bytes),
                _ => _mm512_extracti32x4_epi32::<3>(bytes),
            };
            _mm_mask_storeu_epi8(y.cast(), ((1u32 << width) - 1) as __mmask16, row);
        }
        2 => {
            let row = match r {
                0 => _mm512_castsi512_si256(bytes),
                _ => _mm512_extracti64x4_epi64::<1>(bytes),
            };
            _mm256_mask_storeu_epi8(y.cast(), ((1u64 << width) - 1) as __mmask32, row);
        }
        _ => _mm512_mask_storeu_epi8(y.cast(), u64::MAX >> (64 - width), bytes),
    }
}

#[inline(always)]
unsafe fn load<const NV: usize>(p: *const i32, mask: __mmask16) -> [__m512i; NV] {
    let mut out = [_mm512_setzero_si512(); NV];
    for (v, out) in out.iter_mut().enumerate() {
        let mask = if v + 1 == NV { mask } else { !0 };
        *out = _mm512_maskz_loadu_epi32(mask, p.add(v * LANES));
    }
    out
}
