//! Training and testing.

use crate::dataset::Dataset;
use crate::errors::{argument, expect, note, raise, sentence};
use crate::graph::Graph;
use crate::json;
use crate::progress::Epoch;
use crate::work::{self, Events, Interrupt};
use ::train::{Ending, accuracy};
use ch::library::{self, Trained};
use engine::Network;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value as Json;
use std::path::PathBuf;
use std::sync::Arc;

/// A training that has ended.
#[pyclass(frozen, module = "mase")]
pub struct Run {
    graph: Py<Graph>,
    facts: Json,
    /// The epochs, in order.
    #[pyo3(get)]
    epochs: Vec<Py<Epoch>>,
    /// The folder of the run.
    #[pyo3(get)]
    folder: PathBuf,
    /// The checkpoint with the lowest validation loss.
    #[pyo3(get)]
    best: PathBuf,
    /// The last checkpoint.
    #[pyo3(get)]
    last: PathBuf,
    /// The lowest validation loss; `None` when no epoch was completed.
    #[pyo3(get)]
    val_loss_epoch: Option<f64>,
    /// The end of it: "done", "stopped" or "diverged".
    #[pyo3(get)]
    ending: &'static str,
}

#[pymethods]
impl Run {
    /// The graph that was trained.
    #[getter]
    fn graph(&self, py: Python) -> Py<Graph> {
        self.graph.clone_ref(py)
    }

    /// The content of `run.json`.
    #[getter]
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.facts)
    }

    fn __repr__(&self) -> String {
        let loss = self.val_loss_epoch;
        let loss = loss.map_or_else(String::new, |loss| format!(", val_loss_epoch {loss:.4}"));
        format!(
            "<mase.Run {}: {} epochs{loss}, {}>",
            self.ending,
            self.epochs.len(),
            self.folder.display()
        )
    }
}

/// Trains a graph on a dataset with the settings of `ch train`, by their names and with their defaults. The graph gets the
/// weights of the lowest validation loss; files are written as `ch train` writes them. `progress` is called with every `Epoch`.
#[pyfunction]
#[pyo3(signature = (graph, data, *, progress=None, **settings))]
pub fn train(
    py: Python,
    graph: &Bound<PyAny>,
    data: &Bound<PyAny>,
    progress: Option<Bound<PyAny>>,
    settings: Option<&Bound<PyDict>>,
) -> PyResult<Run> {
    let (graph, data) = (
        expect::<Graph>("graph", graph)?,
        expect::<Dataset>("data", data)?,
    );
    let settings =
        library::settings(&json::of_keywords(settings)?).map_err(|error| raise(&error))?;
    let rows = Arc::clone(&data.get().inner);
    let network = graph.get().initialized(py, settings.seed)?;
    let mut epochs = Vec::new();
    let work = move |stop: &_, events: &Events<Epoch, anyhow::Result<Trained>>| {
        library::train(settings, network, &rows, stop, &mut |event| {
            if let Some(epoch) = Epoch::of(event) {
                events.send(epoch);
            }
        })
    };
    let trained = work::observed(py, Interrupt::Waits, work, |epoch| {
        let epoch = Py::new(py, epoch)?;
        epochs.push(epoch.clone_ref(py));
        match &progress {
            Some(progress) => progress.call1((epoch,)).map(drop),
            None => Ok(()),
        }
    })?;
    let trained = trained.map_err(|error| raise(&error))?;
    note(py, &trained.notes)?;
    let preparation = data::Preparation::of(&data.get().inner.info);
    graph.get().replace(trained.graph, Some(preparation));
    Ok(Run {
        graph: graph.clone().unbind(),
        facts: trained.facts,
        epochs,
        folder: trained.folder,
        best: trained.outcome.best,
        last: trained.outcome.last,
        val_loss_epoch: trained.outcome.best_loss,
        ending: match trained.outcome.ending {
            Ending::Done => "done",
            Ending::Stopped => "stopped",
            Ending::Diverged => "diverged",
        },
    })
}

/// The scores of a graph on a split of a dataset: `test_loss_epoch`, `test_acc_epoch`, `correct` and `rows`.
#[pyfunction]
#[pyo3(
    signature = (graph, data, *, split="test".to_owned(), threads=1),
    text_signature = "(graph, data, *, split='test', threads=1)"
)]
pub fn test<'py>(
    py: Python<'py>,
    graph: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = argument::split)] split: String,
    #[pyo3(from_py_with = argument::threads)] threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let (graph, data) = (
        expect::<Graph>("graph", graph)?,
        expect::<Dataset>("data", data)?,
    );
    let words = data::SplitName::WORDS.iter();
    let Some((_, part)) = words.into_iter().find(|(word, _)| *word == split) else {
        return Err(sentence(format!(
            "split: '{split}' is none of train, val and test"
        )));
    };
    let rows = Arc::clone(&data.get().inner);
    let network = graph.get().initialized(py, 0)?;
    let part = *part;
    let score = work::run(py, move || -> anyhow::Result<_> {
        let notes = library::check_classifier(&network, &rows)?;
        let split = rows.split(part);
        if split.is_empty() {
            anyhow::bail!(
                "dataset {} has no {} rows",
                rows.info.name,
                part.long_name()
            );
        }
        let mut network = Network::new(network, threads)?;
        Ok((::train::evaluate(&mut network, split)?, notes))
    })?;
    let (score, notes) = score.map_err(|error| raise(&error))?;
    note(py, &notes)?;
    let scores = PyDict::new(py);
    scores.set_item("test_loss_epoch", score.loss)?;
    scores.set_item("test_acc_epoch", accuracy(&score))?;
    scores.set_item("correct", score.correct)?;
    scores.set_item("rows", score.count)?;
    Ok(scores)
}
