//! The number formats of a node's ports, as a mapping.

use super::Graph;
use crate::errors::{argument, sentence};
use crate::format::Format;
use config::did_you_mean;
use pyo3::prelude::*;

/// The number formats of a node by port. A port without one computes in float32.
#[pyclass(frozen, module = "mase", mapping)]
pub struct Formats {
    graph: Py<Graph>,
    node: String,
}

impl Formats {
    /// The formats of a node.
    pub fn new(graph: Py<Graph>, node: String) -> Self {
        Self { graph, node }
    }

    fn all(&self) -> PyResult<Vec<(String, Format)>> {
        let (graph, id) = self.graph.get().find(&self.node)?;
        let formats = graph.node(id).formats.iter();
        let pair = |(port, format): (&String, &::format::Format)| {
            let inner = format.clone();
            (port.clone(), Format { inner })
        };
        Ok(formats.map(pair).collect())
    }

    fn edit(&self, change: impl FnOnce(&mut ir::Node) -> PyResult<()>) -> PyResult<()> {
        let graph = self.graph.get();
        let (_, id) = graph.find(&self.node)?;
        graph.edit(|graph| change(graph.node_mut(id)))
    }

    fn unknown(&self, port: &str, known: &[String]) -> PyErr {
        let hint = did_you_mean(port, known.iter().map(String::as_str));
        sentence(format!("unknown port '{port}' of {}{hint}", self.node))
    }
}

#[pymethods]
impl Formats {
    fn __getitem__(&self, #[pyo3(from_py_with = argument::port)] port: String) -> PyResult<Format> {
        let all = self.all()?;
        let found = all.iter().find(|(name, _)| *name == port);
        if let Some((_, format)) = found {
            return Ok(format.clone());
        }
        let known: Vec<String> = all.into_iter().map(|(name, _)| name).collect();
        Err(self.unknown(&port, &known))
    }

    fn __setitem__(
        &self,
        #[pyo3(from_py_with = argument::port)] port: String,
        format: &Bound<PyAny>,
    ) -> PyResult<()> {
        let format = Format::of(&port, format)?.inner;
        self.edit(|node| {
            node.formats.insert(port, format);
            Ok(())
        })
    }

    fn __delitem__(&self, #[pyo3(from_py_with = argument::port)] port: String) -> PyResult<()> {
        self.edit(|node| {
            if node.formats.remove(&port).is_some() {
                return Ok(());
            }
            let known: Vec<String> = node.formats.keys().cloned().collect();
            Err(self.unknown(&port, &known))
        })
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.all()?.len())
    }

    fn __contains__(&self, port: &Bound<PyAny>) -> PyResult<bool> {
        let Ok(port) = port.extract::<String>() else {
            return Ok(false);
        };
        Ok(self.all()?.iter().any(|(name, _)| *name == port))
    }

    fn __iter__(&self, py: Python) -> PyResult<Py<PyAny>> {
        let keys = pyo3::types::PyList::new(py, self.keys()?)?;
        Ok(keys.try_iter()?.into_any().unbind())
    }

    /// The ports that have a format.
    fn keys(&self) -> PyResult<Vec<String>> {
        Ok(self.all()?.into_iter().map(|(name, _)| name).collect())
    }

    /// The formats, in the order of `keys`.
    fn values(&self) -> PyResult<Vec<Format>> {
        Ok(self.all()?.into_iter().map(|(_, format)| format).collect())
    }

    /// Ports and formats.
    fn items(&self) -> PyResult<Vec<(String, Format)>> {
        self.all()
    }

    /// The format of a port, or a default.
    #[pyo3(signature = (port, default=None))]
    fn get(
        &self,
        py: Python,
        #[pyo3(from_py_with = argument::port)] port: String,
        default: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let found = self.all()?.into_iter().find(|(name, _)| *name == port);
        match found {
            Some((_, format)) => Ok(Py::new(py, format)?.into_any()),
            None => Ok(default.unwrap_or_else(|| py.None())),
        }
    }

    fn __repr__(&self) -> PyResult<String> {
        let all = self.all()?.into_iter();
        let entries: Vec<String> = all
            .map(|(port, format)| format!("'{port}': '{}'", format.inner))
            .collect();
        Ok(format!("{{{}}}", entries.join(", ")))
    }
}
