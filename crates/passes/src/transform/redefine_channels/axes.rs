//! The axes of every value of a graph: which of them are numbers of channels, followed from the layers downstream.

use super::unknowns::{Unknown, Unknowns};
use ir::ops::conv::Conv;
use ir::{Node, NodeId, Op, Shape, Type, Value, Verified};
use std::collections::BTreeMap;

/// One unknown for each axis of a value.
pub(super) type Axes = Vec<Unknown>;

/// The axes of all values.
#[derive(Clone, Debug)]
pub(super) struct ChannelAxes {
    pub unknowns: Unknowns,
    /// By node and result.
    results: Vec<Vec<Axes>>,
    /// The unknown that the outputs of a layer have.
    pub layers: BTreeMap<NodeId, usize>,
}

/// The inputs of a node.
pub(super) struct Inputs<'a> {
    pub node: &'a Node,
    pub axes: Vec<Axes>,
    pub shapes: Vec<Shape>,
}

impl ChannelAxes {
    /// Follows the channels of all layers through a graph.
    pub fn new(verified: &Verified) -> Self {
        let mut axes = Self {
            unknowns: Unknowns::default(),
            results: Vec::new(),
            layers: BTreeMap::new(),
        };
        for (id, _) in verified.graph().iter() {
            let results = axes.infer(verified, id);
            axes.results.push(results);
        }
        axes.join_shared_modules(verified);
        axes
    }

    /// The axes of a value.
    pub fn of(&self, value: Value) -> &Axes {
        &self.results[value.node.index()][usize::from(value.output)]
    }

    fn infer(&mut self, verified: &Verified, id: NodeId) -> Vec<Axes> {
        let node = verified.graph().node(id);
        let types = verified.input_types(id).into_iter();
        let inputs = Inputs {
            node,
            axes: node.inputs.iter().map(|&v| self.of(v).clone()).collect(),
            shapes: types.map(|ty| ty.shape).collect(),
        };
        match &node.op {
            Op::Placeholder(_) | Op::Constant(_) | Op::Embedding(_) => {
                let types = verified.outputs(id).iter();
                types.map(|ty| vec![None; ty.shape.rank()]).collect()
            }
            Op::Output(_) => {
                for axis in inputs.axes.into_iter().flatten() {
                    self.unknowns
                        .fix(axis, || "the network returns them".to_owned());
                }
                Vec::new()
            }
            // layers
            Op::Linear(_) => vec![self.linear(id, &inputs)],
            Op::Conv1d(op) => vec![self.conv(id, &inputs, op)],
            Op::Conv2d(op) => vec![self.conv(id, &inputs, op)],
            Op::MaxPool1d(_)
            | Op::MaxPool2d(_)
            | Op::AvgPool1d(_)
            | Op::AvgPool2d(_)
            | Op::AdaptiveAvgPool1d(_)
            | Op::AdaptiveAvgPool2d(_)
            | Op::AdaptiveMaxPool1d(_)
            | Op::AdaptiveMaxPool2d(_) => {
                self.fix_space(&inputs);
                inputs.axes
            }
            // several values
            Op::Add(_) | Op::Sub(_) | Op::Mul(_) | Op::Div(_) => vec![self.broadcast(&inputs)],
            Op::Matmul(_) | Op::Bmm(_) => vec![self.matmul(&inputs)],
            Op::ScaledDotProductAttention(_) => vec![self.attention(inputs)],
            Op::Cat(_) => vec![self.joined(&inputs)],
            // axes that move
            Op::Mean(op) => vec![super::moves::mean(op, &inputs)],
            Op::Transpose(op) => vec![super::moves::transpose(op, inputs)],
            Op::Permute(op) => vec![super::moves::permute(op, &inputs)],
            Op::Flatten(_) | Op::Reshape(_) | Op::View(_) => {
                vec![self.regroup(&inputs, &verified.outputs(id)[0].shape)]
            }
            Op::Chunk(op) => vec![self.chunk(op, inputs); verified.outputs(id).len()],
            Op::Getitem(op) => vec![self.getitem(op, &inputs)],
            _ => self.others(&inputs, verified.outputs(id)),
        }
    }

    /// Norms and activations keep the shape and so the axes. Of other operators nothing is known: what they read stays.
    fn others(&mut self, inputs: &Inputs, results: &[Type]) -> Vec<Axes> {
        let keeps_shape = |ty: &Type| inputs.shapes.len() == 1 && ty.shape == inputs.shapes[0];
        if results.iter().all(keeps_shape) {
            return vec![inputs.axes[0].clone(); results.len()];
        }
        for &axis in inputs.axes.iter().flatten() {
            self.unknowns
                .fix(axis, || format!("{} reads them", inputs.node.name));
        }
        let unchanged = |ty: &Type| vec![None; ty.shape.rank()];
        results.iter().map(unchanged).collect()
    }

    fn new_layer(&mut self, id: NodeId) -> usize {
        let unknown = self.unknowns.add();
        self.layers.insert(id, unknown);
        unknown
    }

    fn linear(&mut self, id: NodeId, inputs: &Inputs) -> Axes {
        let mut axes = inputs.axes[0].clone();
        axes.pop();
        axes.push(Some(self.new_layer(id)));
        axes
    }

    /// A depthwise layer has as many channels as it reads, or a multiple of them.
    fn conv<const K: usize>(&mut self, id: NodeId, inputs: &Inputs, op: &Conv<K>) -> Axes {
        self.fix_space(inputs);
        let mut axes = inputs.axes[0].clone();
        let own = Some(self.new_layer(id));
        if is_depthwise(op) {
            self.unknowns.join(axes[1], own, &inputs.node.name);
        }
        axes[1] = own;
        axes
    }

    /// Windows move over the axes of space: their sizes stay.
    fn fix_space(&mut self, inputs: &Inputs) {
        for &axis in inputs.axes[0].iter().skip(2) {
            self.unknowns.fix(axis, || {
                format!("{} moves its window over them", inputs.node.name)
            });
        }
    }

    fn joined(&mut self, inputs: &Inputs) -> Axes {
        let mut joined = inputs.axes[0].clone();
        for axes in &inputs.axes[1..] {
            self.join_all(&mut joined, axes, &inputs.node.name);
        }
        joined
    }

    fn join_all(&mut self, joined: &mut Axes, other: &Axes, name: &str) {
        for (axis, &other) in joined.iter_mut().zip(other) {
            *axis = self.unknowns.join(*axis, other, name);
        }
    }

    /// A module that is called twice has one weight.
    fn join_shared_modules(&mut self, verified: &Verified) {
        let graph = verified.graph();
        let mut first: BTreeMap<&str, NodeId> = BTreeMap::new();
        for (id, node) in graph.iter() {
            if node.target.is_empty() || node.param_specs().is_empty() {
                continue;
            }
            let known = *first.entry(&node.target).or_insert(id);
            if known == id {
                continue;
            }
            let values = graph.node(known).inputs.iter().zip(&node.inputs);
            let values = values.map(|(&a, &b)| (a, b));
            for (a, b) in values.chain([(known.into(), id.into())]) {
                if self.results[a.node.index()].is_empty() {
                    continue;
                }
                let (mut a, b) = (self.of(a).clone(), self.of(b).clone());
                self.join_all(&mut a, &b, &node.name);
            }
        }
    }
}

/// True for a convolution each of whose groups is one channel.
pub(super) fn is_depthwise<const K: usize>(op: &Conv<K>) -> bool {
    op.groups > 1 && op.groups == op.in_channels
}
