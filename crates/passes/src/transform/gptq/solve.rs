//! Rounding weights one column after another, each error made good by the columns that are still free.
//!
//! Frantar, Ashkboos, Hoefler, Alistarh: GPTQ: Accurate Post-Training Quantization for Generative Pre-trained
//! Transformers (2022). It takes the errors of rounded columns from the free ones by a factor of H⁻¹. The same numbers
//! come from a factor of H, without an inverse: with H = R·Rᵀ, R upper triangular, and d the change of the columns
//! before i, column i is rounded at `w[i] + Σ d[m]·R[m, i] / R[i, i]` (Babai's nearest plane). Differs from the published program
//! in one more thing: weights that no input reaches are rounded as usual instead of set to zero, because other rows may
//! reach them.

use super::factor::{Square, factor_in_place};
use kernels::double::{subtract_product, subtract_scaled};
use kernels::threads::Pool;

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

/// Columns after which the next ones are brought up to date.
const BLOCK: usize = 128;

/// Output channels that are worked on at a time: none depends on another.
const CHANNELS: usize = 256;

/// The number of times the damping grows, tenfold, from 1e-9: far beyond the size of any H.
const MAX_DAMPINGS: usize = 40;

/// The rounded weights, row by row; nothing if H has no factor. `round` gives the grid's nearest values of the rows from
/// the first number on in the column of the second.
pub fn solve(
    problem: &Problem,
    pool: &Pool,
    round: impl Fn(usize, usize, &[f64], &mut [f32]) + Sync,
) -> Option<Vec<f32>> {
    let n = problem.hessian.size;
    // The last column is the first to be rounded: with the order turned round, R is the transpose of a Cholesky factor.
    let order = problem.order();
    let v = problem.factor(&order, pool)?;
    let mut result = vec![0.0; problem.weights.len()];
    let mut parts: Vec<&mut [f32]> = result.chunks_mut(CHANNELS * n).collect();
    pool.for_each(&mut parts, |index, part| {
        let first = index * CHANNELS;
        let exact = &problem.weights[first * n..][..part.len()];
        let round = |column: usize, wanted: &[f64], out: &mut [f32]| {
            round(first, column, wanted, out);
        };
        solve_channels(exact, &v, &order, part, round);
    });
    Some(result)
}

/// Rounds the columns of some channels from the last of the order to the first.
fn solve_channels(
    exact: &[f32],
    v: &Square,
    order: &[usize],
    result: &mut [f32],
    round: impl Fn(usize, &[f64], &mut [f32]),
) {
    let n = v.size;
    let rows = exact.len() / n;
    // Column by column, so that what is done to a column is done to neighbours.
    let mut changes = vec![0.0; exact.len()];
    let mut sums = vec![0.0; BLOCK * rows];
    let (mut wanted, mut rounded) = (vec![0.0; rows], vec![0.0; rows]);
    for start in (0..n).step_by(BLOCK).rev() {
        let end = n.min(start + BLOCK);
        sums.fill(0.0);
        let done = &changes[end * rows..];
        let factor = &v.values[start * n + end..];
        subtract_product(
            end - start,
            n - end,
            rows,
            factor,
            n,
            1,
            done,
            rows,
            &mut sums,
            rows,
        );
        for i in (start..end).rev() {
            let sum = &mut sums[(i - start) * rows..][..rows];
            let (free, done) = changes.split_at_mut((i + 1) * rows);
            for (done, j) in done.chunks_exact(rows).zip(i + 1..end) {
                subtract_scaled(sum, v.row(i)[j], done);
            }
            let weight = |row: usize| row * n + order[i];
            for (row, wanted) in wanted.iter_mut().enumerate() {
                *wanted = f64::from(exact[weight(row)]) - sum[row] / v.row(i)[i];
            }
            round(order[i], &wanted, &mut rounded);
            for (row, change) in free[i * rows..].iter_mut().enumerate() {
                result[weight(row)] = rounded[row];
                *change = f64::from(exact[weight(row)]) - f64::from(rounded[row]);
            }
        }
    }
}

/// The loss of each row by other weights: d·H·dᵀ, twice the mean squared error of its output.
pub fn losses(weights: &[f32], others: &[f32], hessian: &Square, pool: &Pool) -> Vec<f64> {
    let per_part = CHANNELS * hessian.size;
    let pairs = weights.chunks(per_part).zip(others.chunks(per_part));
    let mut parts: Vec<_> = pairs.map(|pair| (pair, Vec::new())).collect();
    pool.for_each(&mut parts, |_, ((weights, others), losses)| {
        *losses = channel_losses(weights, others, hessian);
    });
    parts.into_iter().flat_map(|(_, losses)| losses).collect()
}

