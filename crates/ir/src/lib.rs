//! The graph that every other crate reads, rewrites and runs.
//!
//! A [`Graph`] is a list of [`Node`]s in execution order. A node applies one [`Op`] to values made by earlier
//! nodes; a [`Value`] is a pair *(node, output)*, so an operator may have several results. Because a node can only
//! name earlier nodes, the list is its own topological order and a graph cannot have a cycle.
//!
//! * **Ports.** What a node consumes and produces has names: `data_in_0`, `data_in_1` … for values, `weight`, `bias` …
//!   for parameters, `data_out_0` … for results. Every op states its ports, its shape rule and its cost in one file
//!   under [`ops`].
//! * **Shapes** are lists of [`Dim`]s: a number, or a multiple of a symbol such as `N` that is bound when a plan is
//!   made. **Types** are f32, i64 or bool.
//! * **Formats are the semantics of quantisation.** A port may carry a `format::Format`. A port with a format means:
//!   the value is rounded to that format before the op uses it (inputs and parameters) or after it was computed
//!   (results). A port without one is plain f32. There are no quantised ops, only ops with formats on their ports. On a data
//!   port scales and blocks stay within a row of the batch ([`RowFormat`]), so that a sample's result is its own.
//! * **Parameters** are [`Tensor`]s beside the nodes, shared by reference and copied on write. A graph read from text
//!   has none until [`Graph::initialize`] or a checkpoint supplies them. Their dotted names (`seq_blocks.2.weight`)
//!   are the ones PyTorch uses.
//! * **Masks are the semantics of pruning.** A port may carry a mask of zeros and ones. A masked parameter is zero where
//!   its mask is, and stays so in training; a masked data input is multiplied by its mask, sample by sample, before it
//!   is rounded. Their names (`seq_blocks.2.weight_mask`) are PyTorch's too.
//! * **Text.** A graph prints as text and parses back to the same graph ([`Graph::parse`]); parameters and
//!   masks are not part of the text. **Metadata** in the layout of the labs is made from a verified graph when asked for ([`metadata`]).
//! * **Verification.** [`verify`] checks every rule a graph must obey and returns a [`Verified`] view with all types
//!   inferred. The engine and the hardware generator take only that, and after it nothing panics.
//!
//! ```
//! let mut graph = ir::Graph::parse(
//!     "graph \"tiny\" {
//!        x: f32[N, 16] = placeholder
//!        fc = linear(x: integer(8, 4)) { target = \"fc\", in_features = 16, out_features = 5, weight: integer(8, 4) }
//!        return fc
//!      }",
//! )?;
//! graph.initialize(0);
//! let verified = ir::verify(&graph)?;
//! assert_eq!(verified.ty(verified.output_values()[0]).to_string(), "f32[N, 5]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate does no arithmetic on tensors.
#![forbid(unsafe_code)]
#![expect(
    clippy::doc_markdown,
    reason = "PyTorch and formulas such as ±1/√fan_in are prose"
)]

pub mod ops;

mod code_range;
mod fold;
mod graph;
mod mask;
mod metadata;
mod operator;
mod result_format;
mod row_format;
mod shape;
mod stored;
mod tensor;
mod text;
mod torch_repr;
mod verified;
mod verify;

pub use code_range::CodeRange;
pub use fold::{folded_weight, makes_channels, norm_eps, norm_scale, scale_and_shift};
pub use graph::{EditError, Graph, Node, NodeId, Value};
pub use mask::{density, sparsity};
pub use metadata::{
    Common, Hardware, NodeMeta, PortMeta, PortStatistics, Ports, Software, common, field_json,
    metadata, software,
};
pub use operator::{
    BitOpRule, Cost, FlopFormula, FxOp, Init, MaseType, OpError, Operator, ParamRole, PortSpec,
    RowCoupling,
};
pub use ops::{AttributeError, Op, OpEntry};
pub use result_format::{OperandRanges, result_format};
pub use row_format::RowFormat;
pub use shape::{DType, Dim, Elements, Shape, ShapeError, Type};
pub use stored::{StoredPort, stored_ports};
pub use tensor::Tensor;
pub use text::{TextError, TextErrors};
pub use torch_repr::{TorchModule, torch_class, torch_repr};
pub use verified::Verified;
pub use verify::{RULES, VerifyError, Violation, verify};
