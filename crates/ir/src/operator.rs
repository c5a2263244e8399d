//! The contract of an operator: ports, shape rule, cost, row coupling, exact range, PyTorch's name; and the vocabulary
//! of torch.fx and MASE.

use crate::ops::numel;
use crate::{CodeRange, OperandRanges, ShapeError, TorchModule, Type};

/// An operator: its meaning and its properties. The engine defines how it runs. No method has a default, so that a
/// new operator answers every question.
pub trait Operator {
    /// The ports in order: data inputs first, then parameters.
    fn ports(&self) -> Vec<PortSpec>;

    /// The types of the results for the given data inputs. Attributes are checked here too.
    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError>;

    /// The cost for concrete shapes of the data inputs and results, which [`Operator::infer`] has accepted.
    fn cost(&self, inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost;

    /// The dependence of one row of the results on the other rows of the batch. The batch symbol may be assumed to
    /// stand on axis 0 of every input and result that has it; other graphs are never cut.
    fn row_coupling(&self, inputs: &[Type]) -> RowCoupling;

    /// The range of the exact results of fixed-point operands; `None` when an operand is not fixed point, when the
    /// operator has no exact integer form (gelu, softmax, a mean of three), or when 128 bits do not suffice.
    fn exact_range(&self, inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange>;

    /// The PyTorch module that computes the operator; `None` for operators that are only functions.
    fn torch_module(&self) -> Option<TorchModule>;
}

/// The dependence of one row of a batch on the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowCoupling {
    /// A row of the results follows from the same row of the inputs, so that a batch can be cut into shards.
    Independent,
    /// In training a row depends on statistics of the whole batch. They are sums over rows, which the step of the
    /// operator reduces over shards; in evaluation the rows are independent.
    BatchStatistics,
    /// A row depends on other rows or on its own index; a batch cannot be cut.
    Coupled,
}

impl RowCoupling {
    /// The coupling of an operator that works along one axis of its first input.
    pub fn along(inputs: &[Type], dim: i64) -> Self {
        match inputs.first().map(|input| input.shape.axis(dim)) {
            Some(Ok(1..)) => Self::Independent,
            Some(Ok(0) | Err(_)) | None => Self::Coupled,
        }
    }
}

/// One input of an operator.
#[derive(Clone, Debug, PartialEq)]
pub enum PortSpec {
    /// A value made by an earlier node: `data_in_0`, `data_in_1`, …
    Data(String),
    /// Any further number of values, named `data_in_k` in order.
    MoreData,
    /// A tensor that lives beside the node.
    Param {
        /// Its name, as PyTorch has it.
        name: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// PyTorch's initialisation.
        init: Init,
        /// Trained, or updated by the operator itself.
        role: ParamRole,
    },
}

impl PortSpec {
    /// `n` data inputs, `data_in_0` to `data_in_{n-1}`.
    pub fn data(n: usize) -> Vec<Self> {
        (0..n).map(|i| Self::Data(format!("data_in_{i}"))).collect()
    }

    /// A trained parameter.
    pub fn param(name: &'static str, shape: &[usize], init: Init) -> Self {
        Self::Param {
            name,
            shape: shape.to_vec(),
            init,
            role: ParamRole::Trained,
        }
    }

    /// A buffer: saved with the model, not trained.
    pub fn buffer(name: &'static str, shape: &[usize], init: Init) -> Self {
        Self::Param {
            name,
            shape: shape.to_vec(),
            init,
            role: ParamRole::Buffer,
        }
    }
}

/// The role of a parameter in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamRole {
    /// Updated by the optimiser.
    Trained,
    /// Updated by the operator, such as the running statistics of a batch norm.
    Buffer,
}

/// The initialisation of a parameter, as in PyTorch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// All zero.
    Zeros,
    /// All one.
    Ones,
    /// All of them this number.
    Constant(f32),
    /// Uniform in ±1/√fan_in: Kaiming uniform with a = √5, and the matching bias.
    FanIn(usize),
    /// Normal with this deviation.
    Normal(f32),
}

/// The arithmetic of one application of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Floating-point operations, counted as the labs count them: one per multiply-accumulate.
    pub flops: u64,
    /// Multiply-accumulates of a matrix product or convolution.
    pub macs: u64,
    /// The formula that the count of FLOPs follows.
    pub formula: FlopFormula,
    /// The rule by which bit operations follow from the FLOPs.
    pub bit_ops: BitOpRule,
}

impl Cost {
    /// No arithmetic at all: shape helpers, look-ups.
    pub const FREE: Self = Self {
        flops: 0,
        macs: 0,
        formula: FlopFormula::Free,
        bit_ops: BitOpRule::Elementwise,
    };

    /// Arithmetic that nobody can count: an operator of another program.
    pub const UNKNOWN: Self = Self {
        formula: FlopFormula::Unknown,
        ..Self::FREE
    };

    /// `factor` operations with one operand each for every element of the first input.
    pub fn per_input(inputs: &[&[usize]], factor: u64) -> Self {
        Self {
            flops: numel(inputs[0]).saturating_mul(factor),
            formula: FlopFormula::PerInput(factor),
            ..Self::FREE
        }
    }

    /// One operation for every element of the first result.
    pub fn per_result(outputs: &[&[usize]]) -> Self {
        Self {
            flops: numel(outputs[0]),
            formula: FlopFormula::PerResult,
            ..Self::FREE
        }
    }

