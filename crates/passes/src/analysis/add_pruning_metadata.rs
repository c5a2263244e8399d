//! The sparsity of pruning masks.

use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, sparsity};
use report::Table;

/// `[passes.add_pruning_metadata]`: see [`Pass::DOC`].
pub struct AddPruningMetadata;

impl Pass for AddPruningMetadata {
    const NAME: &'static str = "add_pruning_metadata";
    const ABOUT: &'static str = "the share of zeros in every pruning mask";
    const DOC: &'static str = "\
What it does: lists every port with a mask and the share of zeros in it. The same number stands in the metadata of the port,
as sparsity, as long as it has a mask: this pass only says what there is.

Differs from MASE: the sparsity is the share of zeros, not of ones.

Example:
  [passes.add_pruning_metadata]

Config: none; keys of old files (dummy_in, add_value) are accepted. Reads: the graph. Writes: nothing. Limits: zeros without
a mask are those of add_natural_sparsity.";

    fn read(reader: &mut Reader) -> Self {
        reader.ignore(&["dummy_in", "add_value"]);
        Self
    }

    fn run(&self, graph: &mut Graph, _: &mut Context) -> Result<PassReport, PassError> {
        let mut table = Table::new(&["Node name", "Port", "Elements", "Pruned", "Sparsity"]);
        for node in graph.nodes() {
            for (port, mask) in &node.masks {
                let pruned = mask.values().iter().filter(|v| **v == 0.0).count();
                table.push([
                    node.name.clone(),
                    port.clone(),
                    mask.values().len().to_string(),
                    pruned.to_string(),
                    format!("{:.4}", sparsity(mask)),
                ]);
            }
        }
        let masks = table.rows.len();
        let report = PassReport::default().with_fact("masks", masks);
        Ok(if masks == 0 {
            report.with_text("nothing is pruned")
        } else {
            report.with_table("masks", table)
        })
    }
}
