//! How operators run in integers. Each has the file name it has in `ir::ops`.
//!
//! [`lower`] turns a node into stages on its operand, or into a kernel of its own. Operators without an arm have no
//! exact integer form and are refused by name.

mod activation;
mod arithmetic;
mod batch_norm;
mod cat;
mod conv;
mod linear;
mod matmul;
mod mean;
mod permute;
mod pool;

pub(crate) use matmul::accumulate as matmul_accumulate;

use super::codes::encode;
use super::error::Refusal;
use super::layer::Layer;
use super::range::{CodeRange, Fit, range_of};
use super::stage::Stage;
use crate::state::State;
use format::{FixedPoint, Format};
use ir::{Graph, Node, NodeId, Op};

/// What a node becomes.
pub(crate) enum Lowered {
    /// Nothing: the result has the elements of the operand, in the same order.
    SameElements,
    /// Maps of each element of the operand.
    Stages(Vec<Stage>),
    /// A kernel, what its results range over, and maps of them.
    Kernel(Kernel, CodeRange, Vec<Stage>),
    /// One kernel for each of several results, which range over what the operand does.
    Several(Vec<Kernel>),
}

/// What computes a value from other values.
pub(crate) enum Kernel {
    /// A product with weights.
    Layer(Box<Layer>),
    /// Anything else, in 64 bits.
    Wide(Box<dyn WideKernel>),
}

/// A kernel on 64-bit codes. The range of its results was proven when it was made.
pub(crate) trait WideKernel: Send + Sync {
    fn run(&self, operands: &[Vec<i64>], y: &mut [i64]);
}

impl<K: WideKernel + 'static> From<K> for Kernel {
    fn from(kernel: K) -> Self {
        Self::Wide(Box::new(kernel))
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

/// A parameter in the codes of its port's format.
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
        let format =
            port_format(self.node, port)?.ok_or_else(|| Refusal::NoFormat(port.to_owned()))?;
        Ok(Param {
            codes: values.iter().map(|&value| encode(value, format)).collect(),
            frac: format.frac_width,
        })
    }
}

/// The fixed-point format of a port, if it has a format.
pub(crate) fn port_format(node: &Node, port: &str) -> Result<Option<FixedPoint>, Refusal> {
    let Some(format) = node.formats.get(port) else {
        return Ok(None);
    };
    let not_fixed = || Refusal::NotFixedPoint(port.to_owned(), format.clone());
    let fixed = Format::fixed_point(format).ok_or_else(not_fixed)?;
    range_of(fixed).fit()?;
    Ok(Some(fixed))
}

/// Whether a node only gives its operand's elements a new name or shape.
pub(crate) fn keeps_elements(op: &Op) -> bool {
    matches!(
        op,
        Op::Identity(_) | Op::Dropout(_) | Op::Flatten(_) | Op::Reshape(_) | Op::View(_)
    )
}

/// The kernel or stages of a node.
pub(crate) fn lower(site: &Site) -> Result<Lowered, Refusal> {
    Ok(match &site.node.op {
        op if keeps_elements(op) => Lowered::SameElements,
        // layers with weights
        Op::Linear(op) => linear::lower(op, site)?,
        Op::Conv1d(op) => conv::lower(op, site)?,
        Op::Conv2d(op) => conv::lower(op, site)?,
        Op::BatchNorm1d(_) | Op::BatchNorm2d(_) => batch_norm::lower(site)?,
        // activations
        Op::Relu(_) => activation::clamp(Some(0.0), None, site)?,
        Op::Relu6(_) => activation::clamp(Some(0.0), Some(6.0), site)?,
        Op::Hardtanh(op) => activation::clamp(Some(op.min_val), Some(op.max_val), site)?,
        // pools
        Op::MaxPool1d(op) => pool::max(&op.window(), site)?,
        Op::MaxPool2d(op) => pool::max(&op.window(), site)?,
        Op::AvgPool1d(op) => pool::average(&op.window(), op.count_include_pad, site)?,
        Op::AvgPool2d(op) => pool::average(&op.window(), op.count_include_pad, site)?,
        Op::AdaptiveMaxPool1d(_) => pool::adaptive_max(1, site),
        Op::AdaptiveMaxPool2d(_) => pool::adaptive_max(2, site),
        Op::AdaptiveAvgPool1d(_) => pool::adaptive_average(1, site)?,
        Op::AdaptiveAvgPool2d(_) => pool::adaptive_average(2, site)?,
        // arithmetic
        Op::Add(op) => arithmetic::add(op.scalar, false, site)?,
        Op::Sub(op) => arithmetic::add(op.scalar, true, site)?,
        Op::Mul(op) => arithmetic::mul(op.scalar, site)?,
        Op::Div(op) => arithmetic::div(op.scalar, site)?,
        Op::Matmul(_) | Op::Bmm(_) => matmul::lower(site)?,
        Op::Mean(op) => mean::lower(op, site)?,
        // elements moved about
        Op::Transpose(op) => permute::transpose(op, site),
        Op::Permute(op) => permute::permute(op, site),
        Op::Getitem(op) => permute::getitem(op, site),
        Op::Chunk(op) => permute::chunk(op, site),
        Op::Cat(op) => cat::lower(op, site)?,
        _ => return Err(Refusal::NoForm("has no exact integer form".to_owned())),
    })
}
