//! Scoring a configuration after some training with its formats.

use crate::config::TrialTraining;
use data::Split;
use engine::{Input, Network, Optimizer, OptimizerKind};
use ir::Graph;
use passes::PassError;
use random::Random;

/// Rows of a block when scoring.
const BLOCK: usize = 1024;

/// Trains a graph for some steps. The batches follow from the seed alone, so that every trial learns from the same rows,
/// and a configuration that is trained again gets the same weights.
pub(crate) fn train(
    graph: Graph,
    rows: &Split,
    training: TrialTraining,
    seed: u64,
) -> Result<Network, PassError> {
    let mut network = Network::new(graph, 1)?;
    network.seed(seed);
    let kind = OptimizerKind::Adam { weight_decay: 0.0 };
    let mut optimizer = Optimizer::new(kind, training.learning_rate, network.state());
    let random = Random::new(seed, "trial batches");
    let size = training.batch_size.min(rows.len());
    for step in 0..training.steps {
        let stream = random.at(step);
        let pick = |k: usize| rows.indices()[(stream.bits(k as u64) % rows.len() as u64) as usize];
        let indices: Vec<u32> = (0..size).map(pick).collect();
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

/// Mean loss and share of right answers on some rows.
pub(crate) fn score(network: &mut Network, rows: &Split) -> Result<(f64, f64), PassError> {
    let (mut loss, mut correct) = (0.0, 0);
    for indices in rows.indices().chunks(BLOCK) {
        let labels: Vec<u32> = indices
            .iter()
            .map(|&row| rows.labels()[row as usize])
            .collect();
        let input = Input::Gather {
            values: rows.rows(),
            indices,
        };
        let score = network.evaluate(&[input], &labels, indices.len())?;
        loss += score.loss * indices.len() as f64;
        correct += score.correct;
    }
    Ok((loss / rows.len() as f64, correct as f64 / rows.len() as f64))
}
