//! Scores and outputs of a network on rows it does not learn.

use crate::TrainError;
use data::Split;
use engine::{Network, Plan, PlanOptions, Score, gather};

/// Rows at a time: enough to keep the processor busy, few enough to stay in its caches.
const ROWS: usize = 1024;

/// The share of right answers; 0 without rows.
pub fn accuracy(score: &Score) -> f64 {
    score.correct as f64 / score.count.max(1) as f64
}

/// Scores a network on a split, in evaluation mode: the mean loss over all rows, and the number of right answers. Blocks of
/// rows have a fixed size, so that the sum has the same bits on any number of threads.
///
/// # Errors
/// When the rows do not fit the network.
pub fn evaluate(network: &mut Network, split: &Split) -> Result<Score, TrainError> {
    evaluate_blocks(network, split, |_| {})
}

/// The same, with the first result for every row.
///
/// # Errors
/// When the rows do not fit the network.
pub fn evaluate_outputs(
    network: &mut Network,
    split: &Split,
) -> Result<(Score, Vec<f32>), TrainError> {
    let mut outputs = Vec::new();
    let score = evaluate_blocks(network, split, |plan| {
        plan.for_each_output(0, |part| outputs.extend_from_slice(part));
    })?;
    Ok((score, outputs))
}

fn evaluate_blocks(
    network: &mut Network,
    split: &Split,
    mut visit: impl FnMut(&Plan),
) -> Result<Score, TrainError> {
    let mut total = Score {
        loss: 0.0,
        correct: 0,
        count: 0,
    };
    let mut labels = Vec::with_capacity(ROWS);
    for indices in split.indices().chunks(ROWS) {
        labels.clear();
        labels.extend(indices.iter().map(|&row| split.labels()[row as usize]));
        let inputs = gather(split.elements(), indices);
        let (score, plan) = network.evaluate_plan(&inputs, &labels, indices.len())?;
        visit(plan);
        total.loss += score.loss * score.count as f64;
        total.correct += score.correct;
        total.count += score.count;
    }
    total.loss /= total.count.max(1) as f64;
    Ok(total)
}

/// The first result for every row of a split, in evaluation mode.
pub fn predict(network: &mut Network, split: &Split) -> Result<Vec<f32>, TrainError> {
    let mut outputs = Vec::new();
    for indices in split.indices().chunks(ROWS) {
        let options = PlanOptions::eval(indices.len());
        let plan = network.run(options, &gather(split.elements(), indices))?;
        plan.for_each_output(0, |part| outputs.extend_from_slice(part));
    }
    Ok(outputs)
}
