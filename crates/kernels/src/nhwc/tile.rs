//! The register tile: MR pixels × NV vectors of output channels, over some taps and some channels of each.

use crate::simd::Vector;

/// The initial value of a tile's accumulators.
#[derive(Clone, Copy)]
pub(super) enum Start {
    /// Zero; the output is overwritten.
    Zero,
    /// One element per output channel.
    Bias(*const f32),
    /// Zero; the sums are added to the output.
    Add,
}

/// One tile.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// Pointers per tap, as many as the tallest tile has rows.
    pub(super) sources: *const *const f32,
    /// The pointer of padding: a tap whose sources are all padding is skipped.
    pub(super) zeros: *const f32,
    pub(super) taps: usize,
    /// Channels of each tap, from the first on.
    pub(super) first: usize,
    pub(super) channels: usize,
    /// The weights of the first tap and channel, and the distances from one channel, tap and vector of outputs to the next.
    pub(super) weights: *const f32,
    pub(super) channel_stride: usize,
    pub(super) tap_stride: usize,
    pub(super) vector_stride: usize,
    /// Pointers to rows of the output; null beyond the last pixel.
    pub(super) out: *const *mut f32,
    /// The first output channel of the tile in a row of the output.
    pub(super) first_output: usize,
    /// Output channels of the tile, at most all lanes.
    pub(super) outputs: usize,
    pub(super) start: Start,
    /// Bounds of the result.
    pub(super) clamp: Option<(f32, f32)>,
}

/// Runs one tile of MR pixels, of which there are pointers for TALLEST. `HALF`: the weights are eight wide where a vector has
/// sixteen lanes.
#[inline(always)]
pub(super) unsafe fn run<
    V: Vector,
    const TALLEST: usize,
    const MR: usize,
    const NV: usize,
    const HALF: bool,
>(
    t: &Tile,
) {
    // SAFETY: the caller's pointers are valid for the taps and channels of the tile.
    unsafe {
        let mut masks = [V::mask(0); NV];
        for (j, mask) in masks.iter_mut().enumerate() {
            *mask = V::mask(t.outputs.saturating_sub(j * V::LANES).min(V::LANES));
        }
        let mut acc = [[V::splat(0.0); NV]; MR];
        if let Start::Bias(bias) = t.start {
            for row in &mut acc {
                for (j, acc) in row.iter_mut().enumerate() {
                    *acc = V::load_masked(bias.wrapping_add(j * V::LANES), masks[j]);
                }
            }
        }
        for tap in 0..t.taps {
            let mut sources = [t.zeros; MR];
            let mut padding = true;
            for (i, source) in sources.iter_mut().enumerate() {
                *source = *t.sources.add(tap * TALLEST + i);
                padding &= *source == t.zeros;
                *source = source.add(t.first);
            }
            if padding {
                continue;
            }
            let weights = t.weights.add(tap * t.tap_stride);
            for channel in 0..t.channels {
                let mut w = [V::splat(0.0); NV];
                for (j, w) in w.iter_mut().enumerate() {
                    let at = weights.add(channel * t.channel_stride + j * t.vector_stride);
                    *w = if HALF {
                        V::load_masked(at, V::mask(8))
                    } else {
                        V::load(at)
                    };
                }
                for (acc, source) in acc.iter_mut().zip(&sources) {
                    let x = V::splat(*source.add(channel));
                    for (acc, &w) in acc.iter_mut().zip(&w) {
                        *acc = x.fma(w, *acc);
                    }
                }
            }
        }
        finish::<V, MR, NV>(t, acc, &masks);
    }
}

#[inline(always)]
unsafe fn finish<V: Vector, const MR: usize, const NV: usize>(
    t: &Tile,
    acc: [[V; NV]; MR],
    masks: &[V::Mask; NV],
) {
    // SAFETY: as in the tile.
    unsafe {
        for (i, acc) in acc.into_iter().enumerate() {
            let out = *t.out.add(i);
            if out.is_null() {
                continue;
            }
            let out = out.add(t.first_output);
            for (j, mut value) in acc.into_iter().enumerate() {
                let at = out.wrapping_add(j * V::LANES);
                if matches!(t.start, Start::Add) {
                    value = value.add(V::load_masked(at, masks[j]));
                }
                if let Some((low, high)) = t.clamp {
                    value = value.clamp(V::splat(low), V::splat(high));
                }
                value.store_masked(at, masks[j]);
            }
        }
    }
}
