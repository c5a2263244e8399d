//! What every node is to torch.fx and to MASE.

use crate::{Context, Kind, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, verify};
use report::Table;

/// `[passes.report_node_type]`: see [`Pass::DOC`].
pub struct ReportNodeType;

impl Pass for ReportNodeType {
    const NAME: &'static str = "report_node_type";
    const ALIASES: &'static [&'static str] = &["report_node_type_analysis_pass"];
    const KIND: Kind = Kind::Analysis;
    const ABOUT: &'static str = "opcode, MASE type, operator and value type of every node";
    const DOC: &'static str = "\
What it does: a row for every node with its torch.fx opcode, its MASE type, its operator and the format of its first
data input.

Example:
  [passes.report_node_type]

Config: none. Reads: the graph. Writes: nothing. Limits: none.";

    fn read(_: &mut Reader) -> Self {
        Self
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let verified = verify(graph)?;
        let mut table = Table::new(&[
            "Node name",
            "Fx Node op",
            "Mase type",
            "Mase op",
            "Value type",
        ]);
        for (id, node) in graph.iter() {
            let common = ir::common(&verified, id, context.batch_size);
            let value_type = match node.op {
                ir::Op::Output(_) => "NA",
                _ => common
                    .args
                    .get("data_in_0")
                    .map_or("NA", |port| port.type_name),
            };
            table.push([
                &node.name,
                node.fx_op().name(),
                node.mase_type().name(),
                node.op.name(),
                value_type,
            ]);
        }
        Ok(PassReport::default().with_table("node_types", table))
    }
}
