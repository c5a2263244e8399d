//! Folds batch norms into the layers before them.

use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, Node, NodeId, Op, Tensor};
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
is, and so is one whose masks would not hold. What training does afterwards differs from training with the batch norm.";

    fn read(_: &mut Reader) -> Self {
        Self
    }

    fn run(&self, graph: &mut Graph, _: &mut Context) -> Result<PassReport, PassError> {
        let mut table = Table::new(&["Batch norm", "Folded into", "Why"]);
        let names: Vec<String> = graph
            .nodes()
            .iter()
            .filter(|node| statistics(&node.op).is_some())
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

/// The channels and ε of a batch norm.
fn statistics(op: &Op) -> Option<f64> {
    match op {
        Op::BatchNorm1d(op) => Some(op.eps),
        Op::BatchNorm2d(op) => Some(op.eps),
        _ => None,
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
    if matches!(layer.op, Op::Linear(_)) && !is_matrix(graph, id) {
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
    let [scale, shift] = scale_and_shift(norm).ok_or("its parameters are missing")?;
    let (params, op) = folded(layer, &scale, &shift).ok_or("the layer's parameters are missing")?;
    let name = layer.name.clone();
    let target = graph.node_mut(input.node);
    (target.params, target.op) = (params, op);
    graph.replace_uses(id.into(), input);
    graph.remove(id).map_err(|error| error.to_string())?;
    Ok(name)
}

fn is_matrix(graph: &Graph, id: NodeId) -> bool {
    ir::verify(graph).is_ok_and(|verified| verified.input_types(id)[0].shape.rank() == 2)
}

/// `y = x·scale + shift` in double precision.
pub(crate) fn scale_and_shift(norm: &Node) -> Option<[Vec<f64>; 2]> {
    let eps = statistics(&norm.op)?;
    let values = |port: &str| norm.params.get(port).map(Tensor::values);
    let (gamma, beta) = (values("weight")?, values("bias")?);
    let (mean, var) = (values("running_mean")?, values("running_var")?);
    let scale: Vec<f64> = gamma
        .iter()
        .zip(var)
        .map(|(&gamma, &var)| f64::from(gamma) / (f64::from(var) + eps).sqrt())
        .collect();
    let shift = (0..beta.len())
        .map(|c| f64::from(beta[c]) - f64::from(mean[c]) * scale[c])
        .collect();
    Some([scale, shift])
}

/// The layer's parameters and operator with the batch norm in them.
fn folded(
    layer: &Node,
    scale: &[f64],
    shift: &[f64],
) -> Option<(std::collections::BTreeMap<String, Tensor>, Op)> {
    let mut params = layer.params.clone();
    let weight = params.get_mut("weight")?;
    let per_channel = weight.values().len() / scale.len();
    for (values, scale) in weight.values_mut().chunks_exact_mut(per_channel).zip(scale) {
        for value in values {
            *value = (f64::from(*value) * scale) as f32;
        }
    }
    let bias = layer.params.get("bias").map(Tensor::values);
    let values = (0..scale.len())
        .map(|c| (bias.map_or(0.0, |bias| f64::from(bias[c])) * scale[c] + shift[c]) as f32)
        .collect();
    params.insert("bias".to_owned(), Tensor::new(vec![scale.len()], values)?);
    let mut op = layer.op.clone();
    match &mut op {
        Op::Linear(op) => op.bias = true,
        Op::Conv1d(op) => op.bias = true,
        Op::Conv2d(op) => op.bias = true,
        _ => return None,
    }
    Some((params, op))
}
