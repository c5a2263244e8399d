//! Searching over number formats and channels.

use crate::dataset::Dataset;
use crate::errors::{argument, expect, note, raise, wrong_type};
use crate::graph::Graph;
use crate::json;
use crate::work::{self, Events, Interrupt};
use ::search::Event;
use ch::library::{self, SearchRequest, Searched};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::sync::Arc;

/// A search that has ended.
#[pyclass(frozen, module = "mase")]
pub struct Search {
    /// The result as `ch search` prints it.
    #[pyo3(get)]
    text: String,
    facts: Json,
    /// The folder of the run.
    #[pyo3(get)]
    folder: PathBuf,
}

#[pymethods]
impl Search {
    /// The best trials, the ending and the time.
    #[getter]
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.facts)
    }

    /// The best trial, or the front of several objectives: a row of `log.json` each.
    #[getter]
    fn best<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.facts["best"])
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> &str {
        &self.text
    }
}

/// Searches over the formats of a graph as `ch search` does. `config` is a TOML file, or a dict like one or like its table
/// `[search]`; settings are those of `ch search` by name. `progress` is called with a dict of each finished trial.
#[pyfunction]
#[pyo3(signature = (graph, data, config, *, n_trials=None, sampler=None, storage=None, progress=None, **settings))]
pub fn search(
    py: Python,
    graph: &Bound<PyAny>,
    data: &Bound<PyAny>,
    config: &Bound<PyAny>,
    #[pyo3(from_py_with = argument::n_trials)] n_trials: Option<u64>,
    #[pyo3(from_py_with = argument::sampler)] sampler: Option<String>,
    #[pyo3(from_py_with = argument::storage)] storage: Option<String>,
    progress: Option<Bound<PyAny>>,
    settings: Option<&Bound<PyDict>>,
) -> PyResult<Search> {
    let (graph, data) = (
        expect::<Graph>("graph", graph)?,
        expect::<Dataset>("data", data)?,
    );
    let settings = json::of_keywords(settings)?;
    let request = match json::of_python("config", config)? {
        Json::String(path) => SearchRequest::of_file(path.as_ref(), &settings),
        Json::Object(table) => {
            let inner = table.get("search").and_then(Json::as_object);
            SearchRequest::of_keys(inner.unwrap_or(&table), &settings)
        }
        _ => return Err(wrong_type("config: expected a path or a dict")),
    };
    let request = request.and_then(|request| request.with_options(n_trials, sampler, storage));
    let request = request.map_err(|error| raise(&error))?;
    let rows = Arc::clone(&data.get().inner);
    let network = graph.get().initialized(py, 0)?;
    let is_observed = progress.is_some();
    let work = move |stop: &_, events: &Events<Json, anyhow::Result<Searched>>| {
        let events = std::sync::Mutex::new(events);
        library::search(request, network, &rows, stop, &mut |event| {
            if let (Event::Finished(trial, _), true, Ok(events)) =
                (event, is_observed, events.lock())
            {
                events.send(json!({ "number": trial.number, "values": trial.outcome.values }));
            }
        })
    };
    let searched = work::observed(py, Interrupt::Waits, work, |trial| match &progress {
        Some(progress) => progress.call1((json::to_python(py, &trial)?,)).map(drop),
        None => Ok(()),
    })?;
    let searched = searched.map_err(|error| raise(&error))?;
    note(py, &searched.notes)?;
    Ok(Search {
        text: searched.text,
        facts: searched.facts,
        folder: searched.folder,
    })
}
