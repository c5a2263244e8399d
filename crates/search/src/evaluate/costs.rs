//! Costs of a graph by node: a trial adds up what its nodes cost.

use super::netlist::Netlist;
use ir::{Graph, NodeId, Verified, verify};
use passes::PassError;
use passes::cost::{NodeCost, PortBits, node_bits, node_cost};

/// The contribution of some nodes to the costs of a graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    node: NodeCost,
    layer_weights: PortBits,
    /// Of the whole graph, where it was made.
    pub netlist: Netlist,
}

impl Costs {
    /// The costs of one node for one row.
    pub(super) fn of(verified: &Verified, id: NodeId) -> Self {
        let node = node_cost(verified, id, 1).unwrap_or_default();
        let bits = node_bits(verified, id, 1).unwrap_or_default();
        Self {
            node,
            layer_weights: bits.layer_weights,
            netlist: Netlist::default(),
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.node += other.node;
        self.layer_weights += other.layer_weights;
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
        self.layer_weights.mean()
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
