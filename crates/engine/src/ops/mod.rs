//! The execution of operators, in floats and in exact integers. Each has the file name it has in `ir::ops`, where its
//! meaning stands.
//!
//! [`lower`] turns a node into a step, [`integer_form`] gives its exact integer form, [`order_stance`] its part in the choice of
//! an order of axes. Adding an operator: its file, its `mod` line, its arms in all three.

pub(crate) mod activation;
pub(crate) mod argmax;
pub(crate) mod arithmetic;
pub(crate) mod attention;
pub(crate) mod batch_norm;
pub(crate) mod cat;
pub(crate) mod choice;
pub(crate) mod coded;
pub(crate) mod compare;
pub(crate) mod conv;
pub(crate) mod conv_transpose;
pub(crate) mod dropout;
pub(crate) mod embedding;
pub(crate) mod expand;
pub(crate) mod function;
pub(crate) mod gather;
pub(crate) mod getitem;
pub(crate) mod group_norm;
pub(crate) mod layer_norm;
pub(crate) mod linear;
pub(crate) mod lstm;
pub(crate) mod mask;
pub(crate) mod matmul;
pub(crate) mod moved;
pub(crate) mod pair;
pub(crate) mod param;
pub(crate) mod permute;
pub(crate) mod placeholder;
pub(crate) mod pool;
pub(crate) mod prelu;
pub(crate) mod quantize;
pub(crate) mod reduce;
pub(crate) mod reorder;
pub(crate) mod rms_norm;
pub(crate) mod softmax;
pub(crate) mod thresholds;
pub(crate) mod topk;
pub(crate) mod upsample;

use self::activation::{
    Activation, Clamp, Elu, Function, Gelu, GeluTanh, Hardsigmoid, Hardswish, Ramp, Relu, Sigmoid,
    Silu, Softplus, Softsign, Tanh,
};
use self::function::LeakyRelu;
use self::moved::Moved;
use crate::EngineError;
use crate::fuse::Fusion;
use crate::integer::error::Refusal;
use crate::integer::{self, IntegerForm};
use crate::learning::{FoldedInto, FoldedNorm};
use crate::options::Mode;
use crate::order::{Order, Stance};
use crate::rounding::{DataRounding, Rounding};
use crate::state::State;
use crate::step::Step;
use ir::ops::activation::GeluForm;
use ir::ops::pad::Sources;
use ir::ops::upsample::UpsampleMode;
use ir::{Graph, Node, NodeId, Op, OpError, Shape, Verified};
use std::ops::Range;

/// The functions of one element without attributes, as a pattern.
macro_rules! functions {
    () => {
        Op::Neg(_)
            | Op::Abs(_)
            | Op::Sqrt(_)
            | Op::Rsqrt(_)
            | Op::Reciprocal(_)
            | Op::Exp(_)
            | Op::Log(_)
            | Op::Erf(_)
            | Op::Sin(_)
            | Op::Cos(_)
            | Op::Floor(_)
            | Op::Ceil(_)
            | Op::Round(_)
            | Op::Sign(_)
    };
}

/// The comparisons and the logic of two operands, as a pattern.
macro_rules! comparisons {
    () => {
        Op::Eq(_)
            | Op::Ne(_)
            | Op::Lt(_)
            | Op::Le(_)
            | Op::Gt(_)
            | Op::Ge(_)
            | Op::And(_)
            | Op::Or(_)
    };
}

/// The step of a node.
pub(crate) enum Lowered {
    /// Nothing: the result has the elements of the input, in the same order.
    SameElements,
    /// A step; the planner rounds its inputs.
    Step(Box<dyn Step>),
    /// A step that rounds its inputs as it loads them.
    RoundingStep(Box<dyn Step>),
}

impl<S: Step + 'static> From<S> for Lowered {
    fn from(step: S) -> Self {
        Self::Step(Box::new(step))
    }
}

