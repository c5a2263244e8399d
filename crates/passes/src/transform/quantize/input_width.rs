//! A width of its own for what flows into the network.

use super::node_rule::{Operand, OperandFormat, formats};
use super::{has_nothing_to_round, moves_only};
use crate::PassError;
use format::{FieldValue, Format};
use ir::{Graph, MaseType, Node, NodeId, Op, Value, Verified};
use std::collections::BTreeMap;

/// The ports of a node that read an input of the network, directly or through nodes that keep the inputs apart; the weight
/// of a batch norm there scales one input, and is of the inputs too.
pub fn input_ports(graph: &Graph, node: &Node) -> Vec<String> {
    if has_nothing_to_round(&node.op) {
        return Vec::new();
    }
    let ports = node.data_ports().into_iter().zip(&node.inputs);
    let mut found: Vec<String> = ports
        .filter(|(_, value)| is_network_input(graph, **value))
        .map(|(port, _)| port.clone())
        .collect();
    if !found.is_empty() && is_norm(node) {
        found.push("weight".to_owned());
    }
    found
}

fn is_norm(node: &Node) -> bool {
    matches!(node.op, Op::BatchNorm1d(_) | Op::BatchNorm2d(_))
}

/// True when no element of the result depends on two elements of a sample: what leaves the node are still the inputs of the
/// network, shifted, scaled, bent or moved.
fn keeps_apart(node: &Node) -> bool {
    let mixes = matches!(
        node.op,
        Op::Softmax(_)
            | Op::LogSoftmax(_)
            | Op::MaxPool1d(_)
            | Op::MaxPool2d(_)
            | Op::AvgPool1d(_)
            | Op::AvgPool2d(_)
            | Op::AdaptiveAvgPool1d(_)
            | Op::AdaptiveAvgPool2d(_)
            | Op::AdaptiveMaxPool1d(_)
            | Op::AdaptiveMaxPool2d(_)
    );
    let is_function = node.mase_type() == MaseType::ModuleRelatedFunc;
    let is_activation = is_function && node.inputs.len() == 1 && node.param_specs().is_empty();
    (is_activation && !mixes) || is_norm(node) || moves_only(node)
}

fn is_network_input(graph: &Graph, value: Value) -> bool {
    let node = graph.node(value.node);
    let mut sources = node.inputs.iter();
    matches!(node.op, Op::Placeholder(_))
        || keeps_apart(node)
            && !node.inputs.is_empty()
            && sources.all(|&source| is_network_input(graph, source))
}

/// The formats of the ports of a node, where those that read an input of the network have this width.
pub fn formats_with_input_width(
    operands: &BTreeMap<Operand, OperandFormat>,
    width: i64,
    verified: &Verified,
    id: NodeId,
) -> Result<BTreeMap<String, Format>, PassError> {
    let node = verified.graph().node(id);
    let mut own = formats(operands, node, verified, id);
    let ports = input_ports(verified.graph(), node);
    if ports.is_empty() {
        return Ok(own);
    }
    let widened = |(operand, format): (&Operand, &OperandFormat)| {
        let format = format.with_width(width);
        let format = format.map_err(|error| PassError::node(node, format!("input_width: {error}")));
        Ok((*operand, format?))
    };
    let widened = operands.iter().map(widened);
    let widened = widened.collect::<Result<_, PassError>>()?;
    for (port, format) in formats(&widened, node, verified, id) {
        if ports.contains(&port) {
            own.insert(port, format);
        }
    }
    Ok(own)
}

/// The nodes with a format that read an input of the network, and a note where the width changes nothing.
pub fn readers(graph: &Graph, width: i64) -> (Vec<&Node>, Vec<String>) {
    let given = |node: &Node| {
        let ports = input_ports(graph, node);
        let formats = ports.iter().filter_map(|port| node.formats.get(port));
        formats.cloned().collect::<Vec<_>>()
    };
    let has_width = |format: &Format| {
        let fields = format.fields();
        fields.contains(&("width", FieldValue::Int(width)))
    };
    let nodes: Vec<&Node> = graph.nodes().iter().collect();
    let (with, without): (Vec<&Node>, Vec<&Node>) = nodes
        .into_iter()
        .filter(|node| !given(node).is_empty())
        .partition(|node| given(node).iter().all(has_width));
    let stays = |node: &&Node| {
        let name = given(node)[0].name();
        format!("input_width: {}: {name} has no width to set", node.name)
    };
    let mut notes: Vec<String> = without.iter().map(stays).collect();
    if with.is_empty() && notes.is_empty() {
        notes.push(
            "input_width: no node with a format reads an input of the network, so it does nothing"
                .to_owned(),
        );
    }
    (with, notes)
}
