//! Softmax over rows, its logarithm, their gradients, and the cross-entropy loss.
//!
//! Rows of up to sixteen elements are turned, a tile at a time, so that lanes are rows and no lane is wasted; longer rows
//! are vectorised along themselves.

use crate::isa::versions;
use crate::math::{exp, ln};
use crate::row_reduce::{
    LANES, TILE_ROWS, Tile, add_lanes, load_tile, max_lanes, store_tile, sum_of, sums_of,
};

versions! {
    /// `y = e^x / Σ e^x` over each row of `cols` elements.
    pub fn softmax(cols: usize, x: &[f32], y: &mut [f32]) {
        check("softmax", cols, x.len(), y.len());
        if cols <= LANES {
            for_tiles(cols, x, y, #[inline(always)] |tile| {
                let (_, sums) = exponentials(tile);
                for column in tile {
                    for (x, sum) in column.iter_mut().zip(&sums) {
                        *x /= sum;
                    }
                }
            });
            return;
        }
        for (x, y) in x.chunks_exact(cols).zip(y.chunks_exact_mut(cols)) {
            let max = max_lanes(x);
            for (y, &x) in y.iter_mut().zip(x) {
                *y = exp(x - max);
            }
            let scale = 1.0 / add_lanes(y);
            for y in y {
                *y *= scale;
            }
        }
    }

    /// `y = x − ln Σ e^x` over each row of `cols` elements.
    pub fn log_softmax(cols: usize, x: &[f32], y: &mut [f32]) {
        check("log_softmax", cols, x.len(), y.len());
        if cols <= LANES {
            for_tiles(cols, x, y, #[inline(always)] |tile| {
                let mut scratch = [[0.0; TILE_ROWS]; LANES];
                let scratch = &mut scratch[..tile.len()];
                scratch.copy_from_slice(tile);
                let (max, sums) = exponentials(scratch);
                let mut logs = sums;
                for log in &mut logs {
                    *log = ln(*log);
                }
                for column in tile {
                    for ((x, max), log) in column.iter_mut().zip(&max).zip(&logs) {
                        *x = (*x - max) - log;
                    }
                }
            });
            return;
        }
        for (x, y) in x.chunks_exact(cols).zip(y.chunks_exact_mut(cols)) {
            let max = max_lanes(x);
            for (y, &x) in y.iter_mut().zip(x) {
                *y = exp(x - max);
            }
            let log = ln(add_lanes(y));
            for (y, &x) in y.iter_mut().zip(x) {
                *y = (x - max) - log;
            }
        }
    }

    /// Gradient of [`softmax`] from its output: `dx = y · (dy − Σ dy·y)`.
    pub fn softmax_backward(cols: usize, y: &[f32], dy: &[f32], dx: &mut [f32]) {
        check("softmax_backward", cols, y.len(), dx.len());
        check("softmax_backward", cols, dy.len(), dx.len());
        let rows = y.chunks_exact(cols).zip(dy.chunks_exact(cols));
        for ((y, dy), dx) in rows.zip(dx.chunks_exact_mut(cols)) {
            let inner = sums_of(y, dy, #[inline(always)] |y, dy| (y * dy, 0.0)).0;
            for ((dx, &y), &dy) in dx.iter_mut().zip(y).zip(dy) {
                *dx = y * (dy - inner);
            }
        }
    }

    /// Gradient of [`log_softmax`] from its output: `dx = dy − e^y · Σ dy`.
    pub fn log_softmax_backward(cols: usize, y: &[f32], dy: &[f32], dx: &mut [f32]) {
        check("log_softmax_backward", cols, y.len(), dx.len());
        check("log_softmax_backward", cols, dy.len(), dx.len());
        let rows = y.chunks_exact(cols).zip(dy.chunks_exact(cols));
        for ((y, dy), dx) in rows.zip(dx.chunks_exact_mut(cols)) {
            let total = add_lanes(dy);
            for ((dx, &y), &dy) in dx.iter_mut().zip(y).zip(dy) {
                *dx = dy - exp(y) * total;
            }
        }
    }

    /// Cross-entropy of softmax: `Σ −ln p[label]` over the rows, and how many rows have their first maximum at the label.
    /// When asked for, `dlogits = (p − onehot(label)) · grad_scale`.
    pub fn cross_entropy(
        classes: usize,
        logits: &[f32],
        labels: &[u32],
        dlogits: Option<&mut [f32]>,
        grad_scale: f32,
    ) -> (f64, usize) {
        check("cross_entropy", classes, logits.len(), labels.len() * classes);
        if let Some(d) = &dlogits {
            check("cross_entropy", classes, logits.len(), d.len());
        }
        if let Some(bad) = labels.iter().find(|&&label| label as usize >= classes) {
            panic!("cross_entropy: label {bad} with {classes} classes");
        }
        if classes <= LANES {
            narrow_cross_entropy(classes, logits, labels, dlogits, grad_scale)
        } else {
            wide_cross_entropy(classes, logits, labels, dlogits, grad_scale)
        }
    }
}

