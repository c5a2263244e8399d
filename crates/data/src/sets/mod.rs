//! One file for each kind of dataset.

pub(crate) mod array_file;
pub(crate) mod cifar10;
pub(crate) mod file;
pub(crate) mod idx_images;
pub(crate) mod jsc;
pub(crate) mod jsc_openml;
pub(crate) mod jsc_sim;
pub(crate) mod toy_tiny;
