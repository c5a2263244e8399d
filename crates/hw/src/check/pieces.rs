//! Bounds of a word, shown for all values of a piece at once: there they are a constant or the word itself.

use super::cone::Cone;
use super::form::Range;
use crate::rtl::{Kind, RtlCell};

/// Pieces that an interval may be cut into: each bound needs two for every bit.
const MAX_PIECES: usize = 1 << 12;

/// A bit as far as it is known on a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Const(bool),
    /// A bit of the word.
    Bit(usize),
    Open,
}

impl Cone<'_> {
    /// True when the result is `of` the word for every word of an interval. `of` is the word between two bounds, and a bound
    /// beyond them.
    pub fn is_bounded(&self, interval: Range, of: impl Fn(i128) -> i128) -> bool {
        let (mut open, mut pieces) = (vec![interval], 0);
        while let Some((lo, hi)) = open.pop() {
            pieces += 1;
            if pieces > MAX_PIECES {
                return false;
            }
            let (first, last) = (of(lo), of(hi));
            // Bits of the word from here on are the same on the whole piece.
            let free = (128 - (lo ^ hi).leading_zeros()) as usize;
            let own = |place: usize| match self.source.get(place) {
                Some(slot @ 0..=1) => Known::Const(*slot == 1),
                _ if place < free => Known::Bit(place),
                _ => Known::Const(lo >> place.min(127) & 1 == 1),
            };
            let expected = |place: usize| {
                if first == last {
                    Known::Const(first >> place.min(127) & 1 == 1)
                } else {
                    own(place)
                }
            };
            let is_even = first == last || (first, last) == (lo, hi);
            let result = self.known(own);
            let mut bits = result.into_iter().enumerate();
            if is_even && bits.all(|(place, bit)| bit == expected(place)) {
                continue;
            }
            if lo == hi {
                return false;
            }
            // Where the highest bit changes that differs; a sign changes at 0.
            let middle = if lo < 0 && hi >= 0 {
                0
            } else {
                hi >> (free - 1) << (free - 1)
            };
            open.extend([(lo, middle - 1), (middle, hi)]);
        }
        true
    }

    /// The bits of the result where those of the word are known so far.
    fn known(&self, word: impl Fn(usize) -> Known) -> Vec<Known> {
        let mut bits = vec![Known::Open; self.slots()];
        (bits[0], bits[1]) = (Known::Const(false), Known::Const(true));
        for (place, &slot) in self.source.iter().enumerate().filter(|own| *own.1 > 1) {
            bits[slot] = word(place);
        }
        for (cell, [a, b, s, y]) in &self.cells {
            let [a, b, s] = [a, b, s].map(|slots| slots.iter().map(|&slot| bits[slot]).collect());
            for (place, &slot) in y.iter().enumerate() {
                bits[slot] = result(cell, place, [&a, &b, &s]);
            }
        }
        self.result.iter().map(|&slot| bits[slot]).collect()
    }
}

/// A bit of a cell's result.
fn result(cell: &RtlCell, place: usize, [a, b, s]: [&Vec<Known>; 3]) -> Known {
    match cell.kind {
        Kind::Register => a[place],
        Kind::Mux => match s[0] {
            Known::Const(false) => a[place],
            Known::Const(true) => b[place],
            _ if a[place] == b[place] => a[place],
            _ => Known::Open,
        },
        Kind::And => all([a[place], b[place]].into_iter(), true),
        Kind::Or => all([a[place], b[place]].into_iter(), false),
        Kind::ReduceAnd => all(a.iter().copied(), true),
        Kind::ReduceOr => all(a.iter().copied(), false),
        Kind::LogicNot => not(all(a.iter().copied(), false)),
        Kind::Not => not(a[place]),
        Kind::Lt => compared(cell, a, b),
        Kind::Gt => compared(cell, b, a),
        Kind::Pmux | Kind::Eq | Kind::Add | Kind::Sub | Kind::Neg | Kind::Mul => Known::Open,
    }
}

fn not(bit: Known) -> Known {
    match bit {
        Known::Const(value) => Known::Const(!value),
        Known::Bit(_) | Known::Open => Known::Open,
    }
}

/// The conjunction of bits, whose neutral bit is 1, or the disjunction.
fn all(bits: impl Iterator<Item = Known>, neutral: bool) -> Known {
    bits.fold(Known::Const(neutral), |all, bit| match (all, bit) {
        (Known::Const(value), bit) | (bit, Known::Const(value)) => {
            if value == neutral {
                bit
            } else {
                Known::Const(!neutral)
            }
        }
        (all, bit) if all == bit => all,
        _ => Known::Open,
    })
}

/// 1 where the first is less than the second, if the bits that are known decide that.
fn compared(cell: &RtlCell, a: &[Known], b: &[Known]) -> Known {
    let wide = a.len().max(b.len());
    if wide > 100 {
        return Known::Open;
    }
    let ends = |bits: &[Known]| {
        let mut ends = (0_i128, 0_i128);
        for place in 0..wide {
            let bit = match bits.get(place) {
                Some(bit) => *bit,
                None if cell.signed => bits.last().copied().unwrap_or(Known::Const(false)),
                None => Known::Const(false),
            };
            let is_sign = cell.signed && place + 1 == wide;
            let weight = if is_sign { -(1 << place) } else { 1 << place };
            match bit {
                Known::Const(true) => ends = (ends.0 + weight, ends.1 + weight),
                Known::Const(false) => {}
                _ if is_sign => ends.0 += weight,
                _ => ends.1 += weight,
            }
        }
        ends
    };
    let (a, b) = (ends(a), ends(b));
    if a.1 < b.0 {
        Known::Const(true)
    } else if a.0 >= b.1 {
        Known::Const(false)
    } else {
        Known::Open
    }
}