/// A node with everything its step is made from.
pub(crate) struct Site<'a> {
    pub id: NodeId,
    pub node: &'a Node,
    pub verified: &'a Verified<'a>,
    pub state: &'a State,
    /// Concrete shapes of the data inputs.
    pub inputs: Vec<Vec<usize>>,
    /// Concrete shapes of the results.
    pub outputs: Vec<Vec<usize>>,
    pub mode: Mode,
    /// True when a step may compute in bytes what it could compute in floats: in evaluation, without gradients.
    pub may_use_bytes: bool,
    /// Steps may differ from the operators as they are written, in the order of sums.
    pub may_fuse: bool,
    pub fusion: &'a Fusion,
    /// The order of axes of the data inputs and results.
    pub order: Order,
    /// The plan has a backward pass.
    pub has_gradients: bool,
    /// Rows of the whole batch.
    pub batch: usize,
    /// Rows of the shard.
    pub rows: usize,
}

impl Site<'_> {
    /// The range of a parameter or buffer of this node; empty when it has none of that name.
    pub fn param(&self, port: &str) -> Range<usize> {
        self.param_of(self.id, port)
    }

    /// The range of a parameter or buffer of another node.
    pub fn param_of(&self, id: NodeId, port: &str) -> Range<usize> {
        self.state.range(id, port)
    }

    /// The graph of the node.
    pub fn graph(&self) -> &Graph {
        self.verified.graph()
    }

    /// The rounding of a data input.
    pub fn data_rounding(&self, input: usize) -> Option<DataRounding> {
        let port = format!("data_in_{input}");
        let ty = self.verified.ty(self.node.inputs[input]);
        DataRounding::of(self.id, self.node, &port, ty, self.rows, self.state)
    }

    /// The rounding of a port.
    pub fn rounding(&self, port: &str) -> Option<Rounding> {
        Rounding::of(self.id, self.node, port, self.state)
    }

    /// The batch norm behind this layer that training folds into it.
    pub fn folded_norm(&self) -> Option<FoldedNorm> {
        let mut norms = self.state.folded_norms(self.mode).iter().copied();
        norms.find(|folded| folded.layer == self.id)
    }

    /// The same if the weight takes it in before it is rounded.
    pub fn norm_in_weight(&self) -> Option<NodeId> {
        let folded = self.folded_norm()?;
        (folded.into == FoldedInto::Weight).then_some(folded.norm)
    }

    /// True when the scales of a port are learned.
    pub fn learns(&self, port: &str) -> bool {
        self.state.scale(self.id, port).is_some()
    }
}

