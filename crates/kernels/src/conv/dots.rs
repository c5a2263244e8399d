//! The weight gradient: a tile of dot products along the grid of several images.

use super::ConvShape;
use super::lattice::Lattice;
use crate::gemm::K_BLOCK;
use crate::isa::vector_versions;
use crate::simd::Vector;

/// A few images: output gradients on the grid, and sources.
pub(super) struct Images<'a> {
    pub(super) count: usize,
    pub(super) dy: &'a [f32],
    pub(super) dy_image: usize,
    pub(super) x: &'a [f32],
    pub(super) x_image: usize,
}

/// The same for one group, as pointers: `dw[i, p] += Σ dy[image, i, j] · x[image, offset[p] + j]`.
#[derive(Clone, Copy)]
struct Dots {
    images: usize,
    n: usize,
    dy: *const f32,
    dy_image: usize,
    x: *const f32,
    x_image: usize,
    table: *const u32,
    dw: *mut f32,
    lddw: usize,
}

/// Adds the images' part to the weight gradient.
pub(super) fn accumulate(s: &ConvShape, lattice: &Lattice, images: &Images, dw: &mut [f32]) {
    let (window, outputs) = (s.group_inputs() * s.window(), s.group_outputs());
    let mut table = [0u32; K_BLOCK];
    for group in 0..s.groups {
        let (dy_start, x_start) = (group * outputs * lattice.n, lattice.group_start(s, group));
        for from in (0..window).step_by(K_BLOCK) {
            let table = &mut table[..K_BLOCK.min(window - from)];
            lattice.offsets(s, from, table);
            let reach = table.last().map_or(0, |&last| last as usize + lattice.n);
            let last = images.count - 1;
            assert!(
                images.x.len() >= last * images.x_image + x_start + reach,
                "conv: sources too short"
            );
            assert!(
                images.dy.len() >= last * images.dy_image + dy_start + outputs * lattice.n,
                "conv: gradients too short"
            );
            let dots = Dots {
                images: images.count,
                n: lattice.n,
                dy: images.dy[dy_start..].as_ptr(),
                dy_image: images.dy_image,
                x: images.x[x_start..].as_ptr(),
                x_image: images.x_image,
                table: table.as_ptr(),
                dw: dw[group * outputs * window + from..].as_mut_ptr(),
                lddw: window,
            };
            // SAFETY: the last offset is the largest, so every window of every image was checked; the weights have
            // outputs·window elements per group by the caller's check.
            unsafe { all_dots(dots, outputs, table.len()) };
        }
    }
}

vector_versions! {
    unsafe fn all_dots<V>(d: Dots, outputs: usize, windows: usize) {
        let mut i = 0;
        while i < outputs {
            let rest = outputs - i;
            let d = Dots { dy: d.dy.add(i * d.n), dw: d.dw.add(i * d.lddw), ..d };
            i += match rest {
                6 if V::LANES >= 8 => row_of_tiles::<V, 6>(d, windows),
                4.. => row_of_tiles::<V, 4>(d, windows),
                2.. => row_of_tiles::<V, 2>(d, windows),
                _ => row_of_tiles::<V, 1>(d, windows),
            };
        }
    }
}

/// MO outputs against all windows; returns MO.
#[inline(always)]
unsafe fn row_of_tiles<V: Vector, const MO: usize>(d: Dots, windows: usize) -> usize {
    let mut p = 0;
    while p < windows {
        // Tiles as wide as the level has registers for.
        // SAFETY: a tile is chosen only where its windows exist.
        unsafe {
            let d = Dots {
                table: d.table.add(p),
                dw: d.dw.add(p),
                ..d
            };
            p += match windows - p {
                4.. if V::LANES == 16 => tile::<V, MO, 4>(d),
                3.. if V::LANES == 8 && MO <= 4 => tile::<V, MO, 3>(d),
                2.. => tile::<V, MO, 2>(d),
                _ => tile::<V, MO, 1>(d),
            };
        }
    }
    MO
}

/// MO outputs × NP windows of accumulators over all images; returns NP.
#[inline(always)]
unsafe fn tile<V: Vector, const MO: usize, const NP: usize>(d: Dots) -> usize {
    // SAFETY: the caller's outputs and windows; the mask keeps the last vector inside the grid.
    unsafe {
        let mut acc = [[V::splat(0.0); NP]; MO];
        let whole = d.n / V::LANES * V::LANES;
        let tail = V::mask(d.n - whole);
        for image in 0..d.images {
            let dy = d.dy.add(image * d.dy_image);
            let x = d.x.add(image * d.x_image);
            let mut starts = [x; NP];
            for (p, start) in starts.iter_mut().enumerate() {
                *start = x.add(*d.table.add(p) as usize);
            }
            let mut j = 0;
            while j < whole {
                step::<V, MO, NP>(&mut acc, dy.add(j), d.n, &starts, j, None);
                j += V::LANES;
            }
            if whole < d.n {
                step::<V, MO, NP>(&mut acc, dy.add(whole), d.n, &starts, whole, Some(tail));
            }
        }
        for (i, acc) in acc.iter().enumerate() {
            for (p, acc) in acc.iter().enumerate() {
                *d.dw.add(i * d.lddw + p) += acc.sum();
            }
        }
    }
    NP
}

#[inline(always)]
unsafe fn step<V: Vector, const MO: usize, const NP: usize>(
    acc: &mut [[V; NP]; MO],
    dy: *const f32,
    n: usize,
    starts: &[*const f32; NP],
    j: usize,
    tail: Option<V::Mask>,
) {
    // SAFETY: as in the tile.
    unsafe {
        let load = |at: *const f32| match tail {
            Some(mask) => V::load_masked(at, mask),
            None => V::load(at),
        };
        let mut x = [V::splat(0.0); NP];
        for (x, start) in x.iter_mut().zip(starts) {
            *x = load(start.add(j));
        }
        for (i, acc) in acc.iter_mut().enumerate() {
            let dy = load(dy.add(i * n));
            for (acc, &x) in acc.iter_mut().zip(&x) {
                *acc = dy.fma(x, *acc);
            }
        }
    }
}
