//! Files that others wrote.
//!
//! Every reader treats its file as hostile: nothing in it is executed, sizes are checked before memory is taken, and
//! bad input is answered with an error that names the file and what is wrong. Writers never leave half a file behind.
#![forbid(unsafe_code)]

pub mod arff;
pub mod checkpoint;
pub mod columns;
pub mod csv;
pub mod hdf5;
pub mod idx;
pub mod npy;
pub mod npz;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod tar;

mod archive;
mod atomic;
mod dtype;
mod error;
mod gzip;
mod pickle;
mod torch;

pub use atomic::write_file;
pub use error::{InteropError, Problem};
