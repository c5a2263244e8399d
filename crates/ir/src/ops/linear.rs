//! Fully connected layer, `y = x·Wᵀ + b`.

use super::check;
use crate::torch_repr::python_bool;
use crate::{
    CodeRange, Cost, FlopFormula, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `linear`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// Size of the last axis of the input.
    pub in_features: usize,
    /// Size of the last axis of the result.
    pub out_features: usize,
    /// Adds a bias.
    #[serde(default = "check::yes", skip_serializing_if = "check::is_yes")]
    pub bias: bool,
}

impl Operator for Linear {
    fn ports(&self) -> Vec<PortSpec> {
        let init = Init::FanIn(self.in_features);
        let mut ports = PortSpec::data(1);
        ports.push(PortSpec::param(
            "weight",
            &[self.out_features, self.in_features],
            init,
        ));
        if self.bias {
            ports.push(PortSpec::param("bias", &[self.out_features], init));
        }
        ports
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::positive("in_features", self.in_features)?;
        check::positive("out_features", self.out_features)?;
        let mut shape = check::f32_input(inputs, 0)?.clone();
        match shape.0.last_mut() {
            Some(last) if last.fixed() == Some(self.in_features) => {
                *last = self.out_features.into();
            }
            _ => {
                let expected = format!("f32[…, {}]", self.in_features);
                return Err(OpError::input(0, expected, &inputs[0]));
            }
        }
        Ok(vec![Type::f32(shape)])
    }

    fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        let formula = FlopFormula::Weights {
            in_features: self.in_features,
            out_features: self.out_features,
        };
        let macs = check::numel(inputs[0]).saturating_mul(self.out_features as u64);
        Cost::product(macs, formula)
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn exact_range(&self, _inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
        operands.dot(self.in_features, self.bias)
    }

    fn torch_module(&self) -> Option<TorchModule> {
        let arguments = format!(
            "in_features={}, out_features={}, bias={}",
            self.in_features,
            self.out_features,
            python_bool(self.bias)
        );
        Some(TorchModule::new("Linear", arguments))
    }
}
