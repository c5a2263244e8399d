//! Which parameters matter: the share of an objective's variance that a parameter's choices explain by themselves.
//!
//! For each parameter the trials are grouped by its value, inactive being a value too; the variance of the groups' means,
//! weighted by their sizes, over the variance of all trials, is the correlation ratio η² of a one-way analysis of
//! variance. Shares do not add up to 1: choices act together, and trials of a search are not spread evenly.

use crate::State;
use crate::runner::{Results, Search};
use std::collections::BTreeMap;

/// With fewer complete trials every parameter seems to explain everything.
const LEAST_TRIALS: usize = 10;

/// For each objective: its name, and every parameter with its share, largest first. Nothing when too few trials are
/// complete.
pub fn importances(search: &Search, results: &Results) -> Vec<(String, Vec<(String, f64)>)> {
    let complete = results
        .records
        .iter()
        .filter(|record| record.outcome.state == State::Complete);
    if complete.count() < LEAST_TRIALS {
        return Vec::new();
    }
    let names = search.objective_names();
    let per_objective = |(objective, name): (usize, String)| {
        let parameters = search.task.formats.space.parameters().iter().enumerate();
        let mut shares: Vec<(String, f64)> = parameters
            .map(|(index, parameter)| (parameter.name.clone(), share(results, objective, index)))
            .collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        (name, shares)
    };
    names.into_iter().enumerate().map(per_objective).collect()
}

fn share(results: &Results, objective: usize, parameter: usize) -> f64 {
    let mut groups: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    for record in results
        .records
        .iter()
        .filter(|record| record.outcome.state == State::Complete)
    {
        let value = record.outcome.values[objective];
        let group = groups
            .entry(format!("{:?}", record.point.get(parameter)))
            .or_default();
        *group = (group.0 + value, group.1 + 1.0);
        (sum, squares, count) = (sum + value, squares + value * value, count + 1.0);
    }
    let mean = sum / count;
    let total = squares - count * mean * mean;
    let between: f64 = groups
        .values()
        .map(|(sum, n)| n * (sum / n - mean).powi(2))
        .sum();
    if total > 1e-12 * squares.abs() {
        (between / total).clamp(0.0, 1.0)
    } else {
        0.0
    }
}
