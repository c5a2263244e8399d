//! The result of lowering an operator to integers, and what it is lowered from.
//!
//! The operators themselves are lowered in [`crate::ops`], beside their float form.

use super::error::Refusal;
use super::grid::Grids;
use super::program::Source;
use super::range::CodeRange;
use super::stage::Stage;
use crate::state::State;
use ir::{Graph, Node, NodeId};

/// Lowers a node to integers.
type Lower<'a> = dyn Fn(&Site) -> Result<Lowered, Refusal> + 'a;

/// The exact integer form of an operator.
pub(crate) enum IntegerForm<'a> {
    /// The result has the elements of the operand, in the same order.
    SameElements,
    /// Stages or kernels, made by this function.
    Exact(Box<Lower<'a>>),
    /// No exact form: the node is refused by name.
    Missing,
}

/// The steps and stages of a node.
pub(crate) enum Lowered {
    /// Maps of each element of the operand.
    Stages(Vec<Stage>),
    /// A step, what the codes of its source range over, and maps of them.
    Step(Box<Source>, CodeRange, Vec<Stage>),
    /// One step for each of several results, which range over what the operand does.
    Several(Vec<Source>),
}

impl Lowered {
    /// A step without maps.
    pub fn step(source: Source, range: CodeRange) -> Self {
        Self::Step(Box::new(source), range, Vec::new())
    }
}

/// An operand whose codes are known to lie in a range.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub shape: Vec<usize>,
    pub range: CodeRange,
}

/// A node with everything its kernel is made from.
pub(crate) struct Site<'a> {
    pub id: NodeId,
    pub node: &'a Node,
    pub graph: &'a Graph,
    pub state: &'a State,
    pub operands: Vec<Operand>,
    /// Concrete shapes of the results.
    pub outputs: Vec<Vec<usize>>,
}

/// A parameter in the codes of its port's format, all with one step.
pub(crate) struct Param {
    pub codes: Vec<i64>,
    pub frac: i32,
}

impl Site<'_> {
    /// The codes of a parameter.
    pub fn param(&self, port: &str) -> Result<Param, Refusal> {
        let range = self.state.range(self.id, port);
        self.encode(port, &self.state.trained[range])
    }

    /// The codes of values at a port.
    pub fn encode(&self, port: &str, values: &[f32]) -> Result<Param, Refusal> {
        let mut specs = self.node.param_specs().into_iter();
        let spec = specs.find(|spec| spec.0 == port);
        let shape = spec.map_or_else(|| vec![values.len()], |spec| spec.1);
        let grids = Grids::of(self.node, port, &shape)?;
        grids
            .ok_or_else(|| Refusal::NoFormat(port.to_owned()))?
            .param(values)
    }
}
