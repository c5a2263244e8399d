//! The rows that a pass runs the network on to choose formats or weights, and what is looked at: the network up to one
//! value, and the same network without rounding.

use crate::observe::Sample;
use crate::{Context, PassError, Replaced, observe};
use config::{Key, Problem, Reader, did_you_mean};
use data::Split;
use engine::Port;
use format::Format;
use ir::ops::dropout::Identity;
use ir::ops::placeholder::Output;
use ir::{Graph, Node, NodeId, Tensor, Value};

/// The nodes to work on, and the rows to look at.
pub(super) struct Sampling {
    sample: Sample,
    nodes: Option<Vec<Key>>,
}

/// Rows of a split that are used for choosing, for one that is held out.
const CHOOSING_PER_HELD_OUT: usize = 4;

impl Sampling {
    /// Reads `num_samples`, `split` and `nodes`.
    pub fn read(reader: &mut Reader, num_samples: usize) -> Self {
        Self {
            sample: Sample::read(reader, num_samples),
            nodes: reader.words("nodes"),
        }
    }

    /// The rows to look at.
    pub fn rows(&self, context: &mut Context) -> Result<Split, PassError> {
        self.sample.rows(context)
    }

    /// The rows to look at; nothing without a dataset.
    pub fn rows_if_any(&self, context: &mut Context) -> Result<Option<Split>, PassError> {
        self.sample.rows_if_any(context)
    }

    /// The rows to choose by, and a fourth of their number behind them to judge the choice by.
    pub fn rows_and_held_out(&self, context: &mut Context) -> Result<(Split, Split), PassError> {
        let both = self.sample.with_more(|count| count / CHOOSING_PER_HELD_OUT);
        let all = both.rows(context)?;
        let held_out = all.len() / (CHOOSING_PER_HELD_OUT + 1);
        let count = all.len() - held_out;
        Ok((all.head(count), all.tail(count)))
    }

    /// The nodes to work on, in order: those of the list, or all that the pass takes. A name that no node has, or one of
    /// a node that the pass does not take, is a problem; `kind` describes the nodes it takes.
    pub fn chosen(
        &self,
        graph: &Graph,
        takes: impl Fn(&Node) -> bool,
        kind: &str,
    ) -> Result<Vec<NodeId>, PassError> {
        let Some(keys) = &self.nodes else {
            let all = graph.iter().filter(|(_, node)| takes(node));
            return Ok(all.map(|(id, _)| id).collect());
        };
        let mut problems = Vec::new();
        let mut chosen = Vec::new();
        for key in keys {
            let message = match graph.find(&key.name) {
                Some(id) if takes(graph.node(id)) => {
                    chosen.push(id);
                    continue;
                }
                Some(id) => format!(
                    "nodes: {} ({}) is not {kind}",
                    key.name,
                    graph.node(id).op.name()
                ),
                None => unknown(&key.name, graph),
            };
            let span = key.span.clone();
            problems.push(Problem { span, message });
        }
        chosen.sort_unstable();
        chosen.dedup();
        if problems.is_empty() {
            Ok(chosen)
        } else {
            Err(PassError::Config(problems))
        }
    }
}

fn unknown(name: &str, graph: &Graph) -> String {
    let close = did_you_mean(name, graph.nodes().iter().map(|node| node.name.as_str()));
    format!("nodes: {} has no node '{name}'{close}", graph.name)
}

/// Calls `read` with the shape and the values of a value of the network, part after part in the order of the rows.
pub(super) fn observe_value(
    graph: &Graph,
    value: Value,
    rows: &Split,
    threads: usize,
    mut read: impl FnMut(&[usize], &[f32]),
) -> Result<(), PassError> {
    let (cut, port) = up_to(graph, value);
    observe(&cut, &[port], rows, threads, |_, shape, values| {
        read(shape, values);
    })
}

/// A data input of a node as it is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// As the node computes with it: masked, and rounded when it has a format.
    Rounded,
    /// Masked but not rounded.
    Unrounded,
}

/// An identity before the node that masks and rounds as the node's input does.
pub(super) fn with_probe(graph: &Graph, id: NodeId, port: &str) -> (Graph, Value) {
    let node = graph.node(id);
    let index = node.data_ports().iter().position(|name| name == port);
    let source = node.inputs[index.expect("the port is a data input of the node")];
    let mut probe = Node::new(&graph.fresh_name("probe"), "", Identity {}, &[source]);
    let own = "data_in_0".to_owned();
    probe.formats = renamed(node.formats.get(port), &own);
    probe.masks = renamed(node.masks.get(port), &own);
    let mut probed = graph.clone();
    let probe = probed.insert(id, probe);
    (probed, probe.into())
}

