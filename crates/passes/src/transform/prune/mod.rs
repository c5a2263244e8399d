//! Prunes weights and activations: masks them, so that they are zero and stay so.

mod candidate;
mod read;
mod rule;
mod select;

pub use rule::{Granularity, Method, PruneRule, Scope, Sparsity};

use crate::observe::Sample;
use crate::{Context, Pass, PassError, PassReport};
use candidate::{Candidate, Side};
use config::Reader;
use ir::{Graph, Tensor, verify};
use report::Table;

/// `[passes.prune]`: see [`Pass::DOC`].
pub struct Prune {
    weight: Option<PruneRule>,
    activation: Option<PruneRule>,
    sample: Sample,
}

impl Pass for Prune {
    const NAME: &'static str = "prune";
    const ABOUT: &'static str = "masks weights and activations to an exact sparsity";
    const DOC: &'static str = "\
What it does: gives weights, and inputs of layers, a mask of zeros and ones. What is masked is zero, in evaluation, in
integers and through further training; masks are saved with the model (NAME.weight_mask, NAME.data_in_0_mask, as PyTorch has
them). Layers with a weight of two axes or more are pruned: linear, convolutions, embeddings.

Exactly round(sparsity·n) of n elements are masked, ties to even as in PyTorch: of each tensor (scope local), or of all
together (scope global). With granularity channel whole output channels of a weight, or whole channels of an input, take the
place of elements. Chosen are those with the least magnitude (l1-norm): of a weight |w|, of an input the mean of |x| over
num_samples rows, of a channel the mean over its elements; or with the least square (l2-norm), which orders channels otherwise;
or any (random, from the seed). Equal ones go in order of position. What is masked already counts as pruned and stays so. With
fan_in each output of a weight keeps that many inputs, chosen in the same order, whatever share that is.

Differs from MASE: the sparsity is exact, and masks are saved with the model.

Example:
  [passes.prune.weight]
  sparsity = 0.5                    # or a table: sparsity = { seq_blocks_2 = 0.8 }
  scope = \"local\"                   # or \"global\"
  granularity = \"elementwise\"       # or \"channel\"
  method = \"l1-norm\"                # or \"l2-norm\", or \"random\"
  [passes.prune.activation]
  sparsity = 0.1

Before:
  x: f32[N, 2] = placeholder
  fc = linear(x) { in_features = 2, out_features = 2 }
  return fc
  # fc.weight = 1 -2 3 -4
After:
  # fc.weight = 0 0 3 -4
  # fc.weight_mask = 0 0 1 1
  # fc.data_in_0_mask = 1 1

Config: weight and activation, each with sparsity (at least 0, below 1), scope, granularity, method; weight with fan_in instead
of sparsity; num_samples, default 64, and split for the magnitudes of activations. Names of older files are understood: scope
tensor or layer (local) and global-naive (global), method level-pruner or channel-pruner with a criterion, a target or a
config_list with the sparsity. Reads: the graph; rows of the dataset for activations by their norm.
Writes: masks and zeros.
Limits: a port whose format has no zero (bipolar binary) cannot be masked. The channels of a linear's input are its last axis.";

    fn read(reader: &mut Reader) -> Self {
        let pass = Self {
            weight: reader
                .table("weight", |r| read::rule(r, Side::Weight))
                .flatten(),
            activation: reader
                .table("activation", |r| read::rule(r, Side::Activation))
                .flatten(),
            sample: Sample::read(reader, 64),
        };
        if reader
            .item("weight")
            .or(reader.item("activation"))
            .is_none()
        {
            let hint = "give [passes.prune.weight] or [passes.prune.activation]";
            reader.missing("what to prune", hint);
        }
        pass
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let sides = [
            (Side::Weight, &self.weight),
            (Side::Activation, &self.activation),
        ];
        // Activations are looked at before any weight is pruned.
        let mut chosen = Vec::new();
        for (side, rule) in sides {
            if let Some(rule) = rule {
                let mut candidates = Candidate::find(graph, side, rule)?;
                if rule.method != Method::Random && side == Side::Activation {
                    let rows = self.sample.rows(context)?;
                    candidate::measure(&mut candidates, graph, &rows, context.threads)?;
                }
                let masks = rule.masks(&candidates, context.seed);
                chosen.push((side, candidates, masks));
            }
        }
        let mut report = PassReport::default();
        for (side, candidates, masks) in chosen {
            let mut count = Count::default();
            for (candidate, mask) in candidates.iter().zip(masks) {
                count.add(graph, candidate, &mask, context);
                graph
                    .node_mut(candidate.node)
                    .set_mask(&candidate.port, mask);
            }
            report = count.append_to(report, side);
        }
        verify(graph)?;
        Ok(report)
    }
}

/// Elements and zeros of masks.
struct Count {
    table: Table,
    elements: usize,
    pruned: usize,
}

impl Default for Count {
    fn default() -> Self {
        Self {
            table: Table::new(&["Node name", "Port", "Elements", "Pruned", "Sparsity"]),
            elements: 0,
            pruned: 0,
        }
    }
}

impl Count {
    fn add(&mut self, graph: &Graph, of: &Candidate, mask: &Tensor, context: &mut Context) {
        let (name, elements) = (&graph.node(of.node).name, mask.values().len());
        let pruned = mask.values().iter().filter(|keep| **keep == 0.0).count();
        if pruned == elements {
            context
                .notes
                .push(format!("{name}: all of {} is pruned", of.port));
        }
        self.table.push(cells(name, &of.port, elements, pruned));
        self.elements += elements;
        self.pruned += pruned;
    }

    fn append_to(mut self, report: PassReport, side: Side) -> PassReport {
        self.table.totals = Some(cells("total", "", self.elements, self.pruned));
        let fact = format!("{}_sparsity", side.name());
        report
            .with_fact(&fact, share(self.elements, self.pruned))
            .with_table(side.table(), self.table)
    }
}

fn cells(name: &str, port: &str, elements: usize, pruned: usize) -> Vec<String> {
    vec![
        name.to_owned(),
        port.to_owned(),
        elements.to_string(),
        pruned.to_string(),
        format!("{:.4}", share(elements, pruned)),
    ]
}

fn share(elements: usize, pruned: usize) -> f64 {
    pruned as f64 / elements.max(1) as f64
}
