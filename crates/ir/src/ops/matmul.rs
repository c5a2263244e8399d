//! Matrix products of two values, `y = a·b` for each pair of matrices in the batch axes.

use super::check;
use crate::{
    CodeRange, Cost, FlopFormula, OpError, OperandRanges, Operator, PortSpec, RowCoupling, Shape,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `matmul`: none. Batch axes broadcast, as in PyTorch.
///
/// Differs from PyTorch: vectors are refused, so that the last two axes always are rows and columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matmul {}

/// Attributes of `bmm`: none. Both operands have one batch axis of the same size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bmm {}

/// A product of two values whose result `infer` types.
macro_rules! product {
    ($name:ident, $infer:ident) => {
        impl Operator for $name {
            fn ports(&self) -> Vec<PortSpec> {
                PortSpec::data(2)
            }

            fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
                $infer(inputs)
            }

            /// m·k·n for each matrix of the batch.
            fn cost(&self, inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
                let inner = inputs[0].last().copied().unwrap_or(1) as u64;
                let macs = check::numel(outputs[0]).saturating_mul(inner);
                Cost::product(macs, FlopFormula::PerResultTimes("k"))
            }

            fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
                RowCoupling::Independent
            }

            /// Sums of k products.
            fn exact_range(&self, inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
                let inner = inputs.first()?.shape.0.last()?.fixed()?;
                let right = operands.port("data_in_1")?;
                operands.data()?.times(right)?.summed(inner)
            }

            fn torch_module(&self) -> Option<TorchModule> {
                None
            }
        }
    };
}

product!(Matmul, infer_matmul);
product!(Bmm, infer_bmm);

fn infer_matmul(inputs: &[Type]) -> Result<Vec<Type>, OpError> {
    let (a, b) = (check::f32_input(inputs, 0)?, check::f32_input(inputs, 1)?);
    for (index, shape) in [a, b].into_iter().enumerate() {
        if shape.rank() < 2 {
            return Err(OpError::input(
                index,
                "f32 with at least 2 axes",
                &inputs[index],
            ));
        }
    }
    let (a_batch, a_matrix) = a.0.split_at(a.rank() - 2);
    let (b_batch, b_matrix) = b.0.split_at(b.rank() - 2);
    if a_matrix[1] != b_matrix[0] {
        return Err(OpError::input(
            1,
            format!("{} rows on axis -2", a_matrix[1]),
            &inputs[1],
        ));
    }
    let mut shape = Shape(a_batch.to_vec()).broadcast(&Shape(b_batch.to_vec()))?;
    shape.0.extend([a_matrix[0].clone(), b_matrix[1].clone()]);
    Ok(vec![Type::f32(shape)])
}

fn infer_bmm(inputs: &[Type]) -> Result<Vec<Type>, OpError> {
    let (a, b) = (check::f32_input(inputs, 0)?, check::f32_input(inputs, 1)?);
    let [batch, rows, inner] = a.0.as_slice() else {
        return Err(OpError::input(0, "f32[B, m, k]", &inputs[0]));
    };
    match b.0.as_slice() {
        [b_batch, b_inner, columns] if b_batch == batch && b_inner == inner => {
            let dims = [batch, rows, columns].map(Clone::clone);
            Ok(vec![Type::f32(Shape(dims.to_vec()))])
        }
        _ => Err(OpError::input(
            1,
            format!("f32[{batch}, {inner}, n]"),
            &inputs[1],
        )),
    }
}
