//! Arrays that Python gives: in row-major order and of the right type, or an error that names the argument.

use crate::errors::{sentence, wrong_type};
use numpy::{
    Element, PyArray1, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn,
    PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An array for reading. It is the caller's own memory where that is in row-major order and of the right type, and a copy
/// where its elements can be converted without loss.
///
/// `PyReadonlyArray::as_slice` takes arrays in column-major order too and gives their memory as it lies, so that nothing but
/// what this function returns may be read by it.
pub fn read<'py, T: Element>(
    name: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let py = value.py();
    if let Ok(array) = value.cast::<PyArrayDyn<T>>()
        && array.is_c_contiguous()
    {
        return array.try_readonly().map_err(sentence);
    }
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (value,))?;
    let untyped = array.cast::<PyUntypedArray>().map_err(PyErr::from)?;
    let (own, wanted) = (untyped.dtype(), dtype::<T>(py));
    let is_safe: bool = numpy
        .call_method1("can_cast", (&own, &wanted, "safe"))?
        .extract()?;
    if !is_safe {
        let hint = if own.kind() == b'O' {
            String::new()
        } else {
            format!("; convert it with astype(numpy.{wanted})")
        };
        return Err(wrong_type(format!(
            "{name}: expected an array of {wanted}, got {own}{hint}"
        )));
    }
    let options = PyDict::new(py);
    options.set_item("dtype", wanted)?;
    options.set_item("order", "C")?;
    let array = numpy.call_method("asarray", (array,), Some(&options))?;
    let array = array.cast_into::<PyArrayDyn<T>>().map_err(PyErr::from)?;
    array.try_readonly().map_err(sentence)
}

/// The elements of an array that [`read`] gave, in row-major order.
pub fn values<'a, T: Element>(array: &'a PyReadonlyArrayDyn<T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(sentence)
}

/// A new array that owns these values.
pub fn give<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    PyArray1::from_vec(py, values).reshape(shape.to_vec())
}

/// A shape as Python prints it.
pub fn shape_text(shape: &[usize]) -> String {
    match shape {
        [only] => format!("({only},)"),
        several => {
            let sizes: Vec<String> = several.iter().map(ToString::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    }
}
