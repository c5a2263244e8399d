//! The shapes of every port.

use crate::{Context, Kind, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, PortMeta, Ports, verify};
use report::Table;

/// `[passes.report_node_shape]`: see [`Pass::DOC`].
pub struct ReportNodeShape;

impl Pass for ReportNodeShape {
    const NAME: &'static str = "report_node_shape";
    const ALIASES: &'static [&'static str] = &["report_node_shape_analysis_pass"];
    const KIND: Kind = Kind::Analysis;
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
        let verified = verify(graph)?;
        let mut table = Table::new(&["Node name", "In", "Out"]);
        for (id, node) in graph.iter() {
            let common = ir::common(&verified, id, context.batch_size);
            table.push([
                node.name.clone(),
                shapes(&common.args),
                shapes(&common.results),
            ]);
        }
        Ok(PassReport::default().with_table("node_shapes", table))
    }
}

fn shapes(ports: &Ports<PortMeta>) -> String {
    let shown = ports
        .0
        .iter()
        .map(|(port, meta)| format!("{port} = {:?}", meta.shape));
    shown.collect::<Vec<_>>().join(", ")
}
