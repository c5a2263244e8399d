//! Importances of parameters: the share of an objective's variance that a parameter's choices explain by themselves.
//!
//! For each parameter the trials are grouped by its value, inactive being a value too. The share is the ε² of a one-way
//! analysis of variance: the squares between the groups' means, less what chance alone would make of them, over those of
//! all trials. Shares do not add up to 1: choices act together, and trials of a search are not spread evenly.

use crate::{Results, Search};
use std::collections::BTreeMap;
use study::State;

/// With fewer complete trials every parameter seems to explain everything.
const MIN_TRIALS: usize = 10;

/// For each objective: its name, and every parameter with its share, largest first. Nothing when too few trials are
/// complete.
pub fn importances(search: &Search, results: &Results) -> Vec<(String, Vec<(String, f64)>)> {
    let trials = results.history.trials().iter();
    let complete = trials.filter(|trial| trial.outcome.state == State::Complete);
    if complete.count() < MIN_TRIALS {
        return Vec::new();
    }
    let names = search.config.goals.names();
    let per_objective = |(objective, name): (usize, String)| {
        let parameters = search.space.study_space().parameters().iter().enumerate();
        let mut shares: Vec<(String, f64)> = parameters
            .map(|(index, parameter)| (parameter.name.clone(), share(results, objective, index)))
            .collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        (name, shares)
    };
    names.into_iter().enumerate().map(per_objective).collect()
}

fn share(results: &Results, objective: usize, parameter: usize) -> f64 {
    let trials = results.history.trials().iter();
    let complete = trials.filter(|trial| trial.outcome.state == State::Complete);
    explained(complete.map(|trial| {
        let value = trial.outcome.values[objective];
        (format!("{:?}", trial.point.get(parameter)), value)
    }))
}

/// The share of the variance of values that their groups explain beyond chance.
fn explained(values: impl Iterator<Item = (String, f64)>) -> f64 {
    let mut groups: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    for (group, value) in values {
        let group = groups.entry(group).or_default();
        *group = (group.0 + value, group.1 + 1.0);
        (sum, squares, count) = (sum + value, squares + value * value, count + 1.0);
    }
    let mean = sum / count;
    let total = squares - count * mean * mean;
    let between: f64 = groups
        .values()
        .map(|(sum, n)| n * (sum / n - mean).powi(2))
        .sum();
    let (free, rest) = (groups.len() as f64 - 1.0, count - groups.len() as f64);
    if total <= 1e-12 * squares.abs() || rest <= 0.0 {
        return 0.0;
    }
    let by_chance = free * (total - between) / rest;
    ((between - by_chance) / total).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Random;

    /// Twenty values, grouped in four ways.
    fn share_of(group: impl Fn(u64) -> u64, value: impl Fn(u64) -> f64) -> f64 {
        explained((0..20).map(|k| (group(k).to_string(), value(k))))
    }

    #[test]
    fn what_decides_explains_all_and_what_does_nothing_nothing() {
        assert_eq!(share_of(|k| k % 4, |k| (k % 4) as f64), 1.0);
        assert_eq!(share_of(|k| k % 4, |_| 0.7), 0.0, "all values are alike");
        assert_eq!(
            share_of(|k| k, |k| k as f64),
            0.0,
            "every group has one value"
        );
        let shares: Vec<f64> = (0..200)
            .map(|seed| {
                let random = Random::new(seed, "values");
                share_of(|k| k % 4, |k| f64::from(random.normal(k)))
            })
            .collect();
        // Without the correction chance would explain 3/19 on average.
        let mean = shares.iter().sum::<f64>() / 200.0;
        assert!(mean < 0.06, "{mean}");
    }

    /// `(between − free · (total − between) / rest) / total`, by hand: 16 and 20, then 48 and 50 of squares.
    #[test]
    fn shares_are_those_of_an_analysis_of_variance() {
        let even = [("a", 1.0), ("a", 3.0), ("b", 5.0), ("b", 7.0)];
        let uneven = [("a", 1.0), ("a", 2.0), ("a", 3.0), ("b", 10.0)];
        for (values, expected) in [(even, (16.0 - 2.0) / 20.0), (uneven, (48.0 - 1.0) / 50.0)] {
            for shift in [0.0, -20.0, 100.0] {
                let values = values.iter();
                let found = explained(values.map(|(group, x)| ((*group).to_owned(), x + shift)));
                assert!((found - expected).abs() < 1e-9, "{found}, {expected}");
            }
        }
    }
}
