//! Errors as Python has them: `mase.Error`, and `mase.UnknownName` for names that are in no table.

use pyo3::PyTypeInfo;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::fmt::Display;

/// The module with the classes of exceptions.
const MODULE: &str = "mase._errors";

/// The exception for an error of the program, with its causes.
pub fn raise(error: &anyhow::Error) -> PyErr {
    sentence(ch::library::sentence(error))
}

/// The exception for a message.
pub fn sentence(message: impl Display) -> PyErr {
    let message = message.to_string();
    let class = if message.starts_with("unknown ") {
        "UnknownName"
    } else {
        "Error"
    };
    Python::attach(|py| {
        let made = py
            .import(MODULE)
            .and_then(|module| module.getattr(class)?.call1((message,)));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}

/// The exception for an argument of the wrong type.
pub fn wrong_type(message: impl Display) -> PyErr {
    PyTypeError::new_err(message.to_string())
}

/// An argument of a class of this package, or the exception that names it.
pub fn expect<'a, 'py, T: PyTypeInfo>(
    name: &str,
    value: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, T>> {
    if let Ok(found) = value.cast::<T>() {
        return Ok(found);
    }
    let (wanted, got) = (T::type_object(value.py()), value.get_type());
    let (wanted, got) = (wanted.name()?, got.name()?);
    Err(wrong_type(format!(
        "{name}: expected a mase.{wanted}, got {got}"
    )))
}

/// Reports what is to be noted to the logger `mase`.
pub fn note(py: Python, notes: &[String]) -> PyResult<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let logger = py.import("logging")?.call_method1("getLogger", ("mase",))?;
    for note in notes {
        logger.call_method1("warning", (note,))?;
    }
    Ok(())
}
