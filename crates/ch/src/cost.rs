//! What a node costs with the formats its ports have.

use ir::{Node, NodeId, Op, Verified};

/// Bits of a value without a format.
const FLOAT_BITS: f64 = 32.0;

/// Counted operations of one node, or the sum over nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCost {
    /// Trained parameters.
    pub parameters: u64,
    /// Floating-point operations; 0 when the data input has a format, because nothing is float then.
    pub flops: u64,
    /// Bit operations, rounded to a whole number for formats with shared scales.
    pub bit_ops: u128,
}

impl std::ops::AddAssign for NodeCost {
    fn add_assign(&mut self, other: Self) {
        self.parameters = self.parameters.saturating_add(other.parameters);
        self.flops = self.flops.saturating_add(other.flops);
        self.bit_ops = self.bit_ops.saturating_add(other.bit_ops);
    }
}

/// The cost of a node for a batch; `None` when the batch is larger than memory could hold.
pub fn node_cost(verified: &Verified, id: NodeId, batch: usize) -> Option<NodeCost> {
    let node = verified.graph().node(id);
    let cost = verified.cost(id, batch)?;
    let inputs = verified.input_types(id);
    let data_bits = |k: usize| {
        let shape = inputs.get(k)?.shape.bind(batch)?;
        Some(port_bits(node, &format!("data_in_{k}"), &shape))
    };
    let specs = node.param_specs();
    let param_bits = |name: &str| {
        let (_, shape, ..) = specs.iter().find(|spec| spec.0 == name)?;
        Some(port_bits(node, name, shape))
    };
    let data_in = data_bits(0).unwrap_or(0.0);
    let weight = param_bits("weight").or_else(|| data_bits(1)).unwrap_or(0.0);
    let bias = param_bits("bias").unwrap_or(0.0);
    let is_float = !node.formats.contains_key("data_in_0");
    Some(NodeCost {
        parameters: trained_parameters(node),
        flops: if is_float { cost.flops } else { 0 },
        bit_ops: cost.bit_operations(data_in, weight, bias).round() as u128,
    })
}

fn port_bits(node: &Node, port: &str, shape: &[usize]) -> f64 {
    node.formats
        .get(port)
        .map_or(FLOAT_BITS, |format| format.bits(shape))
}

fn trained_parameters(node: &Node) -> u64 {
    let trained = node
        .param_specs()
        .into_iter()
        .filter(|(.., role)| *role == ir::ParamRole::Trained);
    trained
        .map(|(_, shape, ..)| shape.iter().map(|&size| size as u64).product::<u64>())
        .sum()
}

/// How often each opcode of torch.fx occurs, in the order in which the labs print them.
pub fn overview(verified: &Verified) -> Vec<(&'static str, usize)> {
    let nodes = verified.graph().nodes();
    let count = |opcode| nodes.iter().filter(|node| node.fx_op() == opcode).count();
    ir::FxOp::TABLE
        .iter()
        .map(|&(opcode, name, _)| (name, count(opcode)))
        .collect()
}

/// The shapes that a node makes for a batch; those that the graph returns for its output.
pub fn shapes(verified: &Verified, id: NodeId, batch: usize) -> Option<Vec<Vec<usize>>> {
    let types = match verified.graph().node(id).op {
        Op::Output(_) => verified.input_types(id),
        _ => verified.outputs(id).to_vec(),
    };
    types.iter().map(|ty| ty.shape.bind(batch)).collect()
}
