//! Other numbers of channels for layers, and all that follows from them downstream.

mod axes;
mod groups;
mod moves;
mod redefinition;
mod unknowns;

pub use groups::{ChannelGroup, ChannelGroups};
pub use redefinition::{Redefinition, Side, names_sides};

use crate::{By, Context, Pass, PassError, PassReport, Rules};
use config::Reader;
use ir::{Graph, Node, NodeId, Op, verify};
use report::Table;

/// `[passes.redefine_channels]`: see [`Pass::DOC`].
pub struct RedefineChannels {
    rules: Rules<Redefinition>,
}

impl Pass for RedefineChannels {
    const NAME: &'static str = "redefine_channels";
    const ABOUT: &'static str = "multiplies the channels of linear and convolution layers";
    const DOC: &'static str = "\
What it does: multiplies the outputs of linear and convolution layers. What follows from it is done too: the inputs of the
layers behind, batch and layer norms, views, depthwise layers. Layers whose channels are joined by an addition or the like
change together. Layers whose sizes change start anew, so that the network must be trained again.

Differs from MASE: inputs follow from the layers before, so that `both` means what `output_only` does, and `parent` is not
needed.

Example:
  [passes.redefine_channels]
  by = \"name\"
  seq_blocks_2.config = { name = \"output_only\", channel_multiplier = 2 }
  seq_blocks_5.config = { name = \"both\", channel_multiplier = 4 }
  seq_blocks_8.config = { name = \"input_only\", channel_multiplier = 4 }

Before:
  x: f32[N, 2] = placeholder
  seq_blocks_2 = linear(x) { in_features = 2, out_features = 1, bias = false }
  seq_blocks_3 = batch_norm1d(seq_blocks_2) { num_features = 1 }
  seq_blocks_5 = linear(seq_blocks_3) { in_features = 1, out_features = 1, bias = false }
  seq_blocks_8 = linear(seq_blocks_5) { in_features = 1, out_features = 1, bias = false }
  return seq_blocks_8
After:
  x: f32[N, 2] = placeholder
  seq_blocks_2 = linear(x) { in_features = 2, out_features = 2, bias = false }
  seq_blocks_3 = batch_norm1d(seq_blocks_2) { num_features = 2, eps = 1e-5, momentum = 0.1 }
  seq_blocks_5 = linear(seq_blocks_3) { in_features = 2, out_features = 4, bias = false }
  seq_blocks_8 = linear(seq_blocks_5) { in_features = 4, out_features = 1, bias = false }
  return seq_blocks_8
  # seq_blocks_2.weight = -0.4089 -0.0528 -0.6929 0.2513
  # seq_blocks_3.weight = 1 1
  # seq_blocks_3.bias = 0 0
  # seq_blocks_3.running_mean = 0 0
  # seq_blocks_3.running_var = 1 1
  # seq_blocks_5.weight = 0.6848 0.7017 0.3051 -0.1796 0.0205 0.5067 -0.5915 0.3403
  # seq_blocks_8.weight = 0.2911 -0.128 0.4896 -0.4323

Config: by, default \"type\"; for each node, operator or pattern: name (output_only, both, input_only, NA) and
channel_multiplier, a number above 0. Reads: the graph. Writes: the graph; new parameters start from the seed.
Limits: channels that the network returns, that are added to values of a fixed size or that a view cuts do not change.";

    fn read(reader: &mut Reader) -> Self {
        let rules = Rules::read(reader, |reader| {
            let redefinition = Redefinition::read(reader);
            if redefinition.names.len() > 1 || redefinition.multipliers.len() > 1 {
                let message = "there are several choices; a pass takes one, a search takes lists";
                reader.problem(reader.span(), message);
            }
            redefinition
        });
        Self { rules }
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let problems = self.rules.unused(graph);
        if !problems.is_empty() {
            return Err(PassError::Config(problems));
        }
        context.notes.extend(self.rules.unused_notes(graph));
        let groups = ChannelGroups::new(&verify(graph)?);
        let asked = asked(graph, &groups, &self.rules)?;
        context.notes.extend(asked.notes);
        let mut resized = groups.resized(graph, &asked.multipliers)?;
        let kept = resized.parameters().count();
        resized.initialize(context.seed);
        let all = resized.parameters().count();
        if kept < all {
            context.notes.push(format!(
                "{} of {all} parameters belong to layers of other sizes and start anew; train the network again",
                all - kept
            ));
        }
        let report = PassReport::default()
            .with_table("channels", table(graph, &resized))
            .with_fact("parameters", resized.trained_parameter_count());
        *graph = resized;
        Ok(report)
    }
}

/// The multiplier of each group.
struct Asked {
    multipliers: Vec<f64>,
    notes: Vec<String>,
}

/// The layers of a group that rules multiply, all by the same.
struct Request {
    layers: Vec<NodeId>,
    multiplier: f64,
}

fn asked(
    graph: &Graph,
    groups: &ChannelGroups,
    rules: &Rules<Redefinition>,
) -> Result<Asked, PassError> {
    let mut requests: Vec<Option<Request>> = groups.groups.iter().map(|_| None).collect();
    let mut notes = Vec::new();
    for (id, node) in graph.iter() {
        let rule = rules.find(node).filter(|rule| rule.value.multiplies());
        let Some((rule, &multiplier)) =
            rule.and_then(|rule| Some((rule, rule.value.multipliers.first()?)))
        else {
            continue;
        };
        let is_own = rules.by == By::Name && rule.key.name != "default";
        let Some(index) = groups.of(id) else {
            if is_own {
                notes.push(no_layer(node));
            }
            continue;
        };
        let group = &groups.groups[index];
        match (&group.fixed, &mut requests[index]) {
            (Some(_), _) if multiplier == 1.0 => {}
            (Some(reason), _) if is_own => {
                return Err(PassError::node(node, cannot(multiplier, reason)));
            }
            (Some(reason), _) => notes.push(stays(node, reason)),
            (None, request @ None) => {
                let layers = vec![id];
                *request = Some(Request { layers, multiplier });
            }
            (None, Some(known)) if known.multiplier == multiplier => known.layers.push(id),
            (None, Some(known)) => {
                let other = &graph.node(known.layers[0]).name;
                let (known, joined) = (known.multiplier, group.joined_by.join(", "));
                let message = format!(
                    "channel_multiplier {multiplier} differs from {known} of {other}, but their channels are joined by {joined}; \
                     give both the same"
                );
                return Err(PassError::node(node, message));
            }
        }
    }
    let each = groups.groups.iter().zip(&requests);
    notes.extend(each.filter_map(|(group, request)| followers(graph, group, request.as_ref()?)));
    let multiplier = |request: &Option<Request>| request.as_ref().map_or(1.0, |r| r.multiplier);
    Ok(Asked {
        multipliers: requests.iter().map(multiplier).collect(),
        notes,
    })
}

/// The note on layers that change with those that were asked to.
fn followers(graph: &Graph, group: &ChannelGroup, request: &Request) -> Option<String> {
    let others = group.layers.iter();
    let others = others.filter(|layer| !request.layers.contains(layer));
    let others: Vec<&str> = others.map(|&id| graph.node(id).name.as_str()).collect();
    let is_silent = others.is_empty() || request.multiplier == 1.0;
    (!is_silent).then(|| {
        let first = &graph.node(request.layers[0]).name;
        let (others, joined) = (others.join(", "), group.joined_by.join(", "));
        format!("the channels of {first} and {others} change together, joined by {joined}")
    })
}

/// The message for channels that cannot change.
pub fn cannot(multiplier: f64, reason: &str) -> String {
    format!(
        "channel_multiplier {multiplier} would change its output channels, but {reason}; use name = \"input_only\""
    )
}

/// The note on channels that a rule for many nodes leaves as they are.
pub fn stays(node: &Node, reason: &str) -> String {
    format!("{} keeps its output channels: {reason}", node.name)
}

/// The note on a rule for a node that is no layer.
pub fn no_layer(node: &Node) -> String {
    format!(
        "{} ({}) follows the layers before it; its rule has no effect",
        node.name,
        node.op.name()
    )
}

/// The layers and norms whose sizes changed.
fn table(before: &Graph, after: &Graph) -> Table {
    let mut table = Table::new(&["Node name", "Operator", "Inputs", "Outputs"]);
    let arrow = |before: usize, after: usize| {
        if before == after {
            before.to_string()
        } else {
            format!("{before} → {after}")
        }
    };
    for (old, new) in before.nodes().iter().zip(after.nodes()) {
        if let (Some(a), Some(b)) = (sizes(&old.op), sizes(&new.op))
            && a != b
        {
            let operator = new.op.name().to_owned();
            table.push([new.name.clone(), operator, arrow(a.0, b.0), arrow(a.1, b.1)]);
        }
    }
    table
}

/// Inputs and outputs of an operator that has numbers of them.
fn sizes(op: &Op) -> Option<(usize, usize)> {
    match op {
        Op::Linear(op) => Some((op.in_features, op.out_features)),
        Op::Conv1d(op) => Some((op.in_channels, op.out_channels)),
        Op::Conv2d(op) => Some((op.in_channels, op.out_channels)),
        Op::BatchNorm1d(op) => Some((op.num_features, op.num_features)),
        Op::BatchNorm2d(op) => Some((op.num_features, op.num_features)),
        Op::LayerNorm(op) => {
            let size = op.normalized_shape.iter().product();
            Some((size, size))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_inputs_and_outputs_of_layers_and_features_of_norms() {
        for (input, statement, wanted) in [
            (
                "4",
                "linear(x) { in_features = 4, out_features = 3 }",
                Some((4, 3)),
            ),
            (
                "4, 9",
                "conv1d(x) { in_channels = 4, out_channels = 6, kernel_size = 3 }",
                Some((4, 6)),
            ),
            (
                "4, 9, 9",
                "conv2d(x) { in_channels = 4, out_channels = 5, kernel_size = 3 }",
                Some((4, 5)),
            ),
            ("4, 9", "batch_norm1d(x) { num_features = 4 }", Some((4, 4))),
            (
                "4, 9, 9",
                "batch_norm2d(x) { num_features = 4 }",
                Some((4, 4)),
            ),
            (
                "2, 3",
                "layer_norm(x) { normalized_shape = [2, 3] }",
                Some((6, 6)),
            ),
            ("4", "relu(x)", None),
        ] {
            let text = format!(
                "graph \"g\" {{ x: f32[N, {input}] = placeholder y = {statement} return y }}"
            );
            let graph = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(sizes(&graph.nodes()[1].op), wanted, "{statement}");
        }
    }
}
