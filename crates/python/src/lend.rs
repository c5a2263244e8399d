//! Memory lent to NumPy without a copy: parameters of graphs and rows of datasets.
//!
//! This is the only file of the crate with unsafe code, and it has one invariant: the base of a lent array is a [`Lender`],
//! which owns a clone of the tensor or of the rows. Clones share their values, the lender is frozen, and a graph that changes
//! copies what is shared first, so that the values live and stay as long as the array does. Lent arrays are read-only.
#![expect(unsafe_code, reason = "NumPy reads memory that Rust owns")]

use crate::errors::sentence;
use numpy::ndarray::ArrayViewD;
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use std::ops::Range;

/// The owner of memory that an array shows.
#[pyclass(frozen, module = "mase._core")]
pub struct Lender(Owner);

/// Values that can be lent.
pub enum Owner {
    /// The values of a tensor.
    Tensor(ir::Tensor),
    /// The rows of a dataset that is one table.
    Rows(data::Split),
}

impl Owner {
    fn values(&self) -> &[f32] {
        match self {
            Self::Tensor(tensor) => tensor.values(),
            Self::Rows(split) => split.rows(),
        }
    }
}

/// A read-only array over some values of an owner.
pub fn lend<'py>(
    py: Python<'py>,
    owner: Owner,
    range: Range<usize>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    let lender = Bound::new(py, Lender(owner))?;
    let values = &lender.get().0.values()[range];
    let view = ArrayViewD::from_shape(shape.to_vec(), values).map_err(sentence)?;
    // SAFETY: the lender owns a clone of the values, is frozen, and is the base of the array.
    let array = unsafe { PyArrayDyn::borrow_from_array(&view, lender.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    Ok(array)
}

/// The values of a tensor as a read-only array.
pub fn lend_tensor<'py>(
    py: Python<'py>,
    tensor: &ir::Tensor,
) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    let (len, shape) = (tensor.values().len(), tensor.shape().to_vec());
    lend(py, Owner::Tensor(tensor.clone()), 0..len, &shape)
}
