//! Bits of a netlist that cost LUTs.

use crate::net::{Bounds, CellId, Interval, Net, Operation};
use serde::{Deserialize, Serialize};

/// A number for each kind of bit: how many there are, or what each costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Features(pub [f64; Features::COUNT]);

impl Features {
    /// The kinds.
    pub const COUNT: usize = 8;

    /// Bits of adders of two values that both have.
    pub const SUM: usize = 0;
    /// Bits of adders of a value and a constant, and of negations, also of those in a difference.
    pub const OFFSET: usize = 1;
    /// Bits of results that are cut from below, as a ReLU's, and that are read within their clock cycle.
    pub const FLOOR: usize = 2;
    /// Bits of results that are cut from above.
    pub const CEILING: usize = 3;
    /// LUTs of all else, which no calibration measures: selections, comparisons, ties, tables and products.
    pub const REST: usize = 4;
    /// Bits of adders above the highest of an operand without a sign: a carry alone, which some devices have outside of LUTs.
    pub const CARRY: usize = 5;
    /// Bits of adders above the highest of both operands: what their signs add up to, which some devices compute once.
    pub const SIGN: usize = 6;
    /// Bits of results that are cut from below and go into registers alone, some of which can be reset.
    pub const RESET: usize = 7;

    /// The bits of a netlist.
    pub fn of(net: &Net) -> Self {
        let mut all = Self::default();
        let registered = registered(net);
        for (id, cell) in net.iter() {
            let bits = f64::from(net.width(id).bits);
            let is_registered = registered[id.index()];
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
                    let sign = sign_bits(net, id).min(own - carry);
                    // What is subtracted from the zeros of a shifted value is negated.
                    let zeros = if *subtract { *sa } else { 0 };
                    let negated = zeros.min(own - carry - sign);
                    if has_constant {
                        all.0[Self::OFFSET] += f64::from(own);
                    } else {
                        all.0[Self::SUM] += f64::from(own - carry - sign - negated);
                        all.0[Self::OFFSET] += f64::from(negated);
                        all.0[Self::CARRY] += f64::from(carry);
                        all.0[Self::SIGN] += f64::from(sign);
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
                        let bounds = Interval { lo: *lo, hi: *hi };
                        all.cut(free, bounds, bits, is_registered);
                    }
                }
                Operation::Clamp { a, lo, hi } => {
                    let bounds = Interval { lo: *lo, hi: *hi };
                    all.cut(net.cell(*a).interval, bounds, bits, is_registered);
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

    fn cut(&mut self, free: Interval, bounds: Interval, bits: f64, is_registered: bool) {
        if free.lo < bounds.lo {
            let kind = if is_registered {
                Self::RESET
            } else {
                Self::FLOOR
            };
            self.0[kind] += bits;
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

/// For every cell, true where registers alone read it.
fn registered(net: &Net) -> Vec<bool> {
    let mut registered = vec![true; net.cells.len()];
    for (_, cell) in net.iter() {
        if !matches!(cell.operation, Operation::Delay { .. }) {
            for operand in cell.operation.operands() {
                registered[operand.index()] = false;
            }
        }
    }
    for output in &net.outputs {
        registered[output.cell.index()] = false;
    }
    registered
}

/// Bits of an adder's result above the highest of an operand that is not negative.
fn carry_bits(net: &Net, id: CellId) -> u32 {
    let [a, b] = ends(net, id);
    let end = |(end, signed): (u32, bool)| if signed { u32::MAX } else { end };
    net.width(id).bits.saturating_sub(end(a).min(end(b)))
}

/// Bits of an adder's result above the highest of both operands, which have signs.
fn sign_bits(net: &Net, id: CellId) -> u32 {
    match ends(net, id) {
        [(a, true), (b, true)] => net.width(id).bits.saturating_sub(a.max(b)),
        _ => 0,
    }
}

/// Bits of an adder's operands with their shifts, and which have a sign.
fn ends(net: &Net, id: CellId) -> [(u32, bool); 2] {
    let Operation::AddSub { a, sa, b, sb, .. } = net.cell(id).operation else {
        return [(u32::MAX, false); 2];
    };
    [(a, sa), (b, sb)].map(|(operand, shift)| {
        let width = net.width(operand);
        (width.bits + shift, width.signed)
    })
}
