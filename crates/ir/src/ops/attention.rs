//! Scaled dot-product attention, `y = softmax(q·kᵀ·scale)·v`, with zero weight above the diagonal when causal.

use super::check;
use crate::{
    CodeRange, Cost, FlopFormula, OpError, OperandRanges, Operator, PortSpec, RowCoupling, Shape,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `scaled_dot_product_attention`, whose inputs are q `[…, T, d]`, k `[…, S, d]` and v `[…, S, e]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScaledDotProductAttention {
    /// Lets position t see only positions up to t.
    #[serde(default, skip_serializing_if = "check::is_no")]
    pub is_causal: bool,
    /// The factor of the scores; 1/√d unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
}

impl Operator for ScaledDotProductAttention {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(3)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::finite("scale", self.scale.unwrap_or(1.0))?;
        let q = check::f32_input(inputs, 0)?;
        let k = check::f32_input(inputs, 1)?;
        let v = check::f32_input(inputs, 2)?;
        let [batch @ .., steps, depth] = q.0.as_slice() else {
            return Err(OpError::input(0, "f32[…, T, d]", &inputs[0]));
        };
        let shown = |last: [&str; 2]| {
            let dims = batch.iter().map(ToString::to_string);
            let dims: Vec<String> = dims.chain(last.map(str::to_owned)).collect();
            format!("f32[{}]", dims.join(", "))
        };
        let positions = match k.0.as_slice() {
            [b @ .., s, d] if b == batch && d == depth => s,
            _ => {
                return Err(OpError::input(
                    1,
                    shown(["S", &depth.to_string()]),
                    &inputs[1],
                ));
            }
        };
        match v.0.as_slice() {
            [b @ .., s, out] if b == batch && s == positions => {
                let dims = batch.iter().chain([steps, out]).cloned().collect();
                Ok(vec![Type::f32(Shape(dims))])
            }
            _ => Err(OpError::input(
                2,
                shown([&positions.to_string(), "e"]),
                &inputs[2],
            )),
        }
    }

    /// Both matrix products and, for each score, scale and softmax: as much as the operators it stands for.
    fn cost(&self, inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
        let size = |input: usize, from_end: usize| {
            let shape = inputs[input];
            shape
                .len()
                .checked_sub(from_end)
                .map_or(1, |axis| shape[axis] as u64)
        };
        let products = check::numel(inputs[0]).saturating_mul(size(1, 2));
        let mixed = check::numel(outputs[0]).saturating_mul(size(1, 2));
        let product = Cost::product(products.saturating_add(mixed), FlopFormula::Attention);
        let scores = (products / size(0, 1).max(1)).saturating_mul(2);
        Cost {
            flops: product.flops.saturating_add(scores),
            ..product
        }
    }

    /// Without batch axes, axis 0 counts positions, which attend to each other.
    fn row_coupling(&self, inputs: &[Type]) -> RowCoupling {
        match inputs.first() {
            Some(q) if q.shape.rank() > 2 => RowCoupling::Independent,
            _ => RowCoupling::Coupled,
        }
    }

    fn exact_range(&self, _inputs: &[Type], _operands: &OperandRanges) -> Option<CodeRange> {
        None
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
