//! The cost of a node with the formats of its ports.

use crate::Context;
use config::Reader;
use format::Format;
use ir::{BitOpRule, Node, NodeId, Op, Verified};

/// Bits of a value without a format.
pub const FLOAT_BITS: f64 = 32.0;

/// The key `batch_size` of passes that count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchSize(Option<usize>);

impl BatchSize {
    /// Reads the key.
    pub fn read(reader: &mut Reader) -> Self {
        Self(reader.count("batch_size"))
    }

    /// The given size, or that of the run.
    pub fn or_that_of(self, context: &Context) -> usize {
        self.0.unwrap_or(context.batch_size)
    }
}

/// Counted operations and sizes of one node, or the sum over nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCost {
    /// Trained parameters.
    pub parameters: u64,
    /// Floating-point operations; 0 when the data input has a format, because nothing is float then.
    pub flops: u64,
    /// Multiply-accumulates, whatever the formats.
    pub macs: u64,
    /// Bit operations, rounded to a whole number for formats with shared scales.
    pub bit_ops: u128,
    /// Bits of all parameters and buffers.
    pub weight_bits: u128,
    /// Bits of all results.
    pub activation_bits: u128,
    /// Bits that are read and written: data inputs, parameters, results.
    pub moved_bits: u128,
}

impl std::ops::AddAssign for NodeCost {
    fn add_assign(&mut self, other: Self) {
        self.parameters = self.parameters.saturating_add(other.parameters);
        self.flops = self.flops.saturating_add(other.flops);
        self.macs = self.macs.saturating_add(other.macs);
        self.bit_ops = self.bit_ops.saturating_add(other.bit_ops);
        self.weight_bits = self.weight_bits.saturating_add(other.weight_bits);
        self.activation_bits = self.activation_bits.saturating_add(other.activation_bits);
        self.moved_bits = self.moved_bits.saturating_add(other.moved_bits);
    }
}

/// Elements of one port and the bits of each.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSize {
    /// `data_in_0`, `weight`, `data_out_0` …
    pub port: String,
    /// Number of elements.
    pub elements: usize,
    /// Bits of an element, shared scales spread over their elements.
    pub bits: f64,
}

impl PortSize {
    /// Bits of the whole port, rounded up.
    pub fn total_bits(&self) -> u128 {
        (self.elements as f64 * self.bits).ceil() as u128
    }
}

/// The sizes of a node's ports for a batch: data inputs, parameters and buffers, results. `None` when the batch is larger
/// than memory could hold.
pub fn port_sizes(verified: &Verified, id: NodeId, batch: usize) -> Option<Vec<PortSize>> {
    let node = verified.graph().node(id);
    let mut sizes = Vec::new();
    for (k, ty) in verified.input_types(id).iter().enumerate() {
        sizes.push(port_size(
            node,
            format!("data_in_{k}"),
            &ty.shape.bind(batch)?,
        ));
    }
    for (name, shape, ..) in node.param_specs() {
        sizes.push(port_size(node, name.to_owned(), &shape));
    }
    for (k, ty) in verified.outputs(id).iter().enumerate() {
        sizes.push(port_size(
            node,
            format!("data_out_{k}"),
            &ty.shape.bind(batch)?,
        ));
    }
    Some(sizes)
}

fn port_size(node: &Node, port: String, shape: &[usize]) -> PortSize {
    let format = node.formats.get(&port);
    PortSize {
        elements: shape.iter().product(),
        bits: format.map_or(FLOAT_BITS, |format| format.bits(shape)),
        port,
    }
}

/// The cost of a node for a batch; `None` when the batch is larger than memory could hold.
pub fn node_cost(verified: &Verified, id: NodeId, batch: usize) -> Option<NodeCost> {
    let node = verified.graph().node(id);
    let cost = verified.cost(id, batch)?;
    let sizes = port_sizes(verified, id, batch)?;
    let Widths {
        data_in,
        weight,
        bias,
    } = Widths::of(&sizes);
    let bits = |is_wanted: fn(&str) -> bool| {
        let wanted = sizes.iter().filter(|size| is_wanted(&size.port));
        wanted.map(PortSize::total_bits).sum::<u128>()
    };
    let moves = !matches!(node.op, Op::Placeholder(_) | Op::Output(_));
    let is_float = !node.formats.contains_key("data_in_0");
    Some(NodeCost {
        parameters: trained_parameters(node),
        flops: if is_float { cost.flops } else { 0 },
        macs: cost.macs,
        bit_ops: cost.bit_operations(data_in, weight, bias).round() as u128,
        weight_bits: bits(|port| !port.starts_with("data_")),
        activation_bits: if moves {
            bits(|port| port.starts_with("data_out_"))
        } else {
            0
        },
        moved_bits: if moves { bits(|_| true) } else { 0 },
    })
}

/// Bits of the operands that bit operations follow from.
struct Widths {
    data_in: f64,
    weight: f64,
    bias: f64,
}

impl Widths {
    fn of(sizes: &[PortSize]) -> Self {
        let bits = |port: &str| {
            sizes
                .iter()
                .find(|size| size.port == port)
                .map(|size| size.bits)
        };
        Self {
            data_in: bits("data_in_0").unwrap_or(0.0),
            weight: bits("weight").or_else(|| bits("data_in_1")).unwrap_or(0.0),
            bias: bits("bias").unwrap_or(0.0),
        }
    }
}

