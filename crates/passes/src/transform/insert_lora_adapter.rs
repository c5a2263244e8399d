//! Low-rank adapters beside linear layers (Hu et al. 2021).

use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::ops::{arithmetic, dropout, linear};
use ir::{Graph, Node, NodeId, Op, Tensor};
use report::Table;

/// `[passes.insert_lora_adapter]`: see [`Pass::DOC`].
pub struct InsertLoraAdapter {
    rank: usize,
    lora_alpha: f64,
    lora_dropout: f64,
}

impl Pass for InsertLoraAdapter {
    const NAME: &'static str = "insert_lora_adapter";
    const ABOUT: &'static str = "adds a low-rank adapter beside every linear layer";
    const DOC: &'static str = "\
What it does: y = W·x + b becomes y = W·x + b + (lora_alpha/rank)·B·A·x, with A of rank rows started at random and B zero,
so that the output is unchanged at insertion. The parts are ordinary nodes: NAME_lora_a, NAME_lora_b, NAME_lora_scale,
NAME_lora_add.

Differs from MASE: the layer's bias is kept.

Example:
  [passes.insert_lora_adapter]
  rank = 4
  lora_alpha = 8

Before:
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 1 }
  return fc
After:
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 1 }
  fc_lora_a = linear(x) { target = \"fc.lora_A\", in_features = 2, out_features = 4, bias = false }
  fc_lora_b = linear(fc_lora_a) { target = \"fc.lora_B\", in_features = 4, out_features = 1, bias = false }
  fc_lora_scale = mul(fc_lora_b) { scalar = 2.0 }
  fc_lora_add = add(fc, fc_lora_scale)
  return fc_lora_add
  # fc.lora_A.weight = 0.4137 0.5005 -0.6517 -0.0421 -0.1601 0.5786 0.0452 0.3587
  # fc.lora_B.weight = 0 0 0 0

Config: rank, default 6; lora_alpha, default 1; lora_dropout, default 0. Reads: the graph. Writes: the graph.
`ch train` of a network with adapters trains these alone, unless --train-base is given.
Limits: training knows adapters by the names of their nodes.";

    fn read(reader: &mut Reader) -> Self {
        Self {
            rank: reader.count("rank").unwrap_or(6),
            lora_alpha: reader.number("lora_alpha", 0.0..=1e6).unwrap_or(1.0),
            lora_dropout: reader.number("lora_dropout", 0.0..=1.0).unwrap_or(0.0),
        }
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let names: Vec<String> = graph
            .nodes()
            .iter()
            .filter(|node| matches!(node.op, Op::Linear(_)) && !node.name.contains("_lora_"))
            .map(|node| node.name.clone())
            .collect();
        let mut table = Table::new(&["Node name", "Rank", "New parameters"]);
        for name in names {
            let id = graph.find(&name).expect("nodes are only added");
            let added = self.insert(graph, id)?;
            table.push([name, self.rank.to_string(), added.to_string()]);
        }
        graph.initialize(context.seed);
        Ok(PassReport::default().with_table("adapters", table))
    }
}

impl InsertLoraAdapter {
    fn insert(&self, graph: &mut Graph, id: NodeId) -> Result<usize, PassError> {
        let layer = graph.node(id).clone();
        let Op::Linear(op) = &layer.op else {
            return Ok(0);
        };
        let (features, results) = (op.in_features, op.out_features);
        if graph.find(&format!("{}_lora_a", layer.name)).is_some() {
            return Err(PassError::node(&layer, "has an adapter already"));
        }
        let path = if layer.target.is_empty() {
            &layer.name
        } else {
            &layer.target
        };
        let mut at = NodeId(id.0 + 1);
        let mut put =
            |graph: &mut Graph, suffix: &str, target: &str, op: Op, inputs: &[ir::Value]| {
                let node = Node::new(&format!("{}_lora_{suffix}", layer.name), target, op, inputs);
                let new = graph.insert(at, node);
                at = NodeId(at.0 + 1);
                new
            };
        let mut input = layer.inputs[0];
        if self.lora_dropout > 0.0 {
            let op = dropout::Dropout {
                p: self.lora_dropout,
            };
            input = put(graph, "dropout", "", op.into(), &[input]).into();
        }
        let project = |i, o| linear::Linear {
            in_features: i,
            out_features: o,
            bias: false,
        };
        let a = put(
            graph,
            "a",
            &format!("{path}.lora_A"),
            project(features, self.rank).into(),
            &[input],
        );
        let b = put(
            graph,
            "b",
            &format!("{path}.lora_B"),
            project(self.rank, results).into(),
            &[a.into()],
        );
        let zeros = Tensor::filled(vec![results, self.rank], 0.0);
        graph.node_mut(b).params.insert("weight".to_owned(), zeros);
        let scale = arithmetic::Mul {
            scalar: Some(self.lora_alpha / self.rank as f64),
        };
        let scaled = put(graph, "scale", "", scale.into(), &[b.into()]);
        let sum = put(
            graph,
            "add",
            "",
            arithmetic::Add { scalar: None }.into(),
            &[id.into(), scaled.into()],
        );
        graph.replace_uses(id.into(), sum.into());
        Ok(self.rank * (features + results))
    }
}
