//! Comparisons of two values with broadcasting, or of a value and a number, and logic on their truth values.

use super::check;
use crate::{
    CodeRange, Cost, DType, OpError, OperandRanges, Operator, PortSpec, RowCoupling, Shape,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// The answers of an operator whose results are true or false.
macro_rules! gives_truth {
    () => {
        fn cost(&self, _inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
            Cost::per_result(outputs)
        }

        fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
            RowCoupling::Independent
        }

        fn exact_range(&self, _inputs: &[Type], _operands: &OperandRanges) -> Option<CodeRange> {
            None
        }

        fn torch_module(&self) -> Option<TorchModule> {
            None
        }
    };
}

macro_rules! comparisons {
    ($($name:ident = $op:literal;)*) => {$(
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
                let Some(scalar) = self.scalar else {
                    return Ok(vec![truth(check::alike(inputs, [0, 1])?.shape)]);
                };
                check::finite("scalar", scalar)?;
                Ok(vec![truth(left.shape.clone())])
            }

            gives_truth!();
        }
    )*};
}

comparisons! {
    Eq = "eq";
    Ne = "ne";
    Lt = "lt";
    Le = "le";
    Gt = "gt";
    Ge = "ge";
}

macro_rules! logic {
    ($($name:ident = $op:literal, $inputs:literal;)*) => {$(
        #[doc = concat!("Attributes of `", $op, "`: none.")]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {}

        impl Operator for $name {
            fn ports(&self) -> Vec<PortSpec> {
                PortSpec::data($inputs)
            }

            fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
                let mut shape = Shape(Vec::new());
                for at in 0..$inputs {
                    shape = shape.broadcast(check::input_of(inputs, at, DType::Bool)?)?;
                }
                Ok(vec![truth(shape)])
            }

            gives_truth!();
        }
    )*};
}

logic! {
    And = "and", 2;
    Or = "or", 2;
    Not = "not", 1;
}

fn truth(shape: Shape) -> Type {
    Type {
        shape,
        dtype: DType::Bool,
    }
}
