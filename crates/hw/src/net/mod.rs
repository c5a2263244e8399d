//! The netlist: integer operations in order, each with the interval of its values, and so a minimal width and sign.
//!
//! A network with one row becomes one list. Nothing in it is rounded but by [`Operation::Requant`], nothing is multiplied by a
//! constant, and values that are always the same are constants. [`Builder`] makes it and shares equal operations,
//! [`Net::evaluate`] computes it, `net.json` holds it.

mod bits_read;
mod builder;
mod evaluate;
mod interval;
mod json;
mod text;
mod verify;

pub use builder::Builder;
pub use interval::Interval;
pub use verify::NetError;

use crate::width::Width;
use serde::{Deserialize, Serialize};

/// The place of a cell in its netlist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CellId(pub u32);

impl CellId {
    /// The place as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A cell's value, multiplied by a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// The cell.
    pub cell: CellId,
    /// Bits to the left.
    pub shift: u32,
}

/// An operation on values of earlier cells.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operation {
    /// An element of the network's input.
    Input {
        /// Its number; `element` in a file is that of the origin.
        #[serde(rename = "input")]
        element: u32,
    },
    /// A constant.
    Const {
        /// Its value.
        value: i64,
    },
    /// `a·2^sa ± b·2^sb`; one of the shifts is 0.
    AddSub {
        /// The left operand.
        a: CellId,
        /// Its shift.
        sa: u32,
        /// The right operand.
        b: CellId,
        /// Its shift.
        sb: u32,
        /// True for a difference.
        subtract: bool,
    },
    /// `-a`.
    Neg {
        /// The operand.
        a: CellId,
    },
    /// `⌊a·2^-shift⌋` within bounds. Half a step that a rounding to the nearest adds is part of `a`.
    Requant {
        /// The operand.
        a: CellId,
        /// Bits to the right; to the left if negative.
        shift: i32,
        /// Clears the lowest bit of the result where the bits that are dropped are all 0: with half a step in `a` these are
        /// the ties, which go to the even neighbour.
        tie_to_even: bool,
        /// The treatment of results that the format does not have.
        bounds: Bounds,
    },
    /// `min(max(a, lo), hi)`.
    Clamp {
        /// The operand.
        a: CellId,
        /// The smallest result; `lo` in a file is that of the interval.
        #[serde(rename = "min")]
        lo: i64,
        /// The largest result; `hi` in a file is that of the interval.
        #[serde(rename = "max")]
        hi: i64,
    },
    /// 1 where `a < b`, else 0.
    Less {
        /// The left operand.
        a: CellId,
        /// The right operand.
        b: CellId,
    },
    /// `one` where `select` is 1, else `zero`.
    Mux {
        /// A cell of 0 and 1.
        select: CellId,
        /// The result for 0.
        zero: CellId,
        /// The result for 1.
        one: CellId,
    },
    /// The larger of both.
    Max {
        /// The left operand.
        a: CellId,
        /// The right operand.
        b: CellId,
    },
    /// The product of two values, neither of which is a constant.
    Mul {
        /// The left operand.
        a: CellId,
        /// The right operand.
        b: CellId,
    },
    /// `a·2^bits`, which is wiring.
    Shift {
        /// The operand.
        a: CellId,
        /// Bits to the left.
        bits: u32,
    },
    /// `values[a - lo]`, where `lo` is the smallest value of `a`.
    Table {
        /// The operand.
        a: CellId,
        /// The result for every value of its interval.
        values: Vec<i64>,
    },
    /// The value of the last clock cycle.
    Delay {
        /// The operand.
        a: CellId,
    },
}

/// The treatment of results that a format does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bounds {
    /// The nearest that it has.
    Saturate {
        /// The smallest.
        lo: i64,
        /// The largest.
        hi: i64,
    },
    /// The low bits.
    Wrap {
        /// The number of bits.
        bits: u32,
        /// True when the highest of them is a sign.
        signed: bool,
    },
}

/// The node of the graph that a cell belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The number of the node's name in [`Net::nodes`].
    pub node: u32,
    /// The element of the node's result, or none for what several elements share.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub element: Option<u32>,
}

/// An operation, the interval of its values, and the node that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The operation.
    #[serde(flatten)]
    pub operation: Operation,
    /// The interval of its values.
    #[serde(flatten)]
    pub interval: Interval,
    /// The node of the graph.
    #[serde(flatten)]
    pub origin: Origin,
}

/// An element of the program that is not linear in earlier ones: what it is a function of, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The step of the program.
    pub step: u32,
    /// The element of the step's value.
    pub element: u32,
    /// The cell that it is a function of.
    pub source: CellId,
    /// Its value.
    pub result: Term,
}

