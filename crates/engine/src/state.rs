//! The parameters of a network while it runs: two flat arrays, so that an optimiser updates them in one pass.

use crate::EngineError;
use crate::learning::{FoldedNorm, Learning, folded_norms};
use crate::options::Mode;
use crate::rounding::{learned_format, learned_ports};
use ir::{Graph, Node, NodeId, Op, ParamRole, Tensor, Verified};
use std::ops::Range;

/// Nodes that an error names, at most.
const MAX_SHOWN: usize = 5;

/// The place of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParamEntry {
    pub node: NodeId,
    pub port: String,
    /// Dotted name, as PyTorch has it.
    pub path: String,
    pub shape: Vec<usize>,
    pub role: ParamRole,
    /// True for the learned scales of the port, not its values.
    pub is_scale: bool,
    /// In [`State::trained`] or [`State::buffers`], after the role.
    pub range: Range<usize>,
}

/// All parameters and buffers of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The values that the optimiser updates, parameter after parameter, in PyTorch's layouts.
    pub(crate) trained: Vec<f32>,
    /// The values that operators update: running statistics.
    pub(crate) buffers: Vec<f32>,
    pub(crate) entries: Vec<ParamEntry>,
    /// Pruning masks of trained parameters, and where those lie.
    masks: Vec<(Range<usize>, Tensor)>,
    learning: Learning,
    folded_norms: Vec<FoldedNorm>,
    /// The number of trained values in front of the learned scales.
    weights: usize,
    /// The values in front of the learned scales that an optimiser changes.
    trainable: Vec<Range<usize>>,
    base_is_frozen: bool,
    /// Changes with every write, so that plans know when to prepare their weights anew.
    pub(crate) version: u64,
}

impl State {
    /// The parameters of a graph, all of which must have values.
    pub fn new(verified: &Verified) -> Result<Self, EngineError> {
        Self::with_learning(verified, Learning::default())
    }

    /// The parameters of a graph, and after them the scales of its formats that are to be learned.
    pub fn with_learning(verified: &Verified, learning: Learning) -> Result<Self, EngineError> {
        check_operators(verified)?;
        let folded_norms = folded_norms(verified, &learning);
        let learn = learning.scales;
        let mut state = Self {
            trained: Vec::new(),
            buffers: Vec::new(),
            entries: Vec::new(),
            masks: Vec::new(),
            learning,
            folded_norms,
            weights: 0,
            trainable: Vec::new(),
            base_is_frozen: false,
            version: 1,
        };
        for (id, node) in verified.graph().iter() {
            check_stored(node)?;
            for (port, shape, _, role) in node.param_specs() {
                let tensor =
                    node.params
                        .get(port)
                        .ok_or_else(|| EngineError::MissingParameter {
                            node: node.name.clone(),
                            op: node.op.name(),
                            port: port.to_owned(),
                        })?;
                let store = state.store_mut(role);
                let range = store.len()..store.len() + tensor.values().len();
                store.extend_from_slice(tensor.values());
                if let Some(mask) = node.masks.get(port) {
                    state.masks.push((range.clone(), mask.clone()));
                }
                let path = node.param_path(port);
                state.entries.push(ParamEntry {
                    node: id,
                    port: port.to_owned(),
                    path,
                    shape,
                    role,
                    is_scale: false,
                    range,
                });
            }
        }
        state.weights = state.trained.len();
        state.trainable.push(0..state.weights);
        for (id, node) in verified.graph().iter() {
            for (port, log2_steps) in learned_ports(node, learn) {
                let start = state.trained.len();
                state.trained.extend_from_slice(&log2_steps);
                state.entries.push(ParamEntry {
                    node: id,
                    path: node.stored_path(&port, "log2_step"),
                    port,
                    shape: vec![log2_steps.len()],
                    role: ParamRole::Trained,
                    is_scale: true,
                    range: start..state.trained.len(),
                });
            }
        }
        Ok(state)
    }

    /// The ways in which training goes beyond the parameters of the graph.
    pub fn learning(&self) -> &Learning {
        &self.learning
    }

    /// The norms that training folds into rounded weights.
    pub(crate) fn folded_norms(&self, mode: Mode) -> &[FoldedNorm] {
        match mode {
            Mode::Train => &self.folded_norms,
            Mode::Eval => &[],
        }
    }

