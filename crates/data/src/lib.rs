//! Datasets: found, prepared once, held once, sampled by index.
//!
//! [`open`] takes a name from [`DATASETS`] or a file with its label column (`jets.csv:class`) and gives a [`Dataset`]:
//! all rows in one block of f32 and three [`Split`]s, which are lists of row numbers. Every split is a function of the
//! rows alone, not of the seed of a run, so that accuracies of different runs can be compared. For a network that takes
//! integers or several inputs ([`OpenOptions::inputs`]) the rows are [`Arrays`] instead, an array for each input.
//!
//! ```
//! let data = data::open("toy_tiny", &data::OpenOptions::default())?;
//! assert_eq!(data.info.sample_shape, [1, 28, 28]);
//! let (mut images, mut labels) = (Vec::new(), Vec::new());
//! data.train.gather(&[0, 1], &mut images, &mut labels);
//! assert_eq!((images.len(), labels.len()), (2 * 28 * 28, 2));
//! # Ok::<(), data::DataError>(())
//! ```
#![forbid(unsafe_code)]

mod arrays;
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
mod preparation;
mod prepare;
mod sets;

pub use arrays::{Arrays, InputArray, NetworkInput, is_table};
pub use catalog::{DATASETS, DatasetEntry};
pub use dataset::{Dataset, Info, Rows, Split, SplitName};
pub use describe::{ClassCounts, Counts, Description, Range, describe};
pub use error::{DataError, Missing};
pub use interop::npy::Values;
pub use open::{Where, find, get, is_file, open};
pub use options::{OpenOptions, Progress, ValSplit};
pub use preparation::{PREPARATION, Preparation, Scaling, Standardize, Standardizer};
pub use sets::array_file::open_unlabeled;
