//! Counts floating-point operations: the worked example of a pass of one's own.

use crate::cost::{BatchSize, NodeCost, explain_flops, node_cost};
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, verify};
use report::Table;

/// `[passes.count_flops]`: see [`Pass::DOC`].
pub struct CountFlops(BatchSize);

impl Pass for CountFlops {
    const NAME: &'static str = "count_flops";
    const ABOUT: &'static str = "floating-point operations of every node, and their sum";
    const DOC: &'static str = "\
What it does: counts the floating-point operations of every node for a batch, one per multiply-accumulate: linear
numel(weight)·(N_in/in_features); conv N_out·(C_in/groups)·kernel; batch_norm 4·N_in; layer_norm 5·N_in; other elementwise
ops N_in; pools N_out·window; matmul m·k·n. A node whose data input has a format counts 0: nothing is float there.
Multiply-accumulates, parameters and the bytes that are kept and moved stand beside them, whatever the formats.

Example:
  [passes.count_flops]
  batch_size = 8

Config: batch_size, default 8. With --explain every row shows its formula with numbers.
Reads: the graph. Writes: nothing.
With pruning masks there is a column of effective FLOPs: products count by the shares that the masks of data and weight
keep, as if those were independent.
Limits: zeros without a mask are counted like other numbers.";

    fn read(reader: &mut Reader) -> Self {
        Self(BatchSize::read(reader))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let batch = self.0.or_that_of(context);
        let verified = verify(graph)?;
        let mut table = Table::new(&[
            "Node name",
            "Mase op",
            "FLOPs",
            "MACs",
            "Parameters",
            "Weight bytes",
            "Bytes moved",
        ]);
        let is_pruned = graph.masks().next().is_some();
        if is_pruned {
            table.headings.push("Effective FLOPs".to_owned());
        }
        let mut effective_total = 0.0;
        let mut formulas = Table::new(&["Node name", "FLOPs"]);
        let mut total = NodeCost::default();
        for (id, node) in graph.iter() {
            let too_large = || PassError::node(node, format!("a batch of {batch} is too large"));
            let cost = node_cost(&verified, id, batch).ok_or_else(too_large)?;
            let formula = explain_flops(&verified, id, batch).ok_or_else(too_large)?;
            // Without float operands there are no FLOPs to save either.
            let effective = match cost.flops {
                0 => 0.0,
                _ => verified.effective_flops(id, batch).ok_or_else(too_large)?,
            };
            let mut row = vec![node.name.clone(), node.op.name().to_owned()];
            row.extend(cells(&cost));
            row.extend(is_pruned.then(|| format!("{effective:.0}")));
            table.push(row);
            effective_total += effective;
            formulas.push([node.name.clone(), formula]);
            total += cost;
        }
        let mut totals = vec!["total".to_owned(), String::new()];
        totals.extend(cells(&total));
        totals.extend(is_pruned.then(|| format!("{effective_total:.0}")));
        table.totals = Some(totals);
        let mut report = PassReport::default()
            .with_table("flops", table)
            .with_fact("batch_size", batch)
            .with_fact("total_flops", total.flops);
        if is_pruned {
            report = report.with_fact("effective_flops", effective_total);
        }
        if context.explain {
            report = report.with_table("formulas", formulas);
        }
        let counted = total.operations(total.flops);
        Ok(report.with_text(format!("FLOPs for a batch of {batch}: {counted}")))
    }
}

fn cells(cost: &NodeCost) -> Vec<String> {
    let bytes = |bits: u128| bits.div_ceil(8).to_string();
    vec![
        cost.operations(cost.flops),
        cost.operations(cost.macs),
        cost.parameters.to_string(),
        bytes(cost.weight_bits),
        bytes(cost.moved_bits),
    ]
}
