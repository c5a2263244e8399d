//! Rounds weights so that the layer's outputs lose least, not the weights themselves.

mod factor;
mod grid;
mod hessian;
mod solve;

use super::sampling::{Sampling, Seen, replace, rounded};
use super::walk::Walk;
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use factor::Square;
use format::Format;
use grid::Grid;
use hessian::{Layer, Sums};
use ir::{Graph, Node, NodeId, Tensor};
use solve::{Problem, losses, solve};
use std::time::Instant;

/// `[passes.gptq]`: see [`Pass::DOC`].
pub struct Gptq {
    sampling: Sampling,
    damping: f64,
    act_order: bool,
}

impl Pass for Gptq {
    const NAME: &'static str = "gptq";
    const ABOUT: &'static str = "rounds weights so that the outputs of their layer lose least";
    const DOC: &'static str = "\
What it does: the weights of linear, conv1d and conv2d layers with a weight format become values of that format, chosen by
GPTQ (Frantar et al., 2022) instead of each to its nearest: column after column is rounded, and the columns still free are
moved to make the error good, for the inputs that the layer sees. With X these inputs, rounded as the layer rounds them,
H = 2·Xᵀ·X/n, damped by a part of the mean of its diagonal. Layers are done in order, each seeing what the ones before it
give with their new weights. An output channel that would lose more than by rounding to nearest is rounded to nearest.

Example:
  [passes.gptq]
  num_samples = 1024
  act_order = true

Before:
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 1, bias = false, weight: integer(4, 1) }
  return fc
  # fc.weight = 0.7 0.7
  # rows = 1 1, 2 2, -1 -1, 3 3, -2 -2
After:
  # fc.weight = 0.5 1

Config: num_samples, default 1024; split, default train; nodes, a list of names, default all; damping, default 0.01;
act_order, default false: columns with the largest inputs first.

Reads: the graph, num_samples rows of the dataset, and a fourth more to judge by. Writes: weights on the grids of their
formats, which rounding then keeps as they are. Masked weights stay zero.
Report: the loss that GPTQ reduces, Σ d·H·dᵀ over the output channels with d the change of the weights, and the mean squared
error of the outputs on the held-out rows, each for rounding to nearest and for GPTQ.

Limits: formats that share scales keep the scales of the original weights, so the largest weight of each block keeps its
rounded value. ternary, and binary unless it is bipolar, are refused: their scales are means of what is rounded. Weights are
for good: quantise and calibrate before. The time grows with the cube of a layer's inputs.";

    fn read(reader: &mut Reader) -> Self {
        Self {
            sampling: Sampling::read(reader, 1024),
            damping: reader.number("damping", 0.0..=1.0).unwrap_or(0.01),
            act_order: reader.flag("act_order").unwrap_or(false),
        }
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let is_layer = |node: &Node| Layer::of(&node.op).is_some();
        let chosen = self
            .sampling
            .chosen(graph, is_layer, "linear, conv1d or conv2d")?;
        let (rows, held_out) = self.sampling.rows_and_held_out(context)?;
        let walk = |rows| Walk::new(graph, &chosen, rows, context.threads);
        let mut walks = [walk(&rows)?, walk(&held_out)?];
        let mut table = Rounded::default();
        for &id in &chosen {
            let node = graph.node(id);
            let Some(layer) = Layer::of(&node.op) else {
                continue;
            };
            let (Some(format), Some(weight)) =
                (node.formats.get("weight"), node.params.get("weight"))
            else {
                table.add_unformatted(node);
                continue;
            };
            let started = Instant::now();
            let task = Task {
                pass: self,
                layer,
                format,
                weight,
            };
            let outcome = task.run(graph, id, &mut walks)?;
            table.add(node, format, &outcome, started);
            let weight = Tensor::new(weight.shape().to_vec(), outcome.weights)
                .expect("as many weights as before");
            replace(graph.node_mut(id), "weight", weight, context);
        }
        Ok(table.report())
    }
}

/// One layer's weights.
struct Task<'a> {
    pass: &'a Gptq,
    layer: Layer,
    format: &'a Format,
    weight: &'a Tensor,
}

/// The weights, and what they cost: by rounding to nearest, and as they are.
struct Outcome {
    weights: Vec<f32>,
    loss: [f64; 2],
    mse: [f64; 2],
}

