//! A dataset in memory: all rows once, and three splits that are lists of row numbers.

use crate::arrays::{Arrays, InputArray};
use crate::hash;
use crate::preparation::Scaling;
use std::sync::Arc;

/// Rows with labels, split for training, validation and testing.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The name, shape and origin.
    pub info: Info,
    /// Rows to train on.
    pub train: Split,
    /// Rows to choose by.
    pub val: Split,
    /// Rows to report on.
    pub test: Split,
}

/// The description of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// The name it was opened by.
    pub name: String,
    /// The axes of one sample.
    pub sample_shape: Vec<usize>,
    /// The classes, in the order of the labels.
    pub classes: Vec<String>,
    /// The names of the columns; empty for pictures.
    pub features: Vec<String>,
    /// The origin: a file, or the program itself.
    pub source: String,
    /// A hash of all rows, labels and splits.
    pub hash: u64,
    /// The scaling of the values.
    pub scaling: Scaling,
}

/// Part of a dataset. Cloning shares the rows.
#[derive(Clone, Debug)]
pub struct Split {
    source: Source,
    indices: Arc<[u32]>,
}

/// All rows of a dataset.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// One block of floats.
    Table(Arc<Rows>),
    /// An array for each input of a network.
    Arrays(Arc<Arrays>),
}

impl Source {
    fn labels(&self) -> &[u32] {
        match self {
            Self::Table(rows) => &rows.labels,
            Self::Arrays(arrays) => &arrays.labels,
        }
    }

    /// The same rows with other labels.
    fn map_labels(self, map: impl Fn(u32) -> u32) -> Self {
        let change = |labels: &mut [u32]| labels.iter_mut().for_each(|label| *label = map(*label));
        match self {
            Self::Table(rows) => {
                let mut rows = Arc::unwrap_or_clone(rows);
                change(&mut rows.labels);
                Self::Table(Arc::new(rows))
            }
            Self::Arrays(arrays) => {
                let mut arrays = Arc::unwrap_or_clone(arrays);
                change(&mut arrays.labels);
                Self::Arrays(Arc::new(arrays))
            }
        }
    }
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

impl Dataset {
    /// A dataset of rows in memory, all of which are in each split. Labels stand for numbered classes.
    pub fn of_rows(name: &str, sample_shape: Vec<usize>, rows: Rows) -> Self {
        let count = rows.labels.len() as u32;
        let info = Info {
            name: name.to_owned(),
            sample_shape,
            classes: numbered_classes(&rows.labels),
            features: Vec::new(),
            source: "memory".to_owned(),
            hash: 0,
            scaling: Scaling::None,
        };
        let all = Split::new(Arc::new(rows), (0..count).collect());
        Self {
            info,
            train: all.clone(),
            val: all.clone(),
            test: all,
        }
    }

    /// A dataset of rows in memory whose splits follow one another, with so many rows each. Labels stand for numbered classes.
    pub fn of_table(name: &str, sample_shape: Vec<usize>, rows: Rows, counts: [usize; 3]) -> Self {
        let hash = hash::dataset(&rows.values, &rows.labels, &parts(counts));
        let source = Source::Table(Arc::new(rows));
        Self::of_consecutive(name, sample_shape, &source, counts, hash)
    }

    /// The same of named arrays.
    pub fn of_named_arrays(name: &str, arrays: Arrays, counts: [usize; 3]) -> Self {
        let hash = hash::arrays(&arrays, &parts(counts));
        let first = arrays.inputs.first();
        let sample_shape = first.map(|input| input.shape.clone()).unwrap_or_default();
        let source = Source::Arrays(Arc::new(arrays));
        Self::of_consecutive(name, sample_shape, &source, counts, hash)
    }

    fn of_consecutive(
        name: &str,
        sample_shape: Vec<usize>,
        source: &Source,
        [train, val, test]: [usize; 3],
        hash: u64,
    ) -> Self {
        let [train, val, test] = [
            0..train,
            train..train + val,
            train + val..train + val + test,
        ]
        .map(|range| Split::of_source(source.clone(), range.map(|row| row as u32).collect()));
        let info = Info {
            name: name.to_owned(),
            sample_shape,
            classes: numbered_classes(source.labels()),
            features: Vec::new(),
            source: "memory".to_owned(),
            hash,
            scaling: Scaling::None,
        };
        Self {
            info,
            train,
            val,
            test,
        }
    }

    /// True when every class is one of these, but at another place.
    pub fn orders_otherwise(&self, classes: &[String]) -> bool {
        let own = &self.info.classes;
        own != classes && own.iter().all(|name| classes.contains(name))
    }

    /// All rows, in the order of their file.
    pub fn whole(&self) -> Split {
        let count = self.train.source.labels().len() as u32;
        Split {
            source: self.train.source.clone(),
            indices: (0..count).collect(),
        }
    }

    /// The same rows with their classes among these, in this order; as it is where a class is not among them.
    #[must_use]
    pub fn with_class_order(self, classes: &[String]) -> Self {
        let place = |name: &String| classes.iter().position(|other| other == name);
        let places: Option<Vec<usize>> = self.info.classes.iter().map(place).collect();
        let Some(places) = places else { return self };
        let Self {
            mut info,
            train,
            val,
            test,
        } = self;
        let [train, val, test] = [train, val, test].map(|split| (split.source, split.indices));
        drop((val.0, test.0));
        let source = train.0.map_labels(|label| places[label as usize] as u32);
        info.classes = classes.to_vec();
        let [train, val, test] = [train.1, val.1, test.1].map(|indices| Split {
            source: source.clone(),
            indices,
        });
        Self {
            info,
            train,
            val,
            test,
        }
    }

