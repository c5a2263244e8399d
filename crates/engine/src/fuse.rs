//! Fusion: the choice of neighbouring nodes that become one step.
//!
//! * `relu` after a batch norm, linear or convolution that nothing else reads is done by that step in place.
//! * A maximum over windows of such a relu comes first, and the relu is done to the few that are left. Gradients are the
//!   same: they reach the largest element of a window, where it is positive.
//! * `relu6` after a convolution, in evaluation without gradients, likewise.
//! * A linear or convolution under a batch norm in training needs no bias: the norm subtracts it again. Its gradient
//!   is zero, and the running mean takes it into account.
//! * In evaluation without gradients a batch norm after a linear or convolution is folded into the weights, unless
//!   one of the two is quantised: then their rounding must stay visible.
//!
//! A value that somebody observes, returns, masks or rounds is always made.

use crate::options::{Mode, PlanOptions};
use ir::{Node, NodeId, Op, Value, Verified};
use std::collections::HashSet;

/// The planner's decision about one node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fusion {
    /// The node has no step of its own: this earlier node makes its result.
    pub made_by: Option<NodeId>,
    /// The step ends with a relu.
    pub relu: bool,
    /// That relu is cut off at six.
    pub cuts_at_six: bool,
    /// The step includes this batch norm, folded into its weights.
    pub folded_norm: Option<NodeId>,
    /// The step leaves its bias out, because the batch norm after it does not see it.
    pub skips_bias: bool,
    /// The batch norm's input lacks the bias of this node.
    pub lacks_bias_of: Option<NodeId>,
}

impl Fusion {
    /// The largest result of the relu at the end of the step.
    pub fn ceiling(&self) -> f32 {
        if self.cuts_at_six { 6.0 } else { f32::INFINITY }
    }
}

/// Decides for every node.
pub(crate) fn fuse(verified: &Verified, options: &PlanOptions) -> Vec<Fusion> {
    let graph = verified.graph();
    let mut plan = vec![Fusion::default(); graph.nodes().len()];
    if !options.fuse {
        return plan;
    }
    let readers = graph.reader_counts();
    let observed: HashSet<Value> = options
        .observe
        .iter()
        .filter_map(|port| port.value(graph))
        .collect();
    for (id, node) in graph.iter() {
        let Some(&input) = node.inputs.first() else {
            continue;
        };
        let before = graph.node(input.node);
        let is_seen = readers[&input] > 1 || observed.contains(&input);
        if is_seen || is_changed(before, node) {
            continue;
        }
        match &node.op {
            Op::BatchNorm1d(_) | Op::BatchNorm2d(_) if ir::makes_channels(verified, input) => {
                if options.mode == Mode::Train {
                    plan[input.node.index()].skips_bias = true;
                    plan[id.index()].lacks_bias_of = Some(input.node);
                } else if !options.gradients.any() && is_plain(before) && is_plain(node) {
                    plan[input.node.index()].folded_norm = Some(id);
                    plan[id.index()].made_by = Some(input.node);
                }
            }
            Op::Relu(_) if has_weights(before) || is_norm(before) => {
                let maker = plan[input.node.index()].made_by.unwrap_or(input.node);
                plan[maker.index()].relu = true;
                plan[id.index()].made_by = Some(maker);
            }
            Op::MaxPool1d(_) | Op::MaxPool2d(_) if matches!(before.op, Op::Relu(_)) => {
                if let Some(maker) = plan[input.node.index()].made_by {
                    plan[maker.index()].relu = false;
                    plan[id.index()].relu = true;
                }
            }
            Op::Relu6(_) if !options.gradients.any() => {
                let maker = plan[input.node.index()].made_by.unwrap_or(input.node);
                if is_convolution(graph.node(maker)) {
                    plan[maker.index()].relu = true;
                    plan[maker.index()].cuts_at_six = true;
                    plan[id.index()].made_by = Some(maker);
                }
            }
            _ => {}
        }
    }
    plan
}

fn has_weights(node: &Node) -> bool {
    matches!(node.op, Op::Linear(_) | Op::Conv1d(_) | Op::Conv2d(_))
}

fn is_convolution(node: &Node) -> bool {
    matches!(node.op, Op::Conv1d(_) | Op::Conv2d(_))
}

fn is_norm(node: &Node) -> bool {
    matches!(node.op, Op::BatchNorm1d(_) | Op::BatchNorm2d(_))
}

/// No parameter or data port is rounded, so that folding changes nothing but the order of float operations.
fn is_plain(node: &Node) -> bool {
    node.formats.is_empty()
}

/// True when a value is rounded or masked between the node that makes it and the one that reads it.
fn is_changed(maker: &Node, user: &Node) -> bool {
    maker.formats.contains_key("data_out_0")
        || user.formats.contains_key("data_in_0")
        || user.masks.contains_key("data_in_0")
}