/// The step of a node.
pub(crate) fn lower(site: &Site) -> Result<Lowered, EngineError> {
    Ok(match &site.node.op {
        // edges and helpers that move nothing
        Op::Placeholder(_)
        | Op::Output(_)
        | Op::Identity(_)
        | Op::Flatten(_)
        | Op::Reshape(_)
        | Op::View(_) => Lowered::SameElements,
        Op::Constant(op) => placeholder::constant(op, site),
        Op::Opaque(op) => {
            return Err(EngineError::Opaque {
                nodes: format!("{} ({})", site.node.name, op.operator),
            });
        }
        // layers with weights
        Op::Linear(op) => linear::lower(op, site),
        Op::Conv1d(op) => conv::lower1d(op, site),
        Op::Conv2d(op) => conv::lower2d(op, site),
        Op::BatchNorm1d(op) => batch_norm::lower(op.momentum, site)?,
        Op::BatchNorm2d(op) => batch_norm::lower(op.momentum, site)?,
        Op::LayerNorm(op) => layer_norm::LayerNorm::new(op, site).into(),
        Op::ConvTranspose1d(op) => conv_transpose::ConvTranspose::new(op, site).into(),
        Op::ConvTranspose2d(op) => conv_transpose::ConvTranspose::new(op, site).into(),
        Op::RmsNorm(op) => rms_norm::RmsNorm::new(op, site).into(),
        Op::GroupNorm(op) => group_norm::GroupNorm::new(op.num_groups, op.eps, site).into(),
        Op::InstanceNorm(op) => group_norm::GroupNorm::new(op.num_features, op.eps, site).into(),
        Op::Upsample(op) => upsample::lower(op, site),
        Op::Lstm(op) => lstm::Lstm::new(op, site).into(),
        Op::Embedding(op) => embedding::Embedding::new(op, site).into(),
        // activations
        Op::Relu(_) => Activation(Relu).into(),
        Op::Relu6(_) => clamped(0.0, 6.0),
        Op::Hardtanh(op) => clamped(op.min_val, op.max_val),
        Op::Hardswish(_) => Activation(Hardswish).into(),
        Op::Hardsigmoid(op) if op.is_plain() => Activation(Hardsigmoid).into(),
        Op::Hardsigmoid(op) => Activation(ramp(op)).into(),
        Op::Sigmoid(_) => Activation(Sigmoid).into(),
        Op::Tanh(_) => Activation(Tanh).into(),
        Op::Gelu(op) => match op.approximate {
            GeluForm::None => Activation(Gelu).into(),
            GeluForm::Tanh => Activation(GeluTanh).into(),
        },
        Op::Silu(_) => Activation(Silu).into(),
        Op::Elu(op) => Activation(Elu::from(op)).into(),
        Op::Selu(_) => Activation(Elu::SELU).into(),
        Op::Softplus(op) => Activation(Softplus::from(op)).into(),
        Op::Softsign(_) => Activation(Softsign).into(),
        Op::LeakyRelu(op) => Activation(LeakyRelu::from(op)).into(),
        Op::Prelu(op) => prelu::Prelu::new(op, site).into(),
        Op::Thresholds(op) => thresholds::Thresholds::new(op, site).into(),
        Op::Softmax(op) => softmax::Softmax::new(op.dim, false, site).into(),
        Op::LogSoftmax(op) => softmax::Softmax::new(op.dim, true, site).into(),
        Op::Dropout(op) => dropout::lower(op.p, site),
        // pools
        Op::MaxPool1d(op) => pool::window_pool(pool::Kind::Max, &op.window(), site).into(),
        Op::MaxPool2d(op) => pool::window_pool(pool::Kind::Max, &op.window(), site).into(),
        Op::AvgPool1d(op) => {
            pool::window_pool(pool::average(op.count_include_pad), &op.window(), site).into()
        }
        Op::AvgPool2d(op) => {
            pool::window_pool(pool::average(op.count_include_pad), &op.window(), site).into()
        }
        Op::AdaptiveAvgPool1d(_) | Op::AdaptiveAvgPool2d(_) => {
            pool::adaptive_pool(false, site).into()
        }
        Op::AdaptiveMaxPool1d(_) | Op::AdaptiveMaxPool2d(_) => {
            pool::adaptive_pool(true, site).into()
        }
        // arithmetic
        Op::Add(op) => arithmetic::lower(arithmetic::Kind::Add, op.scalar, site),
        Op::Sub(op) => arithmetic::lower(arithmetic::Kind::Sub, op.scalar, site),
        Op::Mul(op) => arithmetic::lower(arithmetic::Kind::Mul, op.scalar, site),
        Op::Div(op) => arithmetic::lower(arithmetic::Kind::Div, op.scalar, site),
        Op::Max(op) => pair::lower(arithmetic::Max, op.scalar, site),
        Op::Min(op) => pair::lower(arithmetic::Min, op.scalar, site),
        Op::Pow(op) => pair::lower(arithmetic::Pow, op.scalar, site),
        op @ functions!() => function::lower(op),
        op @ comparisons!() => compare::lower(op, site),
        Op::Not(_) => Activation(function::Not).into(),
        Op::Where(_) => choice::Where::new(site).into(),
        // products and reductions
        Op::Matmul(_) | Op::Bmm(_) => matmul::Matmul::new(site).into(),
        Op::ScaledDotProductAttention(op) => attention::Attention::new(op, site).into(),
        Op::Mean(op) => reduce::Total::mean(&op.dim, site).into(),
        Op::Sum(op) => reduce::Total::sum(&op.dim, site).into(),
        Op::Amax(op) => reduce::Extreme::new(&op.dim, true, site).into(),
        Op::Amin(op) => reduce::Extreme::new(&op.dim, false, site).into(),
        Op::Prod(op) => reduce::Product::new(&op.dim, site).into(),
        Op::Argmax(_) => argmax::Argmax::new(site).into(),
        Op::Topk(op) => topk::Topk::new(op, site).into(),
        // elements moved about
        Op::Transpose(op) => permute::transpose(op, site).into(),
        Op::Permute(op) => permute::permute(op, site).into(),
        Op::Cat(op) => cat::cat(op, site).into(),
        Op::Chunk(op) => cat::chunk(op, site).into(),
        Op::Getitem(op) => getitem::lower(op, site),
        Op::Expand(_) => expand::Expand.into(),
        Op::Gather(op) => gather::Gather::new(op, site).into(),
        Op::To(op) => function::cast(op.dtype, site),
        Op::Pad(op) => Moved::new(&op.sources(&site.inputs[0]), op.value, site).into(),
        Op::Roll(op) => Moved::new(&op.sources(&site.inputs[0]), 0.0, site).into(),
    })
}

