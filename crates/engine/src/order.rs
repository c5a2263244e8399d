//! The order of axes in memory: which values of a graph lie as planes of channels and which as pixels of channels.
//!
//! * A convolution decides by its sizes: pixels where its channels fill vectors, planes where they are few or grouped. So
//!   does an average pool, whose sums have an order of their own. Neither asks its neighbours, so that a part of a graph
//!   computes the bits of the whole.
//! * An operator whose result does not depend on the order follows its inputs.
//! * A convolution that is computed on codes takes pixels, whatever its sizes: its sums are exact in any order.
//! * Every other operator takes and gives planes, and so does every node that masks its data, or rounds them by a format that
//!   follows the axes of the graph.
//!
//! Between a value and readers that want another order the schedule puts one change of order, for all of them together.

use crate::ops;
use crate::ops::coded::{Codes, terms};
use crate::options::PlanOptions;
use crate::state::State;
use format::Format;
use ir::{Node, NodeId, Op, Verified};
use kernels::conv::ConvShape;
use kernels::nhwc::NhwcConv;

/// The order of the axes of a value with a batch, channels and space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// `[image, channel, …space]`, as the graph has it.
    #[default]
    Planes,
    /// `[image, …space, channel]`.
    Pixels,
}

/// Channels that make pixels worth while: a vector of them.
const VECTOR: usize = 8;
/// Products of an output that pay for the pointers of its tile.
const TILE_DEPTH: usize = 16;

/// The order in which each node computes and gives its result.
pub(crate) fn choose(verified: &Verified, state: &State, options: &PlanOptions) -> Vec<Order> {
    let graph = verified.graph();
    let mut orders: Vec<Order> = Vec::with_capacity(graph.nodes().len());
    for (id, node) in graph.iter() {
        let order = match ops::order_stance(&node.op) {
            _ if needs_planes(node) => Order::Planes,
            Stance::Convolution => match shape(verified, id, node) {
                Some(shape) if is_coded(&shape, id, node, state, options) => Order::Pixels,
                Some(shape) if favors_pixels(&shape) => Order::Pixels,
                _ => Order::Planes,
            },
            Stance::Sum => by_channels(verified, id),
            Stance::Follower => follow(verified, id, node, &orders),
            Stance::Planes => Order::Planes,
        };
        orders.push(order);
    }
    orders
}

/// The part of an operator in the choice.
pub(crate) enum Stance {
    /// Chooses by the sizes of a convolution.
    Convolution,
    /// Chooses by the number of channels.
    Sum,
    /// Takes any order and gives the same.
    Follower,
    /// Takes and gives planes.
    Planes,
}

/// True when the treatment of a node's data follows the axes of the graph: masks, and formats that do not round every element
/// alike.
fn needs_planes(node: &Node) -> bool {
    let is_data = |port: &String| port.starts_with("data_");
    let by_axes = |format: &Format| !format.rounds_alone() || !format.stored_fields().is_empty();
    let mut formats = node.formats.iter();
    formats.any(|(port, format)| is_data(port) && by_axes(format)) || node.masks.keys().any(is_data)
}

/// True when a convolution is computed on codes.
fn is_coded(
    shape: &ConvShape,
    id: NodeId,
    node: &Node,
    state: &State,
    options: &PlanOptions,
) -> bool {
    let is_exact = || Codes::of(id, node, state, terms(shape)).is_some();
    options.may_use_bytes() && shape.groups == 1 && is_exact()
}

/// The shape of a node's first input for one row.
fn input_shape(verified: &Verified, id: NodeId) -> Vec<usize> {
    let types = verified.input_types(id);
    let bound = types.first().and_then(|ty| ty.shape.bind(1));
    bound.unwrap_or_default()
}

/// The sizes of a convolution.
fn shape(verified: &Verified, id: NodeId, node: &Node) -> Option<ConvShape> {
    let input = input_shape(verified, id);
    match &node.op {
        Op::Conv1d(op) => Some(ops::conv::shape1d(op, &input)),
        Op::Conv2d(op) => Some(ops::conv::shape2d(op, &input)),
        _ => None,
    }
}

/// True when the kernels for pixels are faster than those for planes: few channels leave vectors empty, and a short sum does
/// not pay for its pointers.
pub(crate) fn favors_pixels(s: &ConvShape) -> bool {
    let depth = s.in_channels * s.kernel[0] * s.kernel[1];
    // A source pixel of few channels is spelled out first, for many outputs.
    let outputs = if s.in_channels < VECTOR { 4 } else { 2 } * VECTOR;
    s.out_channels >= outputs && depth >= TILE_DEPTH && NhwcConv::takes(s)
}

fn by_channels(verified: &Verified, id: NodeId) -> Order {
    match input_shape(verified, id)[..] {
        [_, channels, _, ..] if channels >= 2 * VECTOR => Order::Pixels,
        _ => Order::Planes,
    }
}

/// Pixels when every input has them and the same shape.
fn follow(verified: &Verified, id: NodeId, node: &Node, orders: &[Order]) -> Order {
    let types = verified.input_types(id);
    let mut inputs = node.inputs.iter().zip(&types);
    let fits = inputs.all(|(value, ty)| {
        let is_pixels = value.output == 0 && orders[value.node.index()] == Order::Pixels;
        is_pixels && ty.shape == types[0].shape
    });
    if fits && !node.inputs.is_empty() {
        Order::Pixels
    } else {
        Order::Planes
    }
}

