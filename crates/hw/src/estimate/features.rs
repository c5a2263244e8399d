//! Bits of a netlist that cost LUTs.

use crate::net::{Bounds, Cell, CellId, Interval, Net, Operation};
use serde::{Deserialize, Serialize};

/// A number for each kind of bit: how many there are, or what each costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Features(pub [f64; Features::COUNT]);

impl Features {
    /// The kinds.
    pub const COUNT: usize = 7;

    /// Bits of adders whose operands both have a bit there that is no constant.
    pub const SUM: usize = 0;
    /// Bits of adders with one operand's bit and a constant: a carry and an inversion, which some devices have outside of LUTs.
    pub const OFFSET: usize = 1;
    /// Bits of results that are cut from below, as a ReLU's, and that are read within their clock cycle.
    pub const FLOOR: usize = 2;
    /// Bits of results that are cut from above.
    pub const CEILING: usize = 3;
    /// LUTs of all else, which no calibration measures: selections, comparisons, ties, tables and products.
    pub const REST: usize = 4;
    /// Bits of results that are cut from below and go into registers alone, some of which can be reset.
    pub const RESET: usize = 5;
    /// Bits that some adder subtracts: an inversion before a carry, which takes a LUT where carries take their operands as they are.
    pub const SUBTRACTED: usize = 6;

    /// The bits of a netlist.
    pub fn of(net: &Net) -> Self {
        Self::of_cells(net, |_| true)
    }

