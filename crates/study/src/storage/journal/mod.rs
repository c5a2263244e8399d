//! A study in an append-only file, in the layout of Optuna's `JournalFileBackend`.
//!
//! A trial is a line when it begins, with its parameters, and a few when it ends. Lines reach the file at once, so
//! that a killed process loses no finished trial, and the disk several times a second. The number of a trial is its place
//! among the lines that begin one. One program writes at a time: other searches are refused by a lock, and what another
//! program appends meanwhile is noticed before anything is written behind it.

mod lines;
mod read;

use super::{Attributes, Storage, StorageError, StudyInfo};
use crate::{Point, Space, State, Trial};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Larger files are refused: 4 GiB.
const MAX_BYTES: u64 = 1 << 32;
/// Between two times that the disk is waited for.
const SYNC_EVERY: Duration = Duration::from_millis(200);

/// The prefix of our own workers' names, before the number of the process.
const WORKER: &str = "mase-";

/// A journal, open for appending.
pub struct Journal {
    path: PathBuf,
    file: File,
    space: Arc<Space>,
    worker: String,
    /// Not held while the disk is waited for.
    progress: Mutex<Progress>,
}

/// How far the file and its reader are.
struct Progress {
    /// Bytes that are ours or were read.
    length: u64,
    /// Trials that have their first line.
    begun: u64,
    /// Parameters of those that an earlier run has begun and not ended.
    left: BTreeMap<u64, Map<String, Json>>,
    /// Trials of an earlier run that were not given yet.
    restored: Vec<(Trial, Attributes)>,
    last_sync: Instant,
    is_synced: bool,
}

impl Journal {
    /// Makes a journal for a new study; the file must not be there yet.
    pub fn create(path: &Path, info: &StudyInfo) -> Result<Self, StorageError> {
        let fail = |source| file_error(path, source);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(fail)?;
        }
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(fail)?;
        let journal = Self::new(path, file, info)?;
        journal.append(
            &mut journal.progress(),
            &lines::study(info, &journal.worker).concat(),
        )?;
        journal.sync(true)?;
        Ok(journal)
    }

    /// Opens the journal of a study to go on with it. A last line that was cut off is taken away.
    pub fn open(path: &Path, info: &StudyInfo) -> Result<Self, StorageError> {
        let fail = |source| file_error(path, source);
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(fail)?;
        let journal = Self::new(path, file, info)?;
        let mut bytes = Vec::new();
        (&journal.file)
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(fail)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(fail(io::Error::other("is larger than 4 GiB")));
        }
        let content =
            read::read(&bytes, info).map_err(|(line, message)| StorageError::Foreign {
                place: format!("{}:{line}", path.display()),
                message,
            })?;
        journal.file.set_len(content.whole as u64).map_err(fail)?;
        journal.go_on(content, info)?;
        Ok(journal)
    }

    /// Takes in what was read, and writes what an earlier run did not come to write.
    fn go_on(&self, mut content: read::Content, info: &StudyInfo) -> Result<(), StorageError> {
        let mut progress = self.progress();
        progress.length = content.whole as u64;
        let study = lines::study(info, &self.worker);
        let missing = study.into_iter().zip(content.has).filter(|(_, has)| !has);
        let mut text: String = missing.map(|(line, _)| line).collect();
        for (number, draft) in content.trials.iter_mut().enumerate() {
            if draft.is_finished() {
                continue;
            }
            let number = number as u64;
            if draft.worker.starts_with(WORKER) {
                progress.left.insert(number, draft.parameters.clone());
                continue;
            }
            // Another program has left it behind, at a point of its own.
            let now = SystemTime::now();
            draft.fail(now);
            text += &lines::state(number, State::Failed, &[], now, &self.worker);
        }
        progress.begun = content.trials.len() as u64;
        progress.restored = content.finished(&self.space)?;
        if text.is_empty() {
            return Ok(());
        }
        self.append(&mut progress, &text)
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn new(path: &Path, file: File, info: &StudyInfo) -> Result<Self, StorageError> {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(file_error(
                    path,
                    io::Error::other("another search is writing it"),
                ));
            }
            Err(TryLockError::Error(source)) => return Err(file_error(path, source)),
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            space: Arc::clone(&info.space),
            worker: format!("{WORKER}{}", std::process::id()),
            progress: Mutex::new(Progress {
                length: 0,
                begun: 0,
                left: BTreeMap::new(),
                restored: Vec::new(),
                last_sync: Instant::now(),
                is_synced: true,
            }),
        })
    }

    /// A trial that an earlier run has begun is the one to run again.
    fn left_behind(&self, number: u64, point: &Point) -> Result<(), StorageError> {
        let now = self.space.named(point);
        match self.progress().left.remove(&number) {
            Some(then) if then != now => Err(StorageError::Foreign {
                place: self.path.display().to_string(),
                message: format!(
                    "trial {number} was begun as {}, now it would be {}; another version of this program made the study",
                    Json::Object(then),
                    Json::Object(now)
                ),
            }),
            _ => Ok(()),
        }
    }

    fn append(&self, progress: &mut Progress, text: &str) -> Result<(), StorageError> {
        let fail = |source| file_error(&self.path, source);
        let length = self.file.metadata().map_err(fail)?.len();
        if length != progress.length {
            let message = format!(
                "another program has changed it, from {} to {length} bytes",
                progress.length
            );
            return Err(fail(io::Error::other(message)));
        }
        progress.is_synced = false;
        progress.length += text.len() as u64;
        (&self.file).write_all(text.as_bytes()).map_err(fail)
    }
}

fn file_error(path: &Path, source: io::Error) -> StorageError {
    StorageError::File {
        path: path.to_owned(),
        source,
    }
}

impl Storage for Journal {
    fn poll(&self) -> Result<Vec<(Trial, Attributes)>, StorageError> {
        Ok(std::mem::take(&mut self.progress().restored))
    }

    fn claim(&self, number: u64, point: &Point) -> Result<bool, StorageError> {
        // A trial that was under way when an earlier run stopped has its line already.
        if number < self.progress().begun {
            return self.left_behind(number, point).map(|()| true);
        }
        let line = lines::begin(&self.space, point, SystemTime::now(), &self.worker);
        let mut progress = self.progress();
        self.append(&mut progress, &line)?;
        progress.begun += 1;
        Ok(true)
    }

    fn take_over(&self, _number: u64, _point: &Point) -> Result<Option<Point>, StorageError> {
        Ok(None)
    }

    fn finish(&self, trial: &Trial, attributes: &Attributes) -> Result<(), StorageError> {
        let text = lines::end(trial, attributes, &self.worker);
        self.append(&mut self.progress(), &text)
    }

    fn sync(&self, now: bool) -> Result<(), StorageError> {
        let mut progress = self.progress();
        if progress.is_synced || (!now && progress.last_sync.elapsed() < SYNC_EVERY) {
            return Ok(());
        }
        progress.last_sync = Instant::now();
        progress.is_synced = true;
        drop(progress);
        self.file
            .sync_data()
            .map_err(|source| file_error(&self.path, source))
    }

    fn describe_wait(&self, _trials: &[u64]) -> String {
        format!("the disk of {}", self.path.display())
    }
}