#[inline(always)]
fn check(what: &str, cols: usize, x: usize, y: usize) {
    assert!(cols > 0 || x == 0, "{what}: {x} elements in rows of 0");
    assert_eq!(x, y, "{what}: {x} elements in, {y} out");
    assert!(
        cols == 0 || x.is_multiple_of(cols),
        "{what}: {x} elements in rows of {cols}"
    );
}

/// Runs `f` on tiles of turned rows.
#[inline(always)]
fn for_tiles(cols: usize, x: &[f32], y: &mut [f32], f: impl Fn(&mut [[f32; TILE_ROWS]])) {
    if cols == 0 {
        return;
    }
    let mut tile: Tile = [[0.0; TILE_ROWS]; LANES];
    for (x, y) in x
        .chunks(cols * TILE_ROWS)
        .zip(y.chunks_mut(cols * TILE_ROWS))
    {
        load_tile(cols, x, &mut tile);
        f(&mut tile[..cols]);
        store_tile(cols, &tile, y);
    }
}

/// Replaces a tile by `e^(x − max)`; returns the maximum and the sum of each row.
#[inline(always)]
fn exponentials(tile: &mut [[f32; TILE_ROWS]]) -> ([f32; TILE_ROWS], [f32; TILE_ROWS]) {
    let mut max = tile[0];
    for column in &tile[1..] {
        for (max, &x) in max.iter_mut().zip(column) {
            *max = if x > *max { x } else { *max };
        }
    }
    let mut sums = [0.0f32; TILE_ROWS];
    for column in tile {
        for r in 0..TILE_ROWS {
            column[r] = exp(column[r] - max[r]);
            sums[r] += column[r];
        }
    }
    (max, sums)
}

#[inline(always)]
fn narrow_cross_entropy(
    classes: usize,
    logits: &[f32],
    labels: &[u32],
    mut dlogits: Option<&mut [f32]>,
    grad_scale: f32,
) -> (f64, usize) {
    let (mut loss, mut correct) = (0.0, 0);
    let mut tile: Tile = [[0.0; TILE_ROWS]; LANES];
    for (block, labels) in labels.chunks(TILE_ROWS).enumerate() {
        let start = block * TILE_ROWS * classes;
        let x = &logits[start..start + labels.len() * classes];
        load_tile(classes, x, &mut tile);
        let tile = &mut tile;
        let best = first_maxima(&tile[..classes]);
        let (max, sums) = exponentials(&mut tile[..classes]);
        let mut logs = sums;
        for log in &mut logs {
            *log = ln(*log);
        }
        for (r, &label) in labels.iter().enumerate() {
            let chosen = x[r * classes + label as usize];
            loss += f64::from(logs[r]) - f64::from(chosen - max[r]);
            correct += usize::from(best[r] == label);
        }
        if let Some(d) = &mut dlogits {
            let scales = sums.map(|sum| grad_scale / sum);
            for column in &mut tile[..classes] {
                for (p, scale) in column.iter_mut().zip(&scales) {
                    *p *= scale;
                }
            }
            let d = &mut d[start..start + labels.len() * classes];
            store_tile(classes, tile, d);
            for (row, &label) in d.chunks_exact_mut(classes).zip(labels) {
                row[label as usize] -= grad_scale;
            }
        }
    }
    (loss, correct)
}

/// The first column that holds each row's maximum.
#[inline(always)]
fn first_maxima(tile: &[[f32; TILE_ROWS]]) -> [u32; TILE_ROWS] {
    let (mut max, mut best) = (tile[0], [0u32; TILE_ROWS]);
    for (c, column) in tile.iter().enumerate().skip(1) {
        for r in 0..TILE_ROWS {
            let larger = column[r] > max[r];
            best[r] = if larger { c as u32 } else { best[r] };
            max[r] = if larger { column[r] } else { max[r] };
        }
    }
    best
}

