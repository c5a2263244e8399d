//! Row reductions in sixteen lanes, and tiles of short rows turned so that lanes are rows.

use crate::gemm::transpose;

/// Lanes of a reduction, and the longest rows of a tile.
pub(crate) const LANES: usize = 16;
/// Rows of a tile: so many that loops over them are left to the loop vectoriser, not unrolled.
pub(crate) const TILE_ROWS: usize = 64;

/// Column-major block of rows: `tile[column][row]`.
pub(crate) type Tile = [[f32; TILE_ROWS]; LANES];

/// Turns up to a tile of rows of `cols ≤ 16` elements; missing rows keep what was there.
#[inline(always)]
pub(crate) fn load_tile(cols: usize, x: &[f32], tile: &mut Tile) {
    transpose(
        x.len() / cols,
        cols,
        x,
        cols,
        tile.as_flattened_mut(),
        TILE_ROWS,
    );
}

/// Turns a tile back into rows.
#[inline(always)]
pub(crate) fn store_tile(cols: usize, tile: &Tile, y: &mut [f32]) {
    transpose(
        cols,
        y.len() / cols,
        tile.as_flattened(),
        TILE_ROWS,
        y,
        cols,
    );
}

/// `x = f(x)`, sixteen elements at a time: short rows are vectors too, and none is left over.
#[inline(always)]
pub(crate) fn map_chunks(row: &mut [f32], f: impl Fn(f32) -> f32) {
    let (chunks, tail) = row.as_chunks_mut::<LANES>();
    for chunk in chunks {
        for x in chunk {
            *x = f(*x);
        }
    }
    if !tail.is_empty() {
        let mut chunk = [0.0; LANES];
        chunk[..tail.len()].copy_from_slice(tail);
        for x in &mut chunk {
            *x = f(*x);
        }
        tail.copy_from_slice(&chunk[..tail.len()]);
    }
}

/// Largest element.
#[inline(always)]
pub(crate) fn max_lanes(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, tail) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (max, &x) in lanes.iter_mut().zip(chunk) {
            *max = if x > *max { x } else { *max };
        }
    }
    for (max, &x) in lanes.iter_mut().zip(tail) {
        *max = if x > *max { x } else { *max };
    }
    fold(lanes, |a, b| if b > a { b } else { a })
}

/// Sum, in sixteen partial sums that are then added pairwise.
#[inline(always)]
pub(crate) fn add_lanes(x: &[f32]) -> f32 {
    sum_of(
        x,
        #[inline(always)]
        |x| x,
    )
}

/// `Σ f(x)` in the order of [`add_lanes`].
#[inline(always)]
pub(crate) fn sum_of(x: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, tail) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (sum, &x) in lanes.iter_mut().zip(chunk) {
            *sum += f(x);
        }
    }
    for (sum, &x) in lanes.iter_mut().zip(tail) {
        *sum += f(x);
    }
    fold(lanes, |a, b| a + b)
}

/// `Σ f(x, y)`, two sums at once, in the order of [`add_lanes`].
#[inline(always)]
pub(crate) fn sums_of(x: &[f32], y: &[f32], f: impl Fn(f32, f32) -> (f32, f32)) -> (f32, f32) {
    let (mut a, mut b) = ([0.0; LANES], [0.0; LANES]);
    let ((x_chunks, x_tail), (y_chunks, y_tail)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for lane in 0..LANES {
            let terms = f(x[lane], y[lane]);
            a[lane] += terms.0;
            b[lane] += terms.1;
        }
    }
    for (lane, (&x, &y)) in x_tail.iter().zip(y_tail).enumerate() {
        let terms = f(x, y);
        a[lane] += terms.0;
        b[lane] += terms.1;
    }
    (fold(a, |a, b| a + b), fold(b, |a, b| a + b))
}

/// Folds the upper half of the lanes onto the lower until one is left.
#[inline(always)]
fn fold(mut lanes: [f32; LANES], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = f(lanes[i], lanes[i + width]);
        }
        width /= 2;
    }
    lanes[0]
}
