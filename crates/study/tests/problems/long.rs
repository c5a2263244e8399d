//! Problems with more trials than a test can afford: TPE at large budgets.

use super::flat::{accuracy_bits, mixed, mixed_space, zdt1};
use super::large::rosenbrock;
use super::{Problem, choices, floats, parameter};

/// All of them.
pub const PROBLEMS: &[Problem] = &[
    Problem::new("rosenbrock_long", &[500, 1000], &["tpe"])
        .over(|| floats(5, -2.0, 2.0), rosenbrock),
    Problem::new("mixed_long", &[500, 1000], &["tpe"]).over(mixed_space, mixed),
    Problem::new("zdt1_long", &[500], &["tpe"])
        .over(|| floats(8, 0.0, 1.0), zdt1)
        .beyond(&[1.1, 7.0]),
    Problem::new("accuracy_long", &[500], &["tpe"])
        .over(
            || (0..10).map(|k| parameter(k, choices(4))).collect(),
            accuracy_bits,
        )
        .beyond(&[2.5, 8.5]),
];
