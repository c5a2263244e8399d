//! Elements moved around axes.

use super::check;
use super::pad::Sources;
use super::rearrange::Rearrange;
use crate::{OpError, RowCoupling, Shape, TorchModule, Type};
use serde::{Deserialize, Serialize};

/// Attributes of `roll`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roll {
    /// Places by which elements move up along each of `dims`; those that leave the end come in at the start.
    pub shifts: Vec<i64>,
    /// The axes.
    pub dims: Vec<i64>,
}

impl Roll {
    /// For each axis of an input of these sizes, the elements of the result.
    pub fn sources(&self, sizes: &[usize]) -> Vec<Sources> {
        let shape = Shape::of(sizes);
        let moved = |axis: usize| -> i64 {
            let moves = self.shifts.iter().zip(&self.dims);
            let own = moves.filter(|(_, dim)| shape.axis(**dim) == Ok(axis));
            own.fold(0, |sum, (shift, _)| {
                sum.wrapping_add(*shift % sizes[axis].max(1) as i64)
            })
        };
        let axis = |(axis, &size): (usize, &usize)| {
            let (moved, size) = (moved(axis), size as i64);
            let source = |at: i64| Some((at - moved).rem_euclid(size) as usize);
            (0..size).map(source).collect()
        };
        sizes.iter().enumerate().map(axis).collect()
    }
}

impl Rearrange for Roll {
    fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let input = check::any_input(inputs, 0)?;
        if self.shifts.len() != self.dims.len() {
            let why = format!(
                "must have one number for each of the {} dims",
                self.dims.len()
            );
            return Err(OpError::attribute(
                "shifts",
                format!("{:?}", self.shifts),
                why,
            ));
        }
        for &dim in &self.dims {
            check::fixed_axis(input, input.shape.axis(dim)?)?;
        }
        Ok(vec![input.clone()])
    }

    /// An axis sized by a symbol is not rolled.
    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
