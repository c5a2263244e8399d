//! Bits of every word that somebody reads: a register holds no others once synthesis is done with it.

use super::{Bounds, Cell, CellId, Interval, Net, Operation};
use crate::width::Width;

/// All bits of a word.
fn all(width: Width) -> u64 {
    u64::MAX >> (64 - width.bits.clamp(1, 64))
}

/// Bits `from..to`.
fn range(from: u32, to: u32) -> u64 {
    let below = |end: u32| 1_u64.checked_shl(end).map_or(u64::MAX, |bit| bit - 1);
    below(to) & !below(from)
}

/// The bits of a word that are read for some bits of the word moved by a number of bits: above its highest stands its sign.
fn moved(bits: u64, width: Width, shift: i32) -> u64 {
    let places = (0..64_i32).filter(|place| bits >> place & 1 == 1);
    let top = width.bits as i32 - 1;
    places.fold(0, |read, place| match place + shift {
        ..0 => read,
        own if own <= top => read | 1 << own,
        _ if width.signed => read | 1 << top,
        _ => read,
    })
}

/// The bits of a word that are read for some bits of what bounds make of it.
fn bounded(bits: u64, from: Interval, bounds: Interval) -> u64 {
    let width = from.width();
    let sign = width.bits - 1;
    let mut read = moved(bits, width, 0);
    if from.hi > bounds.hi {
        if bounds.hi >= 0 && (bounds.hi as u64 + 1).is_power_of_two() {
            read |= range((bounds.hi as u64 + 1).trailing_zeros(), width.bits);
            let is_positive = from.lo < bounds.lo && bounds.lo == 0;
            if width.signed && is_positive && bits >> sign & 1 == 0 {
                read &= !(1 << sign);
            }
        } else {
            read = all(width);
        }
    }
    if from.lo < bounds.lo {
        read |= match bounds.lo {
            0 => 1 << sign,
            lo if lo < 0 && lo.unsigned_abs().is_power_of_two() => {
                range(lo.unsigned_abs().trailing_zeros(), width.bits)
            }
            _ => all(width),
        };
    }
    read
}

impl Net {
    /// The bits of every cell that results depend on.
    pub fn bits_read(&self) -> Vec<u64> {
        let mut read = vec![0; self.cells.len()];
        for output in &self.outputs {
            read[output.cell.index()] |= all(self.width(output.cell));
        }
        for (id, cell) in self.iter().rev() {
            let own = read[id.index()];
            if own != 0 {
                self.read_by(id, cell, own, |operand, bits| {
                    read[operand.index()] |= bits;
                });
            }
        }
        read
    }

    /// The bits of its operands that a cell reads for some bits of its own.
    fn read_by(&self, id: CellId, cell: &Cell, bits: u64, mut reads: impl FnMut(CellId, u64)) {
        let highest = 64 - bits.leading_zeros();
        match &cell.operation {
            Operation::Input { .. } | Operation::Const { .. } => {}
            Operation::Delay { a } => reads(*a, bits),
            Operation::Shift { a, bits: by } => {
                reads(*a, moved(bits, self.width(*a), -(*by as i32)));
            }
            Operation::AddSub { a, sa, b, sb, .. } => {
                let own = self.adder_bits(id).unwrap_or(0);
                // Low bits pass through; a carry needs all above them.
                let passed = self.width(id).bits - own;
                let summed = range(passed, highest);
                let low = bits & range(0, passed);
                let (first, second) = if *sa == 0 { (low, 0) } else { (0, low) };
                reads(*a, moved(summed | first, self.width(*a), -(*sa as i32)));
                reads(*b, moved(summed | second, self.width(*b), -(*sb as i32)));
            }
            Operation::Neg { a } => reads(*a, moved(range(0, highest), self.width(*a), 0)),
            Operation::Requant {
                a,
                shift,
                tie_to_even,
                bounds,
            } => {
                let free = self.cell(*a).interval.requantized(*shift, *tie_to_even);
                let bits = match bounds {
                    Bounds::Saturate { lo, hi } => {
                        bounded(bits, free, Interval { lo: *lo, hi: *hi })
                    }
                    Bounds::Wrap { .. } => bits,
                };
                let mut own = moved(bits, self.width(*a), *shift);
                if *tie_to_even && bits & 1 == 1 {
                    own |= range(0, shift.unsigned_abs());
                }
                reads(*a, own);
            }
            Operation::Clamp { a, lo, hi } => {
                let bounds = Interval { lo: *lo, hi: *hi };
                reads(*a, bounded(bits, self.cell(*a).interval, bounds));
            }
            Operation::Mux { select, zero, one } => {
                reads(*select, 1);
                for operand in [*zero, *one] {
                    reads(operand, moved(bits, self.width(operand), 0));
                }
            }
            Operation::Less { .. }
            | Operation::Max { .. }
            | Operation::Mul { .. }
            | Operation::Table { .. } => {
                for operand in cell.operation.operands() {
                    reads(operand, all(self.width(operand)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Builder, Origin, Term};

    /// `clamp(⌊register(a + b) / 8⌋, 0, 3)` reads what is above three bits.
    #[test]
    fn a_register_holds_the_bits_that_its_rounding_reads() {
        let mut net = Builder::default();
        let node = net.node("n");
        let origin = Origin {
            node,
            element: None,
        };
        let interval = Interval { lo: -32, hi: 31 };
        let [a, b] = [0, 1].map(|element| net.input(element, interval, origin));
        let sum = net.add(a, b, false, None, origin);
        let mut net = net.finish(vec![sum]);
        let sum = net.outputs[0].cell;
        let mut push = |operation, interval| {
            net.cells.push(Cell {
                operation,
                interval,
                origin,
            });
            CellId(net.cells.len() as u32 - 1)
        };
        let register = push(Operation::Delay { a: sum }, Interval { lo: -64, hi: 62 });
        let bounds = Bounds::Saturate { lo: 0, hi: 3 };
        let rounding = Operation::Requant {
            a: register,
            shift: 3,
            tie_to_even: false,
            bounds,
        };
        let cell = push(rounding, Interval { lo: 0, hi: 3 });
        net.outputs = vec![Term { cell, shift: 0 }];
        let read = net.bits_read();
        assert_eq!(read[register.index()], 0b111_1000);
        assert_eq!(net.register_bits(), 4);
        // The carry of the sum needs all bits.
        assert_eq!([read[0], read[1]], [0b11_1111; 2]);
    }
}
