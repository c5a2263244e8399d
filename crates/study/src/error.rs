//! Errors of spaces, samplers and studies.

use config::did_you_mean;
use serde_json::Value;

use crate::SpaceProblem;

/// An error of this crate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StudyError {
    /// A space that makes no sense.
    #[error("search space: {}", listed(problems))]
    Space {
        /// Everything that is wrong with it.
        problems: Vec<SpaceProblem>,
    },
    /// A value for a parameter that the space does not have, or that is not active.
    #[error("parameter `{name}` is not active in this space")]
    UnknownParameter {
        /// The name.
        name: String,
    },
    /// An active parameter without a value.
    #[error("parameter `{name}` has no value")]
    MissingParameter {
        /// The name.
        name: String,
    },
    /// A value that the parameter cannot take.
    #[error("parameter `{name}` cannot be {value}")]
    ForeignValue {
        /// The name.
        name: String,
        /// The value.
        value: Value,
    },
    /// No sampler is called that.
    #[error("sampler `{name}` is not one of {}{}", known.join(", "), did_you_mean(name, known.iter().copied()))]
    UnknownSampler {
        /// The name that was asked for.
        name: String,
        /// All samplers.
        known: Vec<&'static str>,
    },
    /// A space that the sampler cannot search.
    #[error("sampler `{sampler}` cannot search this space: {reason}")]
    Unsuitable {
        /// The sampler.
        sampler: &'static str,
        /// The reason.
        reason: String,
    },
    /// A study without objectives.
    #[error("a study needs at least one objective")]
    NoObjective,
    /// A result for a trial that was not handed out, or has its result already.
    #[error("trial {number} is not running")]
    NotRunning {
        /// The trial.
        number: u64,
    },
    /// A trial of an earlier run that comes a second time.
    #[error("trial {number} was restored twice")]
    RestoredTwice {
        /// The trial.
        number: u64,
    },
    /// A result with too few or too many values.
    #[error("trial {number} has {got} values for {expected} objectives")]
    ValueCount {
        /// The trial.
        number: u64,
        /// The number of values.
        got: usize,
        /// The number of objectives.
        expected: usize,
    },
}

fn listed(problems: &[SpaceProblem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("; ")
}