#[inline(always)]
fn wide_cross_entropy(
    classes: usize,
    logits: &[f32],
    labels: &[u32],
    mut dlogits: Option<&mut [f32]>,
    grad_scale: f32,
) -> (f64, usize) {
    let (mut loss, mut correct) = (0.0, 0);
    for (r, (x, &label)) in logits.chunks_exact(classes).zip(labels).enumerate() {
        let (max, label) = (max_lanes(x), label as usize);
        let sum = match &mut dlogits {
            Some(d) => {
                let row = &mut d[r * classes..][..classes];
                for (d, &x) in row.iter_mut().zip(x) {
                    *d = exp(x - max);
                }
                let sum = add_lanes(row);
                for d in row.iter_mut() {
                    *d *= grad_scale / sum;
                }
                row[label] -= grad_scale;
                sum
            }
            None => sum_of(
                x,
                #[inline(always)]
                |x| exp(x - max),
            ),
        };
        loss += f64::from(ln(sum)) - f64::from(x[label] - max);
        correct += usize::from(x[label] == max && !x[..label].contains(&max));
    }
    (loss, correct)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::{assert_close, noise};

    const COLS: [usize; 9] = [1, 2, 5, 10, 15, 16, 17, 33, 100];
    const ROWS: [usize; 6] = [0, 1, 7, 16, 17, 40];

    fn shapes() -> impl Iterator<Item = (usize, usize)> {
        ROWS.into_iter()
            .flat_map(|rows| COLS.into_iter().map(move |cols| (rows, cols)))
    }

    fn logits(rows: usize, cols: usize) -> Vec<f32> {
        noise(rows * cols, cols as u64)
            .iter()
            .map(|x| x * 20.0)
            .collect()
    }

    fn log_softmax_exact(cols: usize, x: &[f32]) -> Vec<f64> {
        let rows = x
            .chunks_exact(cols)
            .map(|row| row.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
        rows.flat_map(|row| {
            let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let log = row.iter().map(|x| (x - max).exp()).sum::<f64>().ln();
            row.into_iter().map(move |x| x - max - log)
        })
        .collect()
    }

    #[test]
    fn forward_matches_f64() {
        on_every_isa(|isa| {
            for (rows, cols) in shapes() {
                let x = logits(rows, cols);
                let exact = log_softmax_exact(cols, &x);
                let mut y = vec![0.0; x.len()];
                log_softmax(cols, &x, &mut y);
                assert_close(&y, &exact, 1e-6, &format!("log {isa:?} {rows}×{cols}"));
                softmax(cols, &x, &mut y);
                let exact: Vec<f64> = exact.iter().map(|x| x.exp()).collect();
                assert_close(&y, &exact, 1e-6, &format!("{isa:?} {rows}×{cols}"));
            }
        });
    }

    #[test]
    fn backward_matches_f64() {
        on_every_isa(|isa| {
            for (rows, cols) in shapes() {
                let (x, dy) = (logits(rows, cols), noise(rows * cols, 77));
                let log_exact = log_softmax_exact(cols, &x);
                let (y, log_y): (Vec<f32>, Vec<f32>) = log_exact
                    .iter()
                    .map(|&x| (x.exp() as f32, x as f32))
                    .unzip();
                let mut dx = vec![0.0; x.len()];
                let row = |i: usize| i / cols * cols..i / cols * cols + cols;
                softmax_backward(cols, &y, &dy, &mut dx);
                let want: Vec<f64> = (0..x.len())
                    .map(|i| {
                        let inner: f64 =
                            row(i).map(|j| f64::from(dy[j]) * log_exact[j].exp()).sum();
                        log_exact[i].exp() * (f64::from(dy[i]) - inner)
                    })
                    .collect();
                assert_close(&dx, &want, 2e-6, &format!("{isa:?} {rows}×{cols}"));
                log_softmax_backward(cols, &log_y, &dy, &mut dx);
                let want: Vec<f64> = (0..x.len())
                    .map(|i| {
                        f64::from(dy[i])
                            - log_exact[i].exp() * row(i).map(|j| f64::from(dy[j])).sum::<f64>()
                    })
                    .collect();
                assert_close(&dx, &want, 1e-5, &format!("log {isa:?} {rows}×{cols}"));
            }
        });
    }

    #[test]
    fn cross_entropy_matches_f64() {
        on_every_isa(|isa| {
            for (rows, cols) in shapes() {
                let x = logits(rows, cols);
                let labels: Vec<u32> = (0..rows).map(|r| ((r * 7 + 1) % cols) as u32).collect();
                let exact = log_softmax_exact(cols, &x);
                let want: f64 = labels
                    .iter()
                    .enumerate()
                    .map(|(r, &l)| -exact[r * cols + l as usize])
                    .sum();
                let hits = x
                    .chunks_exact(cols)
                    .zip(&labels)
                    .filter(|(row, label)| row.iter().all(|&x| x <= row[**label as usize]));
                let mut d = vec![0.0; x.len()];
                let hits = hits.count();
                let with = cross_entropy(cols, &x, &labels, Some(&mut d), 0.5);
                let without = cross_entropy(cols, &x, &labels, None, 0.5);
                assert!(
                    (with.0 - want).abs() <= 1e-6 * want.max(1.0),
                    "{isa:?} {rows}×{cols} {} {want}",
                    with.0
                );
                assert!((with.0 - without.0).abs() <= 1e-6 * want.max(1.0));
                assert_eq!((with.1, without.1), (hits, hits));
                let gradient: Vec<f64> = (0..x.len())
                    .map(|i| {
                        (exact[i].exp()
                            - f64::from(u8::from(labels[i / cols] as usize == i % cols)))
                            * 0.5
                    })
                    .collect();
                assert_close(&d, &gradient, 1e-6, &format!("{isa:?} {rows}×{cols}"));
            }
        });
    }

    #[test]
    fn the_first_of_equal_maxima_counts() {
        for cols in [3, 20] {
            let mut x = vec![0.0; cols];
            (x[1], x[2]) = (1.0, 1.0);
            assert_eq!(cross_entropy(cols, &x, &[1], None, 1.0).1, 1);
            assert_eq!(cross_entropy(cols, &x, &[2], None, 1.0).1, 0);
        }
    }

    #[test]
    #[should_panic(expected = "label 5 with 5 classes")]
    fn a_label_out_of_range_is_an_error() {
        cross_entropy(5, &[0.0; 5], &[5], None, 1.0);
    }
}
