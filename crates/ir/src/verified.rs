//! A graph that obeys every rule, with the types of all its values.

use crate::{BitOpRule, Cost, DType, Graph, MaseType, NodeId, Op, Operator, Type, Value, density};

/// The result of [`crate::verify`]: a borrowed graph and the type of every result. The engine and the hardware
/// generator take only this.
#[derive(Clone, Debug)]
pub struct Verified<'g> {
    graph: &'g Graph,
    types: Vec<Vec<Type>>,
}

impl<'g> Verified<'g> {
    /// `types` has the results of every node.
    pub(crate) fn new(graph: &'g Graph, types: Vec<Vec<Type>>) -> Self {
        Self { graph, types }
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> &Type {
        &self.types[value.node.index()][usize::from(value.output)]
    }

    /// The types of a node's results.
    pub fn outputs(&self, id: NodeId) -> &[Type] {
        &self.types[id.index()]
    }

    /// The types of a node's data inputs.
    pub fn input_types(&self, id: NodeId) -> Vec<Type> {
        let inputs = self.graph.node(id).inputs.iter();
        inputs.map(|&value| self.ty(value).clone()).collect()
    }

    /// The values that the graph returns.
    pub fn output_values(&self) -> &'g [Value] {
        self.graph
            .nodes()
            .last()
            .map_or(&[], |output| &output.inputs)
    }

    /// The inputs of the graph, in order.
    pub fn placeholders(&self) -> Vec<NodeId> {
        let nodes = self.graph.iter();
        nodes
            .filter(|(_, node)| matches!(node.op, Op::Placeholder(_)))
            .map(|(id, _)| id)
            .collect()
    }

    /// Values of one row, over all inputs.
    pub fn input_width(&self) -> usize {
        let inputs = self.placeholders().into_iter();
        let sizes = inputs.filter_map(|input| self.ty(input.into()).shape.bind(1));
        sizes.map(|sizes| sizes.iter().product::<usize>()).sum()
    }

    /// The exclusive upper bound of a placeholder's values: the size of the smallest table that they index, directly or
    /// through helpers that move elements. `None` for a placeholder that indexes none.
    pub fn index_bound(&self, placeholder: NodeId) -> Option<usize> {
        let mut carries = vec![false; self.graph.nodes().len()];
        let mut bound: Option<usize> = None;
        carries[placeholder.index()] = self.ty(placeholder.into()).dtype == DType::I64;
        for (id, node) in self.graph.iter() {
            let reads = |value: &Value| carries[value.node.index()];
            if !node.inputs.iter().any(reads) {
                continue;
            }
            let table = match &node.op {
                Op::Embedding(op) => Some(op.num_embeddings),
                Op::Gather(op) if node.inputs.get(1).is_some_and(reads) => {
                    let shape = &self.ty(node.inputs[0]).shape;
                    let axis = shape.axis(op.dim).ok();
                    axis.and_then(|axis| shape.0[axis].fixed())
                }
                _ => None,
            };
            bound = [bound, table].into_iter().flatten().min();
            carries[id.index()] = table.is_none() && moves_elements(&node.op);
        }
        bound
    }

    /// The cost of a node for a batch of this size; `None` when the batch is larger than memory could hold.
    pub fn cost(&self, id: NodeId, batch: usize) -> Option<Cost> {
        let bind = |types: &[Type]| {
            types
                .iter()
                .map(|ty| ty.shape.bind(batch))
                .collect::<Option<Vec<_>>>()
        };
        let (inputs, outputs) = (bind(&self.input_types(id))?, bind(self.outputs(id))?);
        let inputs: Vec<&[usize]> = inputs.iter().map(Vec::as_slice).collect();
        let outputs: Vec<&[usize]> = outputs.iter().map(Vec::as_slice).collect();
        Some(self.graph.node(id).op.cost(&inputs, &outputs))
    }

    /// The FLOPs of a node without those that its masks make superfluous. A product of two operands is needed where
    /// both masks keep it, and counts by the product of their densities, as if they were independent; everything else
    /// counts in full.
    pub fn effective_flops(&self, id: NodeId, batch: usize) -> Option<f64> {
        let (cost, node) = (self.cost(id, batch)?, self.graph.node(id));
        let is_one_product = cost.bit_ops == BitOpRule::Product && node.inputs.len() <= 2;
        let operands = ["data_in_0", "data_in_1", "weight"];
        let kept: f64 = operands.iter().map(|port| density(node, port)).product();
        Some(cost.flops as f64 * if is_one_product { kept } else { 1.0 })
    }
}

/// True for an operator whose results are elements of its inputs, unchanged.
fn moves_elements(op: &Op) -> bool {
    let is_helper = op.entry().mase_type == MaseType::ImplicitFunc;
    (is_helper && !matches!(op, Op::To(_) | Op::Pad(_))) || matches!(op, Op::Identity(_))
}
