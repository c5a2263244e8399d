//! Exact integer execution of graphs whose every operand is fixed point.
//!
//! A value is a code and a number of bits behind the point, value = code·2^-frac. Inputs, weights and biases are rounded
//! by the formats of the ports that read them, and brought to the finest step where every channel or element has its own; a
//! product keeps every bit, until a format on a port rounds it. The range of every value is proven when the plan is
//! compiled, from formats, fan-in and the weights' own codes. It chooses the width of every buffer and sum, so that no sum
//! overflows and nothing but a format ever rounds.
//!
//! [`Program`] is the graph as steps on codes, in the graph's own order of elements, for whoever wants to execute or lower it.
//! `program/build.rs` walks the graph, `grid.rs` knows the codes of a port, `crate::ops` lowers each operator.
//!
//! [`IntegerPlan`] executes it. `compile.rs` chooses orders and kernels, `stage.rs` maps results in the same pass, `layer.rs`
//! computes products with weights in 8, 16 or 64 bits, `wide.rs` everything else, `reorder.rs` changes the order of axes,
//! `rescale.rs` turns stages into exact float maps.

pub(crate) mod buffer;
mod codes;
mod compile;
pub(crate) mod error;
mod grid;
mod layer;
mod lowering;
mod plan;
mod product;
mod program;
pub(crate) mod range;
mod reorder;
mod report;
mod rescale;
mod round_map;
mod rows;
mod stage;
mod step;
pub(crate) mod walk;
mod weights;
mod wide;

pub use buffer::Storage;
pub(crate) use codes::decode;
pub use error::IntegerError;
pub use format::{FixedPoint, Overflow, Rounding};
pub use grid::Grids;
pub use ir::CodeRange;
pub use kernels::conv::ConvShape;
pub(crate) use lowering::{IntegerForm, Lowered, Param, Site};
pub use plan::IntegerPlan;
pub use program::{
    Arithmetic, CatPart, MatMul, NodeResult, Program, ProgramInput, ProgramOutput, ProgramStep,
    Rows, Source, pool_window,
};
pub use report::NodeReport;
pub use round_map::RoundMap;
pub use stage::Stage;
pub use weights::Weights;