/// The step of a value between two bounds.
fn clamped(low: f64, high: f64) -> Lowered {
    let [low, high] = [low, high].map(|bound| bound as f32);
    Activation(Clamp { low, high }).into()
}

/// The step of a layer with its weight as it is trained: neither rounded nor folded, without a bias.
pub(crate) fn lower_product(site: &Site) -> Option<Box<dyn Step>> {
    match &site.node.op {
        Op::Linear(op) => Some(Box::new(linear::Linear::product(op, site))),
        Op::Conv1d(op) => Some(Box::new(conv::conv1d(op, site).product())),
        Op::Conv2d(op) => Some(Box::new(conv::conv2d(op, site).product())),
        _ => None,
    }
}

/// The part of an operator in the choice between planes and pixels.
#[expect(
    clippy::too_many_lines,
    reason = "a list with one line for each operator"
)]
pub(crate) fn order_stance(op: &Op) -> Stance {
    match op {
        Op::Conv1d(_) | Op::Conv2d(_) => Stance::Convolution,
        Op::AvgPool1d(_)
        | Op::AvgPool2d(_)
        | Op::AdaptiveAvgPool1d(_)
        | Op::AdaptiveAvgPool2d(_) => Stance::Sum,
        Op::Identity(_)
        | Op::BatchNorm1d(_)
        | Op::BatchNorm2d(_)
        | Op::Relu(_)
        | Op::Relu6(_)
        | Op::Hardtanh(_)
        | Op::Hardswish(_)
        | Op::Hardsigmoid(_)
        | Op::Sigmoid(_)
        | Op::Tanh(_)
        | Op::Gelu(_)
        | Op::Silu(_)
        | Op::Elu(_)
        | Op::Selu(_)
        | Op::Softplus(_)
        | Op::Softsign(_)
        | Op::LeakyRelu(_)
        | Op::Neg(_)
        | Op::Abs(_)
        | Op::Sqrt(_)
        | Op::Rsqrt(_)
        | Op::Reciprocal(_)
        | Op::Exp(_)
        | Op::Log(_)
        | Op::Erf(_)
        | Op::Sin(_)
        | Op::Cos(_)
        | Op::Floor(_)
        | Op::Ceil(_)
        | Op::Round(_)
        | Op::Sign(_)
        | Op::MaxPool1d(_)
        | Op::MaxPool2d(_)
        | Op::AdaptiveMaxPool1d(_)
        | Op::AdaptiveMaxPool2d(_)
        | Op::Add(_)
        | Op::Sub(_)
        | Op::Mul(_)
        | Op::Div(_) => Stance::Follower,
        Op::Placeholder(_)
        | Op::Constant(_)
        | Op::Output(_)
        | Op::Opaque(_)
        | Op::Flatten(_)
        | Op::Reshape(_)
        | Op::View(_)
        | Op::Linear(_)
        | Op::LayerNorm(_)
        | Op::Embedding(_)
        | Op::Softmax(_)
        | Op::LogSoftmax(_)
        | Op::Dropout(_)
        | Op::Matmul(_)
        | Op::Bmm(_)
        | Op::ScaledDotProductAttention(_)
        | Op::Mean(_)
        | Op::Argmax(_)
        | Op::Transpose(_)
        | Op::Permute(_)
        | Op::Cat(_)
        | Op::Chunk(_)
        | Op::Getitem(_)
        | Op::Prelu(_)
        | Op::Thresholds(_)
        | Op::Lstm(_)
        | Op::Topk(_)
        | Op::Max(_)
        | Op::Min(_)
        | Op::Pow(_)
        | Op::Eq(_)
        | Op::Ne(_)
        | Op::Lt(_)
        | Op::Le(_)
        | Op::Gt(_)
        | Op::Ge(_)
        | Op::And(_)
        | Op::Or(_)
        | Op::Not(_)
        | Op::Where(_)
        | Op::Sum(_)
        | Op::Amax(_)
        | Op::Amin(_)
        | Op::Prod(_)
        | Op::Expand(_)
        | Op::Gather(_)
        | Op::To(_)
        | Op::Pad(_)
        | Op::Roll(_)
        | Op::ConvTranspose1d(_)
        | Op::ConvTranspose2d(_)
        | Op::RmsNorm(_)
        | Op::GroupNorm(_)
        | Op::InstanceNorm(_)
        | Op::Upsample(_) => Stance::Planes,
    }
}

