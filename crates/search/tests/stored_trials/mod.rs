//! A storage that holds the trials of an earlier run.

use std::sync::Mutex;
use study::storage::{Attributes, Storage, StorageError};
use study::{Point, Trial};

/// Trials that an earlier run has left; what is added is dropped.
#[derive(Default)]
pub struct StoredTrials {
    pub ended: Mutex<Vec<(Trial, Attributes)>>,
    /// A trial that another program has enqueued: its number and its point, until somebody begins it.
    pub waiting: Mutex<Option<(u64, Point)>>,
    /// The last trial whose result the disk has room for.
    pub last_writable: Option<u64>,
}

impl Storage for StoredTrials {
    fn poll(&self) -> Result<Vec<(Trial, Attributes)>, StorageError> {
        Ok(std::mem::take(&mut *self.ended.lock().unwrap()))
    }

    fn claim(&self, number: u64, _: &Point) -> Result<bool, StorageError> {
        let waiting = self.waiting.lock().unwrap();
        Ok(waiting
            .as_ref()
            .is_none_or(|(waiting, _)| *waiting != number))
    }

    fn take_over(&self, number: u64, _: &Point) -> Result<Option<Point>, StorageError> {
        let mut waiting = self.waiting.lock().unwrap();
        let taken = waiting.take_if(|(waiting, _)| *waiting == number);
        Ok(taken.map(|(_, point)| point))
    }

    fn finish(&self, trial: &Trial, _: &Attributes) -> Result<(), StorageError> {
        if self.last_writable.is_some_and(|last| trial.number > last) {
            return Err(StorageError::File {
                path: "full.journal".into(),
                source: std::io::ErrorKind::StorageFull.into(),
            });
        }
        Ok(())
    }

    fn sync(&self, _: bool) -> Result<(), StorageError> {
        Ok(())
    }

    fn describe_wait(&self, _: &[u64]) -> String {
        "nothing".to_owned()
    }
}
