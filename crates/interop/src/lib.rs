//! Files that others wrote.
//!
//! Every reader treats its file as hostile: nothing in it is executed, sizes are checked before memory is taken, and
//! bad input is answered with an error that names the file and what is wrong. Writers never leave half a file behind.
//!
//! ```
//! use interop::checkpoint::{self, Checkpoint, Kind, NamedTensor};
//!
//! let weight = NamedTensor { name: "fc.weight".to_owned(), shape: vec![1, 2], values: vec![0.5, -1.0] };
//! let file = Checkpoint {
//!     kind: Kind::Safetensors,
//!     tensors: vec![weight],
//!     training: None,
//!     graph: None,
//!     metadata: serde_json::Value::Null,
//! };
//! let bytes = checkpoint::encode(&file).unwrap();
//! assert_eq!(checkpoint::decode(&bytes, None).unwrap().tensors, file.tensors);
//! ```
#![forbid(unsafe_code)]

pub mod arff;
pub mod checkpoint;
pub mod columns;
pub mod csv;
pub mod hdf5;
pub mod idx;
pub mod npy;
pub mod npz;
pub mod onnx;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod pt2;
pub mod tar;

mod archive;
mod atomic;
mod bounded;
mod budget;
mod dtype;
mod error;
mod gzip;
mod pickle;
mod torch;

pub use atomic::{remove_temporary_files, write_file};
pub use budget::{Budget, OverBudget};
pub use error::{FileError, InteropError, Problem};
