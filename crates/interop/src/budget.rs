//! The memory that reading one file may take.
//!
//! A small file can describe much: views of views, packed zeros, shared texts that are copied out. Every reader charges
//! what it is about to allocate or copy to the budget of its file, so that a hostile file ends with a sentence instead of
//! the machine's memory; and as work is copying, time is bounded with it.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory that any file may take: 256 MB.
pub const MIN_BYTES: u64 = 256_000_000;
/// The memory that a large file may take, in its own sizes.
pub const RATIO: u64 = 16;

/// The memory that the user grants to every file.
static GRANTED: AtomicU64 = AtomicU64::new(0);

/// The memory that reading one file may still take.
#[derive(Clone, Debug)]
pub struct Budget {
    size: u64,
    max: u64,
    left: Cell<u64>,
}

/// A file that needs more memory than its size allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "needs more than the {} that reading a file of {} may take; if it is a file that you trust, --max-memory allows more",
    shown(*max),
    shown(*size)
)]
pub struct OverBudget {
    /// The size of the file.
    pub size: u64,
    /// The memory that it may take.
    pub max: u64,
}

impl Budget {
    /// The budget of a file of this size.
    pub fn of_size(size: u64) -> Self {
        let max = size.saturating_mul(RATIO).max(MIN_BYTES);
        let max = max.max(GRANTED.load(Ordering::Relaxed));
        Self {
            size,
            max,
            left: Cell::new(max),
        }
    }

    /// Grants at least so many bytes to every file that is read from now on.
    pub fn grant(bytes: u64) {
        GRANTED.store(bytes, Ordering::Relaxed);
    }

    /// Charges memory that is about to be taken, or bytes that are about to be copied.
    ///
    /// # Errors
    /// When the file has used up what it may take.
    pub fn take(&self, bytes: u64) -> Result<(), OverBudget> {
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.ok_or_else(|| self.over())?);
        Ok(())
    }

    /// Charges an array of elements of a size.
    ///
    /// # Errors
    /// When the file has used up what it may take.
    pub fn take_array(&self, count: usize, size: usize) -> Result<(), OverBudget> {
        self.take((count as u64).saturating_mul(size as u64))
    }

    /// Returns what was charged for memory that is free again.
    pub fn give_back(&self, bytes: u64) {
        self.left
            .set(self.left.get().saturating_add(bytes).min(self.max));
    }

    /// The memory that is left.
    pub fn left(&self) -> u64 {
        self.left.get()
    }

    /// The size of the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The whole budget.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The error of a file that needs more.
    pub fn over(&self) -> OverBudget {
        OverBudget {
            size: self.size,
            max: self.max,
        }
    }
}

fn shown(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        1_000_000..10_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        _ => format!("{} GB", bytes.div_ceil(1_000_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_used_up_and_given_back() {
        let budget = Budget::of_size(100_000_000);
        assert_eq!(budget.max(), 1_600_000_000);
        assert_eq!(budget.take(1_500_000_000), Ok(()));
        let over = budget.take(100_000_001).unwrap_err();
        assert_eq!(
            over.to_string(),
            "needs more than the 1600 MB that reading a file of 100 MB may take; if it is a file that you trust, --max-memory allows more"
        );
        budget.give_back(1_000_000_000);
        assert_eq!(budget.take_array(1000, 1_000_000), Ok(()));
        assert_eq!(Budget::of_size(10).max(), MIN_BYTES);
        assert!(budget.take_array(usize::MAX, 8).is_err());
    }

    #[test]
    fn sizes_are_shown_in_whole_units() {
        for (bytes, text) in [
            (999, "999 bytes"),
            (1_000, "1 kB"),
            (1_001, "2 kB"),
            (999_999, "1000 kB"),
            (1_000_000, "1 MB"),
            (9_999_999_999, "10000 MB"),
            (10_000_000_000, "10 GB"),
            (10_000_000_001, "11 GB"),
        ] {
            assert_eq!(shown(bytes), text);
        }
    }

    #[test]
    fn no_more_is_given_back_than_was_there() {
        let budget = Budget::of_size(7);
        budget.take(10).unwrap();
        assert_eq!((budget.left(), budget.size()), (MIN_BYTES - 10, 7));
        budget.give_back(4);
        assert_eq!(budget.left(), MIN_BYTES - 6);
        budget.give_back(100);
        assert_eq!(budget.left(), MIN_BYTES);
    }
}
