//! Recognition of roundings: a function of one word's bits that is `clamp(⌊u·2^-shift⌋, lo, hi)` for every value of the word.
//!
//! The word's interval is cut at multiples of powers of two until every choice is decided. On each piece the highest bits are known,
//! and every bit of the result must be the bit that the rounding says: a bit of the word, a constant, or the tie's lowest bit.

use super::bits::{Assumed, Cone, Function};
use crate::net::Interval;
use crate::rtl::Bit;

/// Pieces that an interval may fall into before it is given up.
const MAX_PIECES: usize = 4096;
/// Steps that a function may have before it is a table.
const MAX_STEPS: usize = 4;
/// The largest interval that is tried value by value.
const MAX_VALUES: i64 = 1 << 13;

/// A function of a word's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognized {
    /// `clamp(⌊u·2^-shift⌋, lo, hi)`, ties cleared to even where asked.
    Requant {
        /// Bits to the right; to the left if negative.
        shift: i32,
        /// Clears the lowest bit where the dropped bits are 0.
        tie_to_even: bool,
        /// The smallest and the largest result.
        bounds: Interval,
    },
    /// 1 where `⌊u·2^-shift⌋` is odd and the dropped bits are not all 0.
    TieBit {
        /// Bits to the right.
        shift: u32,
    },
    /// The first result, then values of the word from which on it is another.
    Steps {
        /// The result for the smallest value.
        first: i64,
        /// Values and results, in order.
        steps: Vec<(i64, i64)>,
    },
    /// A result for every value of the interval.
    Table(Vec<i64>),
}

/// The function that bits compute of a word whose values lie in an interval.
pub fn recognize(cone: &Cone, word: Interval, result: &[Bit]) -> Option<Recognized> {
    if let [bit] = result
        && let Some(shift) = tie_bit(cone, *bit)
    {
        return Some(Recognized::TieBit { shift });
    }
    for signed in [false, true] {
        for (shift, tie_to_even) in candidates(cone, word, result) {
            let [lo, hi] = [word.lo, word.hi].map(|end| value_at(cone, end, result, signed));
            let (Some(lo), Some(hi)) = (lo, hi) else {
                return None;
            };
            let candidate = Candidate {
                shift,
                tie_to_even,
                bounds: Interval { lo, hi },
            };
            let mut pieces = MAX_PIECES;
            if lo <= hi && candidate.holds(cone, word, result, &mut pieces) {
                return Some(Recognized::Requant {
                    shift,
                    tie_to_even,
                    bounds: candidate.bounds,
                });
            }
        }
    }
    steps(cone, word, result).or_else(|| table(cone, word, result).map(Recognized::Table))
}

/// The shift of a tie's lowest bit: a bit of the word, and any of those below it.
fn tie_bit(cone: &Cone, bit: Bit) -> Option<u32> {
    let mut assumed = Assumed::new(cone, 0, u32::MAX);
    let function = assumed.bit(bit)?;
    let Function::And(parts) = &function else {
        return None;
    };
    let shift = highest_bit(parts)?;
    (function == tie(shift, |place| assumed.own(place))).then_some(shift)
}

fn highest_bit(parts: &[Function]) -> Option<u32> {
    let bits = parts.iter().filter_map(|part| match part {
        Function::Bit(place) => Some(*place),
        _ => None,
    });
    bits.max()
}

fn tie(shift: u32, bit: impl Fn(u32) -> Function) -> Function {
    Function::all([bit(shift), Function::any((0..shift).map(&bit))])
}

/// Shifts that a piece whose result is not constant suggests.
fn candidates(cone: &Cone, word: Interval, result: &[Bit]) -> Vec<(i32, bool)> {
    let mut found = Vec::new();
    let mut open = vec![word];
    let mut pieces = 0;
    while let Some(piece) = open.pop() {
        pieces += 1;
        if pieces > MAX_PIECES {
            break;
        }
        let mut assumed = assume(cone, piece);
        if !assumed.is_possible() {
            continue;
        }
        let bits: Option<Vec<Function>> = result.iter().map(|&bit| assumed.bit(bit)).collect();
        let Some(bits) = bits else {
            open.extend(halves(piece).into_iter().flatten());
            continue;
        };
        let shift = (0_i32..).zip(&bits).find_map(|(place, bit)| match bit {
            Function::Bit(source) => Some(*source as i32 - place),
            _ => None,
        });
        let is_tie = matches!(bits.first(), Some(Function::And(_)));
        let tie_shift = match bits.first() {
            Some(Function::And(parts)) => highest_bit(parts).map(|place| place as i32),
            _ => None,
        };
        let shift = tie_shift.or(shift);
        if let Some(shift) = shift
            && !found.contains(&(shift, is_tie))
        {
            found.push((shift, is_tie));
        }
    }
    // A result of constants alone is a comparison with a bound.
    if found.is_empty() {
        found.push((0, false));
    }
    found
}

