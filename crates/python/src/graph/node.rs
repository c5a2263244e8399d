//! A node of a graph, by its name.

use super::{BATCH, Formats, Graph};
use crate::errors::argument;
use crate::json;
use crate::lend::lend_tensor;
use ir::Value;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value as Json;
use std::sync::Arc;

/// A node of a graph: one operator applied to earlier values. It shows the present state of its graph.
#[pyclass(frozen, module = "mase")]
pub struct Node {
    graph: Py<Graph>,
    /// The unique name, `seq_blocks_2`.
    #[pyo3(get)]
    name: String,
}

impl Node {
    /// The node with this name.
    pub fn new(graph: &Bound<Graph>, name: String) -> Self {
        let graph = graph.clone().unbind();
        Self { graph, name }
    }

    fn with<T>(&self, look: impl FnOnce(&ir::Graph, &ir::Node) -> T) -> PyResult<T> {
        let (graph, id) = self.graph.get().find(&self.name)?;
        Ok(look(&graph, graph.node(id)))
    }
}

#[pymethods]
impl Node {
    /// The operator, `linear`.
    #[getter]
    fn op(&self) -> PyResult<&'static str> {
        self.with(|_, node| node.op.name())
    }

    /// The opcode of torch.fx, `call_module`.
    #[getter]
    fn fx_op(&self) -> PyResult<String> {
        self.with(|_, node| node.fx_op().to_string())
    }

    /// The class that MASE gives the node, `module_related_func`.
    #[getter]
    fn mase_type(&self) -> PyResult<&'static str> {
        self.with(|_, node| node.mase_type().name())
    }

    /// The dotted path of the module, `seq_blocks.2`; empty for functions.
    #[getter]
    fn target(&self) -> PyResult<String> {
        self.with(|_, node| node.target.clone())
    }

    /// The type as users know it, with the name of the format its operands have: `LinearInteger`.
    #[getter]
    fn type_name(&self) -> PyResult<String> {
        self.with(|_, node| node.quantized_type_name())
    }

    /// The layer as PyTorch prints it.
    #[getter]
    fn torch_repr(&self) -> PyResult<String> {
        self.with(|_, node| ir::torch_repr(&node.op))
    }

    /// The attributes of the operator by name.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let attributes = self.with(|_, node| node.op.attributes())?;
        json::to_python(py, &Json::Object(attributes))
    }

    /// The names of the nodes that it reads; `name.1` is the second result of one.
    #[getter]
    fn inputs(&self) -> PyResult<Vec<String>> {
        let name = |graph: &ir::Graph, value: &Value| {
            let name = &graph.node(value.node).name;
            match value.output {
                0 => name.clone(),
                k => format!("{name}.{k}"),
            }
        };
        self.with(|graph, node| node.inputs.iter().map(|v| name(graph, v)).collect())
    }

    /// The number formats by port. Assigning one verifies the graph.
    #[getter]
    fn formats(&self, py: Python) -> Formats {
        Formats::new(self.graph.clone_ref(py), self.name.clone())
    }

    /// Parameters and buffers by port: read-only views.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.tensors(py, |node| &node.params)
    }

    /// Pruning masks by port: read-only views.
    #[getter]
    fn masks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.tensors(py, |node| &node.masks)
    }

    /// All metadata: a dict with `common`, `software` and `hardware`.
    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.metadata(py, BATCH)
    }

    /// All metadata for a batch of this size.
    fn metadata<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = argument::batch_size)] batch_size: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (graph, id) = self.graph.get().find(&self.name)?;
        let verified = ir::verify(&graph).map_err(crate::errors::sentence)?;
        let meta = ir::metadata(&verified, id, batch_size);
        let meta = serde_json::to_value(&meta).map_err(crate::errors::sentence)?;
        json::to_python(py, &meta)
    }

    fn __repr__(&self) -> PyResult<String> {
        self.with(|_, node| format!("<mase.Node {}: {}>", node.name, ir::torch_repr(&node.op)))
    }

    fn __eq__(&self, other: &Bound<PyAny>) -> bool {
        let other = other.cast::<Self>();
        other.is_ok_and(|other| {
            let other = other.get();
            other.name == self.name && other.graph.is(&self.graph)
        })
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.name.hash(&mut hasher);
        hasher.finish()
    }
}

impl Node {
    fn tensors<'py>(
        &self,
        py: Python<'py>,
        of: impl Fn(&ir::Node) -> &std::collections::BTreeMap<String, ir::Tensor>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (graph, id) = self.graph.get().find(&self.name)?;
        let graph: Arc<ir::Graph> = graph;
        let tensors = PyDict::new(py);
        for (port, tensor) in of(graph.node(id)) {
            tensors.set_item(port, lend_tensor(py, tensor)?)?;
        }
        Ok(tensors)
    }
}
