//! Exact integer execution of graphs whose every operand is fixed point.
//!
//! A value is a code and a number of bits behind the point, value = code·2^-frac. Inputs, weights and biases are rounded
//! by the formats of the ports that read them; a product keeps every bit, until a format on a port rounds it. The range
//! of every value is proven when the plan is compiled, from formats, fan-in and the weights' own codes. It chooses the
//! width of every buffer and sum, so that no sum overflows and nothing but a format ever rounds.
//!
//! `compile.rs` walks the graph, `ops/` says what each operator becomes, `stage.rs` what follows in the same pass,
//! `layer.rs` computes products with weights in 8, 16 or 64 bits, `rescale.rs` turns stages into exact float maps.

mod buffer;
mod codes;
mod compile;
mod error;
mod layer;
mod ops;
mod plan;
mod product;
mod range;
mod report;
mod rescale;
mod rows;
mod stage;
mod step;
mod walk;
mod weights;

pub use buffer::Storage;
pub use error::IntegerError;
pub use plan::IntegerPlan;
pub use report::NodeReport;