    /// The number of trained values in front of the learned scales.
    pub(crate) fn weights_len(&self) -> usize {
        self.weights
    }

    /// Lets optimisers change low-rank adapters and learned scales only: the parameters of all other nodes of the graph stay
    /// as they are.
    pub fn freeze_base(&mut self, graph: &Graph) {
        let is_adapter = |entry: &&ParamEntry| {
            let is_weight = entry.role == ParamRole::Trained && !entry.is_scale;
            is_weight && graph.node(entry.node).is_adapter()
        };
        let adapters = self.entries.iter().filter(is_adapter);
        self.trainable = adapters.map(|entry| entry.range.clone()).collect();
        self.base_is_frozen = true;
    }

    /// True after [`State::freeze_base`].
    pub fn base_is_frozen(&self) -> bool {
        self.base_is_frozen
    }

    /// The number of parameters that an optimiser changes.
    pub fn trainable_len(&self) -> usize {
        let weights: usize = self.trainable.iter().map(Range::len).sum();
        weights + self.trained.len() - self.weights
    }

    /// The ranges in front of the learned scales that an optimiser changes.
    pub(crate) fn trainable(&self) -> &[Range<usize>] {
        &self.trainable
    }

    /// The place of a port's learned scales, and the number of elements that they belong to: those of a parameter, or of
    /// one sample's first axis where that is not known.
    pub(crate) fn scale(&self, node: NodeId, port: &str) -> Option<(Range<usize>, usize)> {
        let is_it = |e: &&ParamEntry| e.is_scale && e.node == node && e.port == port;
        let entry = self.entries.iter().find(is_it)?;
        let elements = self.entry(node, port).map_or(1, |own| own.range.len());
        Some((entry.range.clone(), elements))
    }

    /// Writes all values back beside the nodes of the graph they came from, and learned scales into their formats.
    pub fn write_to(&self, graph: &mut Graph) {
        for entry in &self.entries {
            let (node, values) = (graph.node_mut(entry.node), self.values(entry));
            if entry.is_scale {
                if let Some(format) = node.formats.get_mut(&entry.port) {
                    *format = learned_format(format, self.learning.scales, values);
                }
            } else if let Some(tensor) = Tensor::new(entry.shape.clone(), values.to_vec()) {
                node.params.insert(entry.port.clone(), tensor);
            }
        }
    }

    /// Removes the parameters of the graph it came from, whose values it holds.
    pub(crate) fn remove_from(&self, graph: &mut Graph) {
        for entry in self.entries.iter().filter(|entry| !entry.is_scale) {
            graph.node_mut(entry.node).params.remove(&entry.port);
        }
    }

