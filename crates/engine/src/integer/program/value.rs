//! A value of the graph as far as the builder knows it.

use super::super::error::Refusal;
use super::super::range::CodeRange;

/// A value as far as it is known.
#[derive(Clone)]
pub(super) struct Known {
    pub shape: Vec<usize>,
    pub place: Place,
    /// True when it is read once, so that its reader may extend the step that makes it.
    pub is_sole: bool,
}

#[derive(Clone)]
pub(super) enum Place {
    /// Floats that no format has rounded yet.
    Floats(Floats),
    /// The codes that a step makes.
    Codes { step: usize, range: CodeRange },
}

#[derive(Clone)]
pub(super) enum Floats {
    /// A placeholder, by its number.
    Input(usize),
    /// A stored tensor.
    Constant(Vec<f32>),
}

impl Known {
    /// The step and range of a value that is fixed point.
    pub fn codes(&self, port: &str) -> Result<(usize, CodeRange), Refusal> {
        match &self.place {
            Place::Codes { step, range } => Ok((*step, *range)),
            Place::Floats(_) => Err(Refusal::NoFormat(port.to_owned())),
        }
    }
}
