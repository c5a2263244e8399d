//! Makes pruning permanent: the masks go, what they masked stays out of every result.

use super::sampling::rounded;
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use format::Format;
use ir::{Graph, Node, NodeId, Op, Tensor};
use report::Table;

/// `[passes.remove_prune_wrappers]`: see [`Pass::DOC`].
pub struct RemovePruneWrappers;

impl Pass for RemovePruneWrappers {
    const NAME: &'static str = "remove_prune_wrappers";
    const ABOUT: &'static str = "drops pruning masks; the zeros stay";
    const DOC: &'static str = "\
What it does: drops the masks of parameters, which keep their zeros, and the masks of inputs. Results stay what they were: an
input that a mask keeps from a layer everywhere in a sample becomes zeros in the layer's weight. A mask that no weight can
stand for (single places of a picture, inputs of an operator without a weight, blocks that share a scale, formats without
a zero) is kept, and the table says so.

Differs from MASE: there the masks of activations are forgotten, and results change.

Example:
  [passes.remove_prune_wrappers]

Before:
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 2 }
  return fc
  # fc.weight = 1 -2 3 -4
  # fc.data_in_0_mask = 0 1
After:
  # fc.weight = 0 -2 0 -4

Config: none. Reads: the graph. Writes: masks and weights. Limits: training may change zeros that no mask holds.";

    fn read(_: &mut Reader) -> Self {
        Self
    }

    fn run(&self, graph: &mut Graph, _: &mut Context) -> Result<PassReport, PassError> {
        let mut table = Table::new(&["Node name", "Port", "Pruned", "Result"]);
        let mut kept = 0;
        for at in 0..graph.nodes().len() {
            let node = graph.node_mut(NodeId(at as u32));
            for (port, mask) in std::mem::take(&mut node.masks) {
                let result = if !port.starts_with("data_in_") {
                    "zeros stay"
                } else if fold(node, &port, &mask) {
                    "zeros in the weight"
                } else {
                    "kept: no weight can stand for it"
                };
                let pruned = mask.values().iter().filter(|v| **v == 0.0).count();
                let cells = [node.name.clone(), port.clone(), pruned.to_string()];
                table.push([&cells[..], &[result.to_owned()]].concat());
                if result.starts_with("kept") {
                    kept += 1;
                    node.masks.insert(port, mask);
                }
            }
        }
        let removed = table.rows.len() - kept;
        Ok(PassReport::default()
            .with_table("masks", table)
            .with_fact("removed", removed)
            .with_fact("kept", kept))
    }
}

/// Moves the mask of an input into the weight that meets it; `false`, with nothing changed, where that would change results.
fn fold(node: &mut Node, port: &str, mask: &Tensor) -> bool {
    let is_safe = |port: &str| {
        let format = node.formats.get(port);
        let keeps_zero = rounded(&Tensor::filled(vec![1], 0.0), format) == [0.0];
        format.is_none_or(Format::rounds_alone) && keeps_zero
    };
    if port != "data_in_0" || !is_safe(port) || !is_safe("weight") {
        return false;
    }
    let Some((columns, inner, groups)) = columns(node, mask) else {
        return false;
    };
    let Some(weight) = node.params.get_mut("weight") else {
        return false;
    };
    let per_row = weight.values().len() / weight.shape()[0];
    let rows_of_group = weight.shape()[0] / groups;
    let columns_of_group = columns.len() / groups;
    for (row, values) in weight.values_mut().chunks_exact_mut(per_row).enumerate() {
        let own = &columns[row / rows_of_group * columns_of_group..][..columns_of_group];
        for (values, keep) in values.chunks_exact_mut(inner).zip(own) {
            if !keep {
                values.fill(0.0);
            }
        }
    }
    true
}

/// The columns of the weight that the mask keeps, the elements of each that follow one another, and the groups of rows that
/// have columns of their own. `None` when a column is kept in some places of a sample and not in others.
fn columns(node: &Node, mask: &Tensor) -> Option<(Vec<bool>, usize, usize)> {
    let (n, shape) = (mask.values().len(), mask.shape());
    // The sample as [places][columns][elements].
    let (count, elements, window, groups) = match &node.op {
        Op::Linear(op) => (op.in_features, 1, 1, 1),
        Op::Conv1d(op) => (op.in_channels, n / shape[0], op.window().numel(), op.groups),
        Op::Conv2d(op) => (op.in_channels, n / shape[0], op.window().numel(), op.groups),
        _ => return None,
    };
    let mut kept: Vec<Option<bool>> = vec![None; count];
    for (at, keep) in mask.values().iter().map(|v| *v != 0.0).enumerate() {
        let column = &mut kept[at / elements % count];
        if *column.get_or_insert(keep) != keep {
            return None;
        }
    }
    let kept = kept.into_iter().map(|keep| keep.unwrap_or(true)).collect();
    Some((kept, window as usize, groups))
}
