//! A short training without epochs of its own: some updates on batches that follow from a seed.

use crate::batches::{Batches, Order, needs_two_rows};
use crate::{StepSchedule, TrainError};
use data::Split;
use engine::{EngineError, Input, Network, Optimizer, OptimizerKind, gather};
use ir::Graph;
use random::Random;

/// The length, the batches and the updates of a short training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepTraining {
    /// Number of updates.
    pub steps: u64,
    /// Rows of a batch, at most those of the split.
    pub batch_size: usize,
    /// The learning rate, which the schedule scales.
    pub learning_rate: f64,
    /// The seed of batches and dropout.
    pub seed: u64,
    /// The optimiser.
    pub optimizer: OptimizerKind,
    /// The learning rate over the updates.
    pub schedule: StepSchedule,
    /// Batches of an update, at least one; it takes the mean of their gradients.
    pub gradient_accumulation_steps: usize,
    /// The order of the rows.
    pub order: RowOrder,
}

/// The order of the rows of a short training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// Rows are drawn with replacement.
    #[default]
    Drawn,
    /// Every row comes once in an epoch, shuffled anew in each. The last batch of an epoch may have fewer rows.
    Epochs,
}

impl Default for StepTraining {
    /// A thousand updates by Adam on batches of 256, enough for a small network to become useful.
    fn default() -> Self {
        Self {
            steps: 1000,
            batch_size: 256,
            learning_rate: 1e-2,
            seed: 0,
            optimizer: OptimizerKind::Adam { weight_decay: 0.0 },
            schedule: StepSchedule::default(),
            gradient_accumulation_steps: 1,
            order: RowOrder::Drawn,
        }
    }
}

/// Trains a graph for some updates, on one thread. Batches follow from the seed alone: two graphs learn from the same rows,
/// and the same graph gets the same weights.
///
/// # Errors
/// When the graph cannot be trained on these rows.
pub fn train_steps(
    graph: Graph,
    rows: &Split,
    training: StepTraining,
) -> Result<Network, TrainError> {
    let mut network = Network::new(graph, 1)?;
    network.seed(training.seed);
    let mut optimizer = Optimizer::new(training.optimizer, training.learning_rate, network.state());
    let mut source = Source::new(rows, &training, &network);
    let count = training.gradient_accumulation_steps.max(1);
    for step in 0..training.steps {
        optimizer.learning_rate = training.learning_rate * training.schedule.factor(step);
        if count == 1 {
            source.next(|inputs, labels| {
                let step = network.train_step(inputs, labels, labels.len(), &mut optimizer);
                step.map(drop)
            })?;
            continue;
        }
        for _ in 0..count {
            source.next(|inputs, labels| {
                let pass = network.accumulate(inputs, labels, labels.len());
                pass.map(drop)
            })?;
        }
        network.update(&mut optimizer, count);
    }
    Ok(network)
}

/// The batches of a short training, one after another.
struct Source<'a> {
    rows: &'a Split,
    seed: u64,
    size: usize,
    needs_two: bool,
    next: Next,
}

/// The place of the next batch.
enum Next {
    /// The number of the batch.
    Drawn(u64),
    /// The batches of an epoch, and the place among them.
    Epochs {
        batches: Batches,
        epoch: u64,
        at: usize,
    },
}

impl<'a> Source<'a> {
    fn new(rows: &'a Split, training: &StepTraining, network: &Network) -> Self {
        let mut source = Self {
            rows,
            seed: training.seed,
            size: training.batch_size.min(rows.len()),
            needs_two: needs_two_rows(network),
            next: Next::Drawn(0),
        };
        if training.order == RowOrder::Epochs {
            source.begin_epoch(0);
        }
        source
    }

    fn begin_epoch(&mut self, epoch: u64) {
        let order = Order {
            seed: self.seed,
            shuffle: true,
        };
        let mut batches = Batches::default();
        // Without rows there is one empty batch, which the network refuses.
        batches.begin(self.rows, self.size.max(1), order, epoch, self.needs_two);
        self.next = Next::Epochs {
            batches,
            epoch,
            at: 0,
        };
    }

    /// Calls `learn` with the next batch.
    fn next(
        &mut self,
        learn: impl FnOnce(&[Input], &[u32]) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        if let Next::Epochs { batches, epoch, at } = &self.next
            && *at == batches.count()
        {
            self.begin_epoch(epoch + 1);
        }
        let rows = self.rows;
        let learn =
            |indices: &[u32], labels: &[u32]| learn(&gather(rows.elements(), indices), labels);
        match &mut self.next {
            Next::Drawn(number) => {
                let stream = Random::new(self.seed, "trial batches").at(*number);
                *number += 1;
                let draw =
                    |k: usize| rows.indices()[(stream.bits(k as u64) % rows.len() as u64) as usize];
                let indices: Vec<u32> = (0..self.size).map(draw).collect();
                learn(&indices, &rows.labels_of(&indices))
            }
            Next::Epochs { batches, at, .. } => {
                let (indices, labels) = batches.get(*at);
                *at += 1;
                learn(indices, labels)
            }
        }
    }
}
