//! Functions of the bits of one word, under the assumption that its highest bits are known.

use crate::rtl::{Bit, Kind, RtlCell};
use std::collections::HashMap;

/// A Boolean function of the bits of one word, in a form in which equal functions of the kinds that are printed look equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Function {
    /// A constant.
    Const(bool),
    /// A bit of the word.
    Bit(u32),
    /// A negation.
    Not(Box<Function>),
    /// A conjunction, in order.
    And(Vec<Function>),
    /// A disjunction, in order.
    Or(Vec<Function>),
}

impl Function {
    fn not(self) -> Self {
        match self {
            Self::Const(value) => Self::Const(!value),
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    /// The conjunction of several.
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::joined(parts, false, Self::And)
    }

    /// The disjunction of several.
    pub fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::joined(parts, true, Self::Or)
    }

    fn joined(
        parts: impl IntoIterator<Item = Self>,
        decisive: bool,
        join: fn(Vec<Self>) -> Self,
    ) -> Self {
        let mut own = Vec::new();
        for part in parts {
            match part {
                Self::Const(value) if value == decisive => return Self::Const(decisive),
                Self::Const(_) => {}
                other => own.push(other),
            }
        }
        own.sort_unstable();
        own.dedup();
        match own.len() {
            0 => Self::Const(!decisive),
            1 => own.remove(0),
            _ => join(own),
        }
    }

    /// The number of its parts.
    fn size(&self) -> usize {
        match self {
            Self::Const(_) | Self::Bit(_) => 1,
            Self::Not(inner) => 1 + inner.size(),
            Self::And(parts) | Self::Or(parts) => 1 + parts.iter().map(Self::size).sum::<usize>(),
        }
    }

    /// The value, if it is constant.
    pub fn value(&self) -> Option<bool> {
        match self {
            Self::Const(value) => Some(*value),
            _ => None,
        }
    }
}

/// The cells that compute functions of one word's bits, and which wire is which bit.
pub struct Cone<'a> {
    /// Cells by the wires that they drive, with the place of the wire in the result.
    pub cells: &'a dyn Fn(u32) -> Option<(&'a RtlCell, usize)>,
    /// The place of a wire in the word.
    pub place: &'a dyn Fn(u32) -> Option<u32>,
    /// The word's bits, some of which may be constants.
    pub word: &'a [Bit],
}

impl Cone<'_> {
    /// The value of a bit of the word that is always the same.
    fn fixed(&self, place: u32) -> Option<bool> {
        match self.word.get(place as usize) {
            Some(Bit::Const(value)) => Some(*value),
            _ => None,
        }
    }
}

/// Cells in a row behind a word that are followed: what is printed has a few.
const MAX_DEPTH: u32 = 500;

/// Bits of the widest comparison.
const MAX_COMPARED: usize = 100;

/// Parts of the largest function.
const MAX_SIZE: usize = 1 << 14;

/// The functions of a cone for words whose bits from `known_from` on are those of `value`.
pub struct Assumed<'a, 'c> {
    cone: &'c Cone<'a>,
    value: i64,
    known_from: u32,
    memo: HashMap<u32, Option<Function>>,
    /// Cells between the bit that was asked for and the one that is looked at.
    depth: u32,
}

impl<'a, 'c> Assumed<'a, 'c> {
    /// The cone under an assumption.
    pub fn new(cone: &'c Cone<'a>, value: i64, known_from: u32) -> Self {
        Self {
            cone,
            value,
            known_from,
            memo: HashMap::new(),
            depth: 0,
        }
    }

    /// True when a word with constants where it has them can be as assumed.
    pub fn is_possible(&self) -> bool {
        let known = self.known_from..self.cone.word.len().min(63) as u32;
        known.into_iter().all(|place| {
            self.cone
                .fixed(place)
                .is_none_or(|bit| bit == (self.value >> place & 1 == 1))
        })
    }

    /// A bit of the word itself.
    pub fn own(&self, place: u32) -> Function {
        if let Some(bit) = self.cone.fixed(place) {
            Function::Const(bit)
        } else if place >= self.known_from {
            Function::Const(self.value >> place.min(63) & 1 == 1)
        } else {
            Function::Bit(place)
        }
    }

