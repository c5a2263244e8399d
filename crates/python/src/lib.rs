//! The Python package `mase`: graphs, formats, datasets, training and search, with NumPy arrays in and out.
//!
//! It holds no arithmetic and no policy: what Python gets is what `ch` computes, through [`ch::library`] and the crates below
//! it. Classes are frozen; what changes lies behind locks that are never held while Python runs. Memory is lent to NumPy in
//! one file, `lend.rs`, the only one with unsafe code.
#![deny(unsafe_code)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "PyO3 hands arguments over by value"
)]

mod arrays;
mod codes;
mod dataset;
mod errors;
mod format;
mod graph;
mod json;
mod lend;
mod progress;
mod report;
mod search;
mod sketch;
mod train;
mod words;
mod work;

use pyo3::prelude::*;

/// The compiled part of `mase`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::codes::Codes;
    #[pymodule_export]
    use crate::dataset::{Dataset, Split, dataset};
    #[pymodule_export]
    use crate::format::Format;
    #[pymodule_export]
    use crate::graph::{Formats, Graph, Node, compare, import_program, load, model};
    #[pymodule_export]
    use crate::lend::Lender;
    #[pymodule_export]
    use crate::progress::Epoch;
    #[pymodule_export]
    use crate::report::Report;
    #[pymodule_export]
    use crate::search::{Search, search};
    #[pymodule_export]
    use crate::sketch::sketch;
    #[pymodule_export]
    use crate::train::{Run, test, train};
    #[pymodule_export]
    use crate::words::{explain, main, names};
}