    /// Every parameter and buffer by its dotted name, in execution order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[f32])> {
        self.entries
            .iter()
            .map(|entry| (entry.path.as_str(), self.values(entry)))
    }

    /// The learned scales by their dotted names, as base-two logarithms of steps.
    pub fn scales(&self) -> impl Iterator<Item = (&str, &[f32])> {
        let scales = self.entries.iter().filter(|entry| entry.is_scale);
        scales.map(|entry| (entry.path.as_str(), self.values(entry)))
    }

    /// The number of trained parameters.
    pub fn trained_len(&self) -> usize {
        self.trained.len()
    }

    /// Changes trained parameters in place, but for those that are masked; plans prepare their weights anew.
    pub fn change_trained(&mut self, change: impl FnOnce(&mut [f32])) {
        change(&mut self.trained);
        self.end_change();
    }

    /// Sets every parameter and buffer from its dotted name; `None`, with nothing changed, when one is missing or has
    /// another length.
    pub fn load_named<'a>(&mut self, find: impl Fn(&str) -> Option<&'a [f32]>) -> Option<()> {
        let found = self.entries.iter().map(|entry| {
            let values = find(&entry.path)?;
            (values.len() == entry.range.len()).then_some((entry.role, entry.range.clone(), values))
        });
        for (role, range, values) in found.collect::<Option<Vec<_>>>()? {
            self.store_mut(role)[range].copy_from_slice(values);
        }
        self.end_change();
        Some(())
    }

    /// After a change of trained parameters: what is masked is zero again, and plans prepare anew.
    pub(crate) fn end_change(&mut self) {
        zero_masked(&self.masks, &mut self.trained);
        self.version += 1;
    }

    /// Zero at every masked place of an array laid out as the trained parameters.
    pub(crate) fn zero_masked(&self, flat: &mut [f32]) {
        zero_masked(&self.masks, flat);
    }

    /// Lays out named arrays as the trained parameters, the inverse of [`State::name_trained`].
    pub fn flatten_trained<'a>(
        &self,
        find: impl Fn(&str) -> Option<&'a [f32]>,
    ) -> Option<Vec<f32>> {
        let mut flat = Vec::with_capacity(self.trained.len());
        for entry in self.entries.iter().filter(|e| e.role == ParamRole::Trained) {
            let values = find(&entry.path)?;
            if values.len() != entry.range.len() {
                return None;
            }
            flat.extend_from_slice(values);
        }
        Some(flat)
    }

    /// Cuts an array laid out as the trained parameters, such as a gradient, into named tensors.
    pub fn name_trained<'a>(&'a self, flat: &'a [f32]) -> impl Iterator<Item = (&'a str, Tensor)> {
        let trained = self.entries.iter().filter(|e| e.role == ParamRole::Trained);
        trained.filter_map(|entry| {
            let values = flat.get(entry.range.clone())?.to_vec();
            Some((
                entry.path.as_str(),
                Tensor::new(entry.shape.clone(), values)?,
            ))
        })
    }

    /// The range of a parameter or buffer; empty when the node has none of that name.
    pub(crate) fn range(&self, node: NodeId, port: &str) -> Range<usize> {
        let entry = self.entry(node, port);
        entry.map_or(0..0, |entry| entry.range.clone())
    }

    pub(crate) fn entry(&self, node: NodeId, port: &str) -> Option<&ParamEntry> {
        self.entries
            .iter()
            .find(|e| !e.is_scale && e.node == node && e.port == port)
    }

    fn values(&self, entry: &ParamEntry) -> &[f32] {
        let store = match entry.role {
            ParamRole::Trained => &self.trained,
            ParamRole::Buffer => &self.buffers,
        };
        &store[entry.range.clone()]
    }

    fn store_mut(&mut self, role: ParamRole) -> &mut Vec<f32> {
        match role {
            ParamRole::Trained => &mut self.trained,
            ParamRole::Buffer => &mut self.buffers,
        }
    }
}

/// Refuses a graph with operators of another program, and names the first of them.
///
/// # Errors
/// When the graph has one.
pub fn check_operators(verified: &Verified) -> Result<(), EngineError> {
    let opaque = verified
        .graph()
        .nodes()
        .iter()
        .filter_map(|node| match &node.op {
            Op::Opaque(op) => Some(format!("{} ({})", node.name, op.operator)),
            _ => None,
        });
    let opaque: Vec<String> = opaque.collect();
    let shown = opaque[..opaque.len().min(MAX_SHOWN)].join(", ");
    let nodes = match opaque.len() {
        0 => return Ok(()),
        1..=MAX_SHOWN => shown,
        n => format!("{shown} and {} more nodes", n - MAX_SHOWN),
    };
    Err(EngineError::Opaque { nodes })
}

/// Refuses a format that lacks the values of a stored field.
fn check_stored(node: &Node) -> Result<(), EngineError> {
    for (port, format) in &node.formats {
        for (field, array) in format.stored_fields() {
            if array.is_none() {
                return Err(EngineError::MissingParameter {
                    node: node.name.clone(),
                    op: node.op.name(),
                    port: format!("{port}_{field}"),
                });
            }
        }
    }
    Ok(())
}