    /// `count` operations, the number of elements of a window, for every element of the first result.
    pub fn per_window(outputs: &[&[usize]], count: u64) -> Self {
        Self {
            flops: numel(outputs[0]).saturating_mul(count),
            formula: FlopFormula::PerResultTimes("window"),
            ..Self::FREE
        }
    }

    /// `macs` multiply-accumulates of data with weights.
    pub fn product(macs: u64, formula: FlopFormula) -> Self {
        Self {
            flops: macs,
            macs,
            formula,
            bit_ops: BitOpRule::Product,
        }
    }

    /// Bit operations for operands of the given widths.
    pub fn bit_operations(&self, data_in: f64, weight: f64, bias: f64) -> f64 {
        let (count, macs) = (self.flops as f64, self.macs as f64);
        match self.bit_ops {
            BitOpRule::Product => {
                macs * (data_in * weight + bias.max(data_in)) + (count - macs) * data_in
            }
            BitOpRule::Elementwise => count * data_in,
            BitOpRule::Square => count * data_in * data_in,
        }
    }
}

/// The formula of a count of floating-point operations, for people. N_in and N_out are the elements of the first input
/// and of the first result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlopFormula {
    /// No operations.
    Free,
    /// factor·N_in.
    PerInput(u64),
    /// N_out.
    PerResult,
    /// N_out times the named quantity.
    PerResultTimes(&'static str),
    /// numel(weight)·(N_in/in_features).
    Weights {
        /// Size of the last axis of the input.
        in_features: usize,
        /// Size of the last axis of the result.
        out_features: usize,
    },
    /// Not known: the operator is opaque.
    Unknown,
    /// The two matrix products of attention, and scale and softmax of the scores between them.
    Attention,
}

/// The number of bit operations in one counted operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOpRule {
    /// b_in·b_weight + max(b_bias, b_in) for a multiply-accumulate, and b_in for every other operation.
    Product,
    /// b_in.
    Elementwise,
    /// b_in²: batch norm.
    Square,
}

/// The reason why an operator refuses its inputs or attributes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpError {
    /// The shapes do not fit.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// An input has the wrong type.
    #[error("{port}: expected {expected}, got {got}")]
    Input {
        /// The port.
        port: String,
        /// The type that the operator takes.
        expected: String,
        /// The given type.
        got: String,
    },
    /// An attribute has a value the operator cannot have.
    #[error("{name} = {value}: {why}")]
    Attribute {
        /// The attribute.
        name: &'static str,
        /// Its value.
        value: String,
        /// The reason.
        why: String,
    },
}

impl OpError {
    /// An input of the wrong type.
    pub fn input(index: usize, expected: impl Into<String>, got: &Type) -> Self {
        Self::Input {
            port: format!("data_in_{index}"),
            expected: expected.into(),
            got: got.to_string(),
        }
    }

    /// An input that is not there.
    pub fn missing_input(index: usize) -> Self {
        Self::Input {
            port: format!("data_in_{index}"),
            expected: "a value".to_owned(),
            got: "nothing".to_owned(),
        }
    }

    /// An attribute with an impossible value.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "numbers and fresh strings read best by value"
    )]
    pub fn attribute(name: &'static str, value: impl ToString, why: impl Into<String>) -> Self {
        Self::Attribute {
            name,
            value: value.to_string(),
            why: why.into(),
        }
    }
}

macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[doc = $doc:literal])* $variant:ident = $word:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[doc = $doc])* $variant,)* }

        impl $name {
            /// Every word with its meaning.
            pub const TABLE: &[(Self, &'static str, &'static str)] =
                &[$((Self::$variant, $word, concat!($($doc, "\n"),*))),*];

            /// The word as printed.
            pub fn name(self) -> &'static str { Self::TABLE[self as usize].1 }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { f.pad(self.name()) }
        }
    };
}

words! {
    /// The opcode of a node in torch.fx.
    FxOp {
        /// An input of the graph: a tensor that the caller supplies, such as a batch of rows.
        Placeholder = "placeholder",
        /// A tensor stored with the model and fetched by name, such as a positional embedding.
        GetAttr = "get_attr",
        /// A call of a free function on earlier values, such as `torch.add(a, b)`; it has no parameters of its own.
        CallFunction = "call_function",
        /// A call of a method on an earlier value, such as `x.view(…)`.
        CallMethod = "call_method",
        /// A call of a module of the network, such as a `Linear`; the target is the module's dotted path, and its
        /// parameters live beside the node.
        CallModule = "call_module",
        /// The result of the graph: what the network returns.
        Output = "output",
    }
}

words! {
    /// The class that MASE gives a node.
    MaseType {
        /// A function of `torch.nn.functional`, or a module that wraps one: relu, linear, convolutions, layer_norm,
        /// pools. It has a hardware template and can be quantised.
        ModuleRelatedFunc = "module_related_func",
        /// A module without a functional counterpart, because it keeps state: batch_norm1d, batch_norm2d.
        Module = "module",
        /// Arithmetic of Python and PyTorch on tensors: add, sub, mul, div, matmul, bmm, mean.
        BuiltinFunc = "builtin_func",
        /// A helper that moves or renames elements and computes nothing: flatten, view, transpose, cat.
        ImplicitFunc = "implicit_func",
        /// An input of the graph.
        Placeholder = "placeholder",
        /// A tensor fetched from the model.
        GetAttr = "get_attr",
        /// The result of the graph.
        Output = "output",
    }
}
