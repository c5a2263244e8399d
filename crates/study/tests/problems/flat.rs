//! Problems whose parameters are always active.

use study::{Distribution, Parameter};

use super::{Numbers, Problem, choices, float, floats, int, ints, parameter};

const ORDERED: &[&str] = &["random", "qmc", "tpe", "cmaes", "nsgaii", "nsgaiii"];
const ANY: &[&str] = &["random", "qmc", "tpe", "nsgaii", "nsgaiii"];

/// All of them.
pub const PROBLEMS: &[Problem] = &[
    Problem::new("sphere", &[120], ORDERED).over(
        || floats(5, -5.0, 5.0),
        |x| vec![x.0.iter().map(|x| (x - 1.3) * (x - 1.3)).sum()],
    ),
    Problem::new("rosenbrock", &[120], ORDERED).over(
        || floats(4, -2.0, 2.0),
        |x| {
            let valley = |w: &[f64]| 20.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2);
            vec![x.0.windows(2).map(valley).sum()]
        },
    ),
    Problem::new("integers", &[120], ORDERED).over(
        || {
            let mut space = ints(4, 0, 20);
            space.push(parameter(4, rate()));
            space
        },
        |x| {
            let target = [3.0, 17.0, 10.0, 6.0];
            let grid: f64 = (0..4).map(|k| (x.0[k] - target[k]).powi(2) / 20.0).sum();
            vec![grid + (x.0[4].ln() - 0.02_f64.ln()).powi(2)]
        },
    ),
    Problem::new("mixed", &[120], ANY).over(mixed_space, mixed),
    Problem::new("bit_budget", &[120], ANY)
        .over(
            || (0..10).map(|k| parameter(k, choices(4))).collect(),
            |x| vec![precision_loss(x)],
        )
        .within(|x| average_bits(x) - 4.0),
    Problem::new("zdt1", &[250], ANY)
        .over(|| floats(8, 0.0, 1.0), zdt1)
        .beyond(&[1.1, 7.0]),
    Problem::new("accuracy_bits", &[250], ANY)
        .over(
            || (0..10).map(|k| parameter(k, choices(4))).collect(),
            accuracy_bits,
        )
        .beyond(&[2.5, 8.5]),
    Problem::new("bowl", &[64, 100], &["random", "qmc"]).over(
        || floats(3, -5.0, 5.0),
        |x| vec![x.0.iter().map(|x| (x - 1.3) * (x - 1.3)).sum()],
    ),
    Problem::new("mixed_short", &[64, 100], &["random", "qmc"]).over(mixed_space, mixed),
];

/// Kinds that go together, a count, a rate and a number that depend on them.
pub(super) fn mixed_space() -> Vec<Parameter> {
    let mut space: Vec<Parameter> = (0..3).map(|k| parameter(k, choices(5))).collect();
    space.push(parameter(3, int(1, 10)));
    space.push(parameter(4, rate()));
    space.push(parameter(5, float(-1.0, 1.0)));
    space
}

pub(super) fn mixed(x: &Numbers) -> Vec<f64> {
    let kinds = (x.0[0] + 2.0 * x.0[1] + 3.0 * x.0[2]) % 5.0;
    let pair = if x.0[0] == x.0[1] { 0.0 } else { 0.7 };
    let count = (x.0[3] - 4.0 - x.0[0]).abs() * 0.2;
    let rate = (x.0[4].log10() + 2.0 + 0.3 * x.0[1]).powi(2);
    vec![0.5 * kinds + pair + count + rate + (x.0[5] - 0.4).powi(2)]
}

/// A number whose logarithm is uniform.
fn rate() -> Distribution {
    Distribution::Float {
        low: 1e-4,
        high: 1.0,
        log: true,
    }
}

/// Zitzler, Deb and Thiele, 2000.
pub(super) fn zdt1(x: &Numbers) -> Vec<f64> {
    let g = 1.0 + 9.0 * x.0[1..].iter().sum::<f64>() / 7.0;
    vec![x.0[0], g * (1.0 - (x.0[0] / g).sqrt())]
}

pub(super) fn accuracy_bits(x: &Numbers) -> Vec<f64> {
    vec![precision_loss(x), average_bits(x)]
}

/// Loss of accuracy when layer k has 2, 4, 6 or 8 bits: each layer has its own sensitivity.
fn precision_loss(x: &Numbers) -> f64 {
    let sensitivity = |k: usize| 0.05 + 0.1 * ((7 * k + 3) % 10) as f64;
    x.0.iter()
        .enumerate()
        .map(|(k, choice)| sensitivity(k) * 0.35_f64.powf(*choice))
        .sum()
}

/// Bits of a weight when layer k has so many weights.
fn average_bits(x: &Numbers) -> f64 {
    let size = |k: usize| 1.0 + ((3 * k + 1) % 5) as f64;
    let total: f64 = (0..x.0.len()).map(size).sum();
    let bits = |(k, choice): (usize, &f64)| size(k) * (2.0 + 2.0 * choice);
    x.0.iter().enumerate().map(bits).sum::<f64>() / total
}
