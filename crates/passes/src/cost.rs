//! The cost of a node with the formats of its ports.

use crate::Context;
use config::Reader;
use format::Format;
use ir::{BitOpRule, FlopFormula, Node, NodeId, Op, ParamRole, RowFormat, Type, Verified};

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
    /// Nodes whose operations are not known, because their operators are those of another program.
    pub unknown: u64,
}

impl NodeCost {
    /// A number of operations in words that say what it leaves out.
    pub fn operations(&self, counted: impl Into<u128>) -> String {
        match (counted.into(), self.unknown) {
            (counted, 0) => counted.to_string(),
            (0, _) => "unknown".to_owned(),
            (counted, _) => format!("{counted} + unknown"),
        }
    }
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
        self.unknown += other.unknown;
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
        sizes.push(data_size(node, format!("data_in_{k}"), ty, batch)?);
    }
    for (name, shape, ..) in node.param_specs() {
        let format = node.formats.get(name);
        sizes.push(PortSize {
            elements: shape.iter().product(),
            bits: format.map_or(FLOAT_BITS, |format| format.bits(&shape)),
            port: name.to_owned(),
        });
    }
    for (k, ty) in verified.outputs(id).iter().enumerate() {
        sizes.push(data_size(node, format!("data_out_{k}"), ty, batch)?);
    }
    Some(sizes)
}

