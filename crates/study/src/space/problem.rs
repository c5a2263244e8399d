//! Problems of a space.

use std::collections::HashSet;

use serde_json::Value;

use super::{Condition, Distribution, Parameter};

/// One thing that is wrong with the parameters of a space.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpaceProblem {
    /// Two parameters share a name.
    #[error("`{name}`: the name is used twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A categorical parameter without choices.
    #[error("`{name}`: there are no choices")]
    NoChoices {
        /// The parameter.
        name: String,
    },
    /// A choice that is there twice.
    #[error("`{name}`: choice {choice} is there twice")]
    DuplicateChoice {
        /// The parameter.
        name: String,
        /// The choice.
        choice: Value,
    },
    /// Bounds in the wrong order, or not finite.
    #[error("`{name}`: nothing lies between low {low} and high {high}")]
    EmptyRange {
        /// The parameter.
        name: String,
        /// Its lower bound.
        low: f64,
        /// Its upper bound.
        high: f64,
    },
    /// Integers beyond those that a float holds exactly.
    #[error("`{name}`: bounds {low} and {high} reach beyond 2^53")]
    HugeRange {
        /// The parameter.
        name: String,
        /// Its lower bound.
        low: i64,
        /// Its upper bound.
        high: i64,
    },
    /// A step that does not lead from `low` to `high`.
    #[error("`{name}`: steps of {step} do not lead from {low} to {high}")]
    WrongStep {
        /// The parameter.
        name: String,
        /// Its step.
        step: i64,
        /// Its lower bound.
        low: i64,
        /// Its upper bound.
        high: i64,
    },
    /// A logarithm of something that is not positive.
    #[error("`{name}`: low {low} has no logarithm")]
    LogOfNothing {
        /// The parameter.
        name: String,
        /// Its lower bound.
        low: f64,
    },
    /// Steps in the logarithm.
    #[error("`{name}`: a logarithmic range has steps of 1, not {step}")]
    LogWithStep {
        /// The parameter.
        name: String,
        /// Its step.
        step: i64,
    },
    /// A condition on a parameter that is not there, or not before this one.
    #[error("`{name}`: its condition names `{parent}`, which is no earlier parameter")]
    UnknownParent {
        /// The parameter.
        name: String,
        /// The parameter that its condition names.
        parent: String,
    },
    /// A condition on a number.
    #[error("`{name}`: its condition names `{parent}`, which is not categorical")]
    OrderedParent {
        /// The parameter.
        name: String,
        /// The parameter that its condition names.
        parent: String,
    },
    /// A condition on a choice that cannot be made.
    #[error("`{name}`: its condition names choice {choice} of `{parent}`, which is not there")]
    UnknownChoice {
        /// The parameter.
        name: String,
        /// The parameter that its condition names.
        parent: String,
        /// The choice that is not there.
        choice: Value,
    },
    /// A condition that never holds.
    #[error("`{name}`: its condition on `{parent}` names no choice")]
    NeverActive {
        /// The parameter.
        name: String,
        /// The parameter that its condition names.
        parent: String,
    },
}

/// Everything that is wrong with `parameters`.
pub(super) fn find(parameters: &[Parameter]) -> Vec<SpaceProblem> {
    let mut problems = Vec::new();
    let mut names = HashSet::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let name = parameter.name.clone();
        if !names.insert(&parameter.name) {
            problems.push(SpaceProblem::DuplicateName { name: name.clone() });
        }
        problems.extend(of_distribution(&name, &parameter.distribution));
        if let Some(condition) = &parameter.condition {
            problems.extend(of_condition(&name, condition, &parameters[..index]));
        }
    }
    problems
}

fn of_distribution(name: &str, distribution: &Distribution) -> Option<SpaceProblem> {
    match distribution {
        Distribution::Categorical { choices } => of_choices(name, choices),
        Distribution::Int {
            low,
            high,
            step,
            log,
        } => of_int(name, *low, *high, *step, *log),
        Distribution::Float { low, high, log } => of_float(name, *low, *high, *log),
    }
}

fn of_choices(name: &str, choices: &[Value]) -> Option<SpaceProblem> {
    let name = name.to_owned();
    if choices.is_empty() {
        return Some(SpaceProblem::NoChoices { name });
    }
    let twice = (1..choices.len()).find(|&at| choices[..at].contains(&choices[at]))?;
    let choice = choices[twice].clone();
    Some(SpaceProblem::DuplicateChoice { name, choice })
}

