//! The distribution of CMA-ES and its update after a generation.
//!
//! Equation numbers are those of Hansen, "The CMA evolution strategy: a tutorial" (2016).

use super::eigen::{Matrix, dot, eigen};
use random::Draws;

/// Constants that follow from the number of parameters and the size of the population.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    /// Individuals in a generation.
    pub(super) population: usize,
    weights: Vec<f64>,
    /// The variance-effective selection mass of the positive weights.
    mu_eff: f64,
    c_sigma: f64,
    d_sigma: f64,
    c_c: f64,
    c_1: f64,
    c_mu: f64,
    /// The expected length of a standard normal vector.
    chi: f64,
}

impl Rates {
    /// The rates of the tutorial; the population is 4 + ⌊3 ln n⌋ if not given (eq. 48).
    pub(super) fn new(n_parameters: usize, population: Option<usize>) -> Self {
        let n = n_parameters as f64;
        let population = population.unwrap_or(4 + (3.0 * n.ln()) as usize);
        let raw: Vec<f64> = (1..=population)
            .map(|rank| (0.5 * (population as f64 + 1.0)).ln() - (rank as f64).ln())
            .collect();
        let (best, worst) = raw.split_at(population / 2);
        let (mu_eff, mu_eff_minus) = (effective(best), effective(worst));
        let c_1 = 2.0 / ((n + 1.3).powi(2) + mu_eff);
        let c_mu = 2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((n + 2.0).powi(2) + mu_eff);
        let c_mu = c_mu.min(1.0 - c_1 - 1e-8);
        let c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0);
        Self {
            population,
            weights: weights(
                &raw,
                &[
                    1.0 + c_1 / c_mu,
                    1.0 + 2.0 * mu_eff_minus / (mu_eff + 2.0),
                    (1.0 - c_1 - c_mu) / (n * c_mu),
                ],
            ),
            mu_eff,
            c_sigma,
            d_sigma: 1.0 + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma,
            c_c: (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n),
            c_1,
            c_mu,
            chi: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        }
    }
}

fn effective(weights: &[f64]) -> f64 {
    let sum: f64 = weights.iter().sum();
    sum * sum / weights.iter().map(|w| w * w).sum::<f64>()
}

/// Positive weights with sum 1, negative ones with the least of the given sums (eq. 49 to 53).
fn weights(raw: &[f64], negative_sums: &[f64]) -> Vec<f64> {
    let positive: f64 = raw.iter().filter(|w| **w > 0.0).sum();
    let negative: f64 = raw.iter().filter(|w| **w < 0.0).map(|w| -w).sum();
    let min = negative_sums.iter().copied().fold(f64::INFINITY, f64::min);
    let scaled = |w: &f64| {
        if *w >= 0.0 {
            w / positive
        } else {
            w * min / negative
        }
    };
    raw.iter().map(scaled).collect()
}

/// A normal distribution on the unit cube, and how it has moved.
#[derive(Clone, Debug)]
pub(super) struct Distribution {
    /// The mean.
    pub(super) mean: Vec<f64>,
    /// The step size.
    pub(super) sigma: f64,
    /// Factor by which each axis is drawn wider, so that a discrete one cannot get stuck; 1 where nothing is needed.
    pub(super) margin: Vec<f64>,
    covariance: Matrix,
    path_sigma: Vec<f64>,
    path_c: Vec<f64>,
    generation: i32,
    /// Square roots of the eigenvalues of the covariance, and its eigenvectors as columns.
    scales: Vec<f64>,
    axes: Matrix,
}

impl Distribution {
    /// In the middle of the cube, a sixth of its width as standard deviation.
    pub(super) fn new(n: usize) -> Self {
        Self {
            mean: vec![0.5; n],
            sigma: 1.0 / 6.0,
            margin: vec![1.0; n],
            covariance: Matrix::identity(n),
            path_sigma: vec![0.0; n],
            path_c: vec![0.0; n],
            generation: 0,
            scales: vec![1.0; n],
            axes: Matrix::identity(n),
        }
    }

    /// The standard deviation of one axis, margin included.
    pub(super) fn deviation(&self, axis: usize) -> f64 {
        self.sigma * self.margin[axis] * self.covariance.get(axis, axis).sqrt()
    }

    /// A random place.
    pub(super) fn draw(&self, draws: &mut Draws) -> Vec<f64> {
        let scaled: Vec<f64> = self
            .scales
            .iter()
            .map(|scale| scale * draws.normal())
            .collect();
        let turned = self.axes.times(&scaled);
        (0..self.mean.len())
            .map(|axis| self.mean[axis] + self.sigma * self.margin[axis] * turned[axis])
            .collect()
    }