    /// The bits of some cells of a netlist.
    pub fn of_cells(net: &Net, is_counted: impl Fn(&Cell) -> bool) -> Self {
        let mut all = Self::default();
        let registered = registered(net);
        let sources = sources(net);
        let mut subtracted = vec![0_u64; net.cells.len()];
        for (id, cell) in net.iter() {
            let sum = summed(net, &sources, id, &mut subtracted);
            if !is_counted(cell) {
                continue;
            }
            let bits = f64::from(net.width(id).bits);
            let is_registered = registered[id.index()];
            match &cell.operation {
                Operation::Input { .. }
                | Operation::Const { .. }
                | Operation::Shift { .. }
                | Operation::Delay { .. } => {}
                Operation::AddSub { .. } => {
                    for (all, own) in all.0.iter_mut().zip(sum.0) {
                        *all += own;
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

/// The bits of an adder; marks those that it subtracts, each of which counts the first time.
fn summed(net: &Net, sources: &[Vec<Source>], id: CellId, subtracted: &mut [u64]) -> Features {
    let mut bits = Features::default();
    let Operation::AddSub {
        a,
        sa,
        b,
        sb,
        subtract,
    } = net.cell(id).operation
    else {
        return bits;
    };
    let width = net.width(id).bits;
    let own = net.adder_bits(id).unwrap_or(0);
    for place in (width - own)..width {
        let [x, y] = [(a, sa), (b, sb)].map(|(operand, shift)| {
            source(net, sources, operand, i64::from(place) - i64::from(shift))
        });
        match (x, y) {
            (Source::Const(_), Source::Const(_)) => {}
            (Source::Const(_), _) | (_, Source::Const(_)) => bits.0[Features::OFFSET] += 1.0,
            // What is added to itself is a carry, and no LUT adds it.
            _ if x == y => {}
            _ => bits.0[Features::SUM] += 1.0,
        }
        if let (true, Source::Bit(cell, place)) = (subtract, y) {
            let (marked, bit) = (&mut subtracted[cell.index()], 1 << place.min(63));
            if *marked & bit == 0 {
                *marked |= bit;
                bits.0[Features::SUBTRACTED] += 1.0;
            }
        }
    }
    bits
}

/// A bit as synthesis sees it, wires and what is always the same seen through.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    /// A constant.
    Const(bool),
    /// A bit of a cell's result.
    Bit(CellId, u32),
}

/// The bits of every cell.
fn sources(net: &Net) -> Vec<Vec<Source>> {
    let mut sources: Vec<Vec<Source>> = Vec::with_capacity(net.cells.len());
    for (id, cell) in net.iter() {
        let width = net.width(id).bits;
        let wires = |operand: CellId, shift: i64| -> Vec<Source> {
            let places = (0..i64::from(width)).map(|place| place + shift);
            places
                .map(|place| source(net, &sources, operand, place))
                .collect()
        };
        let own = match &cell.operation {
            Operation::Const { value } => (0..width)
                .map(|place| Source::Const(value >> place.min(63) & 1 == 1))
                .collect(),
            Operation::Shift { a, bits } => wires(*a, -i64::from(*bits)),
            Operation::Requant {
                a,
                shift,
                tie_to_even: false,
                bounds,
            } if is_slice(net, *a, *shift, *bounds) => wires(*a, i64::from(*shift)),
            // Low bits pass through an adder.
            Operation::AddSub { a, sa, b, .. } => {
                let passed = width - net.adder_bits(id).unwrap_or(width);
                let low = wires(if *sa == 0 { *a } else { *b }, 0);
                let summed = (passed..width).map(|place| Source::Bit(id, place));
                low.into_iter()
                    .take(passed as usize)
                    .chain(summed)
                    .collect()
            }
            // A register of a constant is none.
            Operation::Delay { a } => (0..)
                .zip(wires(*a, 0))
                .map(|(place, from)| match from {
                    Source::Const(_) => from,
                    Source::Bit(..) => Source::Bit(id, place),
                })
                .collect(),
            _ => (0..width).map(|place| Source::Bit(id, place)).collect(),
        };
        sources.push(own);
    }
    sources
}

/// A bit of a cell's result, which has its sign above its highest and zeros below its lowest.
fn source(net: &Net, sources: &[Vec<Source>], cell: CellId, place: i64) -> Source {
    let bits = &sources[cell.index()];
    let sign = if net.width(cell).signed {
        bits.last()
    } else {
        None
    };
    let own = usize::try_from(place)
        .ok()
        .and_then(|place| bits.get(place).or(sign));
    own.copied().unwrap_or(Source::Const(false))
}

/// True for a rounding that drops bits and does nothing else.
fn is_slice(net: &Net, a: CellId, shift: i32, bounds: Bounds) -> bool {
    match bounds {
        Bounds::Wrap { .. } => true,
        Bounds::Saturate { lo, hi } => {
            let free = net.cell(a).interval.requantized(shift, false);
            Interval { lo, hi }.holds(free)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Builder, Origin, Term};

    /// The bits of a netlist of two 4-bit inputs, `x` signed and `y` not, and one result.
    fn of(result: impl Fn(&mut Builder, Term, Term, Origin) -> Term) -> [f64; Features::COUNT] {
        let mut net = Builder::default();
        let origin = Origin {
            node: net.node("n"),
            element: None,
        };
        let x = net.input(0, Interval { lo: -8, hi: 7 }, origin);
        let y = net.input(1, Interval { lo: 0, hi: 15 }, origin);
        let result = result(&mut net, x, y, origin);
        Features::of(&net.finish(vec![result])).0
    }

    #[test]
    fn the_bits_of_an_operation_are_those_that_its_luts_make() {
        let rest = |count: f64| {
            let mut all = [0.0; Features::COUNT];
            all[Features::REST] = count;
            all
        };
        assert_eq!(of(|_, x, _, _| x), [0.0; Features::COUNT]);
        // A comparison looks at the bits of the wider side, a maximum at its own twice, and a product at all pairs.
        assert_eq!(of(Builder::less), rest(4.0));
        assert_eq!(of(Builder::max), rest(8.0));
        assert_eq!(of(Builder::multiply), rest(16.0));
        // A selection by a comparison has its own bits, five for both signs.
        let selected = of(|net, x, y, origin| {
            let select = net.less(x, y, origin);
            net.mux(select, x, y, origin)
        });
        assert_eq!(selected, rest(4.0 + 5.0));
        // A table of 16 values is a LUT for each bit.
        let values: Vec<i64> = (0..16).map(|k| k * k % 7).collect();
        assert_eq!(
            of(|net, _, y, origin| net.table(y, values.clone(), origin)),
            rest(3.0)
        );
        let mut negated = [0.0; Features::COUNT];
        negated[Features::OFFSET] = 5.0;
        assert_eq!(of(|net, x, _, origin| net.negate(x, origin)), negated);
    }

    #[test]
    fn what_is_cut_from_below_or_above_counts_apart() {
        let cut = |lo: i64, hi: i64| {
            let all = of(|net, x, _, origin| net.clamp(x, lo, hi, origin));
            [Features::FLOOR, Features::CEILING, Features::REST].map(|kind| all[kind])
        };
        assert_eq!(cut(0, 7), [3.0, 0.0, 0.0]);
        assert_eq!(cut(-8, 3), [0.0, 4.0, 0.0]);
        assert_eq!(cut(-2, 1), [2.0, 2.0, 0.0]);
    }
}