/// The size of a data port, whose scales stay within the rows of the batch.
fn data_size(node: &Node, port: String, ty: &Type, batch: usize) -> Option<PortSize> {
    let bits = match node.formats.get(&port) {
        None => FLOAT_BITS,
        Some(format) => {
            let RowFormat { format, shape } = RowFormat::of(format, &ty.shape, batch)?;
            format.bits(&shape)
        }
    };
    let elements = ty.shape.bind(batch)?.iter().product();
    Some(PortSize {
        port,
        elements,
        bits,
    })
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
        unknown: u64::from(cost.formula == FlopFormula::Unknown),
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

/// The place of a formula where none is known.
const UNKNOWN: &str = "unknown: the operator is opaque";

/// The formula of a node's floating-point operations with its numbers: `4·N_in = 4·128 = 512`.
pub fn explain_flops(verified: &Verified, id: NodeId, batch: usize) -> Option<String> {
    let node = verified.graph().node(id);
    let cost = verified.cost(id, batch)?;
    let counted = cost.flops;
    let elements = |port: &str| {
        let sizes = port_sizes(verified, id, batch)?;
        sizes
            .into_iter()
            .find(|size| size.port == port)
            .map(|size| size.elements)
    };
    let n_in = elements("data_in_0").unwrap_or(0);
    let n_out = elements("data_out_0").unwrap_or(0);
    let formula = match cost.formula {
        FlopFormula::Free => return Some("0".to_owned()),
        FlopFormula::Unknown => return Some(UNKNOWN.to_owned()),
        FlopFormula::PerInput(1) => "N_in".to_owned(),
        FlopFormula::PerInput(factor) => format!("{factor}·N_in = {factor}·{n_in}"),
        FlopFormula::PerResult if n_out == n_in => "N_in".to_owned(),
        FlopFormula::PerResult => "N_out".to_owned(),
        FlopFormula::PerResultTimes(quantity) => {
            let each = counted as usize / n_out.max(1);
            format!("N_out·{quantity} = {n_out}·{each}")
        }
        FlopFormula::Weights {
            in_features,
            out_features,
        } => {
            let weight = in_features * out_features;
            format!("numel(weight)·(N_in/in_features) = {weight}·({n_in}/{in_features})")
        }
        FlopFormula::Attention => "q·kᵀ, scale, softmax and p·v".to_owned(),
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
    if cost.formula == FlopFormula::Unknown {
        return Some(UNKNOWN.to_owned());
    }
    if count == 0 {
        return Some("0".to_owned());
    }
    let total = cost.bit_operations(data_in, weight, bias).round();
    Some(match cost.bit_ops {
        BitOpRule::Product => {
            let (macs, others) = (cost.macs, count - cost.macs);
            let terms = |others: &str, numbers: &str| {
                format!(
                    "C·(b_in·b_w + max(b_bias, b_in)){others} = {macs}·({data_in}·{weight} + max({bias}, {data_in})){numbers} = {total}"
                )
            };
            if others == 0 {
                terms("", "")
            } else {
                terms(" + E·b_in", &format!(" + {others}·{data_in}"))
            }
        }
        BitOpRule::Elementwise => format!("C·b_in = {count}·{data_in} = {total}"),
        BitOpRule::Square => format!("C·b_in² = {count}·{data_in}² = {total}"),
    })
}

fn trained_parameters(node: &Node) -> u64 {
    let trained = node
        .param_specs()
        .into_iter()
        .filter(|(.., role)| *role == ParamRole::Trained);
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

/// Elements of several ports and their bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortBits {
    /// Number of elements.
    pub elements: u64,
    /// Bits of all elements together.
    pub bits: f64,
}

impl PortBits {
    /// Bits of an element; those of a float where there is none.
    pub fn mean(&self) -> f64 {
        match self.elements {
            0 => FLOAT_BITS,
            elements => self.bits / elements as f64,
        }
    }
}

impl std::ops::AddAssign for PortBits {
    fn add_assign(&mut self, other: Self) {
        self.elements += other.elements;
        self.bits += other.bits;
    }
}

/// The bits of a node by what they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeBits {
    /// The `weight` of a layer that multiplies or looks up; norms scale, they have no such weight.
    pub layer_weights: PortBits,
    /// All trained parameters: weights, biases, scales and shifts.
    pub parameters: PortBits,
    /// The data inputs.
    pub activations: PortBits,
}

impl std::ops::AddAssign for NodeBits {
    fn add_assign(&mut self, other: Self) {
        self.layer_weights += other.layer_weights;
        self.parameters += other.parameters;
        self.activations += other.activations;
    }
}

/// The bits of a node for a batch. `None` when the batch is larger than memory could hold.
pub fn node_bits(verified: &Verified, id: NodeId, batch: usize) -> Option<NodeBits> {
    let node = verified.graph().node(id);
    let mut sum = NodeBits::default();
    if matches!(node.op, Op::Placeholder(_) | Op::Output(_)) {
        return Some(sum);
    }
    let is_layer = matches!(
        node.op,
        Op::Linear(_) | Op::Conv1d(_) | Op::Conv2d(_) | Op::Embedding(_)
    );
    let specs = node.param_specs();
    let is_trained = |port: &str| {
        let mut specs = specs.iter();
        specs.any(|(name, .., role)| *name == port && *role == ParamRole::Trained)
    };
    for size in port_sizes(verified, id, batch)? {
        let bits = PortBits {
            elements: size.elements as u64,
            bits: size.bits * size.elements as f64,
        };
        if size.port.starts_with("data_in_") {
            sum.activations += bits;
        } else if is_trained(&size.port) {
            sum.parameters += bits;
            if is_layer && size.port == "weight" {
                sum.layer_weights += bits;
            }
        }
    }
    Some(sum)
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

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{Graph, verify};

    /// The formulas of the last node before the result, for a batch of 2.
    fn formulas(statements: &str) -> [String; 2] {
        let text = format!("graph \"g\" {{ x: f32[N, 2, 8] = placeholder {statements} return y }}");
        let graph = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        let verified = verify(&graph).unwrap_or_else(|error| panic!("{error}"));
        let id = graph.find("y").unwrap_or_else(|| panic!("no y in {text}"));
        [explain_flops, explain_bit_ops]
            .map(|explain| explain(&verified, id, 2).unwrap_or_default())
    }

    #[test]
    fn formulas_are_shown_with_their_numbers() {
        let linear = "{ in_features = 8, out_features = 3";
        let product = "C·(b_in·b_w + max(b_bias, b_in))";
        for (statements, flops, bit_ops) in [
            (
                format!("y = linear(x) {linear} }}"),
                "numel(weight)·(N_in/in_features) = 24·(32/8) = 96".to_owned(),
                format!("{product} = 96·(32·32 + max(32, 32)) = 101376"),
            ),
            (
                format!(
                    "y = linear(x: integer(8, 4)) {linear}, weight: integer(4, 2), bias: integer(16, 4) }}"
                ),
                "numel(weight)·(N_in/in_features) = 24·(32/8) = 96, of which 0 in float: the data input has a format"
                    .to_owned(),
                format!("{product} = 96·(8·4 + max(16, 8)) = 4608"),
            ),
            (
                "y = conv1d(x) { in_channels = 2, out_channels = 3, kernel_size = [3], bias = false }".to_owned(),
                "N_out·(C_in/groups)·kernel = 36·6 = 216".to_owned(),
                format!("{product} = 216·(32·32 + max(0, 32)) = 228096"),
            ),
            (
                "y = batch_norm1d(x) { num_features = 2 }".to_owned(),
                "4·N_in = 4·32 = 128".to_owned(),
                "C·b_in² = 128·32² = 131072".to_owned(),
            ),
            (
                "y = relu(x)".to_owned(),
                "N_in = 32".to_owned(),
                "C·b_in = 32·32 = 1024".to_owned(),
            ),
            (
                "y = mean(x) { dim = [1] }".to_owned(),
                "N_in = 32".to_owned(),
                "C·b_in = 32·32 = 1024".to_owned(),
            ),
            ("y = transpose(x) { dim0 = 1, dim1 = 2 }".to_owned(), "0".to_owned(), "0".to_owned()),
        ] {
            assert_eq!(formulas(&statements), [flops, bit_ops], "{statements}");
        }
    }

    #[test]
    fn operations_that_are_not_known_are_named_beside_those_that_are() {
        let cost = |unknown| NodeCost {
            unknown,
            ..NodeCost::default()
        };
        assert_eq!(cost(0).operations(7_u64), "7");
        assert_eq!(cost(0).operations(0_u64), "0");
        assert_eq!(cost(2).operations(0_u64), "unknown");
        assert_eq!(cost(2).operations(7_u64), "7 + unknown");
    }

    #[test]
    fn the_bits_of_a_node_are_summed_by_what_they_hold() {
        let text = "graph \"g\" { x: f32[N, 4] = placeholder
            l = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(4, 2) }
            n = batch_norm1d(l) { num_features = 3 }
            return n }";
        let graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        let verified = verify(&graph).unwrap_or_else(|error| panic!("{error}"));
        let bits = |node: u32| node_bits(&verified, NodeId(node), 2).unwrap_or_default();
        let of = |elements: u64, bits: f64| PortBits { elements, bits };
        let layer = NodeBits {
            layer_weights: of(12, 48.0),
            parameters: of(15, 48.0 + 96.0),
            activations: of(8, 64.0),
        };
        // The running mean and variance are not trained.
        let norm = NodeBits {
            layer_weights: of(0, 0.0),
            parameters: of(6, 192.0),
            activations: of(6, 192.0),
        };
        assert_eq!(
            [0, 1, 2, 3].map(bits),
            [NodeBits::default(), layer, norm, NodeBits::default()]
        );
        let mut sum = layer;
        sum += norm;
        assert_eq!(
            [sum.parameters, sum.activations],
            [of(21, 336.0), of(14, 256.0)]
        );
        assert_eq!(
            [sum.parameters.mean(), of(0, 0.0).mean()],
            [16.0, FLOAT_BITS]
        );
    }

    #[test]
    fn formats_come_in_the_order_of_the_ports() {
        let text = "graph \"g\" { x: f32[N, 4] = placeholder
            l = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, bias: integer(6, 2),
                weight: integer(4, 2), data_out_0: integer(9, 3) }
            return l }";
        let graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        let ports: Vec<&String> = formats(&graph.nodes()[1])
            .into_iter()
            .map(|(port, _)| port)
            .collect();
        assert_eq!(ports, ["data_in_0", "weight", "bias", "data_out_0"]);
    }

    #[test]
    fn costs_are_summed_part_by_part() {
        let cost = |of: u64| NodeCost {
            parameters: of,
            flops: of + 1,
            macs: of + 2,
            bit_ops: (of + 3).into(),
            weight_bits: (of + 4).into(),
            activation_bits: (of + 5).into(),
            moved_bits: (of + 6).into(),
            unknown: of + 7,
        };
        let mut sum = cost(10);
        sum += cost(100);
        let wanted = NodeCost {
            parameters: 110,
            flops: 112,
            macs: 114,
            bit_ops: 116,
            weight_bits: 118,
            activation_bits: 120,
            moved_bits: 122,
            unknown: 124,
        };
        assert_eq!(sum, wanted);
    }
}
