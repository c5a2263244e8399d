//! Arithmetic on two values with broadcasting, or on one value and a number.

use super::check;
use crate::{Cost, OpError, Operator, PortSpec, Type};
use serde::{Deserialize, Serialize};

macro_rules! arithmetic {
    ($name:ident, $op:literal, $check:expr) => {
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
                Cost::elementwise(check::numel(outputs[0]))
            }
        }
    };
}

arithmetic!(Add, "add", finite);
arithmetic!(Sub, "sub", finite);
arithmetic!(Mul, "mul", finite);
arithmetic!(Div, "div", finite_not_zero);

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
