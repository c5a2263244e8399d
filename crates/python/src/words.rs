//! The tables of names, and the program itself.

use crate::errors::{argument, raise};
use pyo3::prelude::*;
use std::ffi::OsString;

/// The text of `ch explain` for any name that is printed.
#[pyfunction]
pub fn explain(#[pyo3(from_py_with = argument::word)] word: String) -> PyResult<String> {
    ch::library::explain(&word).map_err(|error| raise(&error))
}

/// The names of a kind, as `ch list KIND` has them, each with one line about it.
#[pyfunction]
pub fn names(
    #[pyo3(from_py_with = argument::kind)] kind: String,
) -> PyResult<Vec<(String, String)>> {
    ch::library::names(&kind).map_err(|error| raise(&error))
}

/// Runs the program `ch` with the words of a command line and gives its exit code.
#[pyfunction]
pub fn main(py: Python, words: Vec<OsString>) -> u8 {
    py.detach(|| ch::run(words))
}
