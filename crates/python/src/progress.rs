//! The progress of a training, as `progress` functions see it.

use ch::library::epoch_line;
use pyo3::prelude::*;
use train::{Event, accuracy};

/// The end of an epoch. Printed, it is the line of `ch train`.
#[pyclass(frozen, module = "mase", get_all, str = "{line}")]
#[derive(Clone)]
#[expect(
    clippy::struct_field_names,
    reason = "metrics have the names that `ch` gives them"
)]
pub struct Epoch {
    /// The number of the epoch, from one.
    epoch: u64,
    /// Epochs in all.
    epochs: u64,
    /// Updates so far.
    step: u64,
    /// The mean loss over the training batches.
    train_loss: f64,
    /// The share of right answers in the training batches.
    train_acc: f64,
    /// The loss on the validation rows.
    val_loss_epoch: f64,
    /// The share of right answers on the validation rows.
    val_acc_epoch: f64,
    /// The learning rate.
    learning_rate: f64,
    /// True when no earlier epoch had a lower validation loss.
    is_best: bool,
    line: String,
}

#[pymethods]
impl Epoch {
    fn __repr__(&self) -> &str {
        &self.line
    }
}

impl Epoch {
    /// The epoch that an event of training ends.
    pub fn of(event: &Event) -> Option<Self> {
        let Event::Epoch {
            stage,
            train,
            val,
            is_best,
        } = event
        else {
            return None;
        };
        let best = if *is_best { ", best so far" } else { "" };
        Some(Self {
            epoch: stage.epoch + 1,
            epochs: stage.epochs,
            step: stage.step,
            train_loss: train.loss,
            train_acc: accuracy(train),
            val_loss_epoch: val.loss,
            val_acc_epoch: accuracy(val),
            learning_rate: stage.learning_rate,
            is_best: *is_best,
            line: epoch_line(stage, *train, *val) + best,
        })
    }
}
