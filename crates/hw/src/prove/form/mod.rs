//! Exact linear forms over atoms, with dyadic coefficients.
//!
//! An atom is a value that is not linear in others: an input, a remainder modulo a power of two, a requantised value, a maximum, a
//! table. Equal atoms are one, so that two words that compute the same function by the same nonlinear steps have the same form,
//! however their sums are arranged.

mod atoms;
mod choice;
mod low_bits;
mod remainder;
mod rounding;
mod steps;
#[cfg(test)]
mod tests;
mod univariate;

pub use atoms::{Atom, Forms};

use super::ProveError;

/// The number of an atom.
pub type AtomId = u32;
/// The number of a form that an atom is a function of.
pub type FormId = u32;

/// `(offset + Σ factor·atom) / 2^exponent`, an integer whatever the atoms are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form {
    /// The constant part.
    pub offset: i128,
    /// Factors of atoms, in the order of their numbers, none 0.
    pub terms: Vec<(AtomId, i128)>,
    /// The power of two that all is divided by; 0 when an odd number is among them.
    pub exponent: u32,
}

/// Bits of the widest remainder, and of the largest denominator.
pub(super) const MAX_BITS: u32 = 61;

/// `2^bits·form + rest`.
pub(super) struct Scaled {
    pub bits: u32,
    pub form: Form,
    pub rest: i128,
}

impl Form {
    /// A constant.
    pub fn constant(value: i128) -> Self {
        Self {
            offset: value,
            ..Self::default()
        }
    }

    /// The value, if it is constant.
    pub fn as_constant(&self) -> Option<i128> {
        (self.terms.is_empty() && self.exponent == 0).then_some(self.offset)
    }

    /// `self·factor·2^left`.
    pub fn scaled(&self, factor: i128, left: u32) -> Result<Self, ProveError> {
        combined(&[(self, factor, left)], 0)
    }

    /// `self + other·factor·2^left`.
    pub fn plus(&self, other: &Self, factor: i128, left: u32) -> Result<Self, ProveError> {
        combined(&[(self, 1, 0), (other, factor, left)], 0)
    }

    /// `self / 2^bits`, which must be an integer.
    pub(super) fn divided(mut self, bits: u32) -> Result<Self, ProveError> {
        self.exponent += bits;
        let reduced = self.reduced();
        if reduced.exponent > MAX_BITS {
            Err(ProveError::TooWide)
        } else {
            Ok(reduced)
        }
    }

    /// The form as `2^bits·inner + rest`, where `0 < bits` and `0 ≤ rest < 2^bits`, if its factors have a power of two in common.
    pub(super) fn scaled_parts(&self) -> Option<Scaled> {
        let bits = self
            .terms
            .iter()
            .map(|term| term.1.trailing_zeros())
            .min()?;
        if bits == 0 || self.exponent > 0 {
            return None;
        }
        let rest = self.offset.rem_euclid(1 << bits);
        let terms = self.terms.iter().map(|term| (term.0, term.1 >> bits));
        let form = Self {
            offset: self.offset >> bits,
            terms: terms.collect(),
            exponent: 0,
        };
        Some(Scaled { bits, form, rest })
    }

    /// The form with every number mapped.
    pub(in crate::prove) fn mapped(&self, map: impl Fn(i128) -> i128) -> Self {
        let terms = self
            .terms
            .iter()
            .map(|term| (term.0, map(term.1)))
            .collect();
        Self {
            offset: map(self.offset),
            terms,
            exponent: self.exponent,
        }
        .reduced()
    }

    fn reduced(mut self) -> Self {
        self.terms.retain(|term| term.1 != 0);
        let zeros = self.terms.iter().map(|term| term.1.trailing_zeros());
        let zeros = zeros
            .fold(self.offset.trailing_zeros(), u32::min)
            .min(self.exponent);
        if zeros > 0 {
            self.offset >>= zeros;
            self.terms.iter_mut().for_each(|term| term.1 >>= zeros);
            self.exponent -= zeros;
        }
        self
    }
}

/// `Σ form·factor·2^left + offset`.
pub fn combined(parts: &[(&Form, i128, u32)], offset: i128) -> Result<Form, ProveError> {
    let exponent = parts
        .iter()
        .map(|(form, _, left)| form.exponent.saturating_sub(*left))
        .max()
        .unwrap_or(0);
    let scale = |value: i128, factor: i128, form: &Form, left: u32| {
        let shift = exponent + left - form.exponent;
        let product = value.checked_mul(factor).filter(|_| shift < 127);
        product
            .and_then(|product| product.checked_mul(1 << shift.min(126)))
            .ok_or(ProveError::TooWide)
    };
    let one = Form::constant(1);
    let mut offset = scale(offset, 1, &one, 0)?;
    let mut terms: Vec<(AtomId, i128)> =
        Vec::with_capacity(parts.iter().map(|part| part.0.terms.len()).sum());
    for &(form, factor, left) in parts {
        let own = scale(form.offset, factor, form, left)?;
        offset = offset.checked_add(own).ok_or(ProveError::TooWide)?;
        for &(atom, value) in &form.terms {
            terms.push((atom, scale(value, factor, form, left)?));
        }
    }
    terms.sort_unstable_by_key(|term| term.0);
    let mut sums: Vec<(AtomId, i128)> = Vec::with_capacity(terms.len());
    for (atom, value) in terms {
        match sums.last_mut() {
            Some(last) if last.0 == atom => {
                last.1 = last.1.checked_add(value).ok_or(ProveError::TooWide)?;
            }
            _ => sums.push((atom, value)),
        }
    }
    Ok(Form {
        offset,
        terms: sums,
        exponent,
    }
    .reduced())
}
