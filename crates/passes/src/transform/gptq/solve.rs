//! Rounding weights one column after another, each error made good by the columns that are still free.
//!
//! Frantar, Ashkboos, Hoefler, Alistarh: GPTQ: Accurate Post-Training Quantization for Generative Pre-trained
//! Transformers (2022), with H⁻¹ = Uᵀ·U: column i is rounded, and what it lost, over U[i, i], is taken from every later
//! column j in the measure of U[i, j]. Differs from the published program: weights that no input reaches are rounded as
//! usual instead of set to zero, because other rows may reach them.

use super::factor::{Square, inverse_factor, subtract};

/// The weights of a group of output channels.
pub struct Problem<'a> {
    /// Row by row: one row for each output channel.
    pub weights: &'a [f32],
    /// H = 2·Xᵀ·X/n.
    pub hessian: &'a Square,
    /// The damping of the diagonal of H, in parts of its mean.
    pub damping: f64,
    /// True to round the columns with the largest inputs first.
    pub act_order: bool,
}

/// Columns after which the later ones are brought up to date.
const BLOCK: usize = 64;

/// The number of times the damping grows, tenfold, from 1e-9: far beyond the size of any H.
const MAX_DAMPINGS: usize = 40;

/// The rounded weights, row by row; nothing if H has no factor. `round` gives the grid's nearest values of a column.
pub fn solve(problem: &Problem, round: impl Fn(usize, &[f64], &mut [f32])) -> Option<Vec<f32>> {
    let n = problem.hessian.size;
    let rows = problem.weights.len() / n;
    let order = problem.order();
    let u = problem.factor(&order)?;
    // Column by column, so that what is done to a column is done to neighbours.
    let column = |&c: &usize| (0..rows).map(move |row| f64::from(problem.weights[row * n + c]));
    let mut free: Vec<f64> = order.iter().flat_map(column).collect();
    let mut result = vec![0.0; problem.weights.len()];
    let mut rounded = vec![0.0_f32; rows];
    let mut errors = vec![0.0; BLOCK * rows];
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        for i in start..end {
            let (done, later) = free.split_at_mut((i + 1) * rows);
            let wanted = &done[i * rows..];
            round(order[i], wanted, &mut rounded);
            let error = &mut errors[(i - start) * rows..][..rows];
            for ((error, &wanted), &got) in error.iter_mut().zip(wanted).zip(&rounded) {
                *error = (wanted - f64::from(got)) / u.row(i)[i];
            }
            for (column, j) in later.chunks_exact_mut(rows).zip(i + 1..end) {
                subtract(column, u.row(i)[j], error);
            }
            for (row, &got) in rounded.iter().enumerate() {
                result[row * n + order[i]] = got;
            }
        }
        for (column, j) in free[end * rows..].chunks_exact_mut(rows).zip(end..) {
            for (error, i) in errors.chunks_exact(rows).zip(start..end) {
                subtract(column, u.row(i)[j], error);
            }
        }
    }
    Some(result)
}

/// The loss of each row by other weights: d·H·dᵀ, twice the mean squared error of its output.
pub fn losses(weights: &[f32], others: &[f32], hessian: &Square) -> Vec<f64> {
    let n = hessian.size;
    let row_loss = |(a, b): (&[f32], &[f32])| {
        let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| f64::from(a - b)).collect();
        let part = |(i, &d_i): (usize, &f64)| {
            let dot: f64 = hessian.row(i).iter().zip(&d).map(|(h, d)| h * d).sum();
            d_i * dot
        };
        let differing = d.iter().enumerate().filter(|(_, d)| **d != 0.0);
        differing.map(part).sum::<f64>().max(0.0)
    };
    let pairs = weights.chunks_exact(n).zip(others.chunks_exact(n));
    pairs.map(row_loss).collect()
}

impl Problem<'_> {
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.hessian.size).collect();
        if self.act_order {
            let diagonal = self.hessian.diagonal();
            order.sort_by(|&a, &b| diagonal[b].total_cmp(&diagonal[a]));
        }
        order
    }

    /// U of the damped H. H may miss being positive definite by the rounding of its sums: then the damping grows, until
    /// it outweighs all other elements. An H that is not finite has no factor.
    fn factor(&self, order: &[usize]) -> Option<Square> {
        let ordered = self.hessian.permuted(order);
        let diagonal = ordered.diagonal();
        let n = ordered.size;
        let mean = diagonal.iter().sum::<f64>() / n.max(1) as f64;
        let unit = if mean > 0.0 { mean } else { 1.0 };
        let mut damping = self.damping * unit;
        for _ in 0..MAX_DAMPINGS {
            let mut damped = ordered.clone();
            for (i, &own) in diagonal.iter().enumerate() {
                // A column that no input reaches has no say in the others.
                damped.values[i * n + i] = if own == 0.0 { unit } else { own } + damping;
            }
            if let Some(u) = inverse_factor(&damped) {
                return Some(u);
            }
            damping = 10.0 * damping.max(1e-9 * unit);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_has_no_solution() {
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut hessian = Square::zero(2);
            hessian.values = vec![1.0, wrong, wrong, 1.0];
            let problem = Problem {
                weights: &[0.5, 0.25],
                hessian: &hessian,
                damping: 0.01,
                act_order: false,
            };
            assert_eq!(solve(&problem, |_, _, out| out.fill(0.0)), None, "{wrong}");
        }
    }
}
