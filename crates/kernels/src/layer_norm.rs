//! Layer normalisation over rows: `y = (x − mean) / √(var + eps) · gamma + beta`.

use crate::isa::versions;
use crate::row_reduce::{add_lanes, sum_of, sums_of};

versions! {
    /// Normalises rows of `cols` elements. `stats` gets the mean and `1 / √(var + eps)` of each row, side by side.
    pub fn forward(
        cols: usize,
        x: &[f32],
        gamma: Option<&[f32]>,
        beta: Option<&[f32]>,
        eps: f32,
        y: &mut [f32],
        stats: &mut [f32],
    ) {
        check(cols, x.len(), &[y.len()], stats.len());
        check_parameters(cols, &[gamma.map(<[f32]>::len), beta.map(<[f32]>::len)]);
        let rows = x.chunks_exact(cols.max(1)).zip(y.chunks_exact_mut(cols.max(1)));
        for ((x, y), stats) in rows.zip(stats.chunks_exact_mut(2)) {
            let mean = add_lanes(x) / cols as f32;
            let variance = sum_of(x, #[inline(always)] |x| (x - mean) * (x - mean)) / cols as f32;
            let inv_std = 1.0 / (variance + eps).sqrt();
            stats.copy_from_slice(&[mean, inv_std]);
            for (y, &x) in y.iter_mut().zip(x) {
                *y = (x - mean) * inv_std;
            }
            if let Some(gamma) = gamma {
                for (y, &gamma) in y.iter_mut().zip(gamma) {
                    *y *= gamma;
                }
            }
            if let Some(beta) = beta {
                for (y, &beta) in y.iter_mut().zip(beta) {
                    *y += beta;
                }
            }
        }
    }

    /// Gradients from the forward's input and statistics. `dgamma` and `dbeta` are overwritten where given.
    pub fn backward(
        cols: usize,
        x: &[f32],
        gamma: Option<&[f32]>,
        dy: &[f32],
        stats: &[f32],
        dx: &mut [f32],
        dgamma: Option<&mut [f32]>,
        dbeta: Option<&mut [f32]>,
    ) {
        check(cols, x.len(), &[dy.len(), dx.len()], stats.len());
        check_parameters(cols, &[gamma.map(<[f32]>::len), dgamma.as_deref().map(<[f32]>::len), dbeta.as_deref().map(<[f32]>::len)]);
        let (dgamma, dbeta) = (dgamma.unwrap_or(&mut []), dbeta.unwrap_or(&mut []));
        dgamma.fill(0.0);
        dbeta.fill(0.0);
        let width = cols.max(1);
        let rows = x.chunks_exact(width).zip(dy.chunks_exact(width)).zip(dx.chunks_exact_mut(width));
        for (((x, dy), dx), stats) in rows.zip(stats.chunks_exact(2)) {
            let (mean, inv_std) = (stats[0], stats[1]);
            dx.copy_from_slice(dy);
            if let Some(gamma) = gamma {
                for (g, &gamma) in dx.iter_mut().zip(gamma) {
                    *g *= gamma;
                }
            }
            row_dx(x, mean, inv_std, dx);
            for ((d, &x), &dy) in dgamma.iter_mut().zip(x).zip(dy) {
                *d += dy * ((x - mean) * inv_std);
            }
            for (d, &dy) in dbeta.iter_mut().zip(dy) {
                *d += dy;
            }
        }
    }
}

/// `dx = inv_std · (g − mean(g) − x̂ · mean(g · x̂))`, where `dx` holds g before.
#[inline(always)]
fn row_dx(x: &[f32], mean: f32, inv_std: f32, dx: &mut [f32]) {
    let cols = dx.len() as f32;
    let (sum, product) = sums_of(
        x,
        dx,
        #[inline(always)]
        |x, g| (g, g * ((x - mean) * inv_std)),
    );
    let (sum, product) = (sum / cols, product / cols);
    for (dx, &x) in dx.iter_mut().zip(x) {
        *dx = inv_std * ((*dx - sum) - (x - mean) * inv_std * product);
    }
}

#[inline(always)]
fn check(cols: usize, x: usize, others: &[usize], stats: usize) {
    assert!(cols > 0 || x == 0, "layer_norm: {x} elements in rows of 0");
    assert!(
        cols == 0 || x.is_multiple_of(cols),
        "layer_norm: {x} elements in rows of {cols}"
    );
    assert!(
        others.iter().all(|&n| n == x),
        "layer_norm: {x} elements, others have {others:?}"
    );
    let rows = x / cols.max(1);
    assert_eq!(
        stats,
        2 * rows,
        "layer_norm: {stats} statistics for {rows} rows"
    );
}

#[inline(always)]
fn check_parameters(cols: usize, lengths: &[Option<usize>]) {
    for n in lengths.iter().flatten() {
        assert_eq!(*n, cols, "layer_norm: {n} parameters in rows of {cols}");
    }
}

#[cfg(test)]
mod tests {
    use super::{backward, forward};
    use crate::isa::testing::on_every_isa;
    use crate::testing::{assert_close, noise};

    /// Mean, inverse deviation and normalised row in `f64`.
    fn normalized(row: &[f32], eps: f64) -> (f64, f64, Vec<f64>) {
        let n = row.len() as f64;
        let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let variance = row
            .iter()
            .map(|&x| (f64::from(x) - mean).powi(2))
            .sum::<f64>()
            / n;
        let inv_std = 1.0 / (variance + eps).sqrt();
        (
            mean,
            inv_std,
            row.iter()
                .map(|&x| (f64::from(x) - mean) * inv_std)
                .collect(),
        )
    }

    #[test]
    fn forward_and_backward_match_f64() {
        on_every_isa(|isa| {
            for (rows, cols) in [(0, 4), (1, 1), (3, 5), (4, 16), (7, 33), (5, 64), (2, 100)] {
                for with in [false, true] {
                    let what = format!("{isa:?} {rows}×{cols} parameters {with}");
                    let (x, dy) = (noise(rows * cols, 1), noise(rows * cols, 2));
                    let (gamma, beta) = (noise(cols, 3), noise(cols, 4));
                    let (gamma, beta) = (with.then_some(&gamma[..]), with.then_some(&beta[..]));
                    let scale = |c: usize| gamma.map_or(1.0, |g| f64::from(g[c]));
                    let (mut y, mut stats, mut dx) =
                        (vec![0.0; x.len()], vec![0.0; 2 * rows], vec![0.0; x.len()]);
                    let (mut dgamma, mut dbeta) = (vec![9.0; cols], vec![9.0; cols]);
                    forward(cols, &x, gamma, beta, 1e-2, &mut y, &mut stats);
                    backward(
                        cols,
                        &x,
                        gamma,
                        &dy,
                        &stats,
                        &mut dx,
                        Some(&mut dgamma),
                        Some(&mut dbeta),
                    );
                    let (mut wy, mut wdx, mut wdgamma, mut wdbeta) =
                        (vec![], vec![], vec![0.0; cols], vec![0.0; cols]);
                    for (row, dy) in x.chunks_exact(cols).zip(dy.chunks_exact(cols)) {
                        let (_, inv_std, hat) = normalized(row, f64::from(1e-2f32));
                        let g: Vec<f64> = dy
                            .iter()
                            .enumerate()
                            .map(|(c, &d)| f64::from(d) * scale(c))
                            .collect();
                        let sum = g.iter().sum::<f64>() / cols as f64;
                        let product =
                            g.iter().zip(&hat).map(|(g, h)| g * h).sum::<f64>() / cols as f64;
                        for c in 0..cols {
                            wy.push(hat[c] * scale(c) + beta.map_or(0.0, |b| f64::from(b[c])));
                            wdx.push(inv_std * (g[c] - sum - hat[c] * product));
                            wdgamma[c] += f64::from(dy[c]) * hat[c];
                            wdbeta[c] += f64::from(dy[c]);
                        }
                    }
                    assert_close(&y, &wy, 3e-6, &format!("y {what}"));
                    assert_close(&dx, &wdx, 1e-5, &format!("dx {what}"));
                    assert_close(&dgamma, &wdgamma, 3e-6, &format!("dgamma {what}"));
                    assert_close(&dbeta, &wdbeta, 3e-6, &format!("dbeta {what}"));
                }
            }
        });
    }
}
