//! `metrics.csv`: a line per logged step and per epoch. Going on with a run drops the lines after the checkpoint first.

use crate::TrainError;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::num::ParseFloatError;
use std::path::{Path, PathBuf};

const HEADER: &str = "epoch,step,learning_rate,train_loss_step,train_acc_step,val_loss_epoch,val_acc_epoch,train_loss,train_acc\n";

/// One line; what was not measured stays empty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Line {
    pub epoch: u64,
    pub step: u64,
    pub learning_rate: f64,
    /// Loss and accuracy of the step's batch.
    pub batch: Option<Measures>,
    /// Loss and accuracy on the validation rows, after an epoch.
    pub val: Option<Measures>,
    /// Loss and accuracy over the training batches of an epoch.
    pub train: Option<Measures>,
}

/// Loss and accuracy.
pub(crate) type Measures = (f64, f64);

/// The scores of an epoch, as `metrics.csv` has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochScores {
    /// The epoch, from zero.
    pub epoch: u64,
    /// The learning rate of its steps.
    pub learning_rate: f64,
    /// Loss and accuracy over its training batches, as they were learned.
    pub train: (f64, f64),
    /// Loss and accuracy on the validation rows, after it.
    pub val: (f64, f64),
}

/// The scores of all epochs in a `metrics.csv`.
///
/// # Errors
/// When it cannot be read, or a line is damaged.
pub fn epoch_scores(path: &Path) -> Result<Vec<EpochScores>, TrainError> {
    let scores = |line: Line| {
        Some(EpochScores {
            epoch: line.epoch,
            learning_rate: line.learning_rate,
            train: line.train?,
            val: line.val?,
        })
    };
    let lines = read(path)?.into_iter();
    Ok(lines.filter_map(|(line, _)| scores(line)).collect())
}

/// The log; lines are written when a checkpoint is.
#[derive(Debug)]
pub(crate) struct Metrics {
    path: PathBuf,
    pending: String,
}

impl Metrics {
    /// A new log, or the first lines of an old one, up to the given step.
    pub fn open(path: &Path, resume_at: Option<u64>) -> Result<Self, TrainError> {
        let kept = match resume_at {
            Some(last) => {
                let lines = read(path)?.into_iter();
                let kept = lines.filter(|(line, _)| line.step <= last);
                kept.map(|(_, text)| text).collect()
            }
            None => String::new(),
        };
        let text = HEADER.to_owned() + &kept;
        interop::write_file(path, text.as_bytes()).map_err(TrainError::write(path))?;
        Ok(Self {
            path: path.to_owned(),
            pending: String::new(),
        })
    }

    pub fn add(&mut self, line: &Line) {
        let cells = |pair: Option<Measures>| {
            pair.map_or_else(
                || ",".to_owned(),
                |(loss, accuracy)| format!("{loss},{accuracy}"),
            )
        };
        let Line {
            epoch,
            step,
            learning_rate,
            ..
        } = *line;
        let [batch, val, train] = [line.batch, line.val, line.train].map(cells);
        let _ = writeln!(
            self.pending,
            "{epoch},{step},{learning_rate},{batch},{val},{train}"
        );
    }

    /// Appends all lines so far.
    pub fn flush(&mut self) -> Result<(), TrainError> {
        let appended = OpenOptions::new().append(true).open(&self.path);
        let written = appended.and_then(|mut file| {
            file.write_all(self.pending.as_bytes())?;
            // The checkpoint that is written next must not outlive these lines.
            file.sync_data()
        });
        written.map_err(TrainError::write(&self.path))?;
        self.pending.clear();
        Ok(())
    }
}

/// The lines of a log with their texts. A last line without its end was cut by a kill and is left out, as is a log that is
/// not there; any other damage is an error with its place.
fn read(path: &Path) -> Result<Vec<(Line, String)>, TrainError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            let path = path.to_owned();
            return Err(TrainError::Read { path, source });
        }
    };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n');
    let whole = &bytes[..whole.map_or(0, |end| end + 1)];
    let mut lines = Vec::new();
    for (i, line) in whole.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let problem = |problem: String| TrainError::Log {
            path: path.to_owned(),
            line: i + 1,
            problem,
        };
        let text = std::str::from_utf8(line).map_err(|error| {
            let place = error.valid_up_to() + 1;
            problem(format!("is not UTF-8 at byte {place}"))
        })?;
        if i == 0 && text == HEADER {
            continue;
        }
        let line = Line::parse(text.trim_end_matches('\n'))
            .ok_or_else(|| problem("is not a line of metrics".to_owned()))?;
        lines.push((line, text.to_owned()));
    }
    Ok(lines)
}

impl Line {
    /// A line that is whole: as many cells as the header, whole numbers and then numbers or nothing.
    fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.split(',').collect();
        let [epoch, step, learning_rate, pairs @ ..] = cells.as_slice() else {
            return None;
        };
        let pairs: Result<Vec<Option<Measures>>, ParseFloatError> = pairs
            .chunks_exact(2)
            .map(|pair| measures(pair[0], pair[1]))
            .collect();
        let is_whole = cells.len() == HEADER.split(',').count();
        let [batch, val, train] = *pairs.ok().filter(|_| is_whole)?.as_slice() else {
            return None;
        };
        Some(Self {
            epoch: epoch.parse().ok()?,
            step: step.parse().ok()?,
            learning_rate: learning_rate.parse().ok()?,
            batch,
            val,
            train,
        })
    }
}

/// Two numbers, or none where both cells are empty.
fn measures(loss: &str, accuracy: &str) -> Result<Option<Measures>, ParseFloatError> {
    if loss.is_empty() && accuracy.is_empty() {
        return Ok(None);
    }
    Ok(Some((loss.parse()?, accuracy.parse()?)))
}