/// A choice, not a product: it ends what is not a number too.
fn zero_masked(masks: &[(Range<usize>, Tensor)], flat: &mut [f32]) {
    for (range, mask) in masks {
        kernels::elementwise::zip_inplace(
            mask.values(),
            &mut flat[range.clone()],
            |keep, value| {
                if keep == 0.0 { 0.0 } else { value }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LearnScales;
    use ir::verify;

    const NET: &str = "graph \"net\" { x: f32[N, 3] = placeholder
        l = linear(x) { target = \"l\", in_features = 3, out_features = 2, weight: integer(8, 4) }
        n = batch_norm1d(l) { target = \"n\", num_features = 2 }
        return n }";

    /// A state with a masked weight and a learned scale.
    fn state() -> State {
        let mut graph = Graph::parse(NET).unwrap_or_else(|errors| panic!("{errors}"));
        graph.initialize(1);
        let l = graph.find("l").expect("a node");
        let mask = Tensor::new(vec![2, 3], vec![1.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
        let mask = mask.expect("a mask");
        let l = graph.node_mut(l);
        l.params.insert("weight".to_owned(), mask.clone());
        l.masks.insert("weight".to_owned(), mask);
        let verified = verify(&graph).unwrap_or_else(|error| panic!("{error}"));
        State::with_learning(&verified, LearnScales::PowerOfTwo.into()).expect("a state")
    }

    fn named(state: &State) -> Vec<(String, Vec<f32>)> {
        let all = state.iter();
        all.map(|(name, values)| (name.to_owned(), values.to_vec()))
            .collect()
    }

    #[test]
    fn parameters_come_in_the_order_of_the_graph_and_scales_behind_them() {
        let state = state();
        let sizes: Vec<(String, usize)> = named(&state)
            .into_iter()
            .map(|(name, values)| (name, values.len()))
            .collect();
        let own = |name: &str, len: usize| (name.to_owned(), len);
        assert_eq!(
            sizes,
            [
                own("l.weight", 6),
                own("l.bias", 2),
                own("n.weight", 2),
                own("n.bias", 2),
                own("n.running_mean", 2),
                own("n.running_var", 2),
                own("l.weight_log2_step", 1),
            ]
        );
        assert_eq!((state.weights_len(), state.trained_len()), (12, 13));
        assert_eq!(state.trainable_len(), 13);
        let scales: Vec<(&str, &[f32])> = state.scales().collect();
        // A step of 2^-4.
        assert_eq!(scales, [("l.weight_log2_step", &[-4.0][..])]);
    }

    #[test]
    fn an_array_is_cut_by_names_and_put_together_again() {
        let state = state();
        let flat: Vec<f32> = (0..13).map(|k| k as f32).collect();
        let parts: Vec<(&str, Tensor)> = state.name_trained(&flat).collect();
        let shapes: Vec<&[usize]> = parts.iter().map(|(_, tensor)| tensor.shape()).collect();
        assert_eq!(shapes, [&[2, 3][..], &[2], &[2], &[2], &[1]]);
        assert_eq!(parts[2].1.values(), [8.0, 9.0]);
        let find = |name: &str| {
            let part = parts.iter().find(|(own, _)| *own == name)?;
            Some(part.1.values())
        };
        assert_eq!(state.flatten_trained(find), Some(flat.clone()));
        let without = |name: &str| find(name).filter(|_| name != "n.bias");
        assert_eq!(state.flatten_trained(without), None);
        let short = |name: &str| find(name).map(|values| &values[..values.len().min(2)]);
        assert_eq!(state.flatten_trained(short), None);
    }

    #[test]
    fn all_values_are_loaded_by_name_or_none() {
        let mut state = state();
        let (before, version) = (named(&state), state.version);
        let loaded: Vec<(String, Vec<f32>)> = before
            .iter()
            .map(|(name, values)| (name.clone(), vec![7.0; values.len()]))
            .collect();
        let find = |name: &str| {
            let values = loaded.iter().find(|(own, _)| own == name)?;
            Some(values.1.as_slice())
        };
        let without = |name: &str| find(name).filter(|_| name != "n.running_var");
        assert_eq!(state.load_named(without), None);
        let short = |name: &str| find(name).map(|values| &values[1..]);
        assert_eq!(state.load_named(short), None);
        assert_eq!((named(&state), state.version), (before, version));
        assert_eq!(state.load_named(find), Some(()));
        assert!(state.version > version);
        let mut want = loaded.clone();
        // What is masked stays zero.
        want[0].1 = vec![7.0, 0.0, 7.0, 7.0, 7.0, 0.0];
        assert_eq!(named(&state), want);
        let version = state.version;
        state.change_trained(|trained| trained.fill(f32::NAN));
        assert!(state.version > version);
        let zeros: Vec<usize> = (0..13).filter(|&at| state.trained[at] == 0.0).collect();
        assert_eq!(zeros, [1, 5]);
    }
}
