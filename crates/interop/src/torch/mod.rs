//! PyTorch's files: a pickle that describes tensors, and the storages they are views of.
//!
//! Three containers are read: the zip archive that PyTorch writes since 1.6, the row of pickles with raw storages
//! behind them that it wrote before, and a plain pickle in which every storage is a file of the second kind.

mod container;
mod legacy;
mod tensor;
mod write;

pub use container::{open, starts_like_pickle};
pub use tensor::{Layout, Tensors};
pub use write::Storages;

/// A tensor without a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// The axes.
    pub shape: Vec<usize>,
    /// The elements in row-major order.
    pub values: Vec<f32>,
}
