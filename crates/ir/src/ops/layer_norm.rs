//! Layer normalisation, `y = (x − μ)/√(σ² + ε)·γ + β` over the last axes of each element of the batch.

use super::check;
use crate::torch_repr::{python_bool, python_float, tuple};
use crate::{
    CodeRange, Cost, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling, Shape,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `layer_norm`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerNorm {
    /// The last axes of the input, over which it normalises.
    pub normalized_shape: Vec<usize>,
    /// Added to the variance.
    #[serde(default = "default_eps")]
    pub eps: f64,
    /// Gives the layer γ and β.
    #[serde(default = "check::yes", skip_serializing_if = "check::is_yes")]
    pub elementwise_affine: bool,
}

impl Operator for LayerNorm {
    fn ports(&self) -> Vec<PortSpec> {
        let mut ports = PortSpec::data(1);
        if self.elementwise_affine {
            ports.push(PortSpec::param(
                "weight",
                &self.normalized_shape,
                Init::Ones,
            ));
            ports.push(PortSpec::param("bias", &self.normalized_shape, Init::Zeros));
        }
        ports
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check_normalized(&self.normalized_shape, self.eps, inputs)
    }

    fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::per_input(inputs, 5)
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
        Some(TorchModule::new("LayerNorm", arguments))
    }
}

/// The type of a result whose last axes are normalised.
pub(super) fn check_normalized(
    normalized_shape: &[usize],
    eps: f64,
    inputs: &[Type],
) -> Result<Vec<Type>, OpError> {
    check::all_positive("normalized_shape", normalized_shape)?;
    check::finite_not_negative("eps", eps)?;
    if normalized_shape.is_empty() {
        return Err(OpError::attribute(
            "normalized_shape",
            "[]",
            "must have an axis",
        ));
    }
    let shape = check::f32_input(inputs, 0)?;
    if !shape.0.ends_with(&Shape::of(normalized_shape).0) {
        let sizes: Vec<String> = normalized_shape.iter().map(usize::to_string).collect();
        return Err(OpError::input(
            0,
            format!("f32[…, {}]", sizes.join(", ")),
            &inputs[0],
        ));
    }
    Ok(vec![inputs[0].clone()])
}

/// serde default: PyTorch's ε.
pub(super) fn default_eps() -> f64 {
    1e-5
}
