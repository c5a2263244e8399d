//! Problems with large budgets, for samplers that take little time to propose a point.

use super::flat::accuracy_bits;
use super::{Numbers, Problem, choices, float, floats, ints, parameter};

/// All of them.
pub const PROBLEMS: &[Problem] = &[
    Problem::new("sphere_10", &[300, 1000], &["cmaes"]).over(
        || floats(10, -5.0, 5.0),
        |x| vec![x.0.iter().map(|x| (x - 1.3) * (x - 1.3)).sum()],
    ),
    Problem::new("rosenbrock_5", &[300, 1000], &["cmaes"])
        .over(|| floats(5, -2.0, 2.0), rosenbrock),
    Problem::new("rastrigin_5", &[300, 1000], &["cmaes"]).over(|| floats(5, -5.0, 5.0), rastrigin),
    Problem::new("rastrigin_10", &[300, 1000], &["cmaes"])
        .over(|| floats(10, -5.0, 5.0), rastrigin),
    Problem::new("integers_8", &[300, 1000], &["cmaes"]).over(
        || {
            let mut space = ints(6, -10, 10);
            space.extend((6..8).map(|k| parameter(k, float(-10.0, 10.0))));
            space
        },
        |x| {
            let part =
                |(k, x): (usize, &f64)| 4_f64.powi((k % 4) as i32) * (x - k as f64 + 4.0).powi(2);
            let sum: f64 = x.0.iter().sum();
            vec![x.0.iter().enumerate().map(part).sum::<f64>() + 0.5 * (sum + 4.0).powi(2)]
        },
    ),
    // Deb, Thiele, Laumanns and Zitzler, 2002.
    Problem::new("dtlz2", &[250, 1000], &["nsgaii", "nsgaiii"])
        .over(
            || floats(7, 0.0, 1.0),
            |x| {
                let g = 1.0 + x.0[2..].iter().map(|x| (x - 0.5).powi(2)).sum::<f64>();
                let [(s, c), (t, d)] =
                    [0, 1].map(|k| (x.0[k] * std::f64::consts::FRAC_PI_2).sin_cos());
                vec![g * c * d, g * c * t, g * s]
            },
        )
        .beyond(&[1.5, 1.5, 1.5]),
    Problem::new("accuracy_bits_time", &[250, 1000], &["nsgaii", "nsgaiii"])
        .over(
            || (0..10).map(|k| parameter(k, choices(4))).collect(),
            |x| {
                let time = |(k, choice): (usize, &f64)| (1 + k % 3) as f64 / (4.0 - choice);
                let mut values = accuracy_bits(x);
                values.push(x.0.iter().enumerate().map(time).sum());
                values
            },
        )
        .beyond(&[2.5, 8.5, 20.0]),
];

/// A valley that bends.
pub(super) fn rosenbrock(x: &Numbers) -> Vec<f64> {
    let valley = |w: &[f64]| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2);
    vec![x.0.windows(2).map(valley).sum()]
}

/// A bowl with a dent at every whole step from its bottom.
fn rastrigin(x: &Numbers) -> Vec<f64> {
    let dent = |x: &f64| {
        let x = x - 0.7;
        x * x + 10.0 - 10.0 * (2.0 * std::f64::consts::PI * x).cos()
    };
    vec![x.0.iter().map(dent).sum()]
}
