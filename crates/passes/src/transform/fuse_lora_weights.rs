//! Makes low-rank adapters part of the weights beside them.

use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, NodeId, Op, Tensor};
use report::Table;

/// `[passes.fuse_lora_weights]`: see [`Pass::DOC`].
pub struct FuseLoraWeights;

impl Pass for FuseLoraWeights {
    const NAME: &'static str = "fuse_lora_weights";
    const ABOUT: &'static str = "adds low-rank adapters to the weights beside them";
    const DOC: &'static str = "\
What it does: undoes insert_lora_adapter: W becomes W + (lora_alpha/rank)·B·A and the adapter's nodes are gone. The output
in evaluation stays what it was.

Example:
  [passes.fuse_lora_weights]

Before:
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 2 }
  fc_lora_a = linear(x) { in_features = 2, out_features = 1, bias = false }
  fc_lora_b = linear(fc_lora_a) { in_features = 1, out_features = 2, bias = false }
  fc_lora_scale = mul(fc_lora_b) { scalar = 2.0 }
  fc_lora_add = add(fc, fc_lora_scale)
  return fc_lora_add
  # fc.weight = 1 1 1 1
  # fc_lora_a.weight = 1 3
  # fc_lora_b.weight = 0.5 -1
After:
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 2 }
  return fc
  # fc.weight = 2 4 -1 -5

Config: none. Reads: the graph. Writes: the graph. Limits: an adapter with formats is an error, because rounding the sum is
not the sum of what was rounded; and so is one with pruning masks.";

    fn read(_: &mut Reader) -> Self {
        Self
    }

    fn run(&self, graph: &mut Graph, _: &mut Context) -> Result<PassReport, PassError> {
        let layers: Vec<String> = graph
            .nodes()
            .iter()
            .filter_map(|node| node.name.strip_suffix("_lora_add"))
            .map(str::to_owned)
            .collect();
        let mut table = Table::new(&["Node name", "Rank", "Largest change of a weight"]);
        for layer in layers {
            let (rank, change) = fuse(graph, &layer)?;
            table.push([layer, rank.to_string(), format!("{change:.6}")]);
        }
        Ok(PassReport::default().with_table("adapters", table))
    }
}

fn fuse(graph: &mut Graph, layer: &str) -> Result<(usize, f32), PassError> {
    let find = |graph: &Graph, suffix: &str| {
        let name = format!("{layer}{suffix}");
        graph
            .find(&name)
            .ok_or_else(|| PassError::Refused(format!("the adapter of {layer} has no node {name}")))
    };
    let [base, a, b, scale, add] =
        ["", "_lora_a", "_lora_b", "_lora_scale", "_lora_add"].map(|suffix| find(graph, suffix));
    let [base, a, b, scale, add] = [base?, a?, b?, scale?, add?];
    for node in [base, a, b, scale, add].map(|id| graph.node(id)) {
        let why = if !node.formats.is_empty() {
            "has formats; fuse adapters before quantising"
        } else if !node.masks.is_empty() {
            "has masks, which the sum would not keep; make them permanent before"
        } else {
            continue;
        };
        return Err(PassError::node(node, why));
    }
    let factor = match &graph.node(scale).op {
        Op::Mul(op) => op.scalar.unwrap_or(1.0),
        _ => {
            return Err(PassError::node(
                graph.node(scale),
                "is not the scale of an adapter",
            ));
        }
    };
    let weight = |id: NodeId| {
        let node = graph.node(id);
        node.params
            .get("weight")
            .cloned()
            .ok_or_else(|| PassError::node(node, "has no weight"))
    };
    let (down, up, mut sum) = (weight(a)?, weight(b)?, weight(base)?);
    let change = add_product(&mut sum, &up, &down, factor);
    graph.node_mut(base).params.insert("weight".to_owned(), sum);
    graph.replace_uses(add.into(), base.into());
    let parts = [
        "_lora_add",
        "_lora_scale",
        "_lora_b",
        "_lora_a",
        "_lora_dropout",
    ];
    for name in parts.map(|suffix| format!("{layer}{suffix}")) {
        if let Some(id) = graph.find(&name) {
            graph
                .remove(id)
                .map_err(|error| PassError::Refused(error.to_string()))?;
        }
    }
    Ok((down.shape()[0], change))
}

/// `sum += factor·up·down`; the largest change.
fn add_product(sum: &mut Tensor, up: &Tensor, down: &Tensor, factor: f64) -> f32 {
    let (rank, columns) = (down.shape()[0], down.shape()[1]);
    let mut largest = 0.0_f32;
    for (row, values) in sum.values_mut().chunks_exact_mut(columns).enumerate() {
        for (column, value) in values.iter_mut().enumerate() {
            let product: f64 = (0..rank)
                .map(|k| {
                    f64::from(up.values()[row * rank + k])
                        * f64::from(down.values()[k * columns + column])
                })
                .sum();
            let changed = (f64::from(*value) + factor * product) as f32;
            largest = largest.max((changed - *value).abs());
            *value = changed;
        }
    }
    largest
}
