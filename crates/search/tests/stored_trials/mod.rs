//! A storage that holds the trials of an earlier run.

use study::storage::{Attributes, Storage, StorageError};
use study::{Point, Trial};

/// Trials that an earlier run has left; what is added is dropped.
#[derive(Default)]
pub struct StoredTrials {
    pub ended: Vec<(Trial, Attributes)>,
    /// A trial that another program has enqueued: its number and its point, until somebody begins it.
    pub waiting: Option<(u64, Point)>,
}

impl Storage for StoredTrials {
    fn poll(&mut self) -> Result<Vec<(Trial, Attributes)>, StorageError> {
        Ok(std::mem::take(&mut self.ended))
    }

    fn claim(&mut self, number: u64, _: &Point) -> Result<bool, StorageError> {
        let waiting = self.waiting.as_ref();
        Ok(waiting.is_none_or(|(waiting, _)| *waiting != number))
    }

    fn take_over(&mut self, number: u64, _: &Point) -> Result<Option<Point>, StorageError> {
        let taken = self.waiting.take_if(|(waiting, _)| *waiting == number);
        Ok(taken.map(|(_, point)| point))
    }

    fn finish(&mut self, _: &Trial, _: &Attributes) -> Result<(), StorageError> {
        Ok(())
    }

    fn sync(&mut self, _: bool) -> Result<(), StorageError> {
        Ok(())
    }
}
