//! Scores and outputs of a network on rows it does not learn.

use crate::TrainError;
use data::Split;
use engine::{Input, Network, PlanOptions, Score};

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
    let mut total = Score {
        loss: 0.0,
        correct: 0,
        count: 0,
    };
    let mut labels = Vec::with_capacity(ROWS);
    for indices in split.indices().chunks(ROWS) {
        labels.clear();
        labels.extend(indices.iter().map(|&row| split.labels()[row as usize]));
        let input = Input::Gather {
            values: split.rows(),
            indices,
        };
        let score = network.evaluate(&[input], &labels, indices.len())?;
        total.loss += score.loss * score.count as f64;
        total.correct += score.correct;
        total.count += score.count;
    }
    total.loss /= total.count.max(1) as f64;
    Ok(total)
}

/// The outputs for rows of `width` values, in evaluation mode.
pub fn predict(network: &mut Network, rows: &[f32], width: usize) -> Result<Vec<f32>, TrainError> {
    let mut outputs = Vec::new();
    for rows in rows.chunks(ROWS * width.max(1)) {
        let plan = network.run(
            PlanOptions::eval(rows.len() / width.max(1)),
            &[Input::F32(rows)],
        )?;
        plan.for_each_output(0, |part| outputs.extend_from_slice(part));
    }
    Ok(outputs)
}
