//! Slices picked by index along an axis, `y = x[…, index, …]`.

use super::check;
use crate::{
    CodeRange, Cost, DType, Dim, OpError, OperandRanges, Operator, PortSpec, RowCoupling, Shape,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `gather`, whose inputs are the values and the indices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gather {
    /// The axis along which is picked; the axes of the indices take its place.
    #[serde(default)]
    pub dim: i64,
}

impl Operator for Gather {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(2)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let values = check::any_input(inputs, 0)?;
        let indices = check::input_of(inputs, 1, DType::I64)?;
        let axis = values.shape.axis(self.dim)?;
        // The engine holds indices in f32, which counts without gaps only so far.
        check::fixed_axis(values, axis)?;
        let (before, after) = (&values.shape.0[..axis], &values.shape.0[axis + 1..]);
        let dims = before.iter().chain(&indices.0).chain(after);
        let shape = Shape(dims.cloned().collect());
        shape.numel()?;
        Ok(vec![values.with_shape(shape)])
    }

    fn cost(&self, _inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::FREE
    }

    /// The rows of a batch of values stand before the axis, those of a batch of indices behind axis 0 of the values.
    fn row_coupling(&self, inputs: &[Type]) -> RowCoupling {
        let on_batch = |ty: &Type| ty.shape.0.iter().any(|dim: &Dim| dim.symbol.is_some());
        match inputs {
            [values, indices] if on_batch(values) != on_batch(indices) => RowCoupling::Independent,
            _ => RowCoupling::Coupled,
        }
    }

    fn exact_range(&self, _inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
        operands.data()
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