#[cfg(test)]
mod tests {
    use super::Order::{Pixels, Planes};
    use super::{Order, choose};
    use crate::options::PlanOptions;
    use crate::state::State;
    use ir::{Graph, verify};

    /// The nodes of a graph, with the order that each must get.
    #[rustfmt::skip]
    const NODES: [(Order, &str); 27] = [
        (Planes, "x: f32[N, 3, 16, 16] = placeholder"),
        (Planes, "l: f32[N, 16, 64] = placeholder"),
        (Planes, "g: f32[N, 1, 16, 16] = placeholder"),
        // Few inputs need more outputs than many do.
        (Planes, "few = conv2d(x) { in_channels = 3, out_channels = 16, kernel_size = 3 }"),
        (Pixels, "wide = conv2d(x) { in_channels = 3, out_channels = 32, kernel_size = 3 }"),
        (Planes, "eight = conv2d(x) { in_channels = 3, out_channels = 8, kernel_size = 3 }"),
        (Pixels, "vector = conv2d(eight) { in_channels = 8, out_channels = 16, kernel_size = 3 }"),
        (Planes, "narrow = conv2d(eight) { in_channels = 8, out_channels = 12, kernel_size = 3 }"),
        (Pixels, "line = conv1d(l) { in_channels = 16, out_channels = 16, kernel_size = 3 }"),
        // Sums of 3, 15 and 16 products.
        (Planes, "point = conv2d(x) { in_channels = 3, out_channels = 32, kernel_size = 1 }"),
        (Planes, "strip = conv2d(g) { in_channels = 1, out_channels = 32, kernel_size = [1, 15] }"),
        (Pixels, "square = conv2d(g) { in_channels = 1, out_channels = 32, kernel_size = [4, 4] }"),
        (Planes, "groups = conv2d(vector) { in_channels = 16, out_channels = 32, kernel_size = 3, groups = 4 }"),
        // A format of the data that shares something along its axes needs them as they are.
        (Pixels, "weight = conv2d(x) { in_channels = 3, out_channels = 32, kernel_size = 3, weight: integer(8, 6) }"),
        (Pixels, "data = conv2d(x: integer(8, 4)) { in_channels = 3, out_channels = 32, kernel_size = 3 }"),
        (Planes, "shared = conv2d(x: scale_integer(8)) { in_channels = 3, out_channels = 32, kernel_size = 3 }"),
        (Pixels, "follower = relu(wide)"),
        (Planes, "behind = relu(few)"),
        (Pixels, "alone = relu(wide: integer(8, 4))"),
        (Planes, "rounded = relu(wide: scale_integer(8))"),
        (Pixels, "both = add(wide, follower)"),
        (Planes, "either = add(wide, rounded)"),
        (Planes, "other = add(rounded, wide)"),
        // Sums ask for channels alone.
        (Pixels, "mean = adaptive_avg_pool2d(few) { output_size = 1 }"),
        (Planes, "short = adaptive_avg_pool2d(narrow) { output_size = 1 }"),
        (Pixels, "means = adaptive_avg_pool2d(wide) { output_size = 1 }"),
        (Planes, "gated = mul(wide, means)"),
    ];

    fn orders(text: &str, options: &PlanOptions) -> Vec<Order> {
        let mut graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        graph.initialize(0);
        let verified = verify(&graph).expect("a valid graph");
        choose(&verified, &State::new(&verified).expect("a state"), options)
    }

    #[test]
    fn nodes_follow_their_sizes_their_formats_and_their_inputs() {
        let lines = NODES.map(|(_, line)| line).join("\n");
        let text = format!("graph \"g\" {{\n{lines}\nreturn gated }}");
        for options in [PlanOptions::train(4), PlanOptions::eval(4)] {
            for ((order, line), got) in NODES.into_iter().zip(orders(&text, &options)) {
                assert_eq!(got, order, "{line}");
            }
        }
    }

    #[test]
    fn exact_codes_ask_for_pixels_in_evaluation_alone() {
        let text = |format: &str, groups: usize| {
            format!(
                "graph \"g\" {{ x: f32[N, 2, 9, 9] = placeholder\nc = conv2d(x: {format}) {{ in_channels = 2, out_channels = 6, \
                 kernel_size = 3, groups = {groups}, weight: {format}, bias: {format} }}\nreturn c }}"
            )
        };
        let (byte, word) = ("integer(8, 4)", "integer(16, 4)");
        let cases = [
            (byte, 1, PlanOptions::eval(4), Pixels),
            (byte, 1, PlanOptions::train(4), Planes),
            (byte, 2, PlanOptions::eval(4), Planes),
            (word, 1, PlanOptions::eval(4), Planes),
        ];
        for (format, groups, options, order) in cases {
            let got = orders(&text(format, groups), &options)[1];
            assert_eq!(got, order, "{format}, {groups} groups, {:?}", options.mode);
        }
    }
}
