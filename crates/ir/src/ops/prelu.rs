//! Rectified linear unit with a trained slope below zero.

use super::check;
use crate::{
    CodeRange, Cost, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule,
    Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `prelu`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prelu {
    /// One slope for all channels, or one for each channel of axis 1.
    #[serde(default = "check::one", skip_serializing_if = "check::is_one")]
    pub num_parameters: usize,
}

impl Operator for Prelu {
    fn ports(&self) -> Vec<PortSpec> {
        let mut ports = PortSpec::data(1);
        ports.push(PortSpec::param(
            "weight",
            &[self.num_parameters],
            Init::Constant(0.25),
        ));
        ports
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::positive("num_parameters", self.num_parameters)?;
        let shape = check::f32_input(inputs, 0)?;
        if self.num_parameters != 1 {
            check::input_channels(shape, self.num_parameters, inputs)?;
        }
        Ok(vec![Type::f32(shape.clone())])
    }

    fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::per_input(inputs, 1)
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn exact_range(&self, _inputs: &[Type], _operands: &OperandRanges) -> Option<CodeRange> {
        None
    }

    fn torch_module(&self) -> Option<TorchModule> {
        let arguments = format!("num_parameters={}", self.num_parameters);
        Some(TorchModule::new("PReLU", arguments))
    }
}