impl Task<'_> {
    fn run(&self, graph: &Graph, id: NodeId, walks: &mut [Walk; 2]) -> Result<Outcome, PassError> {
        let node = graph.node(id);
        let mask = node.masks.get("weight");
        let grid = Grid::new(self.format, self.weight, mask)
            .map_err(|why| PassError::node(node, why + "; name the other layers in nodes"))?;
        let mut hessians = Vec::new();
        for walk in walks {
            let mut sums = Sums::new(self.layer);
            walk.advance_to(graph, id)?;
            walk.observe(graph, (id, "data_in_0"), Seen::Rounded, |shape, values| {
                sums.add(shape, values);
            })?;
            let sums = sums.finish();
            if !sums.iter().all(Square::is_finite) {
                let why = "data_in_0: its values or the sums of their squares are not finite";
                return Err(PassError::node(node, why));
            }
            hessians.push(sums);
        }
        let outcome = self
            .outcome(&grid, &hessians[0], &hessians[1])
            .ok_or_else(|| PassError::node(node, "data_in_0: no damping makes H invertible"))?;
        let weights = Tensor::new(self.weight.shape().to_vec(), outcome.weights.clone());
        let kept = weights.map(|weights| rounded(&weights, Some(self.format)));
        if kept.as_ref() != Some(&outcome.weights) {
            let why = format!("weight: {} would round the result again", self.format);
            return Err(PassError::node(node, why));
        }
        Ok(outcome)
    }

    fn outcome(&self, grid: &Grid, hessians: &[Square], held_out: &[Square]) -> Option<Outcome> {
        let nearest = rounded(self.weight, Some(self.format));
        let per_group = self.weight.values().len() / self.layer.groups();
        let rows = per_group / self.layer.columns();
        let mut outcome = Outcome {
            weights: Vec::new(),
            loss: [0.0; 2],
            mse: [0.0; 2],
        };
        for (group, hessian) in hessians.iter().enumerate() {
            let part = group * per_group..(group + 1) * per_group;
            let (exact, nearest) = (&self.weight.values()[part.clone()], &nearest[part]);
            let problem = Problem {
                weights: exact,
                hessian,
                damping: self.pass.damping,
                act_order: self.pass.act_order,
            };
            let mut chosen = solve(&problem, |column, wanted, out| {
                grid.round(group * rows, column, wanted, out);
            })?;
            revert_worse_rows(&mut chosen, nearest, &problem);
            for (which, weights) in [nearest, &chosen].into_iter().enumerate() {
                let sum = |h: &Square| losses(exact, weights, h).iter().sum::<f64>();
                outcome.loss[which] += sum(hessian);
                outcome.mse[which] += sum(&held_out[group]) / 2.0;
            }
            outcome.weights.extend(chosen);
        }
        let channels = (rows * hessians.len()).max(1) as f64;
        outcome.mse = outcome.mse.map(|mse| mse / channels);
        Some(outcome)
    }
}

/// Reverts rows that lose more than by rounding to nearest.
fn revert_worse_rows(chosen: &mut [f32], nearest: &[f32], problem: &Problem) {
    let n = problem.hessian.size;
    let by_solving = losses(problem.weights, chosen, problem.hessian);
    let by_rounding = losses(problem.weights, nearest, problem.hessian);
    let rows = chosen.chunks_exact_mut(n).zip(nearest.chunks_exact(n));
    for ((row, nearest), (solved, rounded)) in rows.zip(by_solving.iter().zip(&by_rounding)) {
        if solved > rounded {
            row.copy_from_slice(nearest);
        }
    }
}

/// The columns of the report.
const HEADINGS: &[&str] = &[
    "Node name",
    "Weight",
    "Columns",
    "Loss nearest",
    "Loss GPTQ",
    "Output MSE nearest",
    "Output MSE GPTQ",
    "Milliseconds",
];

/// The rows of the report, and the losses of all layers.
#[derive(Default)]
struct Rounded {
    rows: Vec<Vec<String>>,
    loss: [f64; 2],
}

impl Rounded {
    fn add_unformatted(&mut self, node: &Node) {
        let name = node.name.clone();
        let none = ["-"; 6].map(str::to_owned);
        let cells = [name, "no format".to_owned()].into_iter().chain(none);
        self.rows.push(cells.collect());
    }

    fn add(&mut self, node: &Node, format: &Format, outcome: &Outcome, started: Instant) {
        let columns = outcome.weights.len() / node.params["weight"].shape()[0];
        let millis = started.elapsed().as_secs_f64() * 1e3;
        self.rows.push(vec![
            node.name.clone(),
            format.to_string(),
            columns.to_string(),
            format!("{:.6}", outcome.loss[0]),
            format!("{:.6}", outcome.loss[1]),
            format!("{:.6}", outcome.mse[0]),
            format!("{:.6}", outcome.mse[1]),
            format!("{millis:.2}"),
        ]);
        for (sum, loss) in self.loss.iter_mut().zip(outcome.loss) {
            *sum += loss;
        }
    }

    fn report(self) -> PassReport {
        let [nearest, gptq] = self.loss;
        let text = if nearest == 0.0 {
            "no layer loses anything by rounding".to_owned()
        } else {
            let percent = 100.0 * gptq / nearest;
            format!("all layers: loss {gptq:.6} instead of {nearest:.6} ({percent:.1}%)")
        };
        PassReport::table("layers", HEADINGS, self.rows)
            .with_text(text)
            .with_fact("loss_nearest", nearest)
            .with_fact("loss_gptq", gptq)
    }
}
