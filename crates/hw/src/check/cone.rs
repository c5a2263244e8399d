//! A function of one word, computed for sixty-four of its values at once.

use super::{Checker, Driver};
use crate::rtl::{Bit, Kind, RtlCell};
use std::collections::{BTreeSet, HashMap};

/// The cells between a word and another that depends on nothing else.
pub struct Cone<'a> {
    pub(super) cells: Vec<(&'a RtlCell, [Vec<usize>; 4])>,
    pub(super) source: Vec<usize>,
    pub(super) result: Vec<usize>,
    /// Bit `k` is that of value `k`; the first two are constants.
    lanes: Vec<u64>,
    /// Low bits of the word that matter only by whether all are 0.
    pub low: u32,
}

impl<'a> Cone<'a> {
    pub fn new(checker: &Checker<'a>, source: &[Bit], result: &[Bit]) -> Option<Self> {
        let (mut inner, mut open) = (BTreeSet::new(), result.to_vec());
        while let Some(bit) = open.pop() {
            if let (Bit::Wire(wire), false) = (bit, source.contains(&bit)) {
                let Driver::Cell(cell, _) = *checker.drivers.get(&wire)? else {
                    return None;
                };
                if inner.insert(cell) {
                    open.extend(checker.rtl.cells[cell].operands());
                }
            }
        }
        let (mut slots, mut lanes) = (HashMap::new(), vec![0, u64::MAX]);
        let mut all = |bits: &[Bit]| -> Vec<usize> {
            let slot = |bit: &Bit| match *bit {
                Bit::Const(value) => value.into(),
                Bit::Wire(wire) => *slots.entry(wire).or_insert_with(|| {
                    lanes.push(0);
                    lanes.len() - 1
                }),
            };
            bits.iter().map(slot).collect()
        };
        let ends = [all(source), all(result)];
        let cells = inner.iter().map(|&at| {
            let cell = &checker.rtl.cells[at];
            let y: Vec<Bit> = cell.y.iter().map(|&wire| Bit::Wire(wire)).collect();
            (cell, [all(&cell.a), all(&cell.b), all(&cell.s), all(&y)])
        });
        let cells: Vec<_> = cells.collect();
        let [source_slots, result_slots] = ends;
        Some(Self {
            low: low(source, result, cells.iter().map(|own| own.0)),
            cells,
            source: source_slots,
            result: result_slots,
            lanes,
        })
    }

    /// The number of its wires, with two constants.
    pub fn slots(&self) -> usize {
        self.lanes.len()
    }

    /// True when the result has these bits for these values of the word.
    pub fn holds(&mut self, values: &[i128], expected: &[i128]) -> bool {
        let lane = |all: &[i128], place: usize| {
            let bits = all.iter().enumerate();
            bits.fold(0, |lane, (k, value)| {
                lane | ((value >> place & 1) as u64) << k
            })
        };
        for (place, &slot) in self.source.iter().enumerate().filter(|own| *own.1 > 1) {
            self.lanes[slot] = lane(values, place);
        }
        for (cell, [a, b, s, y]) in &self.cells {
            let own = evaluate(cell, &self.lanes, [a, b, s]);
            if own.len() != y.len() {
                return false;
            }
            y.iter()
                .zip(own)
                .for_each(|(&slot, lane)| self.lanes[slot] = lane);
        }
        let mask = u64::MAX >> (64 - values.len().clamp(1, 64));
        let mut results = self.result.iter().enumerate();
        results.all(|(place, &slot)| (self.lanes[slot] ^ lane(expected, place)) & mask == 0)
    }
}

/// The low bits that the cells read together only, to see whether one is set, or not at all.
fn low<'a>(source: &[Bit], result: &[Bit], cells: impl Iterator<Item = &'a RtlCell>) -> u32 {
    let place = |bit: &Bit| source.iter().position(|own| own == bit);
    let (mut alone, mut together) = (result.iter().filter_map(place).min(), Vec::new());
    for cell in cells {
        let places: Vec<usize> = cell.operands().filter_map(|bit| place(&bit)).collect();
        let is_any =
            matches!(cell.kind, Kind::ReduceOr | Kind::LogicNot) && places.len() == cell.a.len();
        if is_any && places.iter().copied().eq(0..places.len()) {
            together.push(places.len());
        } else {
            alone = alone.into_iter().chain(places).min();
        }
    }
    let low = together.iter().copied().chain(alone).min().unwrap_or(0);
    let are_same = together.iter().all(|&own| own == low);
    if are_same { low as u32 } else { 0 }
}

/// The bits of a cell's result; none for a cell that is not understood.
fn evaluate(cell: &RtlCell, lanes: &[u64], [a, b, s]: [&Vec<usize>; 3]) -> Vec<u64> {
    let n = cell.y.len();
    let bit = |of: &[usize], place: usize| match of.get(place) {
        Some(&slot) => lanes[slot],
        None if cell.signed => of.last().map_or(0, |&slot| lanes[slot]),
        None => 0,
    };
    let any = |of: &[usize]| of.iter().fold(0, |any, &slot| any | lanes[slot]);
    let each = |of: &dyn Fn(usize) -> u64| (0..n).map(of).collect::<Vec<u64>>();
    // Sums or differences and the last carry, with the highest bits turned over where signs are compared.
    let ripple = |a: &[usize], b: &[usize], width: usize, minus: bool, turned: bool| {
        let (flip, mut carry) = if minus { (u64::MAX, u64::MAX) } else { (0, 0) };
        let mut sums = Vec::with_capacity(width);
        for place in 0..width {
            let top = if turned && place + 1 == width {
                u64::MAX
            } else {
                0
            };
            let (x, y) = (bit(a, place) ^ top, bit(b, place) ^ top ^ flip);
            sums.push(x ^ y ^ carry);
            carry = x & y | carry & (x | y);
        }
        (sums, carry)
    };
    let wide = a.len().max(b.len());
    match cell.kind {
        Kind::Register => each(&|i| bit(a, i)),
        Kind::And => each(&|i| bit(a, i) & bit(b, i)),
        Kind::Or => each(&|i| bit(a, i) | bit(b, i)),
        Kind::Not => each(&|i| !bit(a, i)),
        Kind::ReduceOr => vec![any(a)],
        Kind::ReduceAnd => vec![a.iter().fold(u64::MAX, |all, &slot| all & lanes[slot])],
        Kind::LogicNot => vec![!any(a)],
        Kind::Mux => each(&|i| bit(a, i) & !any(s) | bit(b, i) & any(s)),
        Kind::Pmux => {
            let case = |i: usize, k: usize| lanes[s[k]] & bit(b, k * n + i);
            let all = each(&|i| (0..s.len()).fold(bit(a, i) & !any(s), |all, k| all | case(i, k)));
            let once = s.iter().try_fold(0, |seen, &k| {
                (seen & lanes[k] == 0).then_some(seen | lanes[k])
            });
            once.map_or_else(Vec::new, |_| all)
        }
        Kind::Add => ripple(a, b, n, false, false).0,
        Kind::Sub => ripple(a, b, n, true, false).0,
        Kind::Neg => ripple(&[0], a, n, true, false).0,
        Kind::Eq => vec![
            !ripple(a, b, wide, true, false)
                .0
                .iter()
                .fold(0, |any, lane| any | lane),
        ],
        Kind::Lt => vec![!ripple(a, b, wide, true, cell.signed).1],
        Kind::Gt => vec![!ripple(b, a, wide, true, cell.signed).1],
        Kind::Mul => Vec::new(),
    }
}
