//! Graphs and nodes, and the edits that keep a graph in order.

use crate::mask::zero_masked;
use crate::{FxOp, Init, MaseType, Op, Operator, ParamRole, PortSpec, Tensor};
use format::Format;
use random::Random;
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, HashMap};

/// A node of a graph, by its place in execution order. Edits that insert or remove nodes renumber the later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The place as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One result of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value {
    /// The node that makes it.
    pub node: NodeId,
    /// The number of its result.
    pub output: u16,
}

impl From<NodeId> for Value {
    fn from(node: NodeId) -> Self {
        Self { node, output: 0 }
    }
}

/// One operator applied to earlier values.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique name, `seq_blocks_2`.
    pub name: String,
    /// The dotted path of the module, `seq_blocks.2`; empty for functions and methods.
    pub target: String,
    /// The operator.
    pub op: Op,
    /// The data inputs.
    pub inputs: Vec<Value>,
    /// Parameters and buffers by port name; missing until initialised or loaded.
    pub params: BTreeMap<String, Tensor>,
    /// Pruning masks by port name, tensors of zeros and ones: of a parameter in its shape, of a data input in the shape
    /// of one sample.
    pub masks: BTreeMap<String, Tensor>,
    /// Number formats by port name: `data_in_0`, `weight`, `data_out_0`, …
    pub formats: BTreeMap<String, Format>,
    /// The results of profiling: by port and by name of the statistic, its fields.
    pub statistics: BTreeMap<String, Map<String, Json>>,
}

impl Node {
    /// A node without parameters, masks, formats or statistics; `target` is empty for functions and methods.
    pub fn new(name: &str, target: &str, op: impl Into<Op>, inputs: &[Value]) -> Self {
        Self {
            name: name.to_owned(),
            target: target.to_owned(),
            op: op.into(),
            inputs: inputs.to_vec(),
            params: BTreeMap::new(),
            masks: BTreeMap::new(),
            formats: BTreeMap::new(),
            statistics: BTreeMap::new(),
        }
    }

    /// The opcode of torch.fx.
    pub fn fx_op(&self) -> FxOp {
        match self.op.entry().fx_op {
            FxOp::CallFunction | FxOp::CallMethod if !self.target.is_empty() => FxOp::CallModule,
            fx_op => fx_op,
        }
    }

    /// The class that MASE gives the node.
    pub fn mase_type(&self) -> MaseType {
        self.op.entry().mase_type
    }

    /// The dotted name of a parameter, `seq_blocks.2.weight`; a stored tensor is called by its target alone.
    pub fn param_path(&self, port: &str) -> String {
        let owner = if self.target.is_empty() {
            &self.name
        } else {
            &self.target
        };
        match self.op {
            Op::Constant(_) => owner.clone(),
            _ => format!("{owner}.{port}"),
        }
    }

    /// True for a layer of a low-rank adapter, which has the name that inserting adapters gives it.
    pub fn is_adapter(&self) -> bool {
        matches!(self.op, Op::Linear(_))
            && (self.name.ends_with("_lora_a") || self.name.ends_with("_lora_b"))
    }

    /// The names of the data inputs, in order.
    pub fn data_ports(&self) -> Vec<String> {
        (0..self.inputs.len())
            .map(|i| format!("data_in_{i}"))
            .collect()
    }

    /// The parameters the operator wants: name, shape, initialisation, role.
    pub fn param_specs(&self) -> Vec<(&'static str, Vec<usize>, Init, ParamRole)> {
        let ports = self.op.ports().into_iter();
        ports
            .filter_map(|port| match port {
                PortSpec::Param {
                    name,
                    shape,
                    init,
                    role,
                } => Some((name, shape, init, role)),
                _ => None,
            })
            .collect()
    }
}

/// A network: nodes in execution order, the last of which is the output.
///
/// ```
/// use ir::{Graph, ops};
///
/// let text = "graph \"rows\" { x: f32[N, 4] = placeholder y = relu(x) return y }";
/// let mut graph = Graph::parse(text)?;
/// let y = graph.find("y").expect("the text has a node y");
/// assert_eq!(graph.node(y).op.name(), "relu");
///
/// graph.node_mut(y).op = ops::activation::Sigmoid {}.into();
/// assert!(graph.to_string().contains("y = sigmoid(x)"));
/// assert_eq!(Graph::parse(&graph.to_string())?, graph);
/// # Ok::<(), ir::TextErrors>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The name of the graph.
    pub name: String,
    nodes: Vec<Node>,
}

/// An edit that would break the order of a graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The node is still used.
    #[error("cannot remove {node}: {user} uses it")]
    InUse {
        /// The node to remove.
        node: String,
        /// A node that reads it.
        user: String,
    },
}