/// The exact integer form of an operator.
pub(crate) fn integer_form(op: &Op) -> IntegerForm<'_> {
    match op {
        // helpers that move nothing
        Op::Identity(_) | Op::Dropout(_) | Op::Flatten(_) | Op::Reshape(_) | Op::View(_) => {
            IntegerForm::SameElements
        }
        // layers with weights
        Op::Linear(op) => exact(|site| linear::integer::lower(op, site)),
        Op::Conv1d(op) => exact(|site| conv::integer::lower1d(op, site)),
        Op::Conv2d(op) => exact(|site| conv::integer::lower2d(op, site)),
        Op::BatchNorm1d(_) | Op::BatchNorm2d(_) => exact(batch_norm::integer::lower),
        // activations
        Op::Relu(_) => clamp(Some(0.0), None),
        Op::Relu6(_) => clamp(Some(0.0), Some(6.0)),
        Op::Hardtanh(op) => clamp(Some(op.min_val), Some(op.max_val)),
        Op::Hardswish(_) => table(Hardswish),
        Op::Hardsigmoid(op) if op.is_plain() => table(Hardsigmoid),
        Op::Hardsigmoid(op) => table(ramp(op)),
        Op::Sigmoid(_) => table(Sigmoid),
        Op::Tanh(_) => table(Tanh),
        Op::Gelu(op) => match op.approximate {
            GeluForm::None => table(Gelu),
            GeluForm::Tanh => table(GeluTanh),
        },
        Op::Silu(_) => table(Silu),
        Op::Elu(op) => table(Elu::from(op)),
        Op::Selu(_) => table(Elu::SELU),
        Op::Softplus(op) => table(Softplus::from(op)),
        Op::Softsign(_) => table(Softsign),
        Op::LeakyRelu(op) => table(LeakyRelu::from(op)),
        op @ functions!() => function::integer(op),
        // pools
        Op::MaxPool1d(op) => exact(|site| pool::integer::max(&op.window(), site)),
        Op::MaxPool2d(op) => exact(|site| pool::integer::max(&op.window(), site)),
        Op::AvgPool1d(op) => {
            exact(|site| pool::integer::average(&op.window(), op.count_include_pad, site))
        }
        Op::AvgPool2d(op) => {
            exact(|site| pool::integer::average(&op.window(), op.count_include_pad, site))
        }
        Op::AdaptiveMaxPool1d(_) => exact(|site| Ok(pool::integer::adaptive_max(1, site))),
        Op::AdaptiveMaxPool2d(_) => exact(|site| Ok(pool::integer::adaptive_max(2, site))),
        Op::AdaptiveAvgPool1d(_) => exact(|site| pool::integer::adaptive_average(1, site)),
        Op::AdaptiveAvgPool2d(_) => exact(|site| pool::integer::adaptive_average(2, site)),
        // arithmetic
        Op::Add(op) => exact(|site| arithmetic::integer::add(op.scalar, false, site)),
        Op::Sub(op) => exact(|site| arithmetic::integer::add(op.scalar, true, site)),
        Op::Mul(op) => exact(|site| arithmetic::integer::mul(op.scalar, site)),
        Op::Div(op) => exact(|site| arithmetic::integer::div(op.scalar, site)),
        Op::Max(op) => exact(|site| arithmetic::integer::bound(op.scalar, true, site)),
        Op::Min(op) => exact(|site| arithmetic::integer::bound(op.scalar, false, site)),
        Op::Matmul(_) | Op::Bmm(_) => exact(matmul::integer::lower),
        Op::Mean(op) => total(|shape| op.reduced(shape), reduce::integer::mean),
        Op::Sum(op) => total(|shape| op.reduced(shape), reduce::integer::sum),
        Op::Argmax(_) => exact(|site| Ok(argmax::integer::lower(site))),
        // elements moved about
        Op::Transpose(op) => exact(|site| Ok(permute::integer::transpose(op, site))),
        Op::Permute(op) => exact(|site| Ok(permute::integer::permute(op, site))),
        Op::Cat(op) => exact(|site| cat::integer::cat(op, site)),
        Op::Chunk(op) => exact(|site| Ok(cat::integer::chunk(op, site))),
        Op::Getitem(op) => exact(|site| Ok(getitem::integer::lower(op, site))),
        Op::Upsample(op) if op.mode == UpsampleMode::Nearest => moved(|sizes| op.sources(sizes)),
        Op::Pad(op) => moved(|sizes| op.sources(sizes)),
        Op::Roll(op) => moved(|sizes| op.sources(sizes)),
        Op::Expand(_) => exact(|site| Ok(expand::integer::lower(site))),
        // edges, which the compiler makes itself
        Op::Placeholder(_)
        | Op::Constant(_)
        | Op::Output(_)
        // what nobody knows
        | Op::Opaque(_)
        // functions that are not numbers everywhere, choices, and products of many elements
        | Op::Prelu(_)
        | Op::Thresholds(_)
        | Op::Lstm(_)
        | Op::Topk(_)
        | Op::Pow(_)
        | Op::Eq(_)
        | Op::Ne(_)
        | Op::Lt(_)
        | Op::Le(_)
        | Op::Gt(_)
        | Op::Ge(_)
        | Op::And(_)
        | Op::Or(_)
        | Op::Not(_)
        | Op::Where(_)
        | Op::Amax(_)
        | Op::Amin(_)
        | Op::Prod(_)
        | Op::Gather(_)
        | Op::To(_)
        // divisions and roots of several elements, and look-ups
        | Op::ConvTranspose1d(_)
        | Op::ConvTranspose2d(_)
        | Op::LayerNorm(_)
        | Op::RmsNorm(_)
        | Op::GroupNorm(_)
        | Op::InstanceNorm(_)
        | Op::Upsample(_)
        | Op::Embedding(_)
        | Op::Softmax(_)
        | Op::LogSoftmax(_)
        | Op::ScaledDotProductAttention(_) => IntegerForm::Missing,
    }
}

