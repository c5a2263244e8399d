//! Graphs from PyTorch's exported programs, which a running Python holds.

use super::Graph;
use crate::arrays::{read, values};
use crate::errors::{note, sentence};
use crate::work;
use data::Preparation;
use interop::pt2::{self, Layer, Stored};
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;

/// The graph of an exported program: the bytes of its file, the tensors that are not in the file by their dotted names, and the
/// layers of values that are named anew: the key of its run, a name, and the path of the module.
#[pyfunction]
#[pyo3(signature = (name, file, tensors, layers))]
pub fn import_program(
    py: Python,
    name: String,
    file: &[u8],
    tensors: &Bound<PyDict>,
    layers: HashMap<String, (String, String, String)>,
) -> PyResult<Graph> {
    let (mut program, mut stored) = pt2::decode(file).map_err(sentence)?;
    for (path, value) in tensors {
        let path: String = path.extract()?;
        let array = read::<f32>(&path, &value)?;
        let tensor = Stored {
            shape: array.shape().to_vec(),
            dtype: None,
            values: {
                let source = values(&array)?;
                py.detach(|| source.to_vec())
            },
        };
        stored.insert(path, tensor);
        py.check_signals()?;
    }
    for call in &mut program.calls {
        let named = call.results.iter().flatten().find_map(|v| layers.get(v));
        if let Some((run, name, path)) = named {
            call.layer = Some(Layer {
                run: run.clone(),
                name: name.clone(),
                path: path.clone(),
            });
        }
    }
    let imported = work::run(py, move || exchange::aten::import(&name, &program, stored))?;
    let imported = imported.map_err(sentence)?;
    note(py, &imported.notes)?;
    Ok(Graph::of(imported.graph, Preparation::default()))
}
