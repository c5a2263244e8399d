//! Problems with more trials than a test can afford: TPE at large budgets.

use super::flat::{accuracy_bits, mixed, mixed_space, zdt1};
use super::large::rosenbrock;
use super::{Problem, choices, floats, parameter};

/// All of them.
pub const PROBLEMS: &[Problem] = &[
    Problem {
        name: "rosenbrock_long",
        budgets: &[500, 1000],
        samplers: &["tpe"],
        space: || floats(5, -2.0, 2.0),
        values: rosenbrock,
        excess: None,
        reference: &[],
    },
    Problem {
        name: "mixed_long",
        budgets: &[500, 1000],
        samplers: &["tpe"],
        space: mixed_space,
        values: mixed,
        excess: None,
        reference: &[],
    },
    Problem {
        name: "zdt1_long",
        budgets: &[500],
        samplers: &["tpe"],
        space: || floats(8, 0.0, 1.0),
        values: zdt1,
        excess: None,
        reference: &[1.1, 7.0],
    },
    Problem {
        name: "accuracy_long",
        budgets: &[500],
        samplers: &["tpe"],
        space: || (0..10).map(|k| parameter(k, choices(4))).collect(),
        values: accuracy_bits,
        excess: None,
        reference: &[2.5, 8.5],
    },
];
