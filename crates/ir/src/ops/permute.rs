//! The same elements with their axes in another order: `transpose`, `permute`.

use super::check;
use super::rearrange::Rearrange;
use crate::{OpError, RowCoupling, Shape, TorchModule, Type};
use serde::{Deserialize, Serialize};

/// Attributes of `transpose`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transpose {
    /// One axis.
    pub dim0: i64,
    /// The axis it changes places with.
    pub dim1: i64,
}

impl Rearrange for Transpose {
    fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let mut result = check::any_input(inputs, 0)?.clone();
        let (a, b) = (result.shape.axis(self.dim0)?, result.shape.axis(self.dim1)?);
        result.shape.0.swap(a, b);
        Ok(vec![result])
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}

/// Attributes of `permute`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permute {
    /// Axis i of the result is axis `dims[i]` of the input.
    pub dims: Vec<i64>,
}

impl Rearrange for Permute {
    fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let input = check::any_input(inputs, 0)?;
        let axes = self.dims.iter().map(|&dim| input.shape.axis(dim));
        let axes: Vec<usize> = axes.collect::<Result<_, _>>()?;
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..input.shape.rank()) {
            let why = format!("must name each axis of {} once", input.shape);
            return Err(OpError::attribute("dims", format!("{:?}", self.dims), why));
        }
        let dims = axes.iter().map(|&axis| input.shape.0[axis].clone());
        Ok(vec![Type {
            shape: Shape(dims.collect()),
            ..input.clone()
        }])
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
