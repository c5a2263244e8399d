//! `metrics.csv`: a line per logged step and per epoch. Going on with a run drops the lines after the checkpoint first.

use crate::TrainError;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

const HEADER: &str =
    "epoch,step,learning_rate,train_loss_step,train_acc_step,val_loss_epoch,val_acc_epoch\n";

/// One line; what was not measured stays empty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Line {
    pub epoch: u64,
    pub step: u64,
    pub learning_rate: f64,
    /// Loss and accuracy.
    pub train: Option<(f64, f64)>,
    /// Loss and accuracy.
    pub val: Option<(f64, f64)>,
}

/// The log; lines are written when a checkpoint is.
#[derive(Debug)]
pub(crate) struct Metrics {
    path: PathBuf,
    pending: String,
}

impl Metrics {
    /// A new log, or the first steps of an old one, up to the given step.
    pub fn open(path: &Path, resume_at: Option<u64>) -> Result<Self, TrainError> {
        let old = resume_at
            .and_then(|_| fs::read_to_string(path).ok())
            .unwrap_or_default();
        let kept = old
            .lines()
            .skip(1)
            .filter(|line| step_of(line).is_some_and(|step| Some(step) <= resume_at));
        let text = kept.fold(HEADER.to_owned(), |text, line| text + line + "\n");
        interop::write_file(path, text.as_bytes()).map_err(TrainError::write(path))?;
        Ok(Self {
            path: path.to_owned(),
            pending: String::new(),
        })
    }

    pub fn add(&mut self, line: &Line) {
        let cells = |pair: Option<(f64, f64)>| {
            pair.map_or_else(
                || ",".to_owned(),
                |(loss, accuracy)| format!("{loss},{accuracy}"),
            )
        };
        let Line {
            epoch,
            step,
            learning_rate,
            train,
            val,
        } = *line;
        let _ = writeln!(
            self.pending,
            "{epoch},{step},{learning_rate},{},{}",
            cells(train),
            cells(val)
        );
    }

    /// Appends all lines so far.
    pub fn flush(&mut self) -> Result<(), TrainError> {
        let appended = OpenOptions::new().append(true).open(&self.path);
        let written = appended.and_then(|mut file| file.write_all(self.pending.as_bytes()));
        written.map_err(TrainError::write(&self.path))?;
        self.pending.clear();
        Ok(())
    }
}

fn step_of(line: &str) -> Option<u64> {
    line.split(',').nth(1)?.parse().ok()
}
