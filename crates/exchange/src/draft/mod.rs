//! A graph that grows while a file of another program is read: nodes with the types of their results, and names.

mod names;

pub use names::Names;

use crate::constant::{Array, Refusal, Size, check_rank};
use crate::onnx::grid::Grid;
use ir::{Graph, Node, NodeId, Op, Operator, Type, Value};
use serde_json::Value as Json;

/// A parameter for a node: its port, its values, and the name that the file gives it.
pub struct Param {
    /// The port.
    pub port: &'static str,
    /// The values.
    pub array: Array,
    /// The name in the file; empty for what was evaluated.
    pub path: String,
    /// The grid on which the file stores it.
    pub grid: Option<Grid>,
}

impl Param {
    /// Gives the values one axis, along which their places then lie.
    pub fn flatten(&mut self) -> Result<(), Refusal> {
        let len = self.array.values.len();
        self.array = self.array.reshaped(vec![len])?;
        if let Some(grid) = &mut self.grid {
            grid.axis = grid.axis.map(|_| 0);
            if grid.blocks.take().is_some() {
                self.grid = None;
            }
        }
        Ok(())
    }
}

/// The nodes so far.
#[derive(Default)]
pub struct Draft {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The types of their results.
    pub types: Vec<Vec<Type>>,
    /// The names that are taken.
    pub names: Names,
}

impl Draft {
    /// Appends a node whose results have these types, and returns the first of them.
    pub fn append(&mut self, node: Node, types: Vec<Type>) -> Value {
        self.nodes.push(node);
        self.types.push(types);
        NodeId(self.nodes.len() as u32 - 1).into()
    }

    /// A named node without parameters, and the types of its results, if its operator accepts its inputs.
    pub fn begin(
        &mut self,
        base: &str,
        op: Op,
        inputs: &[Value],
        params: &[Param],
    ) -> Result<(Node, Vec<Type>), Refusal> {
        let types: Vec<Type> = inputs.iter().map(|&value| self.type_of(value)).collect();
        let results = op
            .infer(&types)
            .map_err(|error| Refusal::new(format!("{}: {error}", op.name())))?;
        let is_empty = |ty: &Type| ty.shape.0.iter().any(|dim| dim.factor == 0);
        if let Some(ty) = results.iter().find(|ty| is_empty(ty)) {
            return Err(Refusal::new(format!("its result {ty} is empty")));
        }
        let target = self.names.target(params);
        let node = Node::new(&self.names.fresh(base), &target, op, inputs);
        Ok((node, results))
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.types[value.node.index()][usize::from(value.output)].clone()
    }

    /// The number of results of the node of a value.
    pub fn n_results(&self, value: Value) -> usize {
        self.types[value.node.index()].len()
    }

    /// True when there are nodes from a place on besides stored tensors.
    pub fn has_steps(&self, from: usize) -> bool {
        self.nodes.iter().skip(from).any(is_step)
    }

    /// Gives the node at `to` the name of the first node from a place on that is no stored tensor, which takes the name of the other.
    pub fn swap_names(&mut self, from: usize, to: usize) {
        let first = (from..to).find(|&at| is_step(&self.nodes[at]));
        if let Some(first) = first {
            let (earlier, later) = self.nodes.split_at_mut(to);
            if let (Some(first), Some(last)) = (earlier.get_mut(first), later.first_mut()) {
                std::mem::swap(&mut first.name, &mut last.name);
            }
        }
    }

    /// Gives a node that is a layer of PyTorch and has no path of its own this one, unless another node has it.
    pub fn place(&mut self, node: usize, path: &str) {
        let node = &mut self.nodes[node];
        if node.target.is_empty() && ir::torch_class(&node.op).is_some() {
            node.target = self.names.stored(path);
        }
    }

    /// Removes the nodes from a place on.
    pub fn truncate(&mut self, mark: usize) {
        for node in self.nodes.drain(mark..) {
            self.names.release(&node.name, &node.target);
        }
        self.types.truncate(mark);
    }

    /// The graph of all nodes.
    pub fn into_graph(self, name: &str) -> Graph {
        let mut graph = Graph::new(name);
        for node in self.nodes {
            graph.push(node);
        }
        graph
    }
}

/// False for a stored tensor.
fn is_step(node: &Node) -> bool {
    !matches!(node.op, Op::Constant(_))
}

/// The operator of a graph with these attributes.
pub fn operator(name: &str, attributes: Json) -> Result<Op, Refusal> {
    let Json::Object(attributes) = attributes else {
        return Err(Refusal::new(format!("{name} takes attributes by name")));
    };
    let op = Op::from_attributes(name, attributes);
    let op = op.ok_or_else(|| Refusal::new(format!("a graph has no operator {name}")))?;
    op.map_err(|error| Refusal::new(format!("{name}: {error}")))
}

/// Sizes as attributes: numbers, multiples of the batch as text, −1 for what is left.
pub fn axis_sizes(sizes: &[Size]) -> Result<Json, Refusal> {
    check_rank(sizes.len())?;
    let axis = |size: &Size| match (size.factor, size.of_batch, size.dim()) {
        (-1, false, _) => Ok(Json::from(-1)),
        (1.., true, Some(dim)) => Ok(Json::from(dim.to_string())),
        (1.., false, _) => Ok(Json::from(size.factor)),
        _ => Err(Refusal::new(format!(
            "{} is no size of an axis",
            size.factor
        ))),
    };
    sizes.iter().map(axis).collect()
}
