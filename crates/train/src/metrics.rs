//! `metrics.csv`: a line per logged step and per epoch. Going on with a run drops the lines after the checkpoint first.

use crate::TrainError;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
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
    /// A new log, or the first lines of an old one, up to the given step.
    pub fn open(path: &Path, resume_at: Option<u64>) -> Result<Self, TrainError> {
        let kept = match resume_at {
            Some(step) => earlier_lines(path, step)?,
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

/// The lines of a log up to a step. A last line without its end was cut by a kill and is left out, as is a log that is not
/// there; any other damage is an error with its place.
fn earlier_lines(path: &Path, last_step: u64) -> Result<String, TrainError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(source) => {
            let path = path.to_owned();
            return Err(TrainError::Read { path, source });
        }
    };
    let whole = bytes.iter().rposition(|&byte| byte == b'\n');
    let whole = &bytes[..whole.map_or(0, |end| end + 1)];
    let mut kept = String::new();
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
        let step = step_of(text.trim_end_matches('\n'))
            .ok_or_else(|| problem("is not a line of metrics".to_owned()))?;
        if step <= last_step {
            kept += text;
        }
    }
    Ok(kept)
}

/// The step of a line that is whole: as many cells as the header, whole numbers and then numbers or nothing.
fn step_of(line: &str) -> Option<u64> {
    let cells: Vec<&str> = line.split(',').collect();
    let [epoch, step, numbers @ ..] = cells.as_slice() else {
        return None;
    };
    let is_number = |cell: &&str| cell.is_empty() || cell.parse::<f64>().is_ok();
    let is_whole = cells.len() == HEADER.split(',').count()
        && epoch.parse::<u64>().is_ok()
        && numbers.iter().all(is_number);
    step.parse().ok().filter(|_| is_whole)
}
