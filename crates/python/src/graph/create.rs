//! Graphs from the zoo and from files, and two of them side by side.

use super::Graph;
use super::inputs::Arrays;
use crate::dataset::Dataset;
use crate::errors::{argument, expect, note, raise, sentence};
use crate::report::Report;
use crate::work;
use ch::library;
use passes::compare::Compare;
use pyo3::prelude::*;
use serde_json::{Map, Value as Json};
use std::path::PathBuf;

/// Test rows of a dataset that networks are compared on, as in `ch compare`.
const ROWS: usize = 512;

fn open(py: Python, values: Map<String, Json>, data: Option<&Bound<PyAny>>) -> PyResult<Graph> {
    let data = data
        .map(|data| expect::<Dataset>("data", data))
        .transpose()?;
    let info = data.map(|data| data.get().inner.info.clone());
    let opened = work::run(py, move || {
        let settings = library::settings(&values)?;
        library::open(&settings, info.as_ref())
    })?;
    let opened = opened.map_err(|error| raise(&error))?;
    note(py, &opened.notes)?;
    Ok(Graph::of(opened.graph, opened.preparation))
}

/// A model of the zoo with the weights that it starts from; `data` gives it the sizes of a dataset.
#[pyfunction]
#[pyo3(signature = (name, *, seed=0, data=None))]
pub fn model(
    py: Python,
    #[pyo3(from_py_with = argument::name)] name: String,
    #[pyo3(from_py_with = argument::seed)] seed: u64,
    data: Option<&Bound<PyAny>>,
) -> PyResult<Graph> {
    models::find(&name).map_err(sentence)?;
    let values = Map::from_iter([
        ("model".to_owned(), name.into()),
        ("seed".to_owned(), seed.into()),
    ]);
    open(py, values, data)
}

/// A graph from a file (`.mg`, `.mz`), a checkpoint whose network is found, or the folder of a run; with the weights of another
/// file, its own, or those that it starts from.
#[pyfunction]
#[pyo3(signature = (path, *, weights=None, seed=0, strict=false))]
pub fn load(
    py: Python,
    #[pyo3(from_py_with = argument::path)] path: PathBuf,
    #[pyo3(from_py_with = argument::weights)] weights: Option<PathBuf>,
    #[pyo3(from_py_with = argument::seed)] seed: u64,
    #[pyo3(from_py_with = argument::strict)] strict: bool,
) -> PyResult<Graph> {
    // A name without an ending would be taken for that of a model.
    if !path.exists() && path.extension().is_none() {
        return Err(sentence(format!("there is no file {}", path.display())));
    }
    let text = |path: PathBuf| Json::String(path.display().to_string());
    let mut values = Map::from_iter([
        ("model".to_owned(), text(path)),
        ("seed".to_owned(), seed.into()),
        ("strict".to_owned(), strict.into()),
    ]);
    if let Some(weights) = weights {
        values.insert("load_name".to_owned(), text(weights));
    }
    open(py, values, None)
}

/// Two graphs side by side on the same rows, as `ch compare` has them: an array, a dict of arrays, or the test rows of a dataset.
#[pyfunction]
#[pyo3(signature = (a, b, x, *, threads=1))]
pub fn compare(
    py: Python,
    a: &Bound<PyAny>,
    b: &Bound<PyAny>,
    x: &Bound<PyAny>,
    #[pyo3(from_py_with = argument::threads)] threads: usize,
) -> PyResult<Report> {
    let (a, b) = (expect::<Graph>("a", a)?, expect::<Graph>("b", b)?);
    let (first, second) = (a.get().initialized(py, 0)?, b.get().initialized(py, 0)?);
    let rows = match x.cast::<Dataset>() {
        Ok(data) => {
            let data = &data.get().inner;
            let verified = ir::verify(&first).map_err(sentence)?;
            data.check_inputs(&verified).map_err(sentence)?;
            data.test.head(ROWS)
        }
        Err(_) => Arrays::read(&super::inputs::Signature::of(&first)?, x)?.rows()?,
    };
    let report = work::run(py, move || {
        let compare = Compare {
            a: ("a", &first),
            b: ("b", &second),
            rows: &rows,
            threads,
        };
        compare.report()
    })?;
    Ok(Report::new("compare", report.map_err(sentence)?))
}