/// The losses of some channels. H is symmetric: what is right of a block counts twice.
fn channel_losses(weights: &[f32], others: &[f32], hessian: &Square) -> Vec<f64> {
    let n = hessian.size;
    let rows = weights.len() / n;
    let change = |row: usize, column: usize| {
        let at = row * n + column;
        f64::from(weights[at] - others[at])
    };
    let changes: Vec<f64> = (0..n)
        .flat_map(|column| (0..rows).map(move |row| change(row, column)))
        .collect();
    let mut losses = vec![0.0; rows];
    for start in (0..n).step_by(BLOCK) {
        let end = n.min(start + BLOCK);
        let own = &changes[start * rows..end * rows];
        let mut products = vec![0.0; own.len()];
        for (left, right, times) in [(end, n, 1.0), (start, end, 2.0)] {
            for product in &mut products {
                *product *= times;
            }
            let (h, d) = (&hessian.values[start * n + left..], &changes[left * rows..]);
            let (m, k) = (end - start, right - left);
            subtract_product(m, k, rows, h, n, 1, d, rows, &mut products, rows);
        }
        for (own, products) in own.chunks_exact(rows).zip(products.chunks_exact(rows)) {
            for ((loss, own), product) in losses.iter_mut().zip(own).zip(products) {
                *loss -= own * product;
            }
        }
    }
    losses.iter().map(|loss: &f64| loss.max(0.0)).collect()
}

