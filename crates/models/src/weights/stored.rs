//! Stored fields of formats among named tensors: `seq_blocks.2.weight_scale`, `seq_blocks.2.data_in_0_frac_width`.

use super::{BadValue, WrongShape, fits};
use format::StoredArray;
use interop::checkpoint::NamedTensor;
use ir::{Graph, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// The values that weights have for the stored fields of a graph.
pub(super) struct StoredFields {
    found: Vec<(NodeId, String, &'static str, StoredArray)>,
    /// The names of all of them, whether they fit or not.
    pub names: BTreeSet<String>,
    /// Fields that neither the weights nor the graph has.
    pub missing: BTreeSet<String>,
    /// Arrays of another shape than the format asks for.
    pub shapes: Vec<WrongShape>,
    /// Arrays with values that the format does not take.
    pub values: Vec<BadValue>,
}

impl StoredFields {
    /// Every tensor that has the name of a stored field of the graph.
    pub fn find(graph: &Graph, given: &BTreeMap<&str, &NamedTensor>) -> Self {
        let mut fields = Self {
            found: Vec::new(),
            names: BTreeSet::new(),
            missing: BTreeSet::new(),
            shapes: Vec::new(),
            values: Vec::new(),
        };
        for (id, node) in graph.iter() {
            for (port, format) in &node.formats {
                for (field, own) in format.stored_fields() {
                    let name = node.stored_path(port, field);
                    match given.get(name.as_str()) {
                        Some(tensor) => {
                            let array = StoredArray {
                                shape: tensor.shape.clone(),
                                values: tensor.values.clone(),
                            };
                            fields.found.push((id, port.clone(), field, array));
                            fields.names.insert(name);
                        }
                        None if own.is_none() => drop(fields.missing.insert(name)),
                        None => {}
                    }
                }
            }
        }
        if !fields.found.is_empty() {
            fields.check(graph, given);
        }
        fields
    }

    fn check(&mut self, graph: &Graph, given: &BTreeMap<&str, &NamedTensor>) {
        let bare = graph.without_params();
        let Ok(verified) = ir::verify(&bare) else {
            return;
        };
        for (id, node) in bare.iter() {
            let ports = ir::stored_ports(node, &verified.input_types(id), verified.outputs(id));
            for port in ports.into_iter().flatten() {
                for field in &port.fields {
                    let name = node.stored_path(&port.port, field);
                    let tensor = given.get(name.as_str());
                    if let Some(tensor) = tensor.filter(|tensor| !fits(tensor, &port.shape)) {
                        self.shapes.push(WrongShape {
                            name,
                            expected: port.shape.clone(),
                            got: tensor.shape.clone(),
                        });
                    }
                }
            }
        }
        if self.shapes.is_empty()
            && let Err(bad) = self.clone_into(&mut bare.clone())
        {
            self.values.push(bad);
        }
    }

    fn clone_into(&self, graph: &mut Graph) -> Result<(), BadValue> {
        for (id, port, field, array) in &self.found {
            let node = graph.node_mut(*id);
            let name = node.stored_path(port, field);
            if let Some(format) = node.formats.get_mut(port) {
                let with = format.with_stored(field, array.clone());
                *format = with.map_err(|why| BadValue { name, why })?;
            }
        }
        Ok(())
    }

    /// Gives them to the formats of the graph.
    ///
    /// # Panics
    /// If the formats do not take them, which [`Self::find`] would have told.
    pub fn put_into(self, graph: &mut Graph) {
        self.clone_into(graph)
            .expect("find has tried the same values");
    }
}
