//! Costs of a graph by node: a trial adds up what its nodes cost.

use ir::{Graph, NodeId, Op, ParamRole, Verified, verify};
use passes::PassError;
use passes::cost::{NodeCost, node_cost, port_sizes};

/// The contribution of some nodes to the costs of a graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    node: NodeCost,
    /// Bits and number of the weights of layers.
    weight_bits: f64,
    weights: f64,
}

impl Costs {
    /// The costs of one node for one row.
    pub(super) fn of(verified: &Verified, id: NodeId) -> Self {
        let node = node_cost(verified, id, 1).unwrap_or_default();
        let (weight_bits, weights) = layer_weights(verified, id);
        Self {
            node,
            weight_bits,
            weights,
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.node += other.node;
        self.weight_bits += other.weight_bits;
        self.weights += other.weights;
    }

    /// The costs of all nodes of a graph.
    pub(crate) fn of_graph(graph: &Graph) -> Result<Self, PassError> {
        Ok(Self::of_others(graph, &verify(graph)?, &[]))
    }

    /// The sum over all nodes but some.
    pub(super) fn of_others(graph: &Graph, verified: &Verified, searched: &[NodeId]) -> Self {
        let mut sum = Self::default();
        for (id, _) in graph.iter().filter(|(id, _)| !searched.contains(id)) {
            sum.add(&Self::of(verified, id));
        }
        sum
    }

    /// Bits of a layer's weight on average; 32 when there are no layers.
    pub fn average_bitwidth(&self) -> f64 {
        if self.weights == 0.0 {
            32.0
        } else {
            self.weight_bits / self.weights
        }
    }

    /// Floating-point operations for one row.
    pub fn flops(&self) -> f64 {
        self.node.flops as f64
    }

    /// Bit operations for one row.
    pub fn bitops(&self) -> f64 {
        self.node.bit_ops as f64
    }

    /// Bytes of all parameters and buffers.
    pub fn model_size(&self) -> f64 {
        self.node.weight_bits.div_ceil(8) as f64
    }
}

/// Bits and number of the `weight` of a layer that multiplies or looks up; norms scale, they have no such weight.
fn layer_weights(verified: &Verified, id: NodeId) -> (f64, f64) {
    let node = verified.graph().node(id);
    if !matches!(
        node.op,
        Op::Linear(_) | Op::Conv1d(_) | Op::Conv2d(_) | Op::Embedding(_)
    ) {
        return (0.0, 0.0);
    }
    let is_weight = |port: &str| {
        let specs = node.param_specs();
        port == "weight"
            && specs
                .iter()
                .any(|(name, .., role)| *name == port && *role == ParamRole::Trained)
    };
    let sizes = port_sizes(verified, id, 1).unwrap_or_default();
    let weights = sizes.iter().filter(|size| is_weight(&size.port));
    weights.fold((0.0, 0.0), |(bits, count), size| {
        (
            bits + size.bits * size.elements as f64,
            count + size.elements as f64,
        )
    })
}
