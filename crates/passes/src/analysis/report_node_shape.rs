//! The shapes of every port.

use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, PortMeta, Ports};

/// `[passes.report_node_shape]`: see [`Pass::DOC`].
pub struct ReportNodeShape;

impl Pass for ReportNodeShape {
    const NAME: &'static str = "report_node_shape";
    const ABOUT: &'static str = "shapes of every node's inputs, parameters and results";
    const DOC: &'static str = "\
What it does: a row for every node with the shapes of what it reads and makes, for a batch.

Example:
  [passes.report_node_shape]

Config: none. Reads: the graph. Writes: nothing. Limits: none.";

    fn read(_: &mut Reader) -> Self {
        Self
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let headings = ["Node name", "In", "Out"];
        let size = context.batch_size;
        PassReport::per_node("node_shapes", &headings, graph, size, |node, common| {
            let [args, results] = [&common.args, &common.results].map(shapes);
            [node.name.clone(), args, results]
        })
    }
}

fn shapes(ports: &Ports<PortMeta>) -> String {
    let shown = ports
        .0
        .iter()
        .map(|(port, meta)| format!("{port} = {:?}", meta.shape));
    shown.collect::<Vec<_>>().join(", ")
}
