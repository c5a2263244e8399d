//! Errors of building a model.

use crate::zoo::MODELS;

/// An error of building a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// No model has this name.
    #[error("{}", unknown_message(name, .candidates))]
    Unknown {
        /// The name as given.
        name: String,
        /// Names that are close to it, nearest first.
        candidates: Vec<&'static str>,
    },
    /// The sample has another number of axes than the model takes, or an empty one.
    #[error("{model}: takes {expected}, got a sample of shape {got:?}")]
    Input {
        /// The model.
        model: &'static str,
        /// The samples it takes.
        expected: &'static str,
        /// The shape of the sample.
        got: Vec<usize>,
    },
    /// The number of classes is not one the model can have.
    #[error("{model}: {rule}, got {got} classes")]
    Classes {
        /// The model.
        model: &'static str,
        /// The rule for its classes.
        rule: String,
        /// The number asked for.
        got: usize,
    },
    /// The layers do not fit the sample.
    #[error("{model}: {violations}")]
    Layers {
        /// The model.
        model: &'static str,
        /// The broken rules.
        violations: ir::VerifyError,
    },
}

/// A model that is not here by its reason, any other by its nearest names.
fn unknown_message(name: &str, candidates: &[&str]) -> String {
    let hint = config::hint(candidates);
    match config::not_here(config::Sort::Model, name) {
        Some(reason) => reason + &hint,
        None => format!("unknown model '{name}'{hint}"),
    }
}

impl ModelError {
    /// No model is called `name`.
    pub(crate) fn unknown(name: &str) -> Self {
        Self::Unknown {
            name: name.to_owned(),
            candidates: config::nearest(name, MODELS.iter().map(|entry| entry.name)),
        }
    }
}
