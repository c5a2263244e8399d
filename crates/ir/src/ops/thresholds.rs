//! Steps at stored thresholds, `y = scale·#{t: x ≥ t} + offset`.

use super::check;
use crate::{
    CodeRange, Cost, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule,
    Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `thresholds`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// One list of thresholds for all channels, or one for each channel of axis 1.
    #[serde(default = "check::one", skip_serializing_if = "check::is_one")]
    pub channels: usize,
    /// The thresholds of a list.
    pub steps: usize,
    /// The height of a step.
    #[serde(default = "unit", skip_serializing_if = "is_unit")]
    pub scale: f64,
    /// The value below all thresholds.
    #[serde(default, skip_serializing_if = "check::is_zero")]
    pub offset: f64,
}

fn unit() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_unit(value: &f64) -> bool {
    *value == 1.0
}

impl Operator for Thresholds {
    fn ports(&self) -> Vec<PortSpec> {
        let mut ports = PortSpec::data(1);
        ports.push(PortSpec::buffer(
            "thresholds",
            &[self.channels, self.steps],
            Init::Zeros,
        ));
        ports
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::positive("channels", self.channels)?;
        check::positive("steps", self.steps)?;
        check::finite("scale", self.scale)?;
        check::finite("offset", self.offset)?;
        let shape = check::f32_input(inputs, 0)?;
        if self.channels != 1 {
            check::input_channels(shape, self.channels, inputs)?;
        }
        Ok(vec![Type::f32(shape.clone())])
    }

    /// One comparison with every threshold.
    fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::per_input(inputs, self.steps as u64)
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
}
