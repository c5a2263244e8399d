//! Values of a program while it is read: known before the network runs, or made by it.

use crate::constant::{Array, Size, Values};
use interop::pt2::ScalarType;
use ir::{DType, Value};

/// A value of a program.
#[derive(Clone, Debug)]
pub enum Source {
    /// A tensor that depends on no input. Where the program repeats it along the batch, it is held once.
    Known(Known),
    /// A value of the graph.
    Live(Value),
    /// The numbers of the rows of a batch, along this axis of a tensor that has size 1 everywhere else.
    Rows {
        /// The axis.
        axis: usize,
        /// The number of axes.
        rank: usize,
    },
    /// The result of a call that was not read.
    Missing,
}

/// A tensor that depends on no input.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its values.
    pub array: Array,
    /// The dotted name of a stored tensor; empty for what was evaluated.
    pub path: String,
    /// True for a stored tensor that is trained.
    pub trained: bool,
    /// For a view of another value: its name, and the place of each element in it.
    pub view_of: Option<(String, Array)>,
    /// True for a trained matrix whose two axes the program has exchanged. `array` is as the program has it.
    pub turned: bool,
}

impl Source {
    /// A tensor that was evaluated.
    pub fn made(array: Array) -> Self {
        Self::Known(Known {
            array,
            path: String::new(),
            trained: false,
            view_of: None,
            turned: false,
        })
    }

    /// One integer, which may be a multiple of the batch.
    pub fn size(size: Size) -> Self {
        let values = Values::Sizes(vec![size]).simplified();
        Self::made(Array::new(Vec::new(), values))
    }
}

/// The element type of a graph for one of a program.
pub fn graph_dtype(dtype: ScalarType) -> DType {
    match dtype {
        ScalarType::Bool => DType::Bool,
        dtype if dtype.is_float() => DType::F32,
        _ => DType::I64,
    }
}

/// The name of the element type of a graph for one of PyTorch's.
pub fn graph_word(name: &str) -> String {
    let dtype = ScalarType::of_name(name).map_or(DType::F32, graph_dtype);
    dtype.to_string()
}
