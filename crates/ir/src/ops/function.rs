//! Functions of each element alone that PyTorch has as functions, not as modules.

use super::activation::elementwise;
use super::check;
use crate::torch_repr::python_float;
use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// The functions without attributes: the operator, the exact range.
macro_rules! functions {
    ($($name:ident = $op:literal, $exact:expr;)*) => {$(
        #[doc = concat!("Attributes of `", $op, "`: none.")]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {}

        elementwise!($name, check: |_| Ok(()), exact: $exact, torch: none);
    )*};
}

functions! {
    Neg = "neg", |_, x| x.negated();
    Abs = "abs", |_, x| x.negated()?.joined(x)?.clamp_below(0.0);
    Sqrt = "sqrt", |_, _| None;
    Rsqrt = "rsqrt", |_, _| None;
    Reciprocal = "reciprocal", |_, _| None;
    Exp = "exp", |_, _| None;
    Log = "log", |_, _| None;
    Erf = "erf", |_, _| None;
    Sin = "sin", |_, _| None;
    Cos = "cos", |_, _| None;
    Floor = "floor", |_, _| None;
    Ceil = "ceil", |_, _| None;
    Round = "round", |_, _| None;
    Sign = "sign", |_, _| None;
}

/// Attributes of `leaky_relu`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LeakyRelu {
    /// The slope below zero.
    pub negative_slope: f64,
}

impl Default for LeakyRelu {
    fn default() -> Self {
        Self {
            negative_slope: 0.01,
        }
    }
}

elementwise!(
    LeakyRelu,
    check: |op| check::finite("negative_slope", op.negative_slope),
    exact: |_, _| None,
    torch: "LeakyReLU", |op| format!("negative_slope={}", python_float(op.negative_slope))
);
