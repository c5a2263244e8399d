//! Joining values along an axis, and cutting one into several.

use super::check;
use super::rearrange::Rearrange;
use crate::{
    CodeRange, Cost, Dim, OpError, OperandRanges, Operator, PortSpec, RowCoupling, ShapeError,
    TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `cat`, which joins any number of values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cat {
    /// The axis along which the values are joined.
    #[serde(default)]
    pub dim: i64,
}

impl Operator for Cat {
    fn ports(&self) -> Vec<PortSpec> {
        let mut ports = PortSpec::data(1);
        ports.push(PortSpec::MoreData);
        ports
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let mut joined = check::any_input(inputs, 0)?.clone();
        let axis = joined.shape.axis(self.dim)?;
        for (index, input) in inputs.iter().enumerate().skip(1) {
            let mut expected = joined.clone();
            if input.shape.rank() == joined.shape.rank() {
                expected.shape.0[axis] = input.shape.0[axis].clone();
            }
            if *input != expected {
                let expected = format!("{} but for axis {axis}", inputs[0]);
                return Err(OpError::input(index, expected, input));
            }
            joined.shape.0[axis] = sum(&joined.shape.0[axis], &input.shape.0[axis], index, input)?;
        }
        Ok(vec![joined])
    }

    fn cost(&self, _inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::FREE
    }

    fn row_coupling(&self, inputs: &[Type]) -> RowCoupling {
        RowCoupling::along(inputs, self.dim)
    }

    fn exact_range(&self, inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
        (1..inputs.len()).try_fold(operands.data()?, |all, k| {
            all.joined(operands.port(&format!("data_in_{k}"))?)
        })
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}

/// Numbers add, and so do multiples of one symbol; a mixture has no name.
fn sum(a: &Dim, b: &Dim, index: usize, input: &Type) -> Result<Dim, OpError> {
    if a.symbol != b.symbol {
        return Err(OpError::input(
            index,
            format!("an axis that adds to {a}"),
            input,
        ));
    }
    let factor = a.factor.checked_add(b.factor).ok_or(ShapeError::TooLarge)?;
    Ok(Dim {
        factor,
        symbol: a.symbol.clone(),
    })
}

/// Attributes of `chunk`, which has several results of ⌈n/chunks⌉ each; the last may be shorter, and there may be
/// fewer than asked for, as in PyTorch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chunk {
    /// The number of pieces.
    pub chunks: usize,
    /// The axis that is cut.
    #[serde(default)]
    pub dim: i64,
}

impl Rearrange for Chunk {
    fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::positive("chunks", self.chunks)?;
        let input = check::any_input(inputs, 0)?;
        let axis = input.shape.axis(self.dim)?;
        let Some(size @ 1..) = input.shape.0[axis].fixed() else {
            return Err(OpError::input(
                0,
                format!("a number of at least 1 on axis {axis}"),
                input,
            ));
        };
        let piece = size.div_ceil(self.chunks);
        if size.div_ceil(piece) > usize::from(u16::MAX) {
            return Err(OpError::attribute(
                "chunks",
                self.chunks,
                "must be at most 65535",
            ));
        }
        let pieces = (0..size).step_by(piece).map(|start| {
            let mut result = input.clone();
            result.shape.0[axis] = piece.min(size - start).into();
            result
        });
        Ok(pieces.collect())
    }

    fn row_coupling(&self, inputs: &[Type]) -> RowCoupling {
        RowCoupling::along(inputs, self.dim)
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
