//! The files of a run: logs, the best and the last checkpoint, and the position that they are written at.

use crate::checkpoint::{Position, snapshot};
use crate::metrics::{Line, Measures, Metrics};
use crate::tensorboard::EventFile;
use crate::{Ending, Event, FitConfig, Outcome, Stage, TrainError, accuracy};
use engine::{Network, Optimizer, OptimizerKind, Score};
use interop::checkpoint::Checkpoint;
use serde_json::{Map, Value as Json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time between two checkpoints: a kill loses at most the work of this long, and never a result.
pub(crate) const SAVE_EVERY: Duration = Duration::from_secs(10);
/// The same at the end of an epoch, where a new best network waits to be written.
pub(crate) const SAVE_AT_EPOCH_END: Duration = Duration::from_secs(2);

/// The folder of the checkpoints, in that of a run.
pub const CHECKPOINTS: &str = "training_ckpts";

/// The files of a run and its position.
pub(crate) struct Run {
    pub position: Position,
    metrics: Metrics,
    events: Option<EventFile>,
    folder: PathBuf,
    /// Over the batches of the last epoch.
    pub train_loss: Option<f64>,
    /// The best network so far, until it is written.
    pending_best: Option<Checkpoint>,
    /// The time of the last checkpoint.
    saved_at: Instant,
    /// Its updates.
    saved_step: u64,
    hyper_parameters: Map<String, Json>,
    /// The name of this optimiser's learning rate in Lightning's monitor.
    rate_tag: &'static str,
}

impl Run {
    pub fn open(
        config: &FitConfig,
        hyper_parameters: Map<String, Json>,
        earlier: Option<Position>,
    ) -> Result<Self, TrainError> {
        let checkpoints = config.folder.join(CHECKPOINTS);
        std::fs::create_dir_all(&checkpoints).map_err(TrainError::write(&checkpoints))?;
        let position = earlier.unwrap_or(START);
        let events = config.tensorboard.then(|| {
            EventFile::create(&config.folder.join("tensorboard/version_0"), position.step)
        });
        Ok(Self {
            metrics: Metrics::open(
                &config.folder.join("metrics.csv"),
                earlier.map(|position| position.step),
            )?,
            events: events.transpose()?,
            folder: config.folder.clone(),
            train_loss: None,
            pending_best: None,
            saved_at: Instant::now(),
            saved_step: position.step,
            hyper_parameters,
            rate_tag: match config.optimizer {
                OptimizerKind::Adam { .. } => "lr-Adam",
                OptimizerKind::AdamW { .. } => "lr-AdamW",
                OptimizerKind::Sgd { .. } => "lr-SGD",
            },
            position,
        })
    }

    /// Counts a batch; whether it ended in an update.
    pub fn count(&mut self, score: Score, network: &Network, steps: u64) -> bool {
        let position = &mut self.position;
        let updated = steps > position.step;
        position.batch += 1;
        position.step = steps;
        position.passes = network.passes();
        position.loss_sum += score.loss * score.count as f64;
        position.correct += score.correct;
        position.count += score.count;
        updated
    }

    /// The mean score of this epoch's batches.
    pub fn epoch_score(&self) -> Score {
        let Position {
            loss_sum,
            correct,
            count,
            ..
        } = self.position;
        Score {
            loss: loss_sum / count.max(1) as f64,
            correct,
            count,
        }
    }

    pub fn stage(
        &self,
        config: &FitConfig,
        batches: usize,
        score: Score,
        learning_rate: f64,
    ) -> Stage {
        Stage {
            epoch: self.position.epoch,
            epochs: config.max_epochs,
            batch: self.position.batch,
            batches,
            step: self.position.step,
            rows: self.position.count,
            score,
            learning_rate,
        }
    }

    /// True when it is time for a checkpoint, of which the last may be so old.
    pub fn is_due(&self, config: &FitConfig, max_age: Duration) -> bool {
        let steps = self.position.step - self.saved_step;
        is_due(self.saved_at.elapsed(), max_age, steps, config.save_every)
    }

    /// Keeps the network when it is the best so far, and moves to the next epoch if this one is whole; one that the number
    /// of updates ended goes on when there are more of them.
    pub fn end_epoch(
        &mut self,
        val: Score,
        network: &Network,
        optimizer: &Optimizer,
        batches: usize,
    ) -> bool {
        let is_best = self.position.best_loss.is_none_or(|best| val.loss < best);
        if is_best {
            self.position.best_loss = Some(val.loss);
        }
        if self.position.batch == batches {
            self.position = Position {
                epoch: self.position.epoch + 1,
                step: self.position.step,
                passes: self.position.passes,
                best_loss: self.position.best_loss,
                ..START
            };
        }
        if is_best {
            self.pending_best = Some(self.snapshot(network, optimizer));
        }
        is_best
    }

    fn snapshot(&self, network: &Network, optimizer: &Optimizer) -> Checkpoint {
        snapshot(network, optimizer, &self.position, &self.hyper_parameters)
    }

    pub fn log_step(&mut self, stage: &Stage) {
        let (loss, accuracy) = measures(stage.score);
        self.metrics.add(&Line {
            batch: Some((loss, accuracy)),
            ..line(stage)
        });
        self.scalars(
            stage.step,
            &[("train_loss_step", loss), ("train_acc_step", accuracy)],
        );
    }

    pub fn log_epoch(&mut self, stage: &Stage, val: Score) {
        let (train, val) = (measures(stage.score), measures(val));
        self.metrics.add(&Line {
            val: Some(val),
            train: Some(train),
            ..line(stage)
        });
        self.scalars(
            stage.step,
            &[
                ("val_loss_epoch", val.0),
                ("val_acc_epoch", val.1),
                ("train_loss", train.0),
                ("train_acc", train.1),
                (self.rate_tag, stage.learning_rate),
                ("epoch", stage.epoch as f64),
            ],
        );
    }

    fn scalars(&mut self, step: u64, values: &[(&str, f64)]) {
        if let Some(events) = &mut self.events {
            for (tag, value) in values {
                events.scalar(tag, step, *value as f32);
            }
        }
    }

    /// Writes logs, the best and the last checkpoint, in an order in which a kill at any moment leaves a run to go on from.
    pub fn save(
        &mut self,
        network: &Network,
        optimizer: &Optimizer,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<(), TrainError> {
        self.save_logs_and_best(on_event)?;
        let path = last_path(&self.folder);
        interop::checkpoint::write(&path, &self.snapshot(network, optimizer))?;
        on_event(&Event::Saved(&path));
        (self.saved_at, self.saved_step) = (Instant::now(), self.position.step);
        Ok(())
    }

    fn save_logs_and_best(&mut self, on_event: &mut dyn FnMut(&Event)) -> Result<(), TrainError> {
        self.metrics.flush()?;
        if let Some(events) = &mut self.events {
            events.flush()?;
        }
        if let Some(best) = self.pending_best.take() {
            let path = best_path(&self.folder);
            interop::checkpoint::write(&path, &best)?;
            on_event(&Event::Saved(&path));
        }
        Ok(())
    }

    /// Ends with what was good: the weights of now are not.
    pub fn diverged(mut self, on_event: &mut dyn FnMut(&Event)) -> Result<Outcome, TrainError> {
        self.save_logs_and_best(on_event)?;
        Ok(self.outcome(Ending::Diverged))
    }

    pub fn outcome(&self, ending: Ending) -> Outcome {
        outcome(&self.folder, &self.position, ending, self.train_loss)
    }
}

/// The outcome of a run that has come to a position.
pub(crate) fn outcome(
    folder: &Path,
    position: &Position,
    ending: Ending,
    train_loss: Option<f64>,
) -> Outcome {
    let is_cut = ending == Ending::Done && position.batch > 0;
    Outcome {
        ending,
        steps: position.step,
        epochs: position.epoch + u64::from(is_cut),
        train_loss,
        best_loss: position.best_loss,
        best: best_path(folder),
        last: last_path(folder),
    }
}

/// True when a checkpoint that is so old and lies so many updates back is to be replaced.
fn is_due(age: Duration, max_age: Duration, steps: u64, save_every: Option<u64>) -> bool {
    age > max_age || save_every.is_some_and(|n| steps >= n)
}

/// The checkpoint with the lowest validation loss.
fn best_path(folder: &Path) -> PathBuf {
    folder.join(CHECKPOINTS).join("best.ckpt")
}

/// The checkpoint to resume from.
pub(crate) fn last_path(folder: &Path) -> PathBuf {
    folder.join(CHECKPOINTS).join("last.ckpt")
}

/// The beginning of a run.
const START: Position = Position {
    epoch: 0,
    batch: 0,
    step: 0,
    passes: 0,
    loss_sum: 0.0,
    correct: 0,
    count: 0,
    best_loss: None,
};

/// A line of the log without measures.
fn line(stage: &Stage) -> Line {
    Line {
        epoch: stage.epoch,
        step: stage.step,
        learning_rate: stage.learning_rate,
        ..Line::default()
    }
}

/// Loss and accuracy.
fn measures(score: Score) -> Measures {
    (score.loss, accuracy(&score))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_due_after_some_seconds_or_the_steps_asked_for() {
        for (seconds, steps, save_every, expected) in [
            (0, 0, None, false),
            (9, 1_000_000, None, false),
            (10, 1, None, false),
            (11, 1, None, true),
            (11, 1, Some(5), true),
            (0, 4, Some(5), false),
            (0, 5, Some(5), true),
        ] {
            let due = is_due(Duration::from_secs(seconds), SAVE_EVERY, steps, save_every);
            assert_eq!(due, expected, "{seconds} s, {steps} steps, {save_every:?}");
        }
    }
}
