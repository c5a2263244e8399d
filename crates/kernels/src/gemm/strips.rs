//! Cuts a product into column strips and picks the tile shape for each width and instruction set.
//!
//! Shapes were measured on a machine that runs one 512-bit or two 256-bit multiply-adds a cycle: the accumulators cover
//! its latency, and up to eight columns run in 256-bit registers, which wastes half as much.

use super::tile::{Product, Rows, strip};
use crate::isa::isa;
use crate::simd::{F32x4, Vector};
#[cfg(target_arch = "x86_64")]
use crate::simd::{F32x8, F32x8Masked, F32x16};

/// Runs a product.
pub(crate) unsafe fn run<R: Rows>(p: Product<R>) {
    // SAFETY: the caller's promise, and `isa` names only levels the CPU has.
    unsafe {
        match isa() {
            #[cfg(target_arch = "x86_64")]
            crate::Isa::Avx512 => avx512(p),
            #[cfg(target_arch = "x86_64")]
            crate::Isa::Avx2 => avx2(p),
            _ => portable(p),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]
unsafe fn avx512<R: Rows>(p: Product<R>) {
    let mut j = 0;
    while j < p.n {
        let width = (p.n - j).min(4 * F32x16::LANES);
        // SAFETY: the strip lies inside the product.
        unsafe {
            let part = p.columns(j, width);
            match width {
                0..=8 => strip::<F32x8Masked, R, 12, 1>(part),
                9..=16 => strip::<F32x16, R, 12, 1>(part),
                17..=32 => strip::<F32x16, R, 12, 2>(part),
                33..=48 => strip::<F32x16, R, 8, 3>(part),
                _ => strip::<F32x16, R, 6, 4>(part),
            }
        }
        j += width;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<R: Rows>(p: Product<R>) {
    let mut j = 0;
    while j < p.n {
        let width = (p.n - j).min(2 * F32x8::LANES);
        // SAFETY: the strip lies inside the product.
        unsafe {
            let part = p.columns(j, width);
            match width {
                0..=8 => strip::<F32x8, R, 8, 1>(part),
                _ => strip::<F32x8, R, 6, 2>(part),
            }
        }
        j += width;
    }
}

#[inline(always)]
unsafe fn portable<R: Rows>(p: Product<R>) {
    let mut j = 0;
    while j < p.n {
        let width = (p.n - j).min(2 * F32x4::LANES);
        // SAFETY: the strip lies inside the product.
        unsafe {
            let part = p.columns(j, width);
            match width {
                0..=4 => strip::<F32x4, R, 4, 1>(part),
                _ => strip::<F32x4, R, 4, 2>(part),
            }
        }
        j += width;
    }
}
