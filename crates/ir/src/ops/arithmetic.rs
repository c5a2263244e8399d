//! Arithmetic on two values with broadcasting, or on one value and a number.

use super::check;
use crate::{
    CodeRange, Cost, DType, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule,
    Type,
};
use serde::{Deserialize, Serialize};

macro_rules! arithmetic {
    ($name:ident, $op:literal, on: $dtypes:expr, check: $check:expr, exact: $exact:expr) => {
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
                let left = check::any_input(inputs, 0)?;
                if !$dtypes.contains(&left.dtype) {
                    return Err(OpError::input(0, shown(&$dtypes), left));
                }
                let Some(scalar) = self.scalar else {
                    return Ok(vec![check::alike(inputs, [0, 1])?]);
                };
                let check: fn(f64) -> Result<(), OpError> = $check;
                check(scalar)?;
                if left.dtype == DType::I64 && scalar.fract() != 0.0 {
                    let why = "must be a whole number beside i64";
                    return Err(OpError::attribute("scalar", scalar, why));
                }
                Ok(vec![left.clone()])
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

arithmetic!(Add, "add", on: NUMBERS, check: finite, exact: |a, b| a.plus(b.range()?));
arithmetic!(Sub, "sub", on: NUMBERS, check: finite, exact: |a, b| a.plus(b.range()?.negated()?));
arithmetic!(Mul, "mul", on: NUMBERS, check: finite, exact: |a, b| a.times(b.range()?));
arithmetic!(Div, "div", on: FLOATS, check: finite_not_zero, exact: |a, b| a.times(b.reciprocal()?));
arithmetic!(Max, "max", on: NUMBERS, check: finite, exact: |a, b| a.clamp_below(b.number()?));
arithmetic!(Min, "min", on: NUMBERS, check: finite, exact: |a, b| a.clamp_above(b.number()?));
arithmetic!(Pow, "pow", on: FLOATS, check: finite, exact: |_, _| None);

const NUMBERS: [DType; 2] = [DType::F32, DType::I64];
const FLOATS: [DType; 1] = [DType::F32];

fn shown(dtypes: &[DType]) -> String {
    let names: Vec<String> = dtypes.iter().map(ToString::to_string).collect();
    names.join(" or ")
}

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

    /// The number, if it is one.
    fn number(self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Value(_) => None,
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
