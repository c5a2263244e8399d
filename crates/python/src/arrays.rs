//! Arrays that Python gives: in row-major order and of the right type, or an error that names the argument.

use crate::errors::{sentence, wrong_type};
use numpy::{
    BorrowError, Element, PyArray1, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods,
    PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use pyo3::prelude::*;

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
        && lies_in_order(array)
    {
        return lend(name, array);
    }
    let numpy = py.import("numpy")?;
    let made = numpy.call_method1("asarray", (value,));
    let array = made.map_err(|error| {
        let reason = error.value(py).to_string();
        let reason = reason.lines().next().unwrap_or_default().to_owned();
        wrong_type(format!(
            "{name}: expected an array of {}: {reason}",
            dtype::<T>(py)
        ))
    })?;
    let untyped = array.cast::<PyUntypedArray>().map_err(PyErr::from)?;
    let (own, wanted) = (untyped.dtype(), dtype::<T>(py));
    let is_safe: bool = numpy
        .call_method1("can_cast", (&own, &wanted, "safe"))?
        .extract()?;
    if !is_safe {
        let hint = if b"biufc".contains(&own.kind()) {
            format!("; convert it with astype(numpy.{wanted})")
        } else {
            String::new()
        };
        return Err(wrong_type(format!(
            "{name}: expected an array of {wanted}, got {own}{hint}"
        )));
    }
    let array = numpy.call_method1("require", (array, wanted, ["C", "ALIGNED"]))?;
    let array = array.cast_into::<PyArrayDyn<T>>().map_err(PyErr::from)?;
    lend(name, &array)
}

/// True for an array that lies in row-major order, at addresses that are those of its type.
pub fn lies_in_order<T: Element>(array: &Bound<PyArrayDyn<T>>) -> bool {
    array.is_c_contiguous() && array.data().is_aligned()
}

fn lend<'py, T: Element>(
    name: &str,
    array: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let refuse = |_| sentence(format!("{name}: the array is being written to"));
    array.try_readonly().map_err(refuse)
}

/// An array to write results to.
pub fn write<'py, T: Element>(
    name: &str,
    array: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    array.try_readwrite().map_err(|error| {
        sentence(match error {
            BorrowError::NotWriteable => format!("{name}: the array is read-only"),
            _ => format!("{name}: the array has memory in common with one that is read; give that one itself, or another"),
        })
    })
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
