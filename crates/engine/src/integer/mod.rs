//! Exact integer execution of graphs whose every operand is fixed point.
//!
//! A value is a code and a number of bits behind the point, value = code·2^-frac. Inputs, weights and biases are rounded
//! by the formats of the ports that read them, and brought to the finest step where every channel or element has its own; a
//! product keeps every bit, until a format on a port rounds it. The range of every value is proven when the plan is
//! compiled, from formats, fan-in and the weights' own codes. It chooses the width of every buffer and sum, so that no sum
//! overflows and nothing but a format ever rounds.
//!
//! `compile.rs` walks the graph, `grid.rs` knows the codes of a port, `crate::ops` lowers each operator, `stage.rs` maps its
//! results in the same pass, `layer.rs` computes products with weights in 8, 16 or 64 bits, `reorder.rs` changes the order of axes, `rescale.rs` turns stages into
//! exact float maps.

pub(crate) mod buffer;
mod codes;
mod compile;
pub(crate) mod error;
mod grid;
pub(crate) mod layer;
mod lowering;
mod plan;
mod product;
pub(crate) mod range;
mod reorder;
mod report;
mod rescale;
pub(crate) mod rows;
pub(crate) mod stage;
mod step;
pub(crate) mod walk;
pub(crate) mod weights;

pub use buffer::Storage;
pub use error::IntegerError;
pub(crate) use lowering::{IntegerForm, Kernel, Lowered, Param, Site, WideKernel};
pub use plan::IntegerPlan;
pub use report::NodeReport;
