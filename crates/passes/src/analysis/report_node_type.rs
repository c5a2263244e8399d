//! The types of every node in torch.fx and in MASE.

use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, Op};

/// `[passes.report_node_type]`: see [`Pass::DOC`].
pub struct ReportNodeType;

const HEADINGS: &[&str; 5] = &[
    "Node name",
    "Fx Node op",
    "Mase type",
    "Mase op",
    "Value type",
];

impl Pass for ReportNodeType {
    const NAME: &'static str = "report_node_type";
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
        let size = context.batch_size;
        PassReport::per_node("node_types", HEADINGS, graph, size, |node, common| {
            let first = common.args.get("data_in_0");
            let value_type = match node.op {
                Op::Output(_) => "NA",
                _ => first.map_or("NA", |port| port.type_name),
            };
            let (fx_op, mase_type) = (node.fx_op().name(), node.mase_type().name());
            [&node.name, fx_op, mase_type, node.op.name(), value_type].map(str::to_owned)
        })
    }
}
