//! The largest or smallest elements along an axis, and their places.

use super::check;
use crate::{
    CodeRange, Cost, DType, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule,
    Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `topk`, which has two results: the elements in order, and their places. Of equal elements the first comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topk {
    /// The number of elements.
    pub k: usize,
    /// The axis.
    #[serde(default = "last", skip_serializing_if = "is_last")]
    pub dim: i64,
    /// The largest ones, or the smallest.
    #[serde(default = "check::yes", skip_serializing_if = "check::is_yes")]
    pub largest: bool,
}

fn last() -> i64 {
    -1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_last(dim: &i64) -> bool {
    *dim == -1
}

impl Operator for Topk {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::positive("k", self.k)?;
        let shape = check::f32_input(inputs, 0)?;
        let axis = shape.axis(self.dim)?;
        let size = check::fixed_axis(&inputs[0], axis)?;
        if self.k > size {
            let why = format!("must be at most {size}, the size of axis {axis}");
            return Err(OpError::attribute("k", self.k, why));
        }
        let mut shape = shape.clone();
        shape.0[axis] = self.k.into();
        let places = Type {
            shape: shape.clone(),
            dtype: DType::I64,
        };
        Ok(vec![Type::f32(shape), places])
    }

    fn cost(&self, inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::per_input(inputs, 1)
    }

    fn row_coupling(&self, inputs: &[Type]) -> RowCoupling {
        RowCoupling::along(inputs, self.dim)
    }

    fn exact_range(&self, _inputs: &[Type], _operands: &OperandRanges) -> Option<CodeRange> {
        None
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
