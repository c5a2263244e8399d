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
    let positive: f64 = raw.iter().map(|w| w.max(0.0)).sum();
    let negative: f64 = raw.iter().map(|w| w.min(0.0)).sum();
    let min = negative_sums.iter().copied().fold(f64::INFINITY, f64::min);
    raw.iter()
        .map(|w| w.max(0.0) / positive - w.min(0.0) * min / negative)
        .collect()
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
            let white = self.whiten(step);
            weight.max(0.0) + weight.min(0.0) * n as f64 / (dot(&white, &white) + 1e-8)
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn numbers(value: &Value) -> Vec<f64> {
        let numbers = value.as_array().expect("a list").iter();
        numbers
            .map(|number| number.as_f64().expect("a number"))
            .collect()
    }

    fn rows(value: &Value) -> Vec<Vec<f64>> {
        value
            .as_array()
            .expect("rows")
            .iter()
            .map(numbers)
            .collect()
    }

    fn assert_near(found: &[f64], expected: &[f64], place: &str) {
        assert_eq!(found.len(), expected.len(), "{place}");
        for (found, expected) in found.iter().zip(expected) {
            let scale = expected.abs().max(1.0);
            assert!(
                (found - expected).abs() < 1e-10 * scale,
                "{place}: {found}, {expected}"
            );
        }
    }

    /// `tests/cmaes/record.py` made the file with the package `cmaes`, which is not ours.
    #[test]
    fn generations_are_those_of_another_implementation() {
        let cases: Value =
            serde_json::from_str(include_str!("../../../tests/cmaes/updates.json")).unwrap();
        for case in cases.as_array().unwrap() {
            let n = case["parameters"].as_u64().unwrap() as usize;
            let given = case["given"].as_u64().map(|size| size as usize);
            let rates = Rates::new(n, given);
            assert_eq!(rates.population as u64, case["population"]);
            let mut state = Distribution::new(n);
            for (number, step) in case["generations"].as_array().unwrap().iter().enumerate() {
                let place = format!("{n} parameters, generation {number}");
                state.update(&rates, &rows(&step["places"]));
                assert_near(&state.mean, &numbers(&step["mean"]), &place);
                assert_near(&[state.sigma], &[step["sigma"].as_f64().unwrap()], &place);
                assert_near(&state.path_sigma, &numbers(&step["path_sigma"]), &place);
                assert_near(&state.path_c, &numbers(&step["path_c"]), &place);
                let covariance = rows(&step["covariance"]).concat();
                assert_near(&state.covariance.values, &covariance, &place);
            }
        }
    }

    /// A generation around the mean, each individual with its deviation from it.
    fn generation(state: &Distribution, size: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut draws = Draws::new(random::Random::new(seed, "generation"));
        (0..size).map(|_| state.draw(&mut draws)).collect()
    }

    /// A distribution that has learned.
    fn learned(rates: &Rates) -> Distribution {
        let mut state = Distribution::new(3);
        for seed in 0..5 {
            let mut places = generation(&state, rates.population, seed);
            places.sort_by(|a, b| (a[0] + a[1]).total_cmp(&(b[0] + b[1])));
            state.update(rates, &places);
        }
        state
    }

    #[test]
    fn draws_have_the_mean_and_the_covariance() {
        let mut state = learned(&Rates::new(3, Some(12)));
        state.margin = vec![1.0, 3.0, 0.5];
        let count = 40_000;
        let places = generation(&state, count, 7);
        for a in 0..3 {
            let mean = places.iter().map(|place| place[a]).sum::<f64>() / count as f64;
            let own = state.deviation(a);
            assert!(
                (mean - state.mean[a]).abs() < 5.0 * own / (count as f64).sqrt(),
                "{mean}"
            );
            for b in 0..3 {
                let products = places
                    .iter()
                    .map(|place| (place[a] - state.mean[a]) * (place[b] - state.mean[b]));
                let found = products.sum::<f64>() / count as f64;
                let expected = state.sigma.powi(2)
                    * state.margin[a]
                    * state.margin[b]
                    * state.covariance.get(a, b);
                let scale = own * state.deviation(b);
                assert!(
                    (found - expected).abs() < 0.03 * scale,
                    "{a} {b}: {found}, {expected}"
                );
            }
            let diagonal = state.covariance.get(a, a).sqrt();
            assert!((own - state.sigma * state.margin[a] * diagonal).abs() < 1e-15);
        }
    }

    /// A margin is a wider axis: whoever measures that axis in wider units learns the same.
    #[test]
    fn a_margin_is_a_change_of_units() {
        let rates = Rates::new(3, Some(12));
        let plain = learned(&rates);
        let mut wide = plain.clone();
        wide.margin = vec![2.0, 1.0, 0.25];
        let places = generation(&plain, 12, 9);
        let widened: Vec<Vec<f64>> = places
            .iter()
            .map(|place| {
                let axes = place.iter().zip(&plain.mean).zip(&wide.margin);
                axes.map(|((x, mean), margin)| mean + margin * (x - mean))
                    .collect()
            })
            .collect();
        let (mut after, mut wide_after) = (plain.clone(), wide.clone());
        after.update(&rates, &places);
        wide_after.update(&rates, &widened);
        let moved = |axis: usize| after.mean[axis] - plain.mean[axis];
        let expected: Vec<f64> = (0..3)
            .map(|axis| plain.mean[axis] + wide.margin[axis] * moved(axis))
            .collect();
        assert_near(&wide_after.mean, &expected, "mean");
        assert_near(&[wide_after.sigma], &[after.sigma], "sigma");
        assert_near(
            &wide_after.covariance.values,
            &after.covariance.values,
            "covariance",
        );
    }

    /// However long it is pulled to one side or held in one place, its draws stay numbers.
    #[test]
    fn steps_stay_within_bounds() {
        let rates = Rates::new(2, None);
        let after = |pull: f64| {
            let mut state = Distribution::new(2);
            for seed in 0..400 {
                let mut places = generation(&state, rates.population, seed);
                for place in &mut places {
                    for (axis, x) in place.iter_mut().enumerate() {
                        *x = state.mean[axis] + pull * (state.sigma + (*x - state.mean[axis]));
                    }
                }
                state.update(&rates, &places);
            }
            let places = generation(&state, 20, 1);
            assert!(places.iter().flatten().all(|x| x.is_finite()), "{pull}");
            state
        };
        assert_eq!(after(5.0).sigma, 1e3);
        let held = after(0.0);
        assert_eq!(held.sigma, 1e-12);
        assert!((0..2).all(|axis| held.covariance.get(axis, axis) >= 1e-16));
    }
}
