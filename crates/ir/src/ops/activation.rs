//! Activations that work on each element alone.

use super::check;
use crate::{Cost, OpError, Operator, PortSpec, Type};
use serde::{Deserialize, Serialize};

/// Attributes of `relu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relu {
    /// Accepted because PyTorch prints it; it changes nothing here.
    #[serde(default, skip_serializing_if = "check::is_no")]
    pub inplace: bool,
}

impl Operator for Relu {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        Ok(vec![Type::f32(check::f32_input(inputs, 0)?.clone())])
    }

    fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::elementwise(check::numel(inputs[0]))
    }
}
