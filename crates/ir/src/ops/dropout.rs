//! Dropout, which is the identity in evaluation, and the identity itself.

use super::check;
use super::rearrange::Rearrange;
use crate::torch_repr::python_float;
use crate::{OpError, RowCoupling, TorchModule, Type};
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

/// The exact range is that of evaluation.
impl Rearrange for Dropout {
    fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        if !(0.0..=1.0).contains(&self.p) {
            return Err(OpError::attribute("p", self.p, "must be between 0 and 1"));
        }
        Ok(vec![Type::f32(check::f32_input(inputs, 0)?.clone())])
    }

    /// Its random numbers are counted by element of the whole batch.
    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn torch_module(&self) -> Option<TorchModule> {
        let arguments = format!("p={}, inplace=False", python_float(self.p));
        Some(TorchModule::new("Dropout", arguments))
    }
}

/// Attributes of `identity`: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {}

impl Rearrange for Identity {
    fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        Ok(vec![check::any_input(inputs, 0)?.clone()])
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn torch_module(&self) -> Option<TorchModule> {
        Some(TorchModule::new("Identity", ""))
    }
}
