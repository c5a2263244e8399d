//! Rounds weights so that the layer's outputs lose least, not the weights themselves.

mod factor;
mod grid;
mod hessian;
mod inputs;
mod output_error;
mod solve;

use super::sampling::{Sampling, Seen, replace, rounded};
use super::walk::Walk;
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use factor::Square;
use format::Format;
use grid::Grid;
use hessian::Sums;
use inputs::Layer;
use ir::{Graph, Node, NodeId, Tensor};
use kernels::threads::Pool;
use output_error::OutputError;
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
        let port = (id, "data_in_0");
        let [rows, held_out] = walks;
        rows.advance_to(graph, id)?;
        let mut sums = Sums::new(self.layer, &rows.pool);
        rows.observe(graph, port, Seen::Rounded, |shape, values| {
            sums.add(shape, values);
        })?;
        let hessians = sums.finish();
        let not_finite = || {
            let why = "data_in_0: its values or the sums of their squares are not finite";
            PassError::node(node, why)
        };
        if !hessians.iter().all(Square::is_finite) {
            return Err(not_finite());
        }
        let nearest = rounded(self.weight, Some(self.format));
        let (weights, loss) = self
            .choose(&grid, &nearest, &hessians, &rows.pool)
            .ok_or_else(|| PassError::node(node, "data_in_0: no damping makes H invertible"))?;
        let chosen = Tensor::new(self.weight.shape().to_vec(), weights.clone());
        let kept = chosen.map(|chosen| rounded(&chosen, Some(self.format)));
        if kept.as_ref() != Some(&weights) {
            let why = format!("weight: {} would round the result again", self.format);
            return Err(PassError::node(node, why));
        }
        let exact = self.weight.values();
        let mut errors = [&nearest, &weights].map(|w| OutputError::new(self.layer, exact, w));
        held_out.advance_to(graph, id)?;
        held_out.observe(graph, port, Seen::Rounded, |shape, values| {
            for error in &mut errors {
                error.add(shape, values);
            }
        })?;
        let mse = errors.map(|error| error.mean());
        if !mse.iter().all(|mse| mse.is_finite()) {
            return Err(not_finite());
        }
        Ok(Outcome { weights, loss, mse })
    }

    /// The weights of all groups, and the losses by rounding to nearest and by them.
    fn choose(
        &self,
        grid: &Grid,
        nearest: &[f32],
        hessians: &[Square],
        pool: &Pool,
    ) -> Option<(Vec<f32>, [f64; 2])> {
        let exact = self.weight.values();
        let per_group = exact.len() / hessians.len();
        let channels = per_group / self.layer.columns();
        let groups = exact.chunks(per_group).zip(nearest.chunks(per_group));
        let (mut all, mut loss) = (Vec::new(), [0.0; 2]);
        for (group, ((weights, nearest), hessian)) in groups.zip(hessians).enumerate() {
            let problem = Problem {
                weights,
                hessian,
                damping: self.pass.damping,
                act_order: self.pass.act_order,
            };
            let first = group * channels;
            let mut chosen = solve(&problem, pool, |row, column, wanted, out| {
                grid.round(first + row, column, wanted, out);
            })?;
            let by_rounding = losses(weights, nearest, hessian, pool);
            let mut by_solving = losses(weights, &chosen, hessian, pool);
            revert_worse_rows(&mut chosen, &mut by_solving, nearest, &by_rounding);
            for (sum, losses) in loss.iter_mut().zip([by_rounding, by_solving]) {
                *sum += losses.iter().sum::<f64>();
            }
            all.extend(chosen);
        }
        Some((all, loss))
    }
}

/// Reverts rows that lose more than by rounding to nearest.
fn revert_worse_rows(
    chosen: &mut [f32],
    by_solving: &mut [f64],
    nearest: &[f32],
    by_rounding: &[f64],
) {
    let columns = nearest.len() / by_rounding.len().max(1);
    let rows = chosen.chunks_exact_mut(columns).zip(by_solving);
    let others = nearest.chunks_exact(columns).zip(by_rounding);
    for ((row, solved), (nearest, rounded)) in rows.zip(others) {
        if *solved > *rounded {
            row.copy_from_slice(nearest);
            *solved = *rounded;
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
