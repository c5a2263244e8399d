//! Moves biases so that rounding does not shift the mean of a layer's outputs.

use super::calibrate::widened;
use super::sampling::{Sampling, exact_twin, observe_value, replace, rounded};
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use data::Split;
use format::Format;
use ir::{Graph, Node, NodeId, Op, Tensor};
use report::Table;

/// `[passes.correct_bias]`: see [`Pass::DOC`].
pub struct CorrectBias(Sampling);

impl Pass for CorrectBias {
    const NAME: &'static str = "correct_bias";
    const ABOUT: &'static str = "moves biases so that rounding does not shift mean outputs";
    const DOC: &'static str = "\
What it does: for every output channel of linear, conv1d and conv2d layers, the mean over rows of what the layer gives without
any rounding in the network, minus what it gives with it, is added to the bias. Layers are done in order, so that each
correction sees the ones before it. A bias with a format is rounded by it as always; where it would saturate, the point of the
format moves until it does not.

Example:
  [passes.correct_bias]
  num_samples = 1024

Before:
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 1, weight: integer(4, 1) }
  return fc
  # fc.weight = 0.7 0.5
  # fc.bias = 0
  # rows = 1 1, 3 1
After:
  # fc.bias = 0.4

Config: num_samples, default 1024; split, default train; nodes, a list of names, default all.
Reads: the graph, rows of the dataset; the weights as they were before gptq. Writes: biases, and their formats where
they would saturate.
Report: for each layer the largest mean error of a channel before and after, and the largest change of a bias.

Limits: a bias whose format has no point that could be moved far enough is reported as saturated. A layer without a bias is
left as it is. Where the result has a format of its own, its rounding comes after the correction, and the means agree only as
far as that rounding has none of its own.";

    fn read(reader: &mut Reader) -> Self {
        Self(Sampling::read(reader, 1024))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let Self(sampling) = self;
        let is_layer = |node: &Node| Layout::of(node).is_some();
        let chosen = sampling.chosen(graph, is_layer, "linear, conv1d or conv2d")?;
        let rows = sampling.rows(context)?;
        let twin = exact_twin(graph, context);
        let mut table = Table::new(&[
            "Node name",
            "Channels",
            "Mean error before",
            "Mean error after",
            "Largest change",
            "Why",
        ]);
        let mut corrected = 0;
        for id in chosen {
            let node = graph.node(id);
            let Some(layout) = Layout::of(node) else {
                continue;
            };
            let name = node.name.clone();
            let channels = layout.channels.to_string();
            let Some(bias) = node.params.get("bias") else {
                let none = ["-"; 3].map(str::to_owned);
                let cells = [name, channels].into_iter().chain(none);
                table.push(cells.chain(["has no bias".to_owned()]));
                continue;
            };
            let mean = |graph: &Graph| layout.means(graph, id, &rows, context.threads);
            let correction = Correction::new(node, bias, &mean(&twin)?, &mean(graph)?);
            table.push([
                name,
                channels,
                format!("{:.6}", correction.before),
                format!("{:.6}", correction.after),
                format!("{:.6}", correction.change),
                correction.why.to_owned(),
            ]);
            corrected += 1;
            if let Some(format) = correction.format {
                let formats = &mut graph.node_mut(id).formats;
                formats.insert("bias".to_owned(), format);
            }
            replace(graph.node_mut(id), "bias", correction.bias, context);
        }
        Ok(PassReport::default()
            .with_table("biases", table)
            .with_fact("corrected", corrected))
    }
}

/// A bias that makes up for the mean error of each channel.
struct Correction {
    bias: Tensor,
    /// The format of the bias, if it has one: wide enough for all channels, where its point can be moved there.
    format: Option<Format>,
    why: &'static str,
    /// The largest mean error of a channel without and with it.
    before: f64,
    after: f64,
    /// The largest change of a bias.
    change: f64,
}

impl Correction {
    fn new(node: &Node, bias: &Tensor, exact: &[f64], got: &[f64]) -> Self {
        let format = node.formats.get("bias");
        // The error was measured with the bias as it is used, so that is what it is added to.
        let used = rounded(bias, format);
        let errors: Vec<f64> = exact.iter().zip(got).map(|(a, b)| a - b).collect();
        let mut new = bias.clone();
        for ((new, &used), error) in new.values_mut().iter_mut().zip(&used).zip(&errors) {
            *new = (f64::from(used) + error) as f32;
        }
        if let Some(mask) = node.masks.get("bias") {
            for (new, _) in new
                .values_mut()
                .iter_mut()
                .zip(mask.values())
                .filter(|(_, keep)| **keep == 0.0)
            {
                *new = 0.0;
            }
        }
        let wide = format.map(|format| widened(format, new.values()));
        let why = match (&wide, format) {
            (Some(Some(wide)), Some(format)) if wide != format => "corrected, format widened",
            (Some(None), _) => "saturated",
            _ => "corrected",
        };
        let format = wide.flatten().or_else(|| format.cloned());
        let moved: Vec<f64> = rounded(&new, format.as_ref())
            .iter()
            .zip(&used)
            .map(|(new, old)| f64::from(new - old))
            .collect();
        let left = errors
            .iter()
            .zip(&moved)
            .map(|(error, moved)| error - moved);
        Self {
            bias: new,
            format,
            why,
            before: largest(errors.iter().copied()),
            after: largest(left),
            change: largest(moved.iter().copied()),
        }
    }
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.map(f64::abs).fold(0.0, f64::max)
}

/// The layout of channels in a layer's result.
struct Layout {
    channels: usize,
    is_last: bool,
}

impl Layout {
    fn of(node: &Node) -> Option<Self> {
        let (channels, is_last) = match &node.op {
            Op::Linear(op) => (op.out_features, true),
            Op::Conv1d(op) => (op.out_channels, false),
            Op::Conv2d(op) => (op.out_channels, false),
            _ => return None,
        };
        Some(Self { channels, is_last })
    }

    /// The mean of each channel of the node's result.
    fn means(
        &self,
        graph: &Graph,
        id: NodeId,
        rows: &Split,
        threads: usize,
    ) -> Result<Vec<f64>, PassError> {
        let mut sums = vec![0.0; self.channels];
        let mut count = 0;
        observe_value(graph, id.into(), rows, threads, |shape, values| {
            // Elements that follow each other and belong to one channel.
            let run = if self.is_last {
                1
            } else {
                shape[2..].iter().product::<usize>().max(1)
            };
            count += values.len() / self.channels;
            for (index, part) in values.chunks_exact(run).enumerate() {
                sums[index % self.channels] += part.iter().copied().map(f64::from).sum::<f64>();
            }
        })?;
        Ok(sums
            .iter()
            .map(|sum| sum / f64::from(count as u32))
            .collect())
    }
}
