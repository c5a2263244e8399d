//! The report of a pass.

use crate::json;
use ch::library::AppliedStep;
use passes::PassReport;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use report::Table;

/// The report of a pass or of a comparison: `text` for people, `tables`, `json` and `files` for programs.
#[pyclass(frozen, module = "mase")]
pub struct Report {
    /// The key of the pass.
    #[pyo3(get)]
    name: String,
    content: PassReport,
    files: Vec<(String, Vec<u8>)>,
}

impl From<AppliedStep> for Report {
    fn from(step: AppliedStep) -> Self {
        let files = step.files.into_iter();
        Self {
            name: step.report.key,
            content: step.report.report,
            files: files
                .map(|file| (file.path.display().to_string(), file.bytes))
                .collect(),
        }
    }
}

impl Report {
    /// A report that no pass made.
    pub fn new(name: &str, report: PassReport) -> Self {
        Self {
            name: name.to_owned(),
            content: report,
            files: Vec::new(),
        }
    }
}

#[pymethods]
impl Report {
    /// True when all that the pass checks holds.
    #[getter]
    fn passed(&self) -> bool {
        self.content.is_good
    }

    /// The report as `ch transform` prints it.
    #[getter]
    fn text(&self) -> String {
        self.content.to_text()
    }

    /// Every table by its name: a list of rows, each a dict of cells by heading.
    #[getter]
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        for (name, table) in self.content.tables() {
            tables.set_item(name, rows(py, table)?)?;
        }
        Ok(tables)
    }

    /// The report as JSON has it: tables and single results.
    #[getter]
    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.content.to_json())
    }

    /// The files that the pass writes, by path: their bytes.
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = PyDict::new(py);
        for (path, bytes) in &self.files {
            files.set_item(path, PyBytes::new(py, bytes))?;
        }
        Ok(files)
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __repr__(&self) -> String {
        self.text()
    }
}

fn rows<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for row in &table.rows {
        let cells = PyDict::new(py);
        for (heading, cell) in table.headings.iter().zip(row) {
            cells.set_item(heading, cell)?;
        }
        list.append(cells)?;
    }
    Ok(list)
}
