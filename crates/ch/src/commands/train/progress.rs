//! The progress of a training on the console.

use crate::output::{Console, Role};
use engine::Score;
use std::time::Instant;
use train::{Event, Stage, accuracy};

/// Prints the events of a training: a line for every epoch, a progress line between them.
pub struct Progress<'a> {
    console: &'a mut Console,
    /// The time when the training began.
    pub start: Instant,
    /// Rows of the epochs before this one.
    rows: usize,
    /// Epochs an earlier run had done.
    skipped: Option<f64>,
}

impl<'a> Progress<'a> {
    /// The progress of a training that begins now.
    pub fn new(console: &'a mut Console) -> Self {
        Self {
            console,
            start: Instant::now(),
            rows: 0,
            skipped: None,
        }
    }

    /// Prints an event.
    pub fn on_event(&mut self, event: &Event) {
        match event {
            Event::Batch(stage) => self.on_batch(stage),
            Event::Epoch {
                stage,
                train,
                val,
                is_best,
            } => {
                self.rows += stage.rows;
                let mut line = epoch_line(stage, *train, *val);
                if *is_best {
                    let best = self.console.stream().paint(Role::Best, "best so far");
                    line = format!("{line}, {best}");
                }
                self.console.print(&line);
            }
            Event::Saved(path) => self.console.debug(&format!("wrote {}", path.display())),
            Event::Note(note) => self.console.note(note),
        }
    }

    fn on_batch(&mut self, stage: &Stage) {
        let share = stage.batch as f64 / stage.batches.max(1) as f64;
        let done = stage.epoch as f64 + share;
        let skipped = *self.skipped.get_or_insert(done);
        let (start, rows) = (self.start, self.rows + stage.rows);
        self.console.progress(|| {
            let seconds = start.elapsed().as_secs_f64();
            batch_line(stage, done - skipped, rows, seconds)
        });
    }
}

/// The progress line within an epoch, of which this run has done so many epochs and rows in so many seconds.
fn batch_line(stage: &Stage, epochs: f64, rows: usize, seconds: f64) -> String {
    let share = stage.batch as f64 / stage.batches.max(1) as f64;
    let to_do = (stage.epochs as f64 - stage.epoch as f64 - share) / epochs;
    // After the first batch there is nothing to extrapolate from yet.
    let left = if to_do.is_finite() {
        format!(", {:.0} s left", seconds * to_do)
    } else {
        String::new()
    };
    let filled = (20.0 * share) as usize;
    format!(
        "epoch {}/{} [{}{}] {:.2} M rows/s{left}, loss {:.4}, acc {:.4}",
        stage.epoch + 1,
        stage.epochs,
        "#".repeat(filled),
        ".".repeat(20 - filled),
        rows as f64 / seconds / 1e6,
        stage.score.loss,
        accuracy(&stage.score),
    )
}

/// The line of an epoch.
pub fn epoch_line(stage: &Stage, train: Score, val: Score) -> String {
    format!(
        "epoch {:>width$}/{}: train_loss {:.4}, train_acc {:.4}, val_loss_epoch {:.4}, val_acc_epoch {:.4}, lr {:.3e}",
        stage.epoch + 1,
        stage.epochs,
        train.loss,
        accuracy(&train),
        val.loss,
        accuracy(&val),
        stage.learning_rate,
        width = stage.epochs.to_string().len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second of four epochs, a quarter of which is done.
    fn stage() -> Stage {
        Stage {
            epoch: 1,
            epochs: 4,
            batch: 5,
            batches: 20,
            step: 25,
            rows: 500_000,
            score: Score {
                loss: 0.5,
                correct: 3,
                count: 4,
            },
            learning_rate: 0.1,
        }
    }

    #[test]
    fn the_line_within_an_epoch_has_its_share_its_rate_and_the_time_left() {
        // 1.25 of 4 epochs in 10 seconds: 22 are left.
        assert_eq!(
            batch_line(&stage(), 1.25, 2_500_000, 10.0),
            "epoch 2/4 [#####...............] 0.25 M rows/s, 22 s left, loss 0.5000, acc 0.7500"
        );
        let first = batch_line(&stage(), 0.0, 100, 1.0);
        assert!(first.contains("rows/s, loss"), "{first}");
    }
}
