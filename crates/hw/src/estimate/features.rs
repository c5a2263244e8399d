//! Bits of a netlist that cost LUTs.

use crate::net::{Bounds, CellId, Interval, Net, Operation};
use serde::{Deserialize, Serialize};

/// A number for each kind of bit: how many there are, or what each costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Features(pub [f64; Features::COUNT]);

impl Features {
    /// The kinds.
    pub const COUNT: usize = 6;

    /// Bits of adders of two values that both have.
    pub const SUM: usize = 0;
    /// Bits of adders above the highest of an operand without a sign: a carry alone, which some devices have outside of LUTs.
    pub const CARRY: usize = 5;
    /// Bits of adders of a value and a constant, and of negations, also of those in a difference.
    pub const OFFSET: usize = 1;
    /// Bits of results that are cut from below, as a ReLU's.
    pub const FLOOR: usize = 2;
    /// Bits of results that are cut from above.
    pub const CEILING: usize = 3;
    /// LUTs of all else, which no calibration measures: selections, comparisons, ties, tables and products.
    pub const REST: usize = 4;

    /// The bits of a netlist.
    pub fn of(net: &Net) -> Self {
        let mut all = Self::default();
        for (id, cell) in net.iter() {
            let bits = f64::from(net.width(id).bits);
            match &cell.operation {
                Operation::Input { .. }
                | Operation::Const { .. }
                | Operation::Shift { .. }
                | Operation::Delay { .. } => {}
                Operation::AddSub {
                    a, sa, b, subtract, ..
                } => {
                    let has_constant = net.constant(*a).or(net.constant(*b)).is_some();
                    let own = net.adder_bits(id).unwrap_or(0);
                    let carry = carry_bits(net, id).min(own);
                    // What is subtracted from the zeros of a shifted value is negated.
                    let zeros = if *subtract { *sa } else { 0 };
                    let negated = zeros.min(own - carry);
                    if has_constant {
                        all.0[Self::OFFSET] += f64::from(own);
                    } else {
                        all.0[Self::SUM] += f64::from(own - carry - negated);
                        all.0[Self::OFFSET] += f64::from(negated);
                        all.0[Self::CARRY] += f64::from(carry);
                    }
                }
                Operation::Neg { .. } => all.0[Self::OFFSET] += bits,
                Operation::Requant {
                    a,
                    shift,
                    tie_to_even,
                    bounds,
                } => {
                    if *tie_to_even {
                        all.0[Self::REST] += (f64::from(*shift) / 5.0).ceil();
                    }
                    if let Bounds::Saturate { lo, hi } = bounds {
                        let free = net.cell(*a).interval.requantized(*shift, *tie_to_even);
                        all.cut(free, Interval { lo: *lo, hi: *hi }, bits);
                    }
                }
                Operation::Clamp { a, lo, hi } => {
                    all.cut(net.cell(*a).interval, Interval { lo: *lo, hi: *hi }, bits);
                }
                Operation::Less { a, b } => {
                    all.0[Self::REST] += f64::from(net.width(*a).bits.max(net.width(*b).bits));
                }
                Operation::Mux { .. } => all.0[Self::REST] += bits,
                Operation::Max { .. } => all.0[Self::REST] += 2.0 * bits,
                Operation::Mul { a, b } => {
                    all.0[Self::REST] += f64::from(net.width(*a).bits * net.width(*b).bits);
                }
                // A table of 2^n values is a tree of LUTs of four to six inputs.
                Operation::Table { values, .. } => {
                    all.0[Self::REST] += bits * (values.len() as f64 / 40.0).max(1.0);
                }
            }
        }
        all
    }

    fn cut(&mut self, free: Interval, bounds: Interval, bits: f64) {
        if free.lo < bounds.lo {
            self.0[Self::FLOOR] += bits;
        }
        if free.hi > bounds.hi {
            self.0[Self::CEILING] += bits;
        }
    }

    /// The sum of counts times costs.
    pub fn dot(&self, costs: &Self) -> f64 {
        self.0
            .iter()
            .zip(costs.0)
            .map(|(count, cost)| count * cost)
            .sum()
    }
}

/// Bits of an adder's result above the highest of an operand that is not negative.
fn carry_bits(net: &Net, id: CellId) -> u32 {
    let Operation::AddSub { a, sa, b, sb, .. } = net.cell(id).operation else {
        return 0;
    };
    let end = |operand: CellId, shift: u32| {
        let width = net.width(operand);
        if width.signed {
            u32::MAX
        } else {
            width.bits + shift
        }
    };
    net.width(id)
        .bits
        .saturating_sub(end(a, sa).min(end(b, sb)))
}