impl Problem<'_> {
    /// The columns, those that are rounded last in front.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.hessian.size).collect();
        if self.act_order {
            let diagonal = self.hessian.diagonal();
            order.sort_by(|&a, &b| diagonal[b].total_cmp(&diagonal[a]));
        }
        order.reverse();
        order
    }

    /// V of the damped H = Vᵀ·V with rows and columns in an order. H may miss being positive definite by the rounding of
    /// its sums: then the damping grows, until it outweighs all other elements. An H that is not finite has no factor.
    fn factor(&self, order: &[usize], pool: &Pool) -> Option<Square> {
        let diagonal = self.hessian.diagonal();
        let n = self.hessian.size;
        let mean = diagonal.iter().sum::<f64>() / n.max(1) as f64;
        let unit = if mean > 0.0 { mean } else { 1.0 };
        let mut damping = self.damping * unit;
        let mut damped = Square::zero(n);
        for _ in 0..MAX_DAMPINGS {
            for (i, (row, &place)) in damped.values.chunks_exact_mut(n).zip(order).enumerate() {
                let own = self.hessian.row(place);
                for (x, &column) in row[i..].iter_mut().zip(&order[i..]) {
                    *x = own[column];
                }
                // A column that no input reaches has no say in the others.
                row[i] = if own[place] == 0.0 { unit } else { own[place] } + damping;
            }
            if factor_in_place(&mut damped, pool).is_some() {
                return Some(damped);
            }
            damping = 10.0 * damping.max(1e-9 * unit);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetric(n: usize, value: impl Fn(usize, usize) -> f64) -> Square {
        let values = (0..n * n).map(|at| value((at / n).min(at % n), (at / n).max(at % n)));
        Square {
            size: n,
            values: values.collect(),
        }
    }

    /// Random numbers, the same for the same place.
    fn noise(stream: &str) -> impl Fn(usize) -> f32 + use<> {
        let random = random::Random::new(5, stream);
        move |at| random.normal(at as u64)
    }

    /// Xᵀ·X of inputs that have much in common.
    fn hessian(n: usize) -> Square {
        let x = noise("inputs");
        let input = |sample: usize, i: usize| {
            let own = x(sample * (n + 1) + i);
            f64::from(own + 2.0 * x(sample * (n + 1) + n))
        };
        symmetric(n, |i, j| {
            (0..40)
                .map(|sample| input(sample, i) * input(sample, j))
                .sum()
        })
    }

    /// GPTQ as it is published: column after column, the errors taken from all later ones by a factor of the inverse.
    fn by_inverse(weights: &[f32], h: &Square, damping: f64) -> Vec<f32> {
        let n = h.size;
        let mean = h.diagonal().iter().sum::<f64>() / n as f64;
        let inverse = inverse(&symmetric(n, |i, j| {
            h.row(i)[j] + if i == j { damping * mean } else { 0.0 }
        }));
        let mut result = weights.to_vec();
        for row in result.chunks_exact_mut(n) {
            let mut free: Vec<f64> = row.iter().map(|&w| w.into()).collect();
            let mut inverse = inverse.clone();
            for i in 0..n {
                row[i] = free[i].round() as f32;
                let error = (free[i] - f64::from(row[i])) / inverse.row(i)[i];
                for (j, free) in free.iter_mut().enumerate().skip(i + 1) {
                    *free -= error * inverse.row(i)[j];
                }
                remove(&mut inverse, i);
            }
        }
        result
    }

    /// Gauss and Jordan.
    fn inverse(a: &Square) -> Square {
        let n = a.size;
        let mut a = a.clone();
        for k in 0..n {
            let pivot = a.values[k * n + k];
            a.values[k * n + k] = 1.0;
            (0..n).for_each(|j| a.values[k * n + j] /= pivot);
            for i in (0..n).filter(|&i| i != k) {
                let factor = a.values[i * n + k];
                a.values[i * n + k] = 0.0;
                (0..n).for_each(|j| a.values[i * n + j] -= factor * a.values[k * n + j]);
            }
        }
        a
    }

    /// Takes a column out of the matrix whose inverse this is.
    fn remove(inverse: &mut Square, k: usize) {
        let n = inverse.size;
        let (row, pivot) = (inverse.row(k).to_vec(), inverse.row(k)[k]);
        for at in 0..n * n {
            inverse.values[at] -= row[at / n] * row[at % n] / pivot;
        }
    }

    #[test]
    fn columns_are_rounded_as_by_the_inverse_of_what_is_free() {
        for (n, channels) in [(1, 3), (9, 4), (BLOCK - 1, 2), (BLOCK, 1), (BLOCK + 2, 3)] {
            let h = hessian(n);
            let weight = noise("weights");
            let weights: Vec<f32> = (0..n * channels).map(|k| 3.0 * weight(k)).collect();
            let problem = Problem {
                weights: &weights,
                hessian: &h,
                damping: 0.05,
                act_order: false,
            };
            let nearest = |_, _, wanted: &[f64], out: &mut [f32]| {
                let rounded = out.iter_mut().zip(wanted);
                rounded.for_each(|(out, wanted)| *out = wanted.round() as f32);
            };
            let got = solve(&problem, &Pool::new(1), nearest).unwrap();
            assert_eq!(got, by_inverse(&weights, &h, 0.05), "{n}");
        }
    }

    #[test]
    fn losses_are_quadratic_forms_and_do_not_depend_on_threads() {
        for (n, channels) in [(1, 1), (7, CHANNELS + 3), (BLOCK, 2), (2 * BLOCK + 1, 3)] {
            let h = hessian(n);
            let [weights, others] = ["weights", "others"].map(|stream| {
                let value = noise(stream);
                (0..n * channels).map(value).collect::<Vec<f32>>()
            });
            let got = losses(&weights, &others, &h, &Pool::new(1));
            assert_eq!(got.len(), channels);
            for (row, &got) in got.iter().enumerate() {
                let d = |i: usize| f64::from(weights[row * n + i] - others[row * n + i]);
                let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                let want: f64 = all.map(|(i, j)| d(i) * h.row(i)[j] * d(j)).sum();
                assert!(
                    (got - want).abs() <= 1e-9 * want,
                    "{n}: {row}: {got}, {want}"
                );
            }
            assert_eq!(losses(&weights, &others, &h, &Pool::new(3)), got);
        }
    }

    #[test]
    fn what_is_not_finite_has_no_solution() {
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let hessian = symmetric(2, |i, j| if i == j { 1.0 } else { wrong });
            let problem = Problem {
                weights: &[0.5, 0.25],
                hessian: &hessian,
                damping: 0.01,
                act_order: false,
            };
            let zero = |_, _, _: &[f64], out: &mut [f32]| out.fill(0.0);
            assert_eq!(solve(&problem, &Pool::new(1), zero), None, "{wrong}");
        }
    }

    /// Every row has a grid of its own; with more rows than are worked on at a time, each is rounded to it.
    #[test]
    fn a_row_is_rounded_to_its_own_grid() {
        let channels = CHANNELS + 3;
        let weights = vec![0.0; channels];
        let hessian = symmetric(1, |_, _| 1.0);
        let problem = Problem {
            weights: &weights,
            hessian: &hessian,
            damping: 0.0,
            act_order: false,
        };
        let row_number = |row: usize, _, _: &[f64], out: &mut [f32]| {
            for (k, out) in out.iter_mut().enumerate() {
                *out = (row + k) as f32;
            }
        };
        let got = solve(&problem, &Pool::new(1), row_number).unwrap();
        let wanted: Vec<f32> = (0..channels).map(|row| row as f32).collect();
        assert_eq!(got, wanted);
    }

    #[test]
    fn the_damping_grows_until_there_is_a_factor() {
        // Its values are 3 and -1, so that a damping above 1 is needed.
        let hessian = symmetric(2, |i, j| if i == j { 1.0 } else { 2.0 });
        let problem = Problem {
            weights: &[0.5, 0.25],
            hessian: &hessian,
            damping: 0.0,
            act_order: false,
        };
        let factor = problem.factor(&[0, 1], &Pool::new(1)).unwrap();
        let damping = factor.values[0].powi(2) - 1.0;
        let upper = (factor.values[3].powi(2) + factor.values[1].powi(2)) - 1.0;
        let larger = damping.max(upper);
        assert!((1.0..=10.0).contains(&larger), "{larger}");
    }
}
