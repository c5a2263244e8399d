//! Graphs in Python: a value behind a lock, its nodes by name, and the network that runs it.

mod create;
mod formats;
mod inputs;
mod node;
mod program;
mod run;

pub use create::{compare, load, model};
pub use formats::Formats;
pub use node::Node;
pub use program::import_program;

use crate::arrays::{read, values};
use crate::dataset::Dataset;
use crate::errors::{argument, expect, note, plain, raise, sentence};
use crate::json;
use crate::lend::lend_tensor;
use crate::report::Report;
use crate::work;
use ch::library::{self, Passes};
use config::did_you_mean;
use data::Preparation;
use ir::{NodeId, Tensor};
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use run::{Compiled, RunOptions};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows of a batch in tables and metadata, as `ch show` has them.
const BATCH: usize = 8;

/// A network: nodes in execution order, each an operator on earlier values, with number formats on their ports.
#[pyclass(frozen, module = "mase", weakref)]
pub struct Graph {
    state: Mutex<State>,
    compiled: Mutex<Option<Compiled>>,
}

/// The value of a graph.
#[derive(Clone)]
struct State {
    graph: Arc<ir::Graph>,
    /// The preparation of the rows that it was trained on, for files that hold it.
    preparation: Preparation,
    /// Counts the changes, so that what was compiled of an earlier value is made anew.
    version: u64,
}