fn exact<'a>(
    lower: impl Fn(&integer::Site) -> Result<integer::Lowered, Refusal> + 'a,
) -> IntegerForm<'a> {
    IntegerForm::Exact(Box::new(lower))
}

fn table(function: impl Function) -> IntegerForm<'static> {
    exact(move |site| activation::integer::table(function, site))
}

fn clamp(lo: Option<f64>, hi: Option<f64>) -> IntegerForm<'static> {
    exact(move |site| activation::integer::clamp(lo, hi, site))
}

/// Elements picked along axes of these sizes.
fn moved<'a>(sources: impl Fn(&[usize]) -> Vec<Sources> + 'a) -> IntegerForm<'a> {
    exact(move |site| moved::integer::lower(&sources(&site.operands[0].shape), site))
}

/// A sum over the axes that are reduced.
fn total<'a>(
    reduced: impl Fn(&Shape) -> Result<Vec<bool>, OpError> + 'a,
    lower: fn(&[bool], &integer::Site) -> Result<integer::Lowered, Refusal>,
) -> IntegerForm<'a> {
    exact(move |site| {
        let reduced = reduced(&Shape::of(&site.operands[0].shape)).unwrap_or_default();
        lower(&reduced, site)
    })
}

fn ramp(op: &ir::ops::activation::Hardsigmoid) -> Ramp {
    Ramp {
        alpha: op.alpha as f32,
        beta: op.beta as f32,
    }
}
