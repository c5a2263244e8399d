//! A value repeated along axes.

use super::check;
use super::rearrange::Rearrange;
use super::reshape::AxisSize;
use crate::{Dim, OpError, RowCoupling, Shape, TorchModule, Type};
use serde::{Deserialize, Serialize};

/// Attributes of `expand`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expand {
    /// The axes of the result, aligned with those of the input at the end. Axes of size 1 and axes that the input does
    /// not have repeat; −1 stands for the size that the input has.
    pub shape: Vec<AxisSize>,
}

impl Rearrange for Expand {
    fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let input = check::any_input(inputs, 0)?;
        let missing = self.shape.len().checked_sub(input.shape.rank());
        let shown: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        let refuse = || {
            let why = format!("the input {} does not expand to it", input.shape);
            OpError::attribute("shape", format!("[{}]", shown.join(", ")), why)
        };
        let missing = missing.ok_or_else(refuse)?;
        let axis = |(at, size): (usize, &AxisSize)| {
            let own = at.checked_sub(missing).map(|at| &input.shape.0[at]);
            match (own, size) {
                (Some(own), AxisSize::Infer) => Ok(own.clone()),
                (Some(own), AxisSize::Dim(dim)) if own == dim || *own == Dim::from(1) => {
                    Ok(dim.clone())
                }
                (None, AxisSize::Dim(dim)) => Ok(dim.clone()),
                _ => Err(refuse()),
            }
        };
        let dims = self.shape.iter().enumerate().map(axis);
        let shape = Shape(dims.collect::<Result<_, _>>()?);
        Ok(vec![input.with_shape(shape)])
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
