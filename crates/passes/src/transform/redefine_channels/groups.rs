//! Layers whose numbers of channels change together, and the graph with other numbers.

use super::axes::{Axes, ChannelAxes, is_depthwise};
use super::unknowns::Unknown;
use crate::PassError;
use ir::ops::conv::Conv;
use ir::ops::reshape::AxisSize;
use ir::{Graph, Node, NodeId, Op, Verified};

/// The layers of a graph, grouped by what must have the same multiplier.
#[derive(Clone, Debug)]
pub struct ChannelGroups {
    axes: ChannelAxes,
    /// In execution order of their first layers.
    pub groups: Vec<ChannelGroup>,
}

/// Layers whose outputs are multiplied together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelGroup {
    /// In execution order.
    pub layers: Vec<NodeId>,
    /// The reason why their outputs cannot change.
    pub fixed: Option<String>,
    /// The names of the nodes that join them.
    pub joined_by: Vec<String>,
    root: usize,
}

impl ChannelGroups {
    /// Finds the groups.
    pub fn new(verified: &Verified) -> Self {
        let axes = ChannelAxes::new(verified);
        let mut groups: Vec<ChannelGroup> = Vec::new();
        for (&layer, &unknown) in &axes.layers {
            let root = axes.unknowns.root(unknown);
            match groups.iter_mut().find(|group| group.root == root) {
                Some(group) => group.layers.push(layer),
                None => groups.push(ChannelGroup {
                    layers: vec![layer],
                    fixed: axes.unknowns.fixed(root).map(str::to_owned),
                    joined_by: axes.unknowns.joined_by(root).to_vec(),
                    root,
                }),
            }
        }
        Self { axes, groups }
    }

    /// The group of a layer; none for nodes that are no layers.
    pub fn of(&self, layer: NodeId) -> Option<usize> {
        let mut groups = self.groups.iter();
        groups.position(|group| group.layers.contains(&layer))
    }

    /// The graph with the outputs of each group multiplied, and all that follows from it. Nodes whose sizes change have
    /// no parameters, masks and statistics.
    pub fn resized(&self, graph: &Graph, multipliers: &[f64]) -> Result<Graph, PassError> {
        let resize = Resize {
            channels: self,
            multipliers,
        };
        let mut resized = graph.clone();
        for (id, node) in graph.iter() {
            let op = resize.op(id, node)?;
            let is_fed_otherwise = node.inputs.iter().any(|&value| {
                let mut axes = self.axes.of(value).iter();
                axes.any(|&axis| resize.factor(axis) != 1.0)
            });
            let changed = resized.node_mut(id);
            if is_fed_otherwise {
                changed.masks.retain(|port, _| !port.starts_with("data_in"));
                changed.statistics.clear();
            }
            // The starting values of a layer follow from all of its sizes.
            if op != node.op {
                changed.op = op;
                changed.params.clear();
                changed.masks.retain(|port, _| port.starts_with("data_in"));
                changed.statistics.clear();
            }
        }
        Ok(resized)
    }
}

struct Resize<'a> {
    channels: &'a ChannelGroups,
    multipliers: &'a [f64],
}

impl Resize<'_> {
    fn factor(&self, axis: Unknown) -> f64 {
        let root = axis.map(|index| self.channels.axes.unknowns.root(index));
        let groups = self.channels.groups.iter().zip(self.multipliers);
        let mut own = groups.filter(|(group, _)| Some(group.root) == root);
        own.next().map_or(1.0, |(_, &multiplier)| multiplier)
    }

    /// The operator with its new sizes. Those that are not named here have none; the verifier would find one that has.
    fn op(&self, id: NodeId, node: &Node) -> Result<Op, PassError> {
        let read = |k: usize| {
            node.inputs
                .get(k)
                .map(|&value| self.channels.axes.of(value))
        };
        let (Some(input), false) = (read(0), matches!(node.op, Op::Output(_))) else {
            return Ok(node.op.clone());
        };
        let output = self.channels.axes.of(id.into());
        let last = |axes: &Axes| axes.last().copied().flatten();
        let mut op = node.op.clone();
        match &mut op {
            Op::Linear(op) => {
                op.in_features = self.size(node, op.in_features, last(input))?;
                op.out_features = self.size(node, op.out_features, last(output))?;
            }
            Op::Conv1d(op) => self.conv(node, op, input[1], output[1])?,
            Op::Conv2d(op) => self.conv(node, op, input[1], output[1])?,
            Op::BatchNorm1d(op) => op.num_features = self.size(node, op.num_features, input[1])?,
            Op::BatchNorm2d(op) => op.num_features = self.size(node, op.num_features, input[1])?,
            Op::LayerNorm(op) => {
                let axes = &input[input.len() - op.normalized_shape.len()..];
                for (size, &axis) in op.normalized_shape.iter_mut().zip(axes) {
                    *size = self.size(node, *size, axis)?;
                }
            }
            Op::View(op) => self.axis_sizes(node, &mut op.shape, output)?,
            Op::Reshape(op) => self.axis_sizes(node, &mut op.shape, output)?,
            _ => {}
        }
        Ok(op)
    }

    fn conv<const K: usize>(
        &self,
        node: &Node,
        op: &mut Conv<K>,
        input: Unknown,
        output: Unknown,
    ) -> Result<(), PassError> {
        if is_depthwise(op) {
            op.groups = self.size(node, op.groups, input)?;
        }
        op.in_channels = self.size(node, op.in_channels, input)?;
        op.out_channels = self.size(node, op.out_channels, output)?;
        let (i, o, groups) = (op.in_channels, op.out_channels, op.groups);
        if i.is_multiple_of(groups) && o.is_multiple_of(groups) {
            return Ok(());
        }
        let message = format!(
            "its {groups} groups do not divide {i} input and {o} output channels; use other multipliers"
        );
        Err(PassError::node(node, message))
    }

    fn axis_sizes(
        &self,
        node: &Node,
        sizes: &mut [AxisSize],
        axes: &Axes,
    ) -> Result<(), PassError> {
        for (size, &axis) in sizes.iter_mut().zip(axes) {
            if let AxisSize::Dim(dim) = size {
                dim.factor = self.size(node, dim.factor, axis)?;
            }
        }
        Ok(())
    }

    /// A size times the multiplier of its channels.
    fn size(&self, node: &Node, size: usize, axis: Unknown) -> Result<usize, PassError> {
        let factor = self.factor(axis);
        let wanted = size as f64 * factor;
        let whole = wanted.round();
        if (wanted - whole).abs() > 1e-6 || whole < 1.0 {
            let message = format!(
                "channel_multiplier {factor} makes {wanted} of {size} channels; choose one that gives a whole number"
            );
            return Err(PassError::node(node, message));
        }
        Ok(whole as usize)
    }
}
