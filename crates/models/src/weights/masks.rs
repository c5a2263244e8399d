//! Pruning masks among named tensors: `seq_blocks.2.weight_mask`, `seq_blocks.2.data_in_0_mask`.

use super::{BadValue, WrongShape, fits};
use interop::checkpoint::NamedTensor;
use ir::{DType, Graph, NodeId, ParamRole, Tensor};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The masks of weights that a graph has ports for.
pub(super) struct Masks {
    found: Vec<Found>,
    /// The names of all of them, whether they fit or not.
    pub names: BTreeSet<String>,
    /// Masks of another shape than their port.
    pub shapes: Vec<WrongShape>,
    /// Masks with other values than 0 and 1.
    pub values: Vec<BadValue>,
}

struct Found {
    node: NodeId,
    port: String,
    mask: Tensor,
}

impl Masks {
    /// Every tensor that has the name of a mask of the graph.
    pub fn find(graph: &Graph, given: &BTreeMap<&str, &NamedTensor>) -> Self {
        let mut masks = Self {
            found: Vec::new(),
            names: BTreeSet::new(),
            shapes: Vec::new(),
            values: Vec::new(),
        };
        if !given.keys().any(|name| name.ends_with("_mask")) {
            return masks;
        }
        for (node, port, name, shape) in ports(graph) {
            let Some(tensor) = given.get(name.as_str()) else {
                continue;
            };
            masks.names.insert(name.clone());
            if !fits(tensor, &shape) {
                masks.shapes.push(WrongShape {
                    name,
                    expected: shape,
                    got: tensor.shape.clone(),
                });
            } else if let Some(&value) = tensor.values.iter().find(|v| **v != 0.0 && **v != 1.0) {
                let why = format!("a mask has zeros and ones, got {value}");
                masks.values.push(BadValue { name, why });
            } else if let Some(mask) = Tensor::new(shape, tensor.values.clone()) {
                masks.found.push(Found { node, port, mask });
            }
        }
        masks
    }

    /// Makes them the masks of the graph; the only ones.
    pub fn put_into(self, graph: &mut Graph) {
        for at in 0..graph.nodes().len() {
            graph.node_mut(NodeId(at as u32)).masks.clear();
        }
        for found in self.found {
            graph.node_mut(found.node).set_mask(&found.port, found.mask);
        }
    }
}

/// Every port that can have a mask: its mask's name and shape.
fn ports(graph: &Graph) -> Vec<(NodeId, String, String, Vec<usize>)> {
    let bare = graph.without_params();
    let verified = ir::verify(&bare).ok();
    let mut ports = Vec::new();
    for (id, node) in bare.iter() {
        let specs = node.param_specs().into_iter();
        let trained = specs.filter(|spec| spec.3 == ParamRole::Trained);
        let params = trained.map(|(port, shape, ..)| (port.to_owned(), shape));
        let types = verified.as_ref().map(|verified| verified.input_types(id));
        let inputs = node.data_ports().into_iter().zip(types.unwrap_or_default());
        let floats = inputs.filter(|(_, ty)| ty.dtype == DType::F32);
        let inputs = floats.filter_map(|(port, ty)| Some((port, ty.shape.sample()?)));
        for (port, shape) in params.chain(inputs) {
            let name = node.mask_path(&port);
            ports.push((id, port, name, shape));
        }
    }
    ports
}

/// The tensors with `torch.nn.utils.prune`'s pairs resolved: a module that is being pruned has no `weight`, but
/// `weight_orig` and `weight_mask`, and uses their product.
pub(super) fn without_originals<'a>(
    tensors: Vec<Cow<'a, NamedTensor>>,
    wanted: &BTreeSet<&str>,
) -> Vec<Cow<'a, NamedTensor>> {
    let names: BTreeSet<String> = tensors.iter().map(|t| t.name.clone()).collect();
    let resolve = |tensor: Cow<'a, NamedTensor>| {
        let pruned = tensor.name.strip_suffix("_orig").filter(|name| {
            let has_mask = names.contains(&format!("{name}_mask"));
            wanted.contains(name) && has_mask && !names.contains(*name)
        });
        match pruned.map(str::to_owned) {
            Some(name) => Cow::Owned(NamedTensor {
                name,
                ..tensor.into_owned()
            }),
            None => tensor,
        }
    };
    tensors.into_iter().map(resolve).collect()
}
