//! Counts bit operations.

use crate::cost::{BatchSize, NodeCost, explain_bit_ops, formats, node_cost};
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, verify};
use report::Table;
use serde_json::json;

/// `[passes.count_bitops]`: see [`Pass::DOC`].
pub struct CountBitops(BatchSize);

impl Pass for CountBitops {
    const NAME: &'static str = "count_bitops";
    const ABOUT: &'static str = "bit operations of every node from the widths of its operands";
    const DOC: &'static str = "\
What it does: counts bit operations for a batch, C being the counted operations of the node: linear, conv and matmul
C·(b_in·b_w + max(b_bias, b_in)); elementwise ops C·b_in; batch_norm C·b_in². A port without a format has 32 bits, shared
exponents of blocks are spread over their elements.

Example:
  [passes.count_bitops]
  batch_size = 8

Config: batch_size, default 8. With --explain every row shows its formula with numbers.
Reads: the graph. Writes: nothing.
Limits: zeros are counted like other numbers.";

    fn read(reader: &mut Reader) -> Self {
        Self(BatchSize::read(reader))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let batch = self.0.or_that_of(context);
        let verified = verify(graph)?;
        let mut table = Table::new(&["Node name", "Mase op", "Formats", "BitOPs"]);
        let mut formulas = Table::new(&["Node name", "BitOPs"]);
        let mut total = NodeCost::default();
        for (id, node) in graph.iter() {
            let too_large = || PassError::node(node, format!("a batch of {batch} is too large"));
            let cost = node_cost(&verified, id, batch).ok_or_else(too_large)?;
            let formula = explain_bit_ops(&verified, id, batch).ok_or_else(too_large)?;
            let shown: Vec<String> = formats(node)
                .into_iter()
                .map(|(port, format)| format!("{port}: {format}"))
                .collect();
            table.push([
                node.name.clone(),
                node.op.name().to_owned(),
                shown.join(", "),
                cost.operations(cost.bit_ops),
            ]);
            formulas.push([node.name.clone(), formula]);
            total += cost;
        }
        let counted = total.operations(total.bit_ops);
        table.totals = Some(vec![
            "total".to_owned(),
            String::new(),
            String::new(),
            counted.clone(),
        ]);
        let mut report = PassReport::default()
            .with_table("bitops", table)
            .with_fact("batch_size", batch)
            .with_fact("total_bitops", json!(total.bit_ops as f64 as u64));
        if context.explain {
            report = report.with_table("formulas", formulas);
        }
        Ok(report.with_text(format!("BitOPs for a batch of {batch}: {counted}")))
    }
}
