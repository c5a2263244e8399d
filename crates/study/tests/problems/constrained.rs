//! Problems with constraints.

use super::conditional::{bits, layers, rounding_loss};
use super::{Problem, floats};

const SAMPLERS: &[&str] = &["random", "tpe", "nsgaii"];

/// All of them.
pub const PROBLEMS: &[Problem] = &[
    // One point in two thousand is within the ball.
    Problem::new("ball", &[60, 200], SAMPLERS)
        .over(
            || floats(4, -5.0, 5.0),
            |x| vec![x.0.iter().map(|x| (x - 2.0) * (x - 2.0)).sum()],
        )
        .within(|x| x.0.iter().map(|x| x * x).sum::<f64>() - 1.0),
    Problem::new("format_budget", &[60, 200], SAMPLERS)
        .over(layers, |x| vec![rounding_loss(x)])
        .within(|x| bits(x) - 5.0),
    // Srinivas and Deb, 1994.
    Problem::new("srn", &[60, 200], SAMPLERS)
        .over(
            || floats(2, -20.0, 20.0),
            |x| {
                let (a, b) = (x.0[0], x.0[1]);
                vec![
                    2.0 + (a - 2.0).powi(2) + (b - 1.0).powi(2),
                    9.0 * a - (b - 1.0).powi(2),
                ]
            },
        )
        .within(|x| {
            let (a, b) = (x.0[0], x.0[1]);
            (a * a + b * b - 225.0).max(0.0) + (a - 3.0 * b + 10.0).max(0.0)
        })
        .beyond(&[250.0, 50.0]),
    Problem::new("format_limit", &[60, 200], SAMPLERS)
        .over(layers, |x| vec![rounding_loss(x), bits(x)])
        .within(|x| rounding_loss(x) - 0.2)
        .beyond(&[0.25, 16.0]),
];
