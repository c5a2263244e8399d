//! Datasets: found, prepared once, held once, sampled by index.
//!
//! [`open`] takes a name from [`DATASETS`] or a file with its label column (`jets.csv:class`) and gives a [`Dataset`]:
//! all rows in one block of f32 and three [`Split`]s, which are lists of row numbers. Every split is a function of the
//! rows alone, not of the seed of a run, so that accuracies of different runs can be compared.
#![forbid(unsafe_code)]

mod cache;
mod catalog;
mod dataset;
mod describe;
mod download;
mod error;
mod hash;
mod open;
mod options;
mod places;
mod prepare;
mod sets;

pub use catalog::{DATASETS, DatasetEntry};
pub use dataset::{Dataset, Info, Rows, Split, SplitName};
pub use describe::{ClassCounts, Counts, Description, Range, describe};
pub use error::{DataError, Missing};
pub use open::{Where, find, get, open};
pub use options::{OpenOptions, Progress, ValSplit};
