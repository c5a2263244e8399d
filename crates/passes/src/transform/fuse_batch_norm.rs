//! Folds batch norms into the layers before them.

use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, NodeId, Op, norm_eps};
use report::Table;

/// `[passes.fuse_batch_norm]`: see [`Pass::DOC`].
pub struct FuseBatchNorm;

impl Pass for FuseBatchNorm {
    const NAME: &'static str = "fuse_batch_norm";
    const ABOUT: &'static str = "linear and conv layers take in the batch norm behind them";
    const DOC: &'static str = "\
What it does: a linear or convolution whose only reader is a batch norm becomes one node that computes both in evaluation:
weight·s and (bias − μ)·s + β with s = γ/√(σ² + ε) per output channel. The batch norm is gone, and with it 4 operations an
element.

Differs from MASE: linear with batch_norm1d is folded too, not only convolutions.

Example:
  [passes.fuse_batch_norm]

Before:
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 2, bias = false }
  norm = batch_norm1d(fc) { num_features = 2 }
  return norm
  # fc.weight = 1 2 3 4
  # norm.weight = 4 1
  # norm.bias = 0.5 0
  # norm.running_mean = 1 2
  # norm.running_var = 4 1
After:
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 2 }
  return fc
  # fc.weight = 2 4 3 4
  # fc.bias = -1.5 -2

Config: none. Reads: the graph. Writes: the graph. Limits: fold before quantising: a node with formats is left as it
is, and so is one whose masks would not hold. A folded layer in floats trains without the batch norm; one whose weight is rounded
takes it out again for training (ch train --train-norms).";

    fn read(_: &mut Reader) -> Self {
        Self
    }

    fn run(&self, graph: &mut Graph, _: &mut Context) -> Result<PassReport, PassError> {
        let mut table = Table::new(&["Batch norm", "Folded into", "Why"]);
        let names: Vec<String> = graph
            .nodes()
            .iter()
            .filter(|node| norm_eps(&node.op).is_some())
            .map(|node| node.name.clone())
            .collect();
        let mut folded = 0;
        for name in names {
            let id = graph
                .find(&name)
                .expect("only other batch norms have been removed");
            match fold(graph, id) {
                Ok(layer) => {
                    folded += 1;
                    table.push([name, layer, "folded".to_owned()]);
                }
                Err(why) => table.push([name, "-".to_owned(), why]),
            }
        }
        Ok(PassReport::default()
            .with_table("batch_norms", table)
            .with_fact("folded", folded))
    }
}

/// Folds one batch norm; the name of the layer that took it in, or why it cannot be.
fn fold(graph: &mut Graph, id: NodeId) -> Result<String, String> {
    let norm = graph.node(id);
    let input = norm.inputs[0];
    let layer = graph.node(input.node);
    if !matches!(layer.op, Op::Linear(_) | Op::Conv1d(_) | Op::Conv2d(_)) {
        return Err(format!("follows {} ({})", layer.name, layer.op.name()));
    }
    // A linear over [N, L, C] has its channels last, and the norm its channels second: they are not the same axis.
    if !makes_channels(graph, id) {
        return Err(format!("{} has its channels on another axis", layer.name));
    }
    if graph.users(input).len() > 1 {
        return Err(format!("{} has other readers", layer.name));
    }
    if !norm.formats.is_empty() || !layer.formats.is_empty() {
        return Err("has formats; fold before quantising".to_owned());
    }
    if !norm.masks.is_empty() || layer.masks.contains_key("bias") {
        return Err("has masks; make them permanent before".to_owned());
    }
    let name = layer.name.clone();
    graph.fold_norm(id).ok_or("parameters are missing")?;
    Ok(name)
}

fn makes_channels(graph: &Graph, id: NodeId) -> bool {
    let input = graph.node(id).inputs[0];
    ir::verify(graph).is_ok_and(|verified| ir::makes_channels(&verified, input))
}
