//! Arithmetic on two values with broadcasting, or on one value and a number.

use super::check;
use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule, Type,
};
use serde::{Deserialize, Serialize};

macro_rules! arithmetic {
    ($name:ident, $op:literal, check: $check:expr, exact: $exact:expr) => {
        #[doc = concat!("Attributes of `", $op, "`.")]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The right operand when it is a number; there is one data input then, and two otherwise.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub scalar: Option<f64>,
        }

        impl Operator for $name {
            fn ports(&self) -> Vec<PortSpec> {
                PortSpec::data(if self.scalar.is_some() { 1 } else { 2 })
            }

            fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
                let left = check::f32_input(inputs, 0)?;
                let Some(scalar) = self.scalar else {
                    return Ok(vec![Type::f32(
                        left.broadcast(check::f32_input(inputs, 1)?)?,
                    )]);
                };
                let check: fn(f64) -> Result<(), OpError> = $check;
                check(scalar)?;
                Ok(vec![Type::f32(left.clone())])
            }

            fn cost(&self, _inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
                Cost::per_result(outputs)
            }

            fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
                RowCoupling::Independent
            }

            fn exact_range(&self, _inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
                let exact: fn(CodeRange, Right) -> Option<CodeRange> = $exact;
                let left = operands.data()?;
                let right = match self.scalar {
                    Some(number) => Right::Number(number),
                    None => Right::Value(operands.port("data_in_1")?),
                };
                exact(left, right)
            }

            fn torch_module(&self) -> Option<TorchModule> {
                None
            }
        }
    };
}

arithmetic!(Add, "add", check: finite, exact: |a, b| a.plus(b.range()?));
arithmetic!(Sub, "sub", check: finite, exact: |a, b| a.plus(b.range()?.negated()?));
arithmetic!(Mul, "mul", check: finite, exact: |a, b| a.times(b.range()?));
arithmetic!(Div, "div", check: finite_not_zero, exact: |a, b| a.times(b.reciprocal()?));

/// The right operand.
#[derive(Clone, Copy)]
enum Right {
    Number(f64),
    Value(CodeRange),
}

impl Right {
    fn range(self) -> Option<CodeRange> {
        match self {
            Self::Number(number) => CodeRange::number(number),
            Self::Value(range) => Some(range),
        }
    }

    /// 1/x, which is exact for a number that is a power of two.
    fn reciprocal(self) -> Option<CodeRange> {
        match self {
            Self::Number(number) if CodeRange::number(number)?.is_power_of_two() => {
                CodeRange::number(number.recip())
            }
            Self::Number(_) | Self::Value(_) => None,
        }
    }
}

fn finite(scalar: f64) -> Result<(), OpError> {
    check::finite("scalar", scalar)
}

fn finite_not_zero(scalar: f64) -> Result<(), OpError> {
    if scalar == 0.0 {
        return Err(OpError::attribute(
            "scalar",
            scalar,
            "must not be 0 in a division",
        ));
    }
    finite(scalar)
}