    /// The rows of a split.
    pub fn split(&self, name: SplitName) -> &Split {
        match name {
            SplitName::Train => &self.train,
            SplitName::Val => &self.val,
            SplitName::Test => &self.test,
        }
    }

    /// A note for whoever wants more rows than a split has.
    pub fn shortfall(&self, name: SplitName, wanted: usize) -> Option<String> {
        let (available, split) = (self.split(name).len(), name.long_name());
        (wanted > available).then(|| {
            format!(
                "requested {wanted} rows but {} has only {available} {split} rows; using all of them",
                self.info.name
            )
        })
    }
}

/// The classes of labels that are numbers.
fn numbered_classes(labels: &[u32]) -> Vec<String> {
    let classes = labels.iter().max().map_or(0, |last| last + 1);
    (0..classes).map(|class| class.to_string()).collect()
}

/// The number of the split of every row, where splits follow one another.
fn parts(counts: [usize; 3]) -> Vec<u8> {
    let part = |(number, count): (usize, usize)| std::iter::repeat_n(number as u8, count);
    counts.into_iter().enumerate().flat_map(part).collect()
}

/// A part of a dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitName {
    /// The rows that training learns from.
    #[default]
    Train,
    /// The rows that training is validated on.
    Val,
    /// The rows that neither training nor choosing has seen.
    Test,
}

impl SplitName {
    /// The words for it in configs.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("train", Self::Train),
        ("val", Self::Val),
        ("test", Self::Test),
        ("train_dataloader", Self::Train),
        ("val_dataloader", Self::Val),
        ("test_dataloader", Self::Test),
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Val => "val",
            Self::Test => "test",
        }
    }

    /// The word for it in a sentence.
    pub fn long_name(self) -> &'static str {
        match self {
            Self::Train => "training",
            Self::Val => "validation",
            Self::Test => "test",
        }
    }
}

impl Split {
    /// The rows with these numbers.
    pub fn new(rows: Arc<Rows>, indices: Vec<u32>) -> Self {
        Self::of_source(Source::Table(rows), indices)
    }

    /// The rows of arrays with these numbers.
    pub fn of_arrays(arrays: Arc<Arrays>, indices: Vec<u32>) -> Self {
        Self::of_source(Source::Arrays(arrays), indices)
    }

    pub(crate) fn of_source(source: Source, indices: Vec<u32>) -> Self {
        Self {
            source,
            indices: indices.into(),
        }
    }

    /// The first rows of this split, at most `count`.
    #[must_use]
    pub fn head(&self, count: usize) -> Self {
        self.with_indices(&self.indices[..count.min(self.len())])
    }

    /// The rows of this split behind the first `count`.
    #[must_use]
    pub fn tail(&self, count: usize) -> Self {
        self.with_indices(&self.indices[count.min(self.len())..])
    }

    fn with_indices(&self, indices: &[u32]) -> Self {
        Self {
            source: self.source.clone(),
            indices: indices.into(),
        }
    }

    /// The number of rows in this split.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// True when the split has no rows.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// All rows of a table, of which [`Split::indices`] are this split's. [`Split::elements`] has those of any dataset.
    ///
    /// # Panics
    /// If the dataset has named arrays instead of a table.
    pub fn rows(&self) -> &[f32] {
        &self.floats().values
    }

    fn floats(&self) -> &Rows {
        self.table().expect("the dataset is a table of floats")
    }

    /// The table that the dataset is, if it is one.
    pub(crate) fn table(&self) -> Option<&Rows> {
        match &self.source {
            Source::Table(rows) => Some(rows),
            Source::Arrays(_) => None,
        }
    }

    /// The named arrays of the dataset, if it is no table.
    pub fn arrays(&self) -> Option<&[InputArray]> {
        match &self.source {
            Source::Table(_) => None,
            Source::Arrays(arrays) => Some(&arrays.inputs),
        }
    }

    /// The label of every row of the dataset.
    pub fn labels(&self) -> &[u32] {
        self.source.labels()
    }

    /// The labels of rows, given by their numbers.
    pub fn labels_of(&self, rows: &[u32]) -> Vec<u32> {
        rows.iter()
            .map(|&row| self.labels()[row as usize])
            .collect()
    }

    /// Values of one row, over all inputs.
    pub fn width(&self) -> usize {
        match &self.source {
            Source::Table(rows) => rows.width,
            Source::Arrays(arrays) => arrays.inputs.iter().map(InputArray::width).sum(),
        }
    }

    /// The numbers of this split's rows.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Copies the rows of a table at these positions of the split, and their labels, in place of what `x` and `y` held.
    ///
    /// # Panics
    /// If a position is not below [`Split::len`], or the dataset has named arrays instead of a table.
    pub fn gather(&self, positions: &[u32], x: &mut Vec<f32>, y: &mut Vec<u32>) {
        let rows = self.floats();
        x.clear();
        y.clear();
        for &position in positions {
            let row = self.indices[position as usize] as usize;
            x.extend_from_slice(&rows.values[row * rows.width..][..rows.width]);
            y.push(rows.labels[row]);
        }
    }
}
