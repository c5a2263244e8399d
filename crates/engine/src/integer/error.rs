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
}

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
        }
    }
}