struct Candidate {
    shift: i32,
    tie_to_even: bool,
    bounds: Interval,
}

impl Candidate {
    /// True when the result is this rounding on the whole piece.
    fn holds(&self, cone: &Cone, piece: Interval, result: &[Bit], pieces: &mut usize) -> bool {
        let Some(left) = pieces.checked_sub(1) else {
            return false;
        };
        *pieces = left;
        let free = piece.requantized(self.shift, self.tie_to_even);
        let clamped = free.map(|x| x.clamp(self.bounds.lo, self.bounds.hi));
        let is_decided = clamped == free || clamped.single().is_some();
        let mut assumed = assume(cone, piece);
        if !assumed.is_possible() {
            return true;
        }
        let bits: Option<Vec<Function>> = if is_decided {
            result.iter().map(|&bit| assumed.bit(bit)).collect()
        } else {
            None
        };
        let Some(bits) = bits else {
            return match halves(piece) {
                Some(parts) => parts
                    .into_iter()
                    .all(|part| self.holds(cone, part, result, pieces)),
                None => false,
            };
        };
        let expected = |place: u32| match clamped.single() {
            Some(value) => Function::Const(value >> place.min(63) & 1 == 1),
            None => self.bit(&assumed, place),
        };
        let is_equal = (0..).zip(&bits).all(|(place, bit)| *bit == expected(place));
        // A piece whose bits are not all the word's may still be right on each half.
        is_equal
            || halves(piece).is_some_and(|parts| {
                parts
                    .into_iter()
                    .all(|part| self.holds(cone, part, result, pieces))
            })
    }

    fn bit(&self, assumed: &Assumed, place: u32) -> Function {
        let source = i64::from(place) + i64::from(self.shift);
        match u32::try_from(source) {
            Err(_) => Function::Const(false),
            Ok(source) if self.tie_to_even && place == 0 => tie(source, |place| assumed.own(place)),
            Ok(source) => assumed.own(source),
        }
    }
}

/// The bits that all values of a piece have in common.
fn assume<'a, 'c>(cone: &'c Cone<'a>, piece: Interval) -> Assumed<'a, 'c> {
    let known_from = 64 - (piece.lo ^ piece.hi).leading_zeros();
    Assumed::new(cone, piece.lo, known_from)
}

/// A piece cut where its highest bit that differs changes.
fn halves(piece: Interval) -> Option<[Interval; 2]> {
    if piece.lo == piece.hi {
        return None;
    }
    let top = 63 - (piece.lo ^ piece.hi).leading_zeros();
    let middle = if top == 63 { 0 } else { piece.hi >> top << top };
    Some([
        Interval {
            hi: middle - 1,
            ..piece
        },
        Interval {
            lo: middle,
            ..piece
        },
    ])
}

/// The result for one value of the word.
fn value_at(cone: &Cone, value: i64, result: &[Bit], signed: bool) -> Option<i64> {
    let mut assumed = Assumed::new(cone, value, 0);
    let mut sum = 0_i64;
    for (place, &bit) in result.iter().enumerate().take(63) {
        if assumed.bit(bit)?.value()? {
            let weight = 1_i64 << place;
            sum += if signed && place + 1 == result.len() {
                -weight
            } else {
                weight
            };
        }
    }
    Some(sum)
}

/// A result that is constant on few pieces and never decreases, as a signed or unsigned word.
fn steps(cone: &Cone, word: Interval, result: &[Bit]) -> Option<Recognized> {
    let mut open = vec![word];
    let mut found: Vec<i64> = Vec::new();
    let mut pieces = 0;
    while let Some(piece) = open.pop() {
        pieces += 1;
        let mut assumed = assume(cone, piece);
        let mut is_constant =
            |bit: &Bit| assumed.bit(*bit).is_some_and(|bit| bit.value().is_some());
        if result.iter().all(&mut is_constant) {
            let value = |at: i64| value_at(cone, at, result, false);
            let is_new = found
                .last()
                .is_none_or(|&last| value(last) != value(piece.lo));
            if is_new {
                found.push(piece.lo);
            }
        } else {
            let [low, high] = halves(piece)?;
            open.extend([high, low]);
        }
        if pieces > MAX_PIECES || found.len() > MAX_STEPS {
            return None;
        }
    }
    [false, true].into_iter().find_map(|signed| {
        let values = found.iter().map(|&at| value_at(cone, at, result, signed));
        let values: Vec<i64> = values.collect::<Option<_>>()?;
        let first = *values.first().filter(|_| values.is_sorted())?;
        let steps = found.iter().copied().zip(values).skip(1).collect();
        Some(Recognized::Steps { first, steps })
    })
}

fn table(cone: &Cone, word: Interval, result: &[Bit]) -> Option<Vec<i64>> {
    if word.hi.checked_sub(word.lo)? >= MAX_VALUES {
        return None;
    }
    (word.lo..=word.hi)
        .map(|value| value_at(cone, value, result, false))
        .collect()
}
