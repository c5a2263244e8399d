//! Counts floating-point operations as lab 2 does.

use config::Reader;
use ir::{Graph, NodeId, Op, Verified, verify};
use passes::{Context, Pass, PassError, PassReport};
use report::Table;

/// `[passes.my_flops]`, read.
pub struct MyFlops {
    batch_size: usize,
}

impl Pass for MyFlops {
    const NAME: &'static str = "my_flops";
    const ABOUT: &'static str = "floating-point operations, as lab 2 counts them";
    const DOC: &'static str = "\
What it does: counts the floating-point operations of every node. A node whose data input has a format counts 0.

Example:
  [passes.my_flops]
  batch_size = 8

Config: batch_size, default 8. Reads: the graph. Writes: nothing. Limits: knows linear, batch_norm1d and relu.";

    fn read(reader: &mut Reader) -> Self {
        Self {
            batch_size: reader.count("batch_size").unwrap_or(8),
        }
    }

    fn run(&self, graph: &mut Graph, _: &mut Context) -> Result<PassReport, PassError> {
        let verified = verify(graph)?;
        let mut table = Table::new(&["Node name", "FLOPs"]);
        let mut total = 0;
        for (id, node) in graph.iter() {
            let n_in = self.elements(&verified, id);
            let flops = match &node.op {
                _ if node.formats.contains_key("data_in_0") => 0,
                Op::Linear(linear) => linear.out_features * n_in,
                Op::BatchNorm1d(_) => 4 * n_in,
                Op::Relu(_) => n_in,
                Op::Placeholder(_) | Op::Output(_) => 0,
                _ => return Err(PassError::node(node, "has no formula here")),
            };
            table.push([node.name.clone(), flops.to_string()]);
            total += flops;
        }
        Ok(PassReport::default()
            .with_table("flops", table)
            .with_fact("total_flops", total)
            .with_text(format!("{total} FLOPs")))
    }
}

impl MyFlops {
    /// Elements of a node's first input for a whole batch.
    fn elements(&self, verified: &Verified, id: NodeId) -> usize {
        let inputs = verified.input_types(id);
        let shape = inputs.first().and_then(|ty| ty.shape.bind(self.batch_size));
        shape.map_or(0, |shape| shape.iter().product())
    }
}
