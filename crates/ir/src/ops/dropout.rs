//! Dropout, which is the identity in evaluation, and the identity itself.

use super::check;
use crate::{Cost, OpError, Operator, PortSpec, Type};
use serde::{Deserialize, Serialize};

/// Attributes of `dropout`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dropout {
    /// The probability with which an element becomes zero in training.
    pub p: f64,
}

impl Default for Dropout {
    fn default() -> Self {
        Self { p: 0.5 }
    }
}

impl Operator for Dropout {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        if !(0.0..=1.0).contains(&self.p) {
            return Err(OpError::attribute("p", self.p, "must be between 0 and 1"));
        }
        Ok(vec![Type::f32(check::f32_input(inputs, 0)?.clone())])
    }

    fn cost(&self, _inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::FREE
    }
}

/// Attributes of `identity`: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {}

impl Operator for Identity {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        Ok(vec![check::any_input(inputs, 0)?.clone()])
    }

    fn cost(&self, _inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::FREE
    }
}
