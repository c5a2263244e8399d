//! The place of the largest element along the last axis.

use super::check;
use crate::{
    CodeRange, Cost, DType, Dim, OpError, OperandRanges, Operator, PortSpec, RowCoupling, Shape,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `argmax`: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argmax {}

impl Argmax {
    /// The engine holds indices in f32, which counts without gaps only up to 2²⁴.
    pub const MAX_CLASSES: usize = 1 << 24;
}

impl Operator for Argmax {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let shape = check::f32_input(inputs, 0)?;
        let expected =
            || OpError::input(0, "f32[N, …, C] with a fixed C of at most 2^24", &inputs[0]);
        let (last, rest) = shape.0.split_last().ok_or_else(expected)?;
        let fits = last.fixed().is_some_and(|n| n <= Self::MAX_CLASSES);
        if rest.is_empty() || !fits {
            return Err(expected());
        }
        Ok(vec![Type {
            dtype: DType::I64,
            shape: Shape(rest.to_vec()),
        }])
    }

    fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::per_input(inputs, 1)
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn exact_range(&self, inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
        operands.data()?;
        let classes = inputs.first()?.shape.0.last().and_then(Dim::fixed)?;
        Some(CodeRange {
            min: 0,
            max: classes as i128 - 1,
            frac: 0,
        })
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
