//! The samplers find points as good as Optuna's do, on toy problems with the same budgets.
//!
//! `optuna/results.json` holds what Optuna reached with each seed; `optuna/compare.py` made it and prints both sides.

mod problems;

use std::collections::BTreeMap;

use serde_json::Value;

const RECORDED: &str = include_str!("optuna/results.json");
const SEEDS: u64 = 20;
/// About a hundred comparisons of samplers that are equally good would otherwise fail now and then by chance.
const SIGNIFICANCE: f64 = 0.002;

#[test]
fn no_sampler_is_worse_than_optunas() {
    let recorded: Value = serde_json::from_str(RECORDED).expect("the file is JSON");
    let mut worse = Vec::new();
    for problem in problems::short() {
        let theirs = recorded["scores"][problem.name].clone();
        let theirs: Variants = serde_json::from_value(theirs).expect("it was recorded");
        for sampler in problem.samplers {
            let runs: Vec<Vec<f64>> = (0..SEEDS)
                .map(|seed| problem.scores(sampler, seed))
                .collect();
            for (at, n_trials) in problem.budgets.iter().enumerate() {
                let ours: Vec<f64> = runs.iter().map(|run| run[at]).collect();
                let found = compare(sampler, *n_trials, &ours, &theirs);
                worse.extend(
                    found
                        .into_iter()
                        .map(|line| format!("{}: {line}", problem.name)),
                );
            }
        }
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

/// The longest runs are compared by hand, with the example `toy`.
#[test]
fn the_longest_runs_were_recorded() {
    let recorded: Value = serde_json::from_str(RECORDED).expect("the file is JSON");
    for problem in problems::long() {
        let budgets = |sampler| problem.budgets.iter().map(move |budget| (sampler, budget));
        for (sampler, n_trials) in problem.samplers.iter().flat_map(budgets) {
            let scores = &recorded["scores"][problem.name][sampler][n_trials.to_string()];
            let n_seeds = scores.as_array().map_or(0, Vec::len);
            let name = problem.name;
            assert!(
                n_seeds >= 20,
                "{name}: {sampler}: {n_trials} trials: {n_seeds} seeds"
            );
        }
    }
}

/// The scores of each of Optuna's samplers with each budget. Variants of one have a suffix, as `tpe_group`.
type Variants = BTreeMap<String, BTreeMap<String, Vec<f64>>>;

/// The variants of Optuna's sampler that are better than ours.
fn compare(sampler: &str, n_trials: usize, ours: &[f64], theirs: &Variants) -> Vec<String> {
    let is_variant = |name: &str| name.split('_').next() == Some(sampler);
    let variants: Vec<_> = theirs.iter().filter(|(name, _)| is_variant(name)).collect();
    assert!(!variants.is_empty(), "{sampler} was not recorded");
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    let mut worse = Vec::new();
    for (name, budgets) in variants {
        let theirs = &budgets[&n_trials.to_string()];
        let p = chance_of_being_that_much_larger(ours, theirs);
        if p < SIGNIFICANCE {
            let (a, b) = (mean(ours), mean(theirs));
            worse.push(format!(
                "{n_trials} trials: {sampler} {a:.4}, Optuna's {name} {b:.4} (p = {p:.4})"
            ));
        }
    }
    worse
}

/// The model-based samplers are better than random search, or the comparison above would mean little.
#[test]
fn models_beat_random_search() {
    for (name, sampler) in [
        ("sphere", "tpe"),
        ("sphere", "cmaes"),
        ("zdt1", "tpe"),
        ("zdt1", "nsgaii"),
    ] {
        let problem = problems::short()
            .find(|problem| problem.name == name)
            .expect("it is there");
        let scores = |sampler| -> Vec<f64> {
            (0..8)
                .map(|seed| problem.scores(sampler, seed)[0])
                .collect()
        };
        let p = chance_of_being_that_much_larger(&scores("random"), &scores(sampler));
        assert!(p < 0.01, "{sampler} on {name}: p = {p}");
    }
}

/// The one-sided test of Mann and Whitney, by its normal approximation with a correction for ties: how likely the
/// first sample is that much larger if both come from one distribution.
fn chance_of_being_that_much_larger(a: &[f64], b: &[f64]) -> f64 {
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
    let u: f64 = pairs
        .map(|(a, b)| f64::from(u8::from(a > b)) + 0.5 * f64::from(u8::from(a == b)))
        .sum();
    let (n, m) = (a.len() as f64, b.len() as f64);
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let same = |x: f64| all.iter().filter(|y| **y == x).count() as f64;
    let ties: f64 = all.iter().map(|x| same(*x).powi(2) - 1.0).sum();
    let size = n + m;
    let variance = n * m / 12.0 * (size + 1.0 - ties / (size * (size - 1.0)));
    let z = (u - 0.5 * n * m - 0.5) / variance.sqrt();
    upper_tail(z)
}

/// The probability that a standard normal number is above `z`: the trapezoidal rule is exact enough here.
fn upper_tail(z: f64) -> f64 {
    let step = 0.001;
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (0..20_000_u16)
        .map(|k| step * density(z + step * (f64::from(k) + 0.5)))
        .sum()
}

#[test]
fn the_test_of_mann_and_whitney_is_that_of_scipy() {
    // scipy.stats.mannwhitneyu([1, 2, 3, 4, 5], [2, 2, 3, 0, 1, 1], alternative="greater", method="asymptotic")
    let p = chance_of_being_that_much_larger(
        &[1.0, 2.0, 3.0, 4.0, 5.0],
        &[2.0, 2.0, 3.0, 0.0, 1.0, 1.0],
    );
    assert!((p - 0.067_926).abs() < 1e-4, "{p}");
}