fn renamed<T: Clone>(item: Option<&T>, port: &str) -> std::collections::BTreeMap<String, T> {
    let item = item.map(|item| (port.to_owned(), item.clone()));
    item.into_iter().collect()
}

/// The network that returns `value` and computes nothing behind it.
pub(super) fn up_to(graph: &Graph, value: Value) -> (Graph, Port) {
    let mut cut = Graph::new(&graph.name);
    for node in &graph.nodes()[..=value.node.index()] {
        cut.push(node.clone());
    }
    let name = cut.fresh_name("output");
    let output = cut.push(Node::new(&name, "output", Output {}, &[value]));
    let port = "data_in_0".to_owned();
    (cut, Port { node: output, port })
}

/// The network without formats, and with the parameters that passes replaced to suit formats.
pub(super) fn exact_twin(graph: &Graph, context: &Context) -> Graph {
    let mut twin = graph.clone();
    for index in 0..graph.nodes().len() {
        let node = twin.node_mut(NodeId(index as u32));
        node.formats.clear();
        for (port, ..) in node.param_specs() {
            let replaced = context.replaced.get(&node.param_path(port));
            // A parameter that another pass has changed since then is what it is.
            match (replaced, node.params.get_mut(port)) {
                (Some(replaced), Some(tensor)) if *tensor == replaced.rounded => {
                    *tensor = replaced.exact.clone();
                }
                _ => {}
            }
        }
    }
    twin
}

/// Puts a tensor that suits its format in the place of a parameter, and keeps what it was for [`exact_twin`].
pub(super) fn replace(node: &mut Node, port: &str, rounded: Tensor, context: &mut Context) {
    let path = node.param_path(port);
    let Some(old) = node.params.insert(port.to_owned(), rounded.clone()) else {
        return;
    };
    let earlier = context.replaced.remove(&path);
    let exact = match earlier {
        Some(earlier) if earlier.rounded == old => earlier.exact,
        _ => old,
    };
    context.replaced.insert(path, Replaced { exact, rounded });
}

/// A tensor as its format rounds it; as it is without one.
pub(super) fn rounded(tensor: &Tensor, format: Option<&Format>) -> Vec<f32> {
    let mut values = tensor.values().to_vec();
    if let Some(format) = format {
        kernels::quantize::quantize(format, tensor.values(), tensor.shape(), &mut values);
    }
    values
}

/// Signal-to-quantisation-noise ratio in decibels, in words when it has no number.
pub(super) fn decibels(signal: f64, noise: f64) -> String {
    if noise == 0.0 {
        "exact".to_owned()
    } else {
        format!("{:.2}", 10.0 * (signal / noise).log10())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_twin_has_what_a_parameter_was_before_it_was_made_to_suit_formats() {
        let text = "graph \"g\" { x: f32[N, 2] = placeholder
            l = linear(x) { in_features = 2, out_features = 1 } return l }";
        let mut graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        graph.initialize(1);
        let id = NodeId(1);
        let of = |value: f32| Tensor::filled(vec![1, 2], value);
        graph
            .node_mut(id)
            .params
            .insert("weight".to_owned(), of(0.3));
        let mut context = Context::new(&graph, None);
        let exact = |graph: &Graph, context: &Context| {
            exact_twin(graph, context).node(id).params["weight"].values()[0]
        };
        assert_eq!(exact(&graph, &context), 0.3);
        // Rounded twice, it is still what it was before the first time.
        replace(graph.node_mut(id), "weight", of(0.25), &mut context);
        assert_eq!(exact(&graph, &context), 0.3);
        replace(graph.node_mut(id), "weight", of(0.5), &mut context);
        assert_eq!(exact(&graph, &context), 0.3);
        // What another pass has changed since then is what it is.
        graph
            .node_mut(id)
            .params
            .insert("weight".to_owned(), of(0.8));
        assert_eq!(exact(&graph, &context), 0.8);
        replace(graph.node_mut(id), "weight", of(0.75), &mut context);
        assert_eq!(exact(&graph, &context), 0.8);
    }
}
