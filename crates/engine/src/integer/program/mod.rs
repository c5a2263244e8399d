//! The meaning of a graph in integers: a list of steps, each of which computes the codes of one value.
//!
//! Elements of every value are in the row-major order of the graph's shapes, whatever order an executor chooses. Element `i`
//! of a step comes from its [`Source`], which names the operand elements and constants it is computed from, and passes the
//! step's stages one after the other. Every range is proven: no sum, in any order, leaves 64 bits, and nothing but a
//! [`Stage`] that says so ever rounds.
//!
//! [`IntegerPlan`](super::IntegerPlan) chooses kernels, storage and orders of axes for a program; hardware lowers the same
//! steps. `interpret.rs` computes it element by element, without either.

mod build;
mod interpret;
mod port;
mod rows;
mod source;
mod value;

use super::error::IntegerError;
use super::range::CodeRange;
use super::stage::Stage;
use crate::state::State;
use ir::Verified;

pub use interpret::Arithmetic;
pub use rows::Rows;
pub use source::{CatPart, MatMul, Source, pool_window};

/// A graph whose every operand is fixed point as steps on codes, for a number of rows and the present parameters.
#[derive(Clone, Debug)]
pub struct Program {
    /// Rows of a batch.
    pub rows: usize,
    /// The placeholders, in the graph's order.
    pub inputs: Vec<ProgramInput>,
    /// The steps; each reads earlier ones only.
    pub steps: Vec<ProgramStep>,
    /// The values that the graph returns.
    pub outputs: Vec<ProgramOutput>,
    /// The result of every node but the graph's edges.
    pub results: Vec<NodeResult>,
}

/// A placeholder of floats.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramInput {
    /// Its name in the graph.
    pub name: String,
    /// Its shape for the whole batch.
    pub shape: Vec<usize>,
}

/// A step, which makes the value of its own number.
#[derive(Clone, Debug)]
pub struct ProgramStep {
    /// The graph's node that needed it.
    pub node: String,
    /// The computation of its codes.
    pub source: Source,
    /// The steps whose values the source reads.
    pub inputs: Vec<usize>,
    /// The maps of each code that follow.
    pub stages: Vec<Stage>,
    /// The range of the source's codes, then that of the results of every stage.
    pub ranges: Vec<CodeRange>,
    /// The shape of the value.
    pub shape: Vec<usize>,
}

/// A value that the graph returns.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramOutput {
    /// The step that makes it.
    pub step: usize,
    /// The range of its codes.
    pub range: CodeRange,
    /// Its shape in the graph.
    pub shape: Vec<usize>,
}

/// A result of a node of the graph, which may be an inner value of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeResult {
    /// The node.
    pub node: String,
    /// Its operator.
    pub op: &'static str,
    /// The step that makes it.
    pub step: usize,
    /// The number of the step's stages after which it is made.
    pub stages: usize,
    /// The range of its codes.
    pub range: CodeRange,
}

impl Program {
    /// The program of a verified graph for a batch of `rows` rows.
    pub fn of(verified: &Verified, state: &State, rows: usize) -> Result<Self, IntegerError> {
        build::build(verified, state, rows)
    }
}

impl ProgramStep {
    /// The range of the value.
    pub fn range(&self) -> CodeRange {
        self.ranges[self.stages.len()]
    }

    /// Elements of the value.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// True when the value has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
