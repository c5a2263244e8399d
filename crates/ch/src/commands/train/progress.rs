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
            let to_do = (stage.epochs as f64 - done) / (done - skipped);
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
        });
    }
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
