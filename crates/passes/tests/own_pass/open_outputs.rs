//! Removes the relu that ends a network, so that no output can die.

use config::Reader;
use ir::{Graph, NodeId, Op};
use passes::{Context, Pass, PassError, PassReport};
use report::Table;

/// `[passes.open_outputs]`, read.
pub struct OpenOutputs;

impl Pass for OpenOutputs {
    const NAME: &'static str = "open_outputs";
    const ABOUT: &'static str = "removes the relu that ends a network";
    const DOC: &'static str = "\
What it does: lets the outputs of a network read what its last relu reads, and removes that relu.

Example:
  [passes.open_outputs]

Config: none. Reads: the graph. Writes: the graph. Limits: train the network again, its outputs are others.";

    fn read(_: &mut Reader) -> Self {
        Self
    }

    fn run(&self, graph: &mut Graph, _: &mut Context) -> Result<PassReport, PassError> {
        let mut table = Table::new(&["Node name", "Result"]);
        for name in final_relus(graph) {
            // Removing a node renumbers the later ones, so that each is looked up when its turn comes.
            let Some(id) = graph.find(&name) else {
                continue;
            };
            let input = graph.node(id).inputs[0];
            graph.replace_uses(id.into(), input);
            let result = graph.remove(id).map_or("still read", |_| "removed");
            table.push([name.as_str(), result]);
        }
        Ok(PassReport::default().with_table("relus", table))
    }
}

/// The relus that only outputs read.
fn final_relus(graph: &Graph) -> Vec<String> {
    let is_output = |id: &NodeId| matches!(graph.node(*id).op, Op::Output(_));
    let is_final = |id: NodeId| {
        let users = graph.users(id.into());
        !users.is_empty() && users.iter().all(is_output)
    };
    let relus = graph
        .iter()
        .filter(|(id, node)| matches!(node.op, Op::Relu(_)) && is_final(*id));
    relus.map(|(_, node)| node.name.clone()).collect()
}
