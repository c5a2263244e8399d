//! The margin that keeps discrete axes moving.
//!
//! Once the deviation of a discrete axis is far below its step, all draws round to one value and the axis is stuck.
//! CMA-ES with margin (Hamano, Saito, Nomura and Shirakawa, 2022) moves the mean and widens the axis just enough that
//! the neighboring values keep a probability of at least about α = 1/(n·λ).

use super::state::Distribution;
use random::normal;

/// Corrects one axis. `below` and `above` are the ends of the cell in which the mean is, where there is a value beyond.
pub(super) fn correct(
    state: &mut Distribution,
    axis: usize,
    below: Option<f64>,
    above: Option<f64>,
    alpha: f64,
) {
    match (below, above) {
        (Some(below), Some(above)) => between(state, axis, below, above, alpha),
        (Some(threshold), None) | (None, Some(threshold)) => beside(state, axis, threshold, alpha),
        (None, None) => {}
    }
}

/// In an outermost cell: the mean comes so near to the threshold that the probability beyond it is α.
fn beside(state: &mut Distribution, axis: usize, threshold: f64, alpha: f64) {
    let farthest = state.deviation(axis) * -normal::quantile(alpha);
    let distance = (state.mean[axis] - threshold).clamp(-farthest, farthest);
    state.mean[axis] = threshold + distance;
}

/// Between two thresholds: mean and width change so that either side has at least α/2 (eq. 17 to 24 of the paper).
fn between(state: &mut Distribution, axis: usize, below: f64, above: f64, alpha: f64) {
    let (mean, deviation) = (state.mean[axis], state.deviation(axis));
    let low = normal::cumulative((below - mean) / deviation);
    let high = normal::cumulative((mean - above) / deviation);
    let min = 0.5 * alpha;
    let parts = [low, 1.0 - low - high, high].map(|part| part.max(min));
    let excess = parts.iter().sum::<f64>() - 1.0;
    if excess <= 0.0 {
        return;
    }
    let spare: f64 = parts.iter().map(|part| part - min).sum();
    let [low, _, high] = parts.map(|part| part - excess / spare * (part - min));
    let (left, right) = (-normal::quantile(low), -normal::quantile(high));
    state.mean[axis] = (below * right + above * left) / (left + right);
    state.margin[axis] *= (above - below) / (left + right) / deviation;
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// `tests/cmaes/record.py` made the file with the package `cmaes`, which is not ours.
    #[test]
    fn margins_are_those_of_another_implementation() {
        let records: Value =
            serde_json::from_str(include_str!("../../../tests/cmaes/margins.json")).unwrap();
        let (mut kept, mut moved) = (0, 0);
        for record in records.as_array().unwrap() {
            let (before, after) = (&record["before"], &record["after"]);
            let number = |part: &Value, name: &str| part[name].as_f64().unwrap();
            let mut state = Distribution::new(1);
            state.mean[0] = number(before, "mean");
            state.margin[0] = number(before, "margin");
            state.sigma = number(before, "deviation") / state.margin[0];
            let limits = [0, 1].map(|end| before["limits"][end].as_f64().unwrap());
            // Beside the outermost values there is one limit.
            let is_outer = limits[0] == limits[1];
            let below = (!is_outer || limits[0] > 2.0).then_some(limits[0]);
            let above = (!is_outer || limits[0] < 2.0).then_some(limits[1]);
            let untouched = (state.mean[0], state.margin[0]);
            correct(&mut state, 0, below, above, number(before, "alpha"));
            let near = |found: f64, expected: f64| (found - expected).abs() < 1e-6 * expected.abs();
            assert!(
                near(state.mean[0], number(after, "mean"))
                    && near(state.margin[0], number(after, "margin")),
                "{} {}: {record}",
                state.mean[0],
                state.margin[0]
            );
            if (state.mean[0], state.margin[0]) == untouched {
                kept += 1;
            } else {
                moved += 1;
            }
        }
        assert!(kept > 20 && moved > 40, "{kept} {moved}");
    }

    #[test]
    fn neighbors_keep_their_chance() {
        let alpha = 0.02;
        for (mean, sigma) in [(0.45, 1e-6), (0.5, 0.01), (0.58, 0.003), (0.5, 0.3)] {
            let mut state = Distribution::new(1);
            state.mean[0] = mean;
            state.sigma = sigma;
            correct(&mut state, 0, Some(0.4), Some(0.6), alpha);
            let deviation = state.deviation(0);
            let low = normal::cumulative((0.4 - state.mean[0]) / deviation);
            let high = normal::cumulative((state.mean[0] - 0.6) / deviation);
            assert!(
                low >= 0.5 * alpha - 1e-9 && high >= 0.5 * alpha - 1e-9,
                "{low} {high}"
            );
        }
        let mut state = Distribution::new(1);
        state.mean[0] = 0.1;
        state.sigma = 1e-6;
        correct(&mut state, 0, None, Some(0.2), alpha);
        let beyond = normal::cumulative((state.mean[0] - 0.2) / state.deviation(0));
        assert!((beyond - alpha).abs() < 1e-6, "{beyond}");
    }
}
