//! Scaled dot-product attention, `y = softmax(q·kᵀ·scale + mask)·v`, with zero weight above the diagonal when causal.

use super::check;
use crate::{
    CodeRange, Cost, DType, Dim, FlopFormula, OpError, OperandRanges, Operator, PortSpec,
    RowCoupling, Shape, TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `scaled_dot_product_attention`, whose inputs are q `[…, T, d]`, k `[…, S, d]`, v `[…, S, e]` and perhaps a
/// mask that broadcasts to `[…, T, S]`: truth where a position is seen, or numbers that are added to the scores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScaledDotProductAttention {
    /// Lets position t see only positions up to t.
    #[serde(default, skip_serializing_if = "check::is_no")]
    pub is_causal: bool,
    /// The factor of the scores; 1/√d unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Lets several heads of q, which stand on axis −3, share one of k and v.
    #[serde(default, skip_serializing_if = "check::is_no")]
    pub enable_gqa: bool,
}

impl ScaledDotProductAttention {
    /// The axes before the last two of k and v, for those of q.
    fn key_batch(&self, q: &[Dim], k: &[Dim]) -> Option<Vec<Dim>> {
        let mut batch = q.to_vec();
        if let (true, Some(heads), Some(own)) = (self.enable_gqa, batch.last_mut(), k.last()) {
            let divides = heads.symbol == own.symbol && heads.factor.is_multiple_of(own.factor);
            *heads = divides.then(|| own.clone())?;
        }
        Some(batch)
    }

    fn check_mask(&self, scores: &Shape, inputs: &[Type]) -> Result<(), OpError> {
        let Some(mask) = inputs.get(3) else {
            return Ok(());
        };
        let fits = mask
            .shape
            .broadcast(scores)
            .is_ok_and(|shape| shape == *scores);
        if mask.dtype == DType::I64 || !fits {
            let expected = format!("bool or f32 that broadcasts to {scores}");
            return Err(OpError::input(3, expected, mask));
        }
        if self.scale == Some(0.0) {
            return Err(OpError::attribute(
                "scale",
                0,
                "must not be 0 beside a mask",
            ));
        }
        match inputs.get(4) {
            Some(more) => Err(OpError::input(4, "nothing", more)),
            None => Ok(()),
        }
    }
}

impl Operator for ScaledDotProductAttention {
    fn ports(&self) -> Vec<PortSpec> {
        let mut ports = PortSpec::data(3);
        ports.push(PortSpec::MoreData);
        ports
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::finite("scale", self.scale.unwrap_or(1.0))?;
        let q = check::f32_input(inputs, 0)?;
        let k = check::f32_input(inputs, 1)?;
        let v = check::f32_input(inputs, 2)?;
        let [batch @ .., steps, depth] = q.0.as_slice() else {
            return Err(OpError::input(0, "f32[…, T, d]", &inputs[0]));
        };
        let keys = k.0.get(..k.rank().saturating_sub(2)).unwrap_or_default();
        let keys = self.key_batch(batch, keys);
        let keys = keys.as_deref().unwrap_or(batch);
        let shown = |last: [&str; 2]| {
            let dims = keys.iter().map(ToString::to_string);
            let dims: Vec<String> = dims.chain(last.map(str::to_owned)).collect();
            format!("f32[{}]", dims.join(", "))
        };
        let positions = match k.0.as_slice() {
            [b @ .., s, d] if b == keys && d == depth => s,
            _ => {
                return Err(OpError::input(
                    1,
                    shown(["S", &depth.to_string()]),
                    &inputs[1],
                ));
            }
        };
        match v.0.as_slice() {
            [b @ .., s, out] if b == keys && s == positions => {
                let scores = batch.iter().chain([steps, positions]).cloned();
                self.check_mask(&Shape(scores.collect()), inputs)?;
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