/// The formula of a node's floating-point operations with its numbers: `4·N_in = 4·128 = 512`.
pub fn explain_flops(verified: &Verified, id: NodeId, batch: usize) -> Option<String> {
    let node = verified.graph().node(id);
    let counted = verified.cost(id, batch)?.flops;
    let elements = |port: &str| {
        let sizes = port_sizes(verified, id, batch)?;
        sizes
            .into_iter()
            .find(|size| size.port == port)
            .map(|size| size.elements)
    };
    let n_in = elements("data_in_0").unwrap_or(0);
    let n_out = elements("data_out_0").unwrap_or(0);
    let formula = match &node.op {
        Op::Linear(op) => {
            let weight = op.in_features * op.out_features;
            format!(
                "numel(weight)·(N_in/in_features) = {weight}·({n_in}/{})",
                op.in_features
            )
        }
        Op::Conv1d(_) | Op::Conv2d(_) => {
            let per_output = counted as usize / n_out.max(1);
            format!("N_out·(C_in/groups)·kernel = {n_out}·{per_output}")
        }
        Op::BatchNorm1d(_) | Op::BatchNorm2d(_) => format!("4·N_in = 4·{n_in}"),
        Op::LayerNorm(_) => format!("5·N_in = 5·{n_in}"),
        Op::MaxPool1d(_) | Op::MaxPool2d(_) | Op::AvgPool1d(_) | Op::AvgPool2d(_) => {
            format!("N_out·window = {n_out}·{}", counted as usize / n_out.max(1))
        }
        Op::Matmul(_) | Op::Bmm(_) => {
            format!("N_out·k = {n_out}·{}", counted as usize / n_out.max(1))
        }
        Op::ScaledDotProductAttention(_) => "q·kᵀ and p·v".to_owned(),
        _ if counted == 0 => return Some("0".to_owned()),
        _ if counted == n_in as u64 => "N_in".to_owned(),
        _ => "N_out".to_owned(),
    };
    let total = if node.formats.contains_key("data_in_0") {
        format!("{counted}, of which 0 in float: the data input has a format")
    } else {
        counted.to_string()
    };
    Some(format!("{formula} = {total}"))
}

/// The formula of a node's bit operations with its numbers.
pub fn explain_bit_ops(verified: &Verified, id: NodeId, batch: usize) -> Option<String> {
    let cost = verified.cost(id, batch)?;
    let Widths {
        data_in,
        weight,
        bias,
    } = Widths::of(&port_sizes(verified, id, batch)?);
    let count = cost.flops;
    let total = cost.bit_operations(data_in, weight, bias).round();
    Some(match cost.bit_ops {
        _ if count == 0 => "0".to_owned(),
        BitOpRule::Product => format!(
            "C·(b_in·b_w + max(b_bias, b_in)) = {count}·({data_in}·{weight} + max({bias}, {data_in})) = {total}"
        ),
        BitOpRule::Elementwise => format!("C·b_in = {count}·{data_in} = {total}"),
        BitOpRule::Square => format!("C·b_in² = {count}·{data_in}² = {total}"),
    })
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

/// The number of nodes of each opcode of torch.fx, in the order in which the labs print them.
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

/// Average bits over the weights and over the activations of a graph, each weighted by its size. A node's activations are
/// its data inputs, because there they are rounded.
///
/// Differs from MASE: there integer(8, 4) counts as 12 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AverageBits {
    /// Bits per trained parameter.
    pub weight: f64,
    /// Bits per element of a data input.
    pub activation: f64,
    /// Number of trained parameters.
    pub weights: u64,
    /// Number of elements of data inputs.
    pub activations: u64,
}

/// The average bits of a graph for a batch.
pub fn average_bits(verified: &Verified, batch: usize) -> Option<AverageBits> {
    let (mut weight, mut activation) = ((0.0, 0_u64), (0.0, 0_u64));
    for (id, node) in verified.graph().iter() {
        if matches!(node.op, Op::Placeholder(_) | Op::Output(_)) {
            continue;
        }
        let is_buffer = |port: &str| {
            let specs = node.param_specs();
            specs
                .iter()
                .any(|(name, .., role)| *name == port && *role == ir::ParamRole::Buffer)
        };
        for size in port_sizes(verified, id, batch)? {
            let sum = if size.port.starts_with("data_in_") {
                &mut activation
            } else if size.port.starts_with("data_out_") || is_buffer(&size.port) {
                continue;
            } else {
                &mut weight
            };
            sum.0 += size.bits * size.elements as f64;
            sum.1 += size.elements as u64;
        }
    }
    let mean = |(bits, count): (f64, u64)| {
        if count == 0 {
            FLOAT_BITS
        } else {
            bits / count as f64
        }
    };
    Some(AverageBits {
        weight: mean(weight),
        activation: mean(activation),
        weights: weight.1,
        activations: activation.1,
    })
}

/// The formats of a node's ports in the order of the ports: data inputs, parameters, results.
pub fn formats(node: &Node) -> Vec<(&String, &Format)> {
    let place = |port: &str| match port {
        port if port.starts_with("data_in") => 0,
        "weight" => 1,
        port if port.starts_with("data_out") => 3,
        _ => 2,
    };
    let mut formats: Vec<_> = node.formats.iter().collect();
    formats.sort_by_key(|(port, _)| place(port));
    formats
}