fn of_int(name: &str, low: i64, high: i64, step: i64, log: bool) -> Option<SpaceProblem> {
    const EXACT: u64 = 1 << 53;
    let name = name.to_owned();
    if low > high {
        let (low, high) = (low as f64, high as f64);
        return Some(SpaceProblem::EmptyRange { name, low, high });
    }
    if low.unsigned_abs() > EXACT || high.unsigned_abs() > EXACT {
        return Some(SpaceProblem::HugeRange { name, low, high });
    }
    if step < 1 || (high - low) % step != 0 {
        return Some(SpaceProblem::WrongStep {
            name,
            step,
            low,
            high,
        });
    }
    if log && low < 1 {
        let low = low as f64;
        return Some(SpaceProblem::LogOfNothing { name, low });
    }
    (log && step != 1).then_some(SpaceProblem::LogWithStep { name, step })
}

fn of_float(name: &str, low: f64, high: f64, log: bool) -> Option<SpaceProblem> {
    let name = name.to_owned();
    if !low.is_finite() || !high.is_finite() || low > high {
        return Some(SpaceProblem::EmptyRange { name, low, high });
    }
    (log && low <= 0.0).then_some(SpaceProblem::LogOfNothing { name, low })
}

fn of_condition(name: &str, condition: &Condition, earlier: &[Parameter]) -> Option<SpaceProblem> {
    let (name, parent) = (name.to_owned(), condition.parameter.clone());
    let Some(found) = earlier.iter().find(|parameter| parameter.name == parent) else {
        return Some(SpaceProblem::UnknownParent { name, parent });
    };
    let Distribution::Categorical { choices } = &found.distribution else {
        return Some(SpaceProblem::OrderedParent { name, parent });
    };
    if condition.choices.is_empty() {
        return Some(SpaceProblem::NeverActive { name, parent });
    }
    let choice = condition
        .choices
        .iter()
        .find(|choice| !choices.contains(choice))?
        .clone();
    Some(SpaceProblem::UnknownChoice {
        name,
        parent,
        choice,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::categorical;
    use super::*;
    use crate::Space;

    #[test]
    fn everything_wrong_is_told_at_once() {
        let int = |name: &str, low, high, step, log| {
            let distribution = Distribution::Int {
                low,
                high,
                step,
                log,
            };
            Parameter::new(name, distribution)
        };
        let float = |name: &str, low, high, log| {
            Parameter::new(name, Distribution::Float { low, high, log })
        };
        let when = |parent: &str, choices: &[&str]| {
            Some(Condition {
                parameter: parent.into(),
                choices: choices.iter().map(|&c| Value::from(c)).collect(),
            })
        };
        let error = Space::new(vec![
            categorical("a", &[], None),
            categorical("b", &["x", "y", "x"], None),
            categorical("b", &["x"], None),
            int("c", 3, 2, 1, false),
            int("d", 1, 8, 2, false),
            int("e", 0, 8, 1, true),
            int("f", 1, 9, 2, true),
            int("g", 0, i64::MAX, 1, false),
            float("h", 0.0, f64::INFINITY, false),
            float("i", 0.0, 1.0, true),
            float("one value", 1.0, 1.0, true),
            categorical("j", &["x"], when("k", &["x"])),
            categorical("k", &["x"], when("c", &["x"])),
            categorical("l", &["x"], when("b", &["z"])),
            categorical("m", &["x"], when("b", &[])),
        ])
        .unwrap_err()
        .to_string();
        let expected = "search space: `a`: there are no choices; `b`: choice \"x\" is there twice; \
            `b`: the name is used twice; `c`: nothing lies between low 3 and high 2; \
            `d`: steps of 2 do not lead from 1 to 8; `e`: low 0 has no logarithm; \
            `f`: a logarithmic range has steps of 1, not 2; \
            `g`: bounds 0 and 9223372036854775807 reach beyond 2^53; \
            `h`: nothing lies between low 0 and high inf; `i`: low 0 has no logarithm; \
            `j`: its condition names `k`, which is no earlier parameter; \
            `k`: its condition names `c`, which is not categorical; \
            `l`: its condition names choice \"z\" of `b`, which is not there; \
            `m`: its condition on `b` names no choice";
        assert_eq!(error, expected);
    }
}
