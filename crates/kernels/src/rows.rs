//! Row reductions in sixteen lanes, and tiles of sixteen short rows turned so that lanes are rows.

use crate::math::exp;

/// Lanes of a reduction and rows of a tile.
pub(crate) const LANES: usize = 16;

/// Column-major block of sixteen rows: `tile[column][row]`.
pub(crate) type Tile = [[f32; LANES]; LANES];

/// Turns up to sixteen rows of `cols ≤ 16` elements; missing rows keep what was there.
#[inline(always)]
pub(crate) fn load_tile(cols: usize, x: &[f32], tile: &mut Tile) {
    for (r, row) in x.chunks_exact(cols).enumerate().take(LANES) {
        for (column, &x) in tile.iter_mut().zip(row) {
            column[r] = x;
        }
    }
}

/// Turns a tile back into rows.
#[inline(always)]
pub(crate) fn store_tile(cols: usize, tile: &Tile, y: &mut [f32]) {
    for (r, row) in y.chunks_exact_mut(cols).enumerate().take(LANES) {
        for (column, y) in tile.iter().zip(row) {
            *y = column[r];
        }
    }
}

/// Largest element.
#[inline(always)]
pub(crate) fn max_lanes(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for_lanes(x.len(), |lane, i| {
        lanes[lane] = if x[i] > lanes[lane] {
            x[i]
        } else {
            lanes[lane]
        }
    });
    lanes.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

/// Sum, in sixteen partial sums that are then added pairwise.
#[inline(always)]
pub(crate) fn add_lanes(x: &[f32]) -> f32 {
    sum_of(x.len(), |i| x[i])
}

/// `Σ e^(x − max)` in the order of [`add_lanes`].
#[inline(always)]
pub(crate) fn add_exponentials(x: &[f32], max: f32) -> f32 {
    sum_of(x.len(), |i| exp(x[i] - max))
}

/// `Σ f(i)` over `0..n` in the order of [`add_lanes`].
#[inline(always)]
pub(crate) fn sum_of(n: usize, f: impl Fn(usize) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    for_lanes(n, |lane, i| lanes[lane] += f(i));
    fold(lanes)
}

/// Two sums at once in the order of [`add_lanes`].
#[inline(always)]
pub(crate) fn sums_of(n: usize, f: impl Fn(usize) -> (f32, f32)) -> (f32, f32) {
    let (mut a, mut b) = ([0.0; LANES], [0.0; LANES]);
    for_lanes(n, |lane, i| {
        let terms = f(i);
        a[lane] += terms.0;
        b[lane] += terms.1;
    });
    (fold(a), fold(b))
}

/// Calls `f(lane, index)` for `0..n`, the lanes in turn.
#[inline(always)]
fn for_lanes(n: usize, mut f: impl FnMut(usize, usize)) {
    let whole = n / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        for lane in 0..LANES {
            f(lane, start + lane);
        }
    }
    for i in whole..n {
        f(i - whole, i);
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
