//! A dataset in memory: all rows once, and three splits that are lists of row numbers.

use std::sync::Arc;

/// Rows with labels, split for training, validation and testing.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// What it is and where it came from.
    pub info: Info,
    /// Rows to train on.
    pub train: Split,
    /// Rows to choose by.
    pub val: Split,
    /// Rows to report on.
    pub test: Split,
}

/// What a dataset is.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// The name it was opened by.
    pub name: String,
    /// The axes of one sample.
    pub sample_shape: Vec<usize>,
    /// What the labels stand for, in order.
    pub classes: Vec<String>,
    /// What the columns are called; empty for pictures.
    pub features: Vec<String>,
    /// Where it came from: a file, or the program itself.
    pub source: String,
    /// A hash of all rows, labels and splits.
    pub hash: u64,
}

/// Part of a dataset. Cloning shares the rows.
#[derive(Clone, Debug)]
pub struct Split {
    rows: Arc<Rows>,
    indices: Arc<[u32]>,
}

/// All rows of a dataset, row-major, with a label each.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The features of all rows.
    pub values: Vec<f32>,
    /// The label of every row.
    pub labels: Vec<u32>,
    /// Features of one row.
    pub width: usize,
}

impl Split {
    /// The rows with these numbers.
    pub fn new(rows: Arc<Rows>, indices: Vec<u32>) -> Self {
        Self {
            rows,
            indices: indices.into(),
        }
    }

    /// The first rows of this split, at most `count`.
    #[must_use]
    pub fn head(&self, count: usize) -> Self {
        let indices = self.indices[..count.min(self.len())].into();
        Self {
            rows: Arc::clone(&self.rows),
            indices,
        }
    }

    /// The number of rows in this split.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether the split has no rows.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// All rows of the dataset, of which [`Split::indices`] are this split's.
    pub fn rows(&self) -> &[f32] {
        &self.rows.values
    }

    /// The label of every row of the dataset.
    pub fn labels(&self) -> &[u32] {
        &self.rows.labels
    }

    /// Features of one row.
    pub fn width(&self) -> usize {
        self.rows.width
    }

    /// The numbers of this split's rows.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Copies the rows at these positions of the split, and their labels, in place of what `x` and `y` held.
    ///
    /// # Panics
    /// If a position is not below [`Split::len`].
    pub fn gather(&self, positions: &[u32], x: &mut Vec<f32>, y: &mut Vec<u32>) {
        x.clear();
        y.clear();
        for &position in positions {
            let row = self.indices[position as usize] as usize;
            x.extend_from_slice(&self.rows.values[row * self.rows.width..][..self.rows.width]);
            y.push(self.rows.labels[row]);
        }
    }
}
