//! Row reductions in sixteen lanes, and tiles of sixteen short rows turned so that lanes are rows.

use crate::math::exp;

/// Lanes of a reduction and rows of a tile.
pub(super) const LANES: usize = 16;

/// Column-major block of sixteen rows: `tile[column][row]`.
pub(super) type Tile = [[f32; LANES]; LANES];

/// Turns up to sixteen rows of `cols ≤ 16` elements; missing rows keep what was there.
#[inline(always)]
pub(super) fn load_tile(cols: usize, x: &[f32], tile: &mut Tile) {
    for (r, row) in x.chunks_exact(cols).enumerate().take(LANES) {
        for (column, &x) in tile.iter_mut().zip(row) {
            column[r] = x;
        }
    }
}

/// Turns a tile back into rows.
#[inline(always)]
pub(super) fn store_tile(cols: usize, tile: &Tile, y: &mut [f32]) {
    for (r, row) in y.chunks_exact_mut(cols).enumerate().take(LANES) {
        for (column, y) in tile.iter().zip(row) {
            *y = column[r];
        }
    }
}

/// Largest element.
#[inline(always)]
pub(super) fn max_lanes(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for_chunks(x, |i, x| lanes[i] = if x > lanes[i] { x } else { lanes[i] });
    lanes.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

/// Sum, in sixteen partial sums that are then added pairwise.
#[inline(always)]
pub(super) fn add_lanes(x: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    for_chunks(x, |i, x| lanes[i] += x);
    fold(lanes)
}

/// `Σ e^(x − max)` in the order of [`add_lanes`].
#[inline(always)]
pub(super) fn add_exponentials(x: &[f32], max: f32) -> f32 {
    let mut lanes = [0.0; LANES];
    for_chunks(x, |i, x| lanes[i] += exp(x - max));
    fold(lanes)
}

#[inline(always)]
fn for_chunks(x: &[f32], mut f: impl FnMut(usize, f32)) {
    let chunks = x.chunks_exact(LANES);
    let tail = chunks.remainder();
    for chunk in chunks {
        for (i, &x) in chunk.iter().enumerate() {
            f(i, x);
        }
    }
    for (i, &x) in tail.iter().enumerate() {
        f(i, x);
    }
}

#[inline(always)]
fn fold(mut lanes: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
        width /= 2;
    }
    lanes[0]
}
