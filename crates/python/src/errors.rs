//! Errors as Python has them: `mase.Error`, and `mase.UnknownName` for names that are in no table.

use pyo3::PyTypeInfo;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt::Display;
use std::path::PathBuf;

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

/// A type of arguments that Python itself has.
pub trait Plain {
    /// The words for it in exceptions.
    const WHAT: &'static str;
}

macro_rules! plain {
    ($($ty:ty = $what:literal),* $(,)?) => {
        $(impl Plain for $ty { const WHAT: &'static str = $what; })*
    };
}

plain! {
    bool = "True or False",
    u64 = "a whole number from 0 on",
    usize = "a whole number from 0 on",
    String = "a str",
    PathBuf = "a path",
    Vec<String> = "a list of names",
    Vec<usize> = "a list of sizes",
    [f64; 3] = "the shares of training, validation and test rows",
    [usize; 3] = "the numbers of training, validation and test rows",
    Bound<'_, PyDict> = "a dict of arrays by name",
}

impl<T: Plain> Plain for Option<T> {
    const WHAT: &'static str = T::WHAT;
}

/// An argument of a plain type, or the exception that names it.
pub fn plain<'a, 'py, T>(name: &str, value: &'a Bound<'py, PyAny>) -> PyResult<T>
where
    T: FromPyObject<'a, 'py> + Plain,
{
    value.extract::<T>().map_err(|error: T::Error| {
        let (error, what): (PyErr, _) = (error.into(), T::WHAT);
        if !error.is_instance_of::<PyTypeError>(value.py()) {
            return sentence(format!("{name}: {value} is not {what}"));
        }
        let class = value.get_type();
        let got = class
            .name()
            .map_or_else(|_| class.to_string(), |got| got.to_string());
        wrong_type(format!("{name}: expected {what}, got {got}"))
    })
}

/// Arguments of plain types by their names, for `from_py_with`.
pub mod argument {
    use super::{Plain, plain};
    use pyo3::prelude::*;

    macro_rules! named {
        ($($name:ident)*) => {
            $(pub fn $name<'a, 'py, T>(value: &'a Bound<'py, PyAny>) -> PyResult<T>
            where
                T: FromPyObject<'a, 'py> + Plain,
            {
                plain(stringify!($name), value)
            })*
        };
    }

    named! {
        batch_size data_dir integer kind n_trials name node observe offline parameters path port rows sampler seed shape spec split storage strict text threads val_split weights word
    }
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
