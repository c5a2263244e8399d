//! Formats in place of the nodes that round.

use super::{Importer, Op};
use crate::constant::Refusal;
use format::Format;
use ir::{Graph, NodeId, Value};
use serde_json::json;

impl Importer<'_> {
    /// A value rounded to a format: for now a node of its own, whose result has the format.
    pub fn round(&mut self, name: &str, value: Value, format: Format) -> Result<Value, Refusal> {
        let identity = crate::draft::operator("identity", json!({}))?;
        let rounded = self.push(name, identity, &[value], Vec::new())?;
        let node = &mut self.draft.nodes[rounded.node.index()];
        node.formats.insert("data_out_0".to_owned(), format);
        self.roundings.push(rounded.node);
        Ok(rounded)
    }
}

/// Puts the formats of nodes that only round where they are read: on the input of the one node that reads them, else on the
/// result that they round, where nobody reads it otherwise.
pub fn settle(graph: &mut Graph, roundings: &[NodeId]) {
    // From the last to the first, so that removing one does not move those that are still to come.
    for &id in roundings.iter().rev() {
        let rounded = Value::from(id);
        let [source] = graph.node(id).inputs[..] else {
            continue;
        };
        let Some(format) = graph.node(id).formats.get("data_out_0").cloned() else {
            continue;
        };
        let readers = graph.users(rounded);
        let port = match readers[..] {
            [reader] if !matches!(graph.node(reader).op, Op::Output(_)) => {
                let mut ports = graph
                    .node(reader)
                    .inputs
                    .iter()
                    .enumerate()
                    .filter(|(_, input)| **input == rounded);
                let (first, more) = (ports.next().map(|(k, _)| k), ports.next());
                first
                    .filter(|_| more.is_none())
                    .map(|k| (reader, format!("data_in_{k}")))
            }
            _ => {
                let is_only = graph.users(source) == [id];
                let port = format!("data_out_{}", source.output);
                let is_free = !graph.node(source.node).formats.contains_key(&port);
                let makes = !matches!(
                    graph.node(source.node).op,
                    Op::Placeholder(_) | Op::Constant(_)
                );
                (is_only && is_free && makes).then_some((source.node, port))
            }
        };
        if let Some((node, port)) = port
            && !graph.node(node).formats.contains_key(&port)
        {
            graph.node_mut(node).formats.insert(port, format);
            for user in graph.users(rounded) {
                for input in &mut graph.node_mut(user).inputs {
                    if *input == rounded {
                        *input = source;
                    }
                }
            }
            // Nobody reads the node any more, so that it can be removed.
            let _ = graph.remove(id);
        }
    }
}
