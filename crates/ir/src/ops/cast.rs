//! The same elements as another type.

use super::check;
use super::placeholder::dtype_name;
use super::rearrange::Rearrange;
use crate::{DType, OpError, RowCoupling, TorchModule, Type};
use serde::{Deserialize, Serialize};

/// Attributes of `to`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct To {
    /// The type: `f32`, `i64` or `bool`. A float loses what is behind the point as it becomes an integer, and is true
    /// unless it is 0; true is 1.
    #[serde(with = "dtype_name")]
    pub dtype: DType,
}

impl Rearrange for To {
    fn infer_shapes(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        let shape = check::any_input(inputs, 0)?.shape.clone();
        let dtype = self.dtype;
        Ok(vec![Type { shape, dtype }])
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
