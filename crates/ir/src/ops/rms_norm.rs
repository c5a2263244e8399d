//! Normalisation by the root mean square, `y = x/√(mean(x²) + ε)·γ` over the last axes.

use super::check;
use super::layer_norm::{check_normalized, default_eps};
use crate::torch_repr::{python_bool, python_float, tuple};
use crate::{
    CodeRange, Cost, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule,
    Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `rms_norm`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RmsNorm {
    /// The last axes of the input, over which it normalises.
    pub normalized_shape: Vec<usize>,
    /// Added to the mean square.
    #[serde(default = "default_eps")]
    pub eps: f64,
    /// Gives the layer γ.
    #[serde(default = "check::yes", skip_serializing_if = "check::is_yes")]
    pub elementwise_affine: bool,
}

impl Operator for RmsNorm {
    fn ports(&self) -> Vec<PortSpec> {
        let mut ports = PortSpec::data(1);
        if self.elementwise_affine {
            let shape = &self.normalized_shape;
            ports.push(PortSpec::param("weight", shape, Init::Ones));
        }
        ports
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check_normalized(&self.normalized_shape, self.eps, inputs)
    }

    fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::per_input(inputs, 4)
    }

    /// It normalises over axes of fixed size, never over the batch.
    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn exact_range(&self, _inputs: &[Type], _operands: &OperandRanges) -> Option<CodeRange> {
        None
    }

    fn torch_module(&self) -> Option<TorchModule> {
        let arguments = format!(
            "{}, eps={}, elementwise_affine={}",
            tuple(&self.normalized_shape),
            python_float(self.eps),
            python_bool(self.elementwise_affine)
        );
        Some(TorchModule::new("RMSNorm", arguments))
    }
}
