//! The reasons why a graph has no exact integer execution.

use crate::EngineError;
use format::{Format, NotFixedPoint};
use ir::Node;

/// The reason why a graph cannot be executed in integers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IntegerError {
    /// A port whose value is not fixed point.
    #[error(
        "{node} ({op}): {port} has no fixed-point format; give it one, for example {port}: integer(8, 4)"
    )]
    NoFormat {
        /// The node.
        node: String,
        /// Its operator.
        op: &'static str,
        /// The port.
        port: String,
    },
    /// A port with a format of another kind.
    #[error("{node} ({op}): {port} has format {format}, {why}")]
    NotFixedPoint {
        /// The node.
        node: String,
        /// Its operator.
        op: &'static str,
        /// The port.
        port: String,
        /// Its format.
        format: String,
        /// The obstacle and the way out.
        why: NotFixedPoint,
    },
    /// An operator, or these attributes of it, that integers cannot follow exactly.
    #[error("{node} ({op}): {why}")]
    NoIntegerForm {
        /// The node.
        node: String,
        /// Its operator.
        op: &'static str,
        /// The obstacle.
        why: String,
    },
    /// A result that 64-bit integers do not hold.
    #[error(
        "{node} ({op}): needs {bits} bits, more than the 63 and a sign there are; round its operands"
    )]
    TooWide {
        /// The node.
        node: String,
        /// Its operator.
        op: &'static str,
        /// Bits that the largest result needs.
        bits: u32,
    },
    /// A port of an activation that is exact as a table only, with too many codes for one.
    #[error(
        "{node} ({op}): is exact as a table only, and {port} has {bits} bits; give {port} at most {max_bits} bits"
    )]
    TableTooWide {
        /// The node.
        node: String,
        /// Its operator.
        op: &'static str,
        /// The port.
        port: String,
        /// Bits of its codes.
        bits: u32,
        /// Bits that it may have.
        max_bits: u32,
    },
    /// An error of the float engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// A refusal before the node is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Refusal {
    NoFormat(String),
    NotFixedPoint(String, Format, NotFixedPoint),
    NoForm(String),
    TooWide(u32),
    TableTooWide(&'static str, u32),
}

/// Bits of a code that a table may be looked up by, and of a code that it may hold.
pub(crate) const MAX_TABLE_BITS: u32 = 12;

impl Refusal {
    /// The error, with the node it happened at.
    pub fn at(self, node: &Node) -> IntegerError {
        let (op, node) = (node.op.name(), node.name.clone());
        match self {
            Self::NoFormat(port) => IntegerError::NoFormat { node, op, port },
            Self::NotFixedPoint(port, format, why) => {
                let format = format.to_string();
                IntegerError::NotFixedPoint {
                    node,
                    op,
                    port,
                    format,
                    why,
                }
            }
            Self::NoForm(why) => IntegerError::NoIntegerForm { node, op, why },
            Self::TooWide(bits) => IntegerError::TooWide { node, op, bits },
            Self::TableTooWide(port, bits) => IntegerError::TableTooWide {
                node,
                op,
                port: port.to_owned(),
                bits,
                max_bits: MAX_TABLE_BITS,
            },
        }
    }
}