    /// The function of a bit; none while a choice or comparison is open, or where it is too large.
    pub fn bit(&mut self, bit: Bit) -> Option<Function> {
        let wire = match bit {
            Bit::Const(value) => return Some(Function::Const(value)),
            Bit::Wire(wire) => wire,
        };
        if let Some(place) = (self.cone.place)(wire) {
            return Some(self.own(place));
        }
        if let Some(known) = self.memo.get(&wire) {
            return known.clone();
        }
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let function = (self.cone.cells)(wire).and_then(|(cell, at)| self.cell(cell, at));
        self.depth -= 1;
        let function = function.filter(|own| own.size() <= MAX_SIZE);
        self.memo.insert(wire, function.clone());
        function
    }

    fn bits(&mut self, bits: &[Bit]) -> Option<Vec<Function>> {
        bits.iter().map(|&bit| self.bit(bit)).collect()
    }

    fn cell(&mut self, cell: &'a RtlCell, at: usize) -> Option<Function> {
        match cell.kind {
            Kind::Mux => {
                let chosen = if self.bit(cell.s[0])?.value()? {
                    &cell.b
                } else {
                    &cell.a
                };
                self.bit(chosen[at])
            }
            Kind::Pmux => {
                let selects = self.bits(&cell.s)?;
                let values: Option<Vec<bool>> = selects.iter().map(Function::value).collect();
                let mut on = (0..).zip(values?).filter(|select| select.1);
                match (on.next(), on.next()) {
                    (Some((case, _)), None) => self.bit(cell.b[case * cell.y.len() + at]),
                    (None, _) => self.bit(cell.a[at]),
                    // Two at once have no defined result.
                    (Some(_), Some(_)) => None,
                }
            }
            Kind::And => Some(Function::all([
                self.bit(cell.a[at])?,
                self.bit(cell.b[at])?,
            ])),
            Kind::Or => Some(Function::any([
                self.bit(cell.a[at])?,
                self.bit(cell.b[at])?,
            ])),
            Kind::Not => Some(self.bit(cell.a[at])?.not()),
            Kind::ReduceOr => Some(Function::any(self.bits(&cell.a)?)),
            Kind::ReduceAnd => Some(Function::all(self.bits(&cell.a)?)),
            Kind::LogicNot => Some(Function::any(self.bits(&cell.a)?).not()),
            Kind::Eq | Kind::Lt | Kind::Gt => self.compared(cell),
            Kind::Add | Kind::Sub | Kind::Neg | Kind::Mul | Kind::Register => None,
        }
    }

    /// A comparison that the known bits decide.
    fn compared(&mut self, cell: &RtlCell) -> Option<Function> {
        let bits = cell.a.len().max(cell.b.len());
        if bits > MAX_COMPARED {
            return None;
        }
        let mut ends = [[0_i128; 2]; 2];
        for (operand, ends) in [&cell.a, &cell.b].into_iter().zip(&mut ends) {
            for place in 0..bits {
                let source = match operand.get(place) {
                    Some(bit) => *bit,
                    None if cell.signed => *operand.last()?,
                    None => Bit::Const(false),
                };
                let weight = 1_i128 << place;
                let is_sign = cell.signed && place == bits - 1;
                let weight = if is_sign { -weight } else { weight };
                match self.bit(source)?.value() {
                    Some(true) => *ends = ends.map(|end| end + weight),
                    Some(false) => {}
                    None if is_sign => ends[0] += weight,
                    None => ends[1] += weight,
                }
            }
        }
        let [a, b] = ends;
        let decided = match cell.kind {
            Kind::Lt => (a[1] < b[0], a[0] >= b[1]),
            Kind::Gt => (a[0] > b[1], a[1] <= b[0]),
            _ => (
                a[0] == a[1] && a == b,
                a[1] < b[0] || b[1] < a[0] || (a[0] == a[1] && b[0] == b[1] && a != b),
            ),
        };
        match decided {
            (true, _) => Some(Function::Const(true)),
            (_, true) => Some(Function::Const(false)),
            _ => None,
        }
    }
}
