//! The operators. Each has a file here that says what it means; the table below is the one place that lists them.
//!
//! Adding one: a file with a struct of attributes that implements [`Operator`], its `mod` line, its table line.
//! The engine has a file of the same name that says how it runs.

use crate::{Cost, FxOp, MaseType, OpError, Operator, PortSpec, Type};
use serde_json::{Map, Value as Json};

mod check;

pub mod batch_norm;
pub mod linear;
pub mod placeholder;
pub mod activation;

/// What the table says about an operator.
#[derive(Clone, Copy, Debug)]
pub struct OpEntry {
    /// The name in configs, reports and the text form.
    pub name: &'static str,
    /// How MASE classes it.
    pub mase_type: MaseType,
    /// What it is to torch.fx when it is not called as a module.
    pub fx_op: FxOp,
    /// What it computes.
    pub about: &'static str,
}

macro_rules! ops {
    ($($(#[doc = $doc:literal])* $variant:ident($($path:ident)::+) = $name:literal, $mase_type:ident, $fx_op:ident;)*) => {
        /// Every operator with its attributes.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Op { $($(#[doc = $doc])* $variant($($path)::+),)* }

        impl Op {
            /// The table.
            pub const TABLE: &[OpEntry] = &[$(OpEntry {
                name: $name,
                mase_type: MaseType::$mase_type,
                fx_op: FxOp::$fx_op,
                about: concat!($($doc, "\n"),*),
            },)*];

            fn index(&self) -> usize {
                #[derive(Clone, Copy)]
                enum Index { $($variant,)* }
                (match self { $(Self::$variant(_) => Index::$variant,)* }) as usize
            }

            fn operator(&self) -> &dyn Operator {
                match self { $(Self::$variant(op) => op,)* }
            }

            /// The attributes as the text form prints them.
            pub fn attributes(&self) -> Map<String, Json> {
                let json = match self { $(Self::$variant(op) => serde_json::to_value(op),)* };
                match json { Ok(Json::Object(map)) => map, _ => Map::new() }
            }

            /// The operator called `name` with these attributes; `None` when there is no such operator.
            pub fn from_attributes(name: &str, attributes: Map<String, Json>) -> Option<Result<Self, serde_json::Error>> {
                let json = Json::Object(attributes);
                match name {
                    $($name => Some(serde_json::from_value(json).map(Self::$variant)),)*
                    _ => None,
                }
            }
        }

        $(impl From<$($path)::+> for Op { fn from(op: $($path)::+) -> Self { Self::$variant(op) } })*
    };
}

ops! {
    // the edges of the graph
    /// An input of the graph.
    Placeholder(placeholder::Placeholder) = "placeholder", Placeholder, Placeholder;
    /// A tensor stored with the model.
    Constant(placeholder::Constant) = "constant", GetAttr, GetAttr;
    /// The results of the graph.
    Output(placeholder::Output) = "output", Output, Output;

    // layers with weights
    /// Fully connected layer, `y = x·Wᵀ + b`.
    Linear(linear::Linear) = "linear", ModuleRelatedFunc, CallFunction;
    /// Batch normalisation of `[N, C]` or `[N, C, L]`: `y = (x − μ)/√(σ² + ε)·γ + β`.
    BatchNorm1d(batch_norm::BatchNorm1d) = "batch_norm1d", Module, CallModule;
    /// Batch normalisation of `[N, C, H, W]`, per channel.
    BatchNorm2d(batch_norm::BatchNorm2d) = "batch_norm2d", Module, CallModule;

    // activations
    /// Rectified linear unit, `y = max(x, 0)`.
    Relu(activation::Relu) = "relu", ModuleRelatedFunc, CallFunction;
}

impl Op {
    /// The table's line for this operator.
    pub fn entry(&self) -> &'static OpEntry {
        &Self::TABLE[self.index()]
    }

    /// The name in configs, reports and the text form.
    pub fn name(&self) -> &'static str {
        self.entry().name
    }
}

impl Operator for Op {
    fn ports(&self) -> Vec<PortSpec> {
        self.operator().ports()
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        self.operator().infer(inputs)
    }

    fn cost(&self, inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
        self.operator().cost(inputs, outputs)
    }
}