/// A netlist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Net {
    /// The names of the graph's nodes.
    pub nodes: Vec<String>,
    /// Operations on earlier cells.
    pub cells: Vec<Cell>,
    /// The elements of the result.
    pub outputs: Vec<Term>,
    /// Clock cycles from an input to its result.
    pub latency: u32,
    /// Which cells are elements of the program. Nothing is computed by them: they say where to look.
    #[serde(default)]
    pub marks: Vec<Mark>,
}

impl Operation {
    /// The cells that it reads.
    pub fn operands(&self) -> impl Iterator<Item = CellId> + use<> {
        let operands = match self {
            Self::Input { .. } | Self::Const { .. } => [None; 3],
            Self::Neg { a }
            | Self::Requant { a, .. }
            | Self::Clamp { a, .. }
            | Self::Shift { a, .. }
            | Self::Table { a, .. }
            | Self::Delay { a } => [Some(*a), None, None],
            Self::AddSub { a, b, .. }
            | Self::Less { a, b }
            | Self::Max { a, b }
            | Self::Mul { a, b } => [Some(*a), Some(*b), None],
            Self::Mux { select, zero, one } => [Some(*select), Some(*zero), Some(*one)],
        };
        operands.into_iter().flatten()
    }

    /// The operation with every operand replaced.
    #[must_use]
    pub fn with_operands(mut self, mut of: impl FnMut(CellId) -> CellId) -> Self {
        match &mut self {
            Self::Input { .. } | Self::Const { .. } => {}
            Self::Neg { a }
            | Self::Requant { a, .. }
            | Self::Clamp { a, .. }
            | Self::Shift { a, .. }
            | Self::Table { a, .. }
            | Self::Delay { a } => *a = of(*a),
            Self::AddSub { a, b, .. }
            | Self::Less { a, b }
            | Self::Max { a, b }
            | Self::Mul { a, b } => (*a, *b) = (of(*a), of(*b)),
            Self::Mux { select, zero, one } => {
                (*select, *zero, *one) = (of(*select), of(*zero), of(*one));
            }
        }
        self
    }
}

impl Net {
    /// A cell.
    pub fn cell(&self, id: CellId) -> &Cell {
        &self.cells[id.index()]
    }

    /// All cells with their places.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (CellId, &Cell)> {
        let numbered = self.cells.iter().enumerate();
        numbered.map(|(at, cell)| (CellId(at as u32), cell))
    }

    /// The word of a cell.
    pub fn width(&self, id: CellId) -> Width {
        self.cell(id).interval.width()
    }

    /// The value of a cell that is always the same.
    pub fn constant(&self, id: CellId) -> Option<i64> {
        match self.cell(id).operation {
            Operation::Const { value } => Some(value),
            _ => None,
        }
    }

    /// The interval of an element of the result.
    pub fn output_interval(&self, output: Term) -> Interval {
        self.cell(output.cell).interval.shifted(output.shift)
    }

    /// Adders and subtractors, and the bits that they compute: low bits that pass through are free.
    pub fn adders(&self) -> (usize, u64) {
        let bits = self.iter().filter_map(|(id, _)| self.adder_bits(id));
        bits.fold((0, 0), |(n, sum), bits| (n + 1, sum + u64::from(bits)))
    }

    /// Bits of adders from a place on.
    pub fn adder_bits_from(&self, first: usize) -> u64 {
        let ids = (first..self.cells.len()).map(|at| CellId(at as u32));
        let bits = ids.filter_map(|id| self.adder_bits(id));
        bits.map(u64::from).sum()
    }

    /// Bits of a cell's carry chain, if it has one.
    pub fn adder_bits(&self, id: CellId) -> Option<u32> {
        let bits = self.width(id).bits;
        match self.cell(id).operation {
            Operation::AddSub {
                sa, sb, subtract, ..
            } => {
                let passed = if sb > 0 || !subtract { sa + sb } else { 0 };
                Some(bits - passed.min(bits - 1))
            }
            Operation::Neg { .. } => Some(bits),
            _ => None,
        }
    }

    /// Flip-flops of the registers: a bit that nobody reads has none.
    pub fn register_bits(&self) -> u64 {
        let registers = self.cells.iter().zip(self.bits_read());
        let registers =
            registers.filter(|(cell, _)| matches!(cell.operation, Operation::Delay { .. }));
        registers
            .map(|(_, bits)| u64::from(bits.count_ones()))
            .sum()
    }
}