impl Graph {
    /// A graph in Python.
    pub fn of(graph: ir::Graph, preparation: Preparation) -> Self {
        Self {
            state: Mutex::new(State {
                graph: Arc::new(graph),
                preparation,
                version: 0,
            }),
            compiled: Mutex::new(None),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present value.
    pub fn value(&self) -> Arc<ir::Graph> {
        Arc::clone(&self.state().graph)
    }

    /// The present value, with starting weights where it has none.
    pub fn initialized(&self, py: Python, seed: u64) -> PyResult<ir::Graph> {
        let mut graph = (*self.value()).clone();
        work::run(py, move || {
            ir::verify(&graph)?;
            graph.initialize(seed);
            Ok(graph)
        })?
        .map_err(|error: ir::VerifyError| sentence(error))
    }

    /// Takes another value, and the preparation of the rows that it was trained on, if that is new.
    pub fn replace(&self, graph: ir::Graph, preparation: Option<Preparation>) {
        let mut state = self.state();
        state.graph = Arc::new(graph);
        state.version += 1;
        if let Some(preparation) = preparation {
            state.preparation = preparation;
        }
    }

    /// Changes a copy of the graph, which takes its place if it obeys the rules.
    fn edit(&self, change: impl FnOnce(&mut ir::Graph) -> PyResult<()>) -> PyResult<()> {
        let mut graph = (*self.value()).clone();
        change(&mut graph)?;
        ir::verify(&graph).map_err(sentence)?;
        self.replace(graph, None);
        Ok(())
    }

    fn find(&self, name: &str) -> PyResult<(Arc<ir::Graph>, NodeId)> {
        let graph = self.value();
        if let Some(id) = graph.find(name) {
            return Ok((graph, id));
        }
        let names = graph.nodes().iter().map(|node| node.name.as_str());
        let hint = did_you_mean(name, names);
        Err(sentence(format!("unknown node '{name}'{hint}")))
    }

    fn apply_passes(
        &self,
        py: Python,
        passes: Passes,
        data: Option<&Bound<PyAny>>,
    ) -> PyResult<Vec<Report>> {
        let graph = self.value();
        let data = data
            .map(|data| expect::<Dataset>("data", data))
            .transpose()?;
        let rows = data.map(|data| Arc::clone(&data.get().inner));
        let applied = work::run(py, move || passes.apply(&graph, rows.as_deref()))?;
        let applied = applied.map_err(|error| raise(&error))?;
        note(py, &applied.notes)?;
        self.replace(applied.graph, None);
        Ok(applied.steps.into_iter().map(Report::from).collect())
    }
}

#[pymethods]
impl Graph {
    /// A graph from its text form, with parameters by their dotted names.
    #[new]
    #[pyo3(signature = (text, parameters=None))]
    fn new(
        #[pyo3(from_py_with = argument::text)] text: String,
        #[pyo3(from_py_with = argument::parameters)] parameters: Option<Bound<PyDict>>,
    ) -> PyResult<Self> {
        let graph = ir::Graph::parse(&text).map_err(sentence)?;
        ir::verify(&graph).map_err(sentence)?;
        let graph = Self::of(graph, Preparation::default());
        if let Some(parameters) = parameters {
            graph.load_parameters(parameters)?;
        }
        Ok(graph)
    }

    /// The name of the graph.
    #[getter]
    fn name(&self) -> String {
        self.value().name.clone()
    }

    /// The text form.
    #[getter]
    fn text(&self) -> String {
        self.value().to_string()
    }

    /// The nodes in execution order.
    #[getter]
    fn nodes(slf: &Bound<Self>) -> Vec<Node> {
        let graph = slf.get().value();
        let names = graph.nodes().iter().map(|node| node.name.clone());
        names.map(|name| Node::new(slf, name)).collect()
    }

    fn __getitem__(
        slf: &Bound<Self>,
        #[pyo3(from_py_with = argument::node)] name: String,
    ) -> PyResult<Node> {
        let (graph, id) = slf.get().find(&name)?;
        Ok(Node::new(slf, graph.node(id).name.clone()))
    }

    fn __contains__(&self, name: &Bound<PyAny>) -> bool {
        let name = name.extract::<String>();
        name.is_ok_and(|name| self.value().find(&name).is_some())
    }

    fn __len__(&self) -> usize {
        self.value().nodes().len()
    }

    /// Every parameter and buffer by its dotted name: read-only views on the memory of the graph.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parameters = PyDict::new(py);
        for (name, tensor) in self.value().parameters() {
            parameters.set_item(name, lend_tensor(py, tensor)?)?;
        }
        Ok(parameters)
    }

    /// Gives parameters and buffers new values, by their dotted names.
    fn load_parameters(
        &self,
        #[pyo3(from_py_with = argument::parameters)] parameters: Bound<PyDict>,
    ) -> PyResult<()> {
        let mut graph = (*self.value()).clone();
        for (name, value) in &parameters {
            let name: String = plain("parameters: a name", &name)?;
            let array = read::<f32>(&name, &value)?;
            let source = values(&array)?;
            let copied = parameters.py().detach(|| source.to_vec());
            let tensor = Tensor::new(array.shape().to_vec(), copied);
            let tensor = tensor.ok_or_else(|| sentence(format!("{name}: has no shape")))?;
            set_parameter(&mut graph, &name, tensor)?;
            parameters.py().check_signals()?;
        }
        self.replace(graph, None);
        Ok(())
    }

    /// Gives every parameter without a value the one that it starts from by the seed.
    #[pyo3(signature = (seed=0))]
    fn initialize(
        &self,
        py: Python,
        #[pyo3(from_py_with = argument::seed)] seed: u64,
    ) -> PyResult<()> {
        self.replace(self.initialized(py, seed)?, None);
        Ok(())
    }

    /// A copy, which shares parameters until one of them changes.
    fn copy(&self) -> Self {
        let State {
            graph, preparation, ..
        } = self.state().clone();
        Self::of((*graph).clone(), preparation)
    }

    fn __copy__(&self) -> Self {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<PyAny>) -> Self {
        self.copy()
    }

    fn __eq__(&self, other: &Bound<PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else {
            return false;
        };
        let (own, others) = (self.value(), other.get().value());
        other.py().detach(|| own == others)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let bytes = PyBytes::new(py, &slf.get().to_bytes(py)?);
        let make = slf.get_type().getattr("_of_bytes")?;
        (make, (bytes,)).into_pyobject(py)
    }

    /// The graph of the bytes of a `.mz` file.
    #[classmethod]
    fn _of_bytes(class: &Bound<PyType>, bytes: &[u8]) -> PyResult<Self> {
        let bytes = bytes.to_vec();
        work::run(class.py(), move || {
            let file = interop::checkpoint::decode(&bytes, None).map_err(sentence)?;
            let graph = passes::interface::graph_of("the pickled graph".as_ref(), &file);
            let preparation = Preparation::of_checkpoint(&file).map_err(sentence)?;
            Ok(Self::of(graph.map_err(sentence)?, preparation))
        })?
    }

    /// Writes the graph: `.mz` with weights, formats and statistics, `.mg` as text.
    fn save(
        &self,
        py: Python,
        #[pyo3(from_py_with = argument::path)] path: PathBuf,
    ) -> PyResult<()> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let bytes = match ending {
            Some("mz") => self.to_bytes(py)?,
            Some("mg") => self.text().into_bytes(),
            _ => {
                return Err(sentence(format!(
                    "save: the ending of {} names the kind of file, one of .mz, .mg",
                    path.display()
                )));
            }
        };
        let shown = path.display().to_string();
        let written = work::run(py, move || interop::write_file(&path, &bytes))?;
        written.map_err(|error| sentence(format!("cannot write {shown}: {error}")))
    }

