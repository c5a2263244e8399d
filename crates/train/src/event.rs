//! Events of the training loop.

use engine::Score;
use std::path::Path;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A batch has been learned. Comes for every batch: listeners must be quick.
    Batch(&'a Stage),
    /// An epoch has ended: mean score over its batches and the score on the validation rows.
    Epoch {
        /// The progress of training.
        stage: &'a Stage,
        /// Over the training batches, as they were learned.
        train: Score,
        /// On the validation rows, after the epoch.
        val: Score,
        /// True when no earlier epoch had a lower validation loss.
        is_best: bool,
    },
    /// A checkpoint has been written.
    Saved(&'a Path),
    /// Something a user should know.
    Note(&'a str),
}

/// The progress of training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// The epoch, from zero.
    pub epoch: u64,
    /// Epochs in all.
    pub epochs: u64,
    /// Batches of this epoch done.
    pub batch: usize,
    /// Batches of an epoch.
    pub batches: usize,
    /// Updates done.
    pub step: u64,
    /// Rows of this epoch done.
    pub rows: usize,
    /// The last batch's score.
    pub score: Score,
    /// The learning rate of this epoch.
    pub learning_rate: f64,
}
