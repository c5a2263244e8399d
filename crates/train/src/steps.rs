//! A short training without epochs: some updates by Adam on batches that follow from a seed.

use crate::TrainError;
use data::Split;
use engine::{Input, Network, Optimizer, OptimizerKind};
use ir::Graph;
use random::Random;

/// The length and the batches of a short training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepTraining {
    /// Number of updates.
    pub steps: u64,
    /// Rows of a batch, at most those of the split.
    pub batch_size: usize,
    /// The learning rate of Adam.
    pub learning_rate: f64,
    /// The seed of batches and dropout.
    pub seed: u64,
}

/// Trains a graph for some updates, on one thread. Batches are drawn with replacement and follow from the seed alone: two
/// graphs learn from the same rows, and the same graph gets the same weights.
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
    let kind = OptimizerKind::Adam { weight_decay: 0.0 };
    let mut optimizer = Optimizer::new(kind, training.learning_rate, network.state());
    let random = Random::new(training.seed, "trial batches");
    let size = training.batch_size.min(rows.len());
    for step in 0..training.steps {
        let stream = random.at(step);
        let draw = |k: usize| rows.indices()[(stream.bits(k as u64) % rows.len() as u64) as usize];
        let indices: Vec<u32> = (0..size).map(draw).collect();
        let labels: Vec<u32> = indices
            .iter()
            .map(|&row| rows.labels()[row as usize])
            .collect();
        let input = Input::Gather {
            values: rows.rows(),
            indices: &indices,
        };
        network.train_step(&[input], &labels, size, &mut optimizer)?;
    }
    Ok(network)
}