impl Graph {
    /// An empty graph.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            nodes: Vec::new(),
        }
    }

    /// All nodes in execution order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All nodes with their ids, in execution order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> + ExactSizeIterator {
        self.nodes
            .iter()
            .enumerate()
            .map(|(i, node)| (NodeId(i as u32), node))
    }

    /// The node `id`.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The node `id`, for changing what does not affect the order.
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    /// The node with this name or this target.
    pub fn find(&self, name_or_target: &str) -> Option<NodeId> {
        let by_name = self.nodes.iter().position(|n| n.name == name_or_target);
        let found = by_name.or_else(|| {
            self.nodes
                .iter()
                .position(|n| n.target == name_or_target && !n.target.is_empty())
        });
        found.map(|i| NodeId(i as u32))
    }

    /// The nodes that read `value`, in execution order.
    pub fn users(&self, value: Value) -> Vec<NodeId> {
        self.iter()
            .filter(|(_, n)| n.inputs.contains(&value))
            .map(|(id, _)| id)
            .collect()
    }

    /// The number of nodes that read each value that is read.
    pub fn reader_counts(&self) -> HashMap<Value, usize> {
        let mut counts = HashMap::new();
        for node in &self.nodes {
            for (place, input) in node.inputs.iter().enumerate() {
                // A node that reads a value twice is one reader.
                if !node.inputs[..place].contains(input) {
                    *counts.entry(*input).or_insert(0) += 1;
                }
            }
        }
        counts
    }

    /// Appends a node.
    pub fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Inserts a node before `at`; `at` and all later nodes move up by one.
    pub fn insert(&mut self, at: NodeId, node: Node) -> NodeId {
        for input in self.nodes.iter_mut().flat_map(|n| &mut n.inputs) {
            if input.node >= at {
                input.node.0 += 1;
            }
        }
        self.nodes.insert(at.index(), node);
        at
    }

    /// Removes a node that nothing reads; all later nodes move down by one.
    pub fn remove(&mut self, id: NodeId) -> Result<Node, EditError> {
        let user = self
            .nodes
            .iter()
            .find(|n| n.inputs.iter().any(|v| v.node == id));
        if let Some(user) = user {
            return Err(EditError::InUse {
                node: self.node(id).name.clone(),
                user: user.name.clone(),
            });
        }
        for input in self.nodes.iter_mut().flat_map(|n| &mut n.inputs) {
            if input.node > id {
                input.node.0 -= 1;
            }
        }
        Ok(self.nodes.remove(id.index()))
    }

    /// Makes every reader of `old` that comes after `new` read `new` instead.
    pub fn replace_uses(&mut self, old: Value, new: Value) {
        let after = new.node.index() + 1;
        for input in self
            .nodes
            .iter_mut()
            .skip(after)
            .flat_map(|n| &mut n.inputs)
        {
            if *input == old {
                *input = new;
            }
        }
    }

    /// A name that no node has, made from `stem`.
    pub fn fresh_name(&self, stem: &str) -> String {
        let taken = |name: &str| self.nodes.iter().any(|n| n.name == name);
        let mut name = stem.to_owned();
        let mut i = 0;
        while taken(&name) {
            i += 1;
            name = format!("{stem}_{i}");
        }
        name
    }

    /// Gives every missing parameter its starting value, as PyTorch would, from a seed. Each parameter has a random
    /// stream of its own, so that adding a node does not change the others.
    pub fn initialize(&mut self, seed: u64) {
        for node in &mut self.nodes {
            for (name, shape, init, _) in node.param_specs() {
                if !node.params.contains_key(name) {
                    let random = Random::new(seed, &node.param_path(name));
                    let mut tensor = initial(shape, init, random);
                    if let Some(mask) = node.masks.get(name) {
                        zero_masked(&mut tensor, mask);
                    }
                    node.params.insert(name.to_owned(), tensor);
                }
            }
        }
    }

    /// The graph as its text form has it: without parameters, masks, values of stored fields and statistics.
    #[must_use]
    pub fn without_params(&self) -> Self {
        let mut graph = self.clone();
        for node in &mut graph.nodes {
            node.params.clear();
            node.masks.clear();
            node.statistics.clear();
            for format in node.formats.values_mut() {
                *format = format.without_stored();
            }
        }
        graph
    }

    /// Every parameter present, by its dotted name, in execution order.
    pub fn parameters(&self) -> impl Iterator<Item = (String, &Tensor)> {
        self.nodes.iter().flat_map(|node| {
            let specs = node.param_specs().into_iter();
            specs.filter_map(|(port, ..)| Some((node.param_path(port), node.params.get(port)?)))
        })
    }

    /// Every mask by its dotted name, in execution order, those of a node's parameters before those of its inputs.
    pub fn masks(&self) -> impl Iterator<Item = (String, &Tensor)> {
        self.nodes.iter().flat_map(|node| {
            let params = node.param_specs().into_iter().map(|spec| spec.0.to_owned());
            let ports = params.chain(node.data_ports());
            ports.filter_map(|port| Some((node.mask_path(&port), node.masks.get(&port)?)))
        })
    }

    /// The number of trained parameters, counted from the operators, present or not.
    pub fn trained_parameter_count(&self) -> usize {
        let numel = |shape: &[usize]| {
            shape
                .iter()
                .fold(1_usize, |n, &size| n.saturating_mul(size))
        };
        let specs = self.nodes.iter().flat_map(Node::param_specs);
        specs
            .filter(|(.., role)| *role == ParamRole::Trained)
            .fold(0, |sum, (_, shape, ..)| sum.saturating_add(numel(&shape)))
    }
}

fn initial(shape: Vec<usize>, init: Init, random: Random) -> Tensor {
    let (value, deviation, bound) = match init {
        Init::Zeros => (0.0, 0.0, 0.0),
        Init::Ones => (1.0, 0.0, 0.0),
        Init::Constant(value) => (value, 0.0, 0.0),
        Init::FanIn(fan_in) => (0.0, 0.0, 1.0 / (fan_in.max(1) as f32).sqrt()),
        Init::Normal(deviation) => (0.0, deviation, 0.0),
    };
    let mut tensor = Tensor::filled(shape, value);
    if bound != 0.0 || deviation != 0.0 {
        for (k, v) in tensor.values_mut().iter_mut().enumerate() {
            *v = match init {
                Init::Normal(_) => deviation * random.normal(k as u64),
                _ => bound * (2.0 * random.uniform(k as u64) - 1.0),
            };
        }
    }
    tensor
}