    /// Runs the network in evaluation mode on float32 or int64 arrays, one for each input, or on a dict of them by name. With
    /// `integer` it computes in exact integers. With `observe`, nodes (`name`) or ports (`name.data_in_0`), the answer is a
    /// pair: the result, and a dict of what was seen.
    #[pyo3(signature = (*inputs, integer=false, observe=None, threads=1))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyTuple>,
        #[pyo3(from_py_with = argument::integer)] integer: bool,
        #[pyo3(from_py_with = argument::observe)] observe: Option<Vec<String>>,
        #[pyo3(from_py_with = argument::threads)] threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let how = RunOptions {
            integer,
            observe: observe.unwrap_or_default(),
            threads,
        };
        self.compute(py, inputs, how)
    }

    #[pyo3(signature = (*inputs, integer=false, observe=None, threads=1))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyTuple>,
        #[pyo3(from_py_with = argument::integer)] integer: bool,
        #[pyo3(from_py_with = argument::observe)] observe: Option<Vec<String>>,
        #[pyo3(from_py_with = argument::threads)] threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.run(py, inputs, integer, observe, threads)
    }

    /// Runs a pass by its name, with the keys of its table; `data` is for passes that run the network.
    #[pyo3(signature = (name, *, data=None, **keys))]
    fn apply(
        &self,
        py: Python,
        #[pyo3(from_py_with = argument::name)] name: String,
        data: Option<&Bound<PyAny>>,
        keys: Option<&Bound<PyDict>>,
    ) -> PyResult<Report> {
        let keys = json::of_keywords(keys)?;
        let settings = library::settings(&serde_json::Map::new()).map_err(|error| raise(&error))?;
        let passes = Passes::of_keys(&name, &keys, settings).map_err(|error| raise(&error))?;
        let mut reports = self.apply_passes(py, passes, data)?;
        reports
            .pop()
            .ok_or_else(|| sentence(format!("{name} gave no report")))
    }

    /// Runs every pass of a TOML file, in its order, as `ch transform --config` does.
    #[pyo3(signature = (path, *, data=None))]
    fn apply_config(
        &self,
        py: Python,
        #[pyo3(from_py_with = argument::path)] path: PathBuf,
        data: Option<&Bound<PyAny>>,
    ) -> PyResult<Vec<Report>> {
        let passes = Passes::of_file(&path).map_err(|error| raise(&error))?;
        self.apply_passes(py, passes, data)
    }

    /// The text of `ch show` for a batch of this size.
    #[pyo3(signature = (batch_size=8))]
    fn show(
        &self,
        py: Python,
        #[pyo3(from_py_with = argument::batch_size)] batch_size: usize,
    ) -> PyResult<String> {
        let graph = self.value().without_params();
        let text = work::run(py, move || library::describe(&graph, batch_size))?;
        text.map_err(|error| raise(&error))
    }

    /// A drawing of the graph, as SVG.
    fn svg(&self, py: Python) -> PyResult<String> {
        let graph = self.value();
        let drawn = work::run(py, move || {
            let drawing = passes::page::drawing_of(&graph.name, &graph)?;
            Ok(report::page::svg(&drawing, false))
        })?;
        drawn.map_err(|error: passes::PassError| sentence(error))
    }

    fn __repr__(&self, py: Python) -> PyResult<String> {
        self.show(py, BATCH)
    }

    fn _repr_html_(&self, py: Python) -> PyResult<String> {
        let table = self.show(py, BATCH)?;
        let table = table.replace('&', "&amp;").replace('<', "&lt;");
        Ok(format!("{}<pre>{table}</pre>", self.svg(py)?))
    }
}

impl Graph {
    fn to_bytes(&self, py: Python) -> PyResult<Vec<u8>> {
        let State {
            graph, preparation, ..
        } = self.state().clone();
        let file = work::run(py, move || {
            passes::interface::graph_file(&graph, &preparation)
        })?;
        file.map_err(sentence)
    }
}

/// Gives one parameter or buffer a new value.
fn set_parameter(graph: &mut ir::Graph, name: &str, tensor: Tensor) -> PyResult<()> {
    let own = |node: &ir::Node| {
        let specs = node.param_specs().into_iter();
        let mut specs = specs.filter(|(port, ..)| node.param_path(port) == name);
        specs.next().map(|(port, shape, ..)| (port, shape))
    };
    let found = graph
        .iter()
        .find_map(|(id, node)| own(node).map(|spec| (id, spec)));
    let Some((id, (port, shape))) = found else {
        let nodes = graph.nodes().iter();
        let paths: Vec<String> = nodes
            .flat_map(|node| {
                let specs = node.param_specs().into_iter();
                specs
                    .map(|(port, ..)| node.param_path(port))
                    .collect::<Vec<_>>()
            })
            .collect();
        let hint = did_you_mean(name, paths.iter().map(String::as_str));
        return Err(sentence(format!("unknown parameter '{name}'{hint}")));
    };
    if tensor.shape() != shape {
        let got = tensor.shape();
        return Err(sentence(format!(
            "{name}: expected the shape {shape:?}, got {got:?}"
        )));
    }
    graph.node_mut(id).params.insert(port.to_owned(), tensor);
    Ok(())
}