    /// Moves towards the best of a generation; `places` are in order, the best first.
    pub(super) fn update(&mut self, rates: &Rates, places: &[Vec<f64>]) {
        let steps: Vec<Vec<f64>> = places.iter().map(|place| self.step(place)).collect();
        let mean_step = self.recombine(rates, &steps);
        for (axis, step) in mean_step.iter().enumerate() {
            self.mean[axis] += self.sigma * self.margin[axis] * step;
        }
        self.generation += 1;
        let is_steady = self.follow_paths(rates, &mean_step);
        self.adapt(rates, &steps, is_steady);
        let length = dot(&self.path_sigma, &self.path_sigma).sqrt();
        let change = rates.c_sigma / rates.d_sigma * (length / rates.chi - 1.0);
        self.sigma = (self.sigma * change.exp()).clamp(1e-12, 1e3);
        self.decompose();
    }

    /// A place as a draw from N(0, C).
    fn step(&self, place: &[f64]) -> Vec<f64> {
        (0..place.len())
            .map(|axis| (place[axis] - self.mean[axis]) / (self.sigma * self.margin[axis]))
            .collect()
    }

    /// The weighted mean of the better half (eq. 41).
    fn recombine(&self, rates: &Rates, steps: &[Vec<f64>]) -> Vec<f64> {
        let better = || steps.iter().zip(&rates.weights).take(rates.population / 2);
        (0..self.mean.len())
            .map(|axis| better().map(|(step, weight)| weight * step[axis]).sum())
            .collect()
    }

    /// Both evolution paths (eq. 43 and 45); returns whether the step size is not growing too fast for the second.
    fn follow_paths(&mut self, rates: &Rates, mean_step: &[f64]) -> bool {
        let white = self.whiten(mean_step);
        let gain = (rates.c_sigma * (2.0 - rates.c_sigma) * rates.mu_eff).sqrt();
        decay_and_add(&mut self.path_sigma, 1.0 - rates.c_sigma, gain, &white);

        let length = dot(&self.path_sigma, &self.path_sigma).sqrt();
        let settled = 1.0 - (1.0 - rates.c_sigma).powi(2 * (self.generation + 1));
        let n = self.mean.len() as f64;
        let is_steady = length / settled.sqrt() < (1.4 + 2.0 / (n + 1.0)) * rates.chi;
        let gain = (rates.c_c * (2.0 - rates.c_c) * rates.mu_eff).sqrt();
        let gain = if is_steady { gain } else { 0.0 };
        decay_and_add(&mut self.path_c, 1.0 - rates.c_c, gain, mean_step);
        is_steady
    }

    /// C^(-1/2) times a vector.
    fn whiten(&self, vector: &[f64]) -> Vec<f64> {
        let mut turned = self.axes.transposed_times(vector);
        turned
            .iter_mut()
            .zip(&self.scales)
            .for_each(|(x, scale)| *x /= scale);
        self.axes.times(&turned)
    }

    /// Rank-one and rank-μ update of the covariance, with negative weights (eq. 46 and 47).
    fn adapt(&mut self, rates: &Rates, steps: &[Vec<f64>], is_steady: bool) {
        let n = self.mean.len();
        let weight_of = |(weight, step): (&f64, &Vec<f64>)| {
            if *weight >= 0.0 {
                return *weight;
            }
            let white = self.whiten(step);
            weight * n as f64 / (dot(&white, &white) + 1e-8)
        };
        let weights: Vec<f64> = rates.weights.iter().zip(steps).map(weight_of).collect();
        let lost = if is_steady {
            0.0
        } else {
            rates.c_c * (2.0 - rates.c_c)
        };
        let sum: f64 = rates.weights.iter().sum();
        let keep = 1.0 + rates.c_1 * lost - rates.c_1 - rates.c_mu * sum;
        for row in 0..n {
            for column in 0..n {
                let rank_mu: f64 = weights
                    .iter()
                    .zip(steps)
                    .map(|(w, s)| w * s[row] * s[column])
                    .sum();
                let rank_one = self.path_c[row] * self.path_c[column];
                let value = &mut self.covariance.values[row * n + column];
                *value = keep * *value + rates.c_1 * rank_one + rates.c_mu * rank_mu;
            }
        }
    }

    fn decompose(&mut self) {
        let (values, axes) = eigen(&self.covariance);
        // Rounding and negative weights may push an eigenvalue below zero.
        self.scales = values
            .into_iter()
            .map(|value| value.max(1e-16).sqrt())
            .collect();
        self.axes = axes;
        let n = self.mean.len();
        for axis in 0..n {
            let value = &mut self.covariance.values[axis * n + axis];
            *value = value.max(1e-16);
        }
    }
}

fn decay_and_add(path: &mut [f64], decay: f64, gain: f64, step: &[f64]) {
    for (path, step) in path.iter_mut().zip(step) {
        *path = decay * *path + gain * step;
    }
}
