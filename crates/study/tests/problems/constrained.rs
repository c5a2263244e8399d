//! Problems with constraints.

use super::conditional::{bits, layers, rounding_loss};
use super::{Problem, floats};

const SAMPLERS: &[&str] = &["random", "tpe", "nsgaii"];

/// All of them.
pub const PROBLEMS: &[Problem] = &[
    Problem {
        name: "ball",
        budgets: &[60, 200],
        samplers: SAMPLERS,
        // One point in two thousand is within the ball.
        space: || floats(4, -5.0, 5.0),
        values: |x| vec![x.0.iter().map(|x| (x - 2.0) * (x - 2.0)).sum()],
        excess: Some(|x| x.0.iter().map(|x| x * x).sum::<f64>() - 1.0),
        reference: &[],
    },
    Problem {
        name: "format_budget",
        budgets: &[60, 200],
        samplers: SAMPLERS,
        space: layers,
        values: |x| vec![rounding_loss(x)],
        excess: Some(|x| bits(x) - 5.0),
        reference: &[],
    },
    Problem {
        // Srinivas and Deb, 1994.
        name: "srn",
        budgets: &[60, 200],
        samplers: SAMPLERS,
        space: || floats(2, -20.0, 20.0),
        values: |x| {
            let (a, b) = (x.0[0], x.0[1]);
            vec![
                2.0 + (a - 2.0).powi(2) + (b - 1.0).powi(2),
                9.0 * a - (b - 1.0).powi(2),
            ]
        },
        excess: Some(|x| {
            let (a, b) = (x.0[0], x.0[1]);
            (a * a + b * b - 225.0).max(0.0) + (a - 3.0 * b + 10.0).max(0.0)
        }),
        reference: &[250.0, 50.0],
    },
    Problem {
        name: "format_limit",
        budgets: &[60, 200],
        samplers: SAMPLERS,
        space: layers,
        values: |x| vec![rounding_loss(x), bits(x)],
        excess: Some(|x| rounding_loss(x) - 0.2),
        reference: &[0.25, 16.0],
    },
];
