//! Exact linear forms over atoms, with dyadic coefficients.
//!
//! An atom is a value that is not linear in others: an input, a remainder modulo a power of two, a requantised value, a maximum, a
//! table. Equal atoms are one, so that two words that compute the same function by the same nonlinear steps have the same form,
//! however their sums are arranged.

use super::ProveError;
use crate::net::Interval;
use std::collections::HashMap;
use std::sync::Arc;

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

/// A value that is not linear in others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// An element of the input.
    Input(u32),
    /// `form mod 2^bits`.
    Remainder {
        /// The form, its factors reduced.
        form: FormId,
        /// Bits that are kept.
        bits: u32,
    },
    /// `clamp(⌊form·2^-shift⌋, lo, hi)`.
    Requant {
        /// The operand.
        form: FormId,
        /// Bits to the right.
        shift: u32,
        /// Clears the lowest bit where the dropped bits are 0.
        tie_to_even: bool,
        /// The smallest result.
        lo: i64,
        /// The largest result.
        hi: i64,
    },
    /// 1 where `⌊form·2^-shift⌋` is odd and the dropped bits are not all 0.
    TieBit {
        /// The operand.
        form: FormId,
        /// Bits to the right.
        shift: u32,
    },
    /// The largest of several, in the order of their numbers.
    Max(Vec<FormId>),
    /// The lowest index of the largest of several, in the order of their indices.
    Argmax(Vec<(i64, FormId)>),
    /// 1 where the first is less than the second.
    Less(FormId, FormId),
    /// The product of two, in the order of their numbers.
    Product(FormId, FormId),
    /// `values[form - lo]`.
    Table {
        /// The operand.
        form: FormId,
        /// The index of the first value.
        lo: i64,
        /// The results.
        values: Arc<[i64]>,
    },
}

/// All atoms and the forms that they are functions of.
#[derive(Clone, Debug, Default)]
pub struct Forms {
    atoms: Vec<(Atom, Interval)>,
    atom_ids: HashMap<Atom, AtomId>,
    bodies: Vec<Form>,
    form_ids: HashMap<Form, FormId>,
}

/// Bits of the widest remainder, and of the largest denominator.
const MAX_BITS: u32 = 61;
/// Values of a requantised form that are few enough to be sums of steps.
const FEW: i64 = 3;

/// `first`, and more from every threshold of the base on.
struct Steps {
    base: Form,
    first: i64,
    /// Thresholds and heights, in order.
    rises: Vec<(i64, i64)>,
}

/// `2^bits·form + rest`.
struct Scaled {
    bits: u32,
    form: Form,
    rest: i128,
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
    fn divided(mut self, bits: u32) -> Result<Self, ProveError> {
        self.exponent += bits;
        let reduced = self.reduced();
        if reduced.exponent > MAX_BITS {
            Err(ProveError::TooWide)
        } else {
            Ok(reduced)
        }
    }

    /// The form as `2^bits·inner + rest`, where `0 < bits` and `0 ≤ rest < 2^bits`, if its factors have a power of two in common.
    fn scaled_parts(&self) -> Option<Scaled> {
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
    fn mapped(&self, map: impl Fn(i128) -> i128) -> Self {
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

impl Forms {
    /// The atoms in the order of their numbers, with their intervals.
    pub fn atoms(&self) -> &[(Atom, Interval)] {
        &self.atoms
    }

    /// A form that an atom is a function of.
    pub fn form(&self, id: FormId) -> &Form {
        &self.bodies[id as usize]
    }

    /// An element of the input.
    pub fn input(&mut self, element: u32, interval: Interval) -> Form {
        self.atom(Atom::Input(element), interval)
    }

    /// The form that is an atom alone.
    pub fn atom(&mut self, atom: Atom, interval: Interval) -> Form {
        if let Some(value) = interval.single() {
            return Form::constant(value.into());
        }
        let next = self.atoms.len() as AtomId;
        let id = *self.atom_ids.entry(atom.clone()).or_insert(next);
        if id == next {
            self.atoms.push((atom, interval));
        }
        Form {
            terms: vec![(id, 1)],
            ..Form::default()
        }
    }

    /// The number of a form.
    pub fn intern(&mut self, form: &Form) -> FormId {
        if let Some(&id) = self.form_ids.get(form) {
            return id;
        }
        let id = self.bodies.len() as FormId;
        self.bodies.push(form.clone());
        self.form_ids.insert(form.clone(), id);
        id
    }

    /// The ends of what a form can be, its atoms taken as independent.
    pub fn range(&self, form: &Form) -> Result<Interval, ProveError> {
        let mut ends = [form.offset; 2];
        for &(atom, factor) in &form.terms {
            let Interval { lo, hi } = self.atoms[atom as usize].1;
            let own = [lo, hi].map(|end| factor.checked_mul(end.into()));
            let [Some(x), Some(y)] = own else {
                return Err(ProveError::TooWide);
            };
            let sums = [ends[0].checked_add(x.min(y)), ends[1].checked_add(x.max(y))];
            let [Some(lo), Some(hi)] = sums else {
                return Err(ProveError::TooWide);
            };
            ends = [lo, hi];
        }
        // An integer lies between: the lower end is rounded up.
        let (lo, hi) = (-((-ends[0]) >> form.exponent), ends[1] >> form.exponent);
        match (i64::try_from(lo), i64::try_from(hi)) {
            (Ok(lo), Ok(hi)) => Ok(Interval { lo, hi }),
            _ => Err(ProveError::TooWide),
        }
    }

    /// `form mod 2^bits`, where the form's value is known to lie in an interval.
    pub fn remainder(
        &mut self,
        form: &Form,
        interval: Interval,
        bits: u32,
    ) -> Result<Form, ProveError> {
        if bits == 0 {
            return Ok(Form::default());
        }
        if bits > MAX_BITS {
            return Err(ProveError::TooWide);
        }
        let opened = self.without_remainders(form, bits)?;
        if let Some(opened) = opened {
            let range = self.range(&opened)?;
            return self.remainder(&opened, range, bits);
        }
        let modulus = 1_i64 << bits;
        let is_inside = |own: Interval| own.lo >= 0 && own.hi < modulus;
        if let Some(Scaled {
            bits: zeros,
            form: inner,
            rest,
        }) = form.scaled_parts()
            && zeros < bits
        {
            let own = |end: i64| ((i128::from(end) - rest) >> zeros) as i64;
            let high = self.remainder(&inner, interval.map(own), bits - zeros)?;
            return Form::constant(rest).plus(&high, 1, zeros);
        }
        if let Some((whole, from)) = self.floored(form)? {
            let range = self.range(&whole)?;
            let high = self.remainder(&whole, range, bits + from)?;
            let low = self.remainder(&whole, range, from)?;
            return self.divided(&high, &low, from);
        }
        // Congruent forms become equal: factors of one modulus, from zero on or around it.
        let whole = 1_i128 << (bits + form.exponent);
        let positive = form.mapped(|value| value.rem_euclid(whole));
        if let Some(value) = positive.as_constant() {
            return Ok(Form::constant(value));
        }
        let centered = form.mapped(|value| (value + whole / 2).rem_euclid(whole) - whole / 2);
        for reduced in [&positive, &centered] {
            if is_inside(self.range(reduced)?) {
                return Ok(reduced.clone());
            }
        }
        if is_inside(interval) {
            return Ok(form.clone());
        }
        let range = self.range(&centered)?;
        for (own, interval) in [(&centered, range), (form, interval)] {
            let is_near = interval.lo >= -modulus && interval.hi < modulus;
            if is_near && own.exponent == 0 {
                // One modulus more where it is negative.
                let is_positive = self.step(own, 0)?;
                let lifted = own.plus(&Form::constant(modulus.into()), 1, 0)?;
                return lifted.plus(&is_positive, -i128::from(modulus), 0);
            }
        }
        let form = self.intern(&centered);
        Ok(self.atom(
            Atom::Remainder { form, bits },
            Interval {
                lo: 0,
                hi: modulus - 1,
            },
        ))
    }

    /// A congruent form modulo 2^bits in which remainders whose moduli do not matter are what they are remainders of.
    fn without_remainders(&self, form: &Form, bits: u32) -> Result<Option<Form>, ProveError> {
        if form.exponent > 0 {
            return Ok(None);
        }
        let mut parts: Vec<(&Form, i128, u32)> = Vec::new();
        let mut rest = Form {
            offset: form.offset,
            ..Form::default()
        };
        for &(atom, factor) in &form.terms {
            match self.atoms[atom as usize].0 {
                Atom::Remainder {
                    form: of,
                    bits: own,
                } if own + factor.trailing_zeros() >= bits => {
                    parts.push((self.form(of), factor, 0));
                }
                _ => rest.terms.push((atom, factor)),
            }
        }
        if parts.is_empty() {
            return Ok(None);
        }
        parts.push((&rest, 1, 0));
        combined(&parts, 0).map(Some)
    }

    /// The form `l` and the bits of a form that is `⌊l·2^-bits⌋`.
    fn floored(&mut self, form: &Form) -> Result<Option<(Form, u32)>, ProveError> {
        let is_rest = |term: &&(AtomId, i128)| {
            let atom = &self.atoms[term.0 as usize].0;
            term.1 == -1 && matches!(atom, Atom::Remainder { bits, .. } if *bits == form.exponent)
        };
        let Some(&(rest, _)) = form
            .terms
            .iter()
            .find(is_rest)
            .filter(|_| form.exponent > 0)
        else {
            return Ok(None);
        };
        let rest = Form {
            terms: vec![(rest, 1)],
            ..Form::default()
        };
        let whole = Form {
            exponent: 0,
            ..form.clone()
        }
        .plus(&rest, 1, 0)?;
        let range = self.range(&whole)?;
        let is_floor = self.remainder(&whole, range, form.exponent)? == rest;
        Ok(is_floor.then_some((whole, form.exponent)))
    }

    /// `⌊form·2^-bits⌋`.
    pub fn floor(
        &mut self,
        form: &Form,
        interval: Interval,
        bits: u32,
    ) -> Result<Form, ProveError> {
        if bits == 0 {
            return Ok(form.clone());
        }
        let rest = self.remainder(form, interval, bits)?;
        form.plus(&rest, -1, 0)?.divided(bits)
    }

    /// `clamp(⌊form·2^-shift⌋, lo, hi)`. A clamp before it is taken into it, and what cannot saturate is linear.
    pub fn requant(
        &mut self,
        form: &Form,
        shift: i32,
        tie_to_even: bool,
        lo: i64,
        hi: i64,
    ) -> Result<Form, ProveError> {
        if shift < 0 {
            let shifted = form.scaled(1, shift.unsigned_abs())?;
            return self.requant(&shifted, 0, false, lo, hi);
        }
        let tie_to_even = tie_to_even && shift > 0;
        if let Some(steps) = self.as_steps(form)? {
            let rounded = |x: i64| {
                Interval::point(x)
                    .requantized(shift, tie_to_even)
                    .lo
                    .clamp(lo, hi)
            };
            return self.mapped_steps(&steps, rounded);
        }
        if let Some(taken) = self.inner_requant(form, shift, tie_to_even, lo, hi)? {
            return Ok(taken);
        }
        if let Some((whole, from)) = self.floored(form)?
            && !tie_to_even
        {
            return self.requant(&whole, shift + from as i32, false, lo, hi);
        }
        if let Some(parts) = form.scaled_parts() {
            // Where all bits that are dropped are known, ties are everywhere or nowhere.
            let dropped = parts.rest & ((1 << shift.min(100)) - 1);
            let is_tied = tie_to_even && dropped == 0;
            if !is_tied || parts.bits < shift.unsigned_abs() {
                return self.scaled_requant(&parts, shift, is_tied, lo, hi);
            }
        }
        let range = self.range(form)?;
        let free = range.requantized(shift, tie_to_even);
        let bounds = free.map(|x| x.clamp(lo, hi));
        if let Some(value) = bounds.single() {
            return Ok(Form::constant(value.into()));
        }
        let shift = shift.unsigned_abs();
        if bounds == free && !tie_to_even {
            return self.floor(form, range, shift);
        }
        let Interval { lo, hi } = bounds;
        let is_step = (lo, hi, shift) == (0, 1, 0);
        if hi - lo <= FEW && !is_step {
            // So few results may have several shifts; their thresholds are unique.
            let mut sum = Form::constant(lo.into());
            for result in lo + 1..=hi {
                let tie = i64::from(tie_to_even && result % 2 != 0);
                let threshold = Interval::point(result)
                    .shifted(shift)
                    .lo
                    .saturating_add(tie);
                sum = sum.plus(&self.step(form, threshold)?, 1, 0)?;
            }
            return Ok(sum);
        }
        let form = self.intern(form);
        Ok(self.atom(
            Atom::Requant {
                form,
                shift,
                tie_to_even,
                lo,
                hi,
            },
            bounds,
        ))
    }

    /// `clamp(⌊(2^bits·g + rest)·2^-shift⌋, lo, hi)` as a function of `g`.
    fn scaled_requant(
        &mut self,
        parts: &Scaled,
        shift: i32,
        tie_to_even: bool,
        lo: i64,
        hi: i64,
    ) -> Result<Form, ProveError> {
        let Scaled { bits, form, rest } = parts;
        let Some(left) = bits
            .checked_sub(shift.unsigned_abs())
            .filter(|&left| left > 0)
        else {
            // The rest is dropped; where it is not 0, nothing is a tie.
            let shift = shift - *bits as i32;
            return self.requant(form, shift, tie_to_even && *rest == 0, lo, hi);
        };
        // Multiples of 2^left and a constant: within the bounds, and a step to each bound.
        let rest = i64::try_from(rest >> shift).map_err(|_| ProveError::TooWide)?;
        let (lo, hi) = (lo.saturating_sub(rest), hi.saturating_sub(rest));
        let first = (-((-i128::from(lo)) >> left)) as i64;
        let last = hi >> left.min(63);
        let (scale, rest) = (1_i128 << left, i128::from(rest));
        let (below, above) = (self.step(form, first)?, self.step(form, last + 1)?);
        let (lo, hi) = (i128::from(lo), i128::from(hi));
        if first > last {
            return combined(&[(&below, hi - lo, 0)], lo + rest);
        }
        let inside = self.requant(form, 0, false, first, last)?;
        let (to_first, from_last) = (
            scale * i128::from(first) - lo,
            hi - scale * i128::from(last),
        );
        let parts = [
            (&inside, scale, 0),
            (&below, to_first, 0),
            (&above, from_last, 0),
        ];
        combined(&parts, rest - to_first)
    }

    /// 1 where the form is at least a threshold, else 0.
    pub fn step(&mut self, form: &Form, threshold: i64) -> Result<Form, ProveError> {
        let offset = 1 - i128::from(threshold);
        let above = form.plus(&Form::constant(offset), 1, 0)?;
        self.requant(&above, 0, false, 0, 1)
    }

    /// The rounding of a requantised value that can be taken into it: a clamp, with a constant added to it, before any; any
    /// before a clamp; a rounding down before another.
    fn inner_requant(
        &mut self,
        form: &Form,
        shift: i32,
        tie_to_even: bool,
        lo: i64,
        hi: i64,
    ) -> Result<Option<Form>, ProveError> {
        let [(id, 1)] = form.terms[..] else {
            return Ok(None);
        };
        let Atom::Requant {
            form: inner,
            shift: from,
            tie_to_even: ties,
            lo: min,
            hi: max,
        } = self.atoms[id as usize].0
        else {
            return Ok(None);
        };
        let Some(offset) = i64::try_from(form.offset)
            .ok()
            .filter(|_| form.exponent == 0)
        else {
            return Ok(None);
        };
        let inner = self.form(inner).clone();
        let (own, from) = (Interval { lo: min, hi: max }, from as i32);
        if shift == 0 {
            let bounds = own.map(|x| x.clamp(lo.saturating_sub(offset), hi.saturating_sub(offset)));
            let clamped = self.requant(&inner, from, ties, bounds.lo, bounds.hi)?;
            return clamped.plus(&Form::constant(offset.into()), 1, 0).map(Some);
        }
        if from > 0 && (offset != 0 || ties || tie_to_even) {
            return Ok(None);
        }
        let inner = inner.plus(&Form::constant(offset.into()), 1, 0)?;
        let bounds = own.plus(Interval::point(offset));
        let bounds = bounds
            .requantized(shift, tie_to_even)
            .map(|x| x.clamp(lo, hi));
        self.requant(&inner, shift + from, tie_to_even, bounds.lo, bounds.hi)
            .map(Some)
    }

    /// The steps of a form that is a sum of steps of one other.
    fn as_steps(&self, form: &Form) -> Result<Option<Steps>, ProveError> {
        let mut base: Option<Form> = None;
        let mut rises = Vec::with_capacity(form.terms.len());
        for &(id, factor) in &form.terms {
            let Atom::Requant {
                form: of,
                shift: 0,
                tie_to_even: false,
                lo: 0,
                hi: 1,
            } = self.atoms[id as usize].0
            else {
                return Ok(None);
            };
            // 1 where the operand is positive: the base from the threshold on.
            let of = self.form(of);
            let own = Form {
                offset: 0,
                ..of.clone()
            };
            if of.exponent > 0 || base.as_ref().is_some_and(|base| *base != own) {
                return Ok(None);
            }
            let (Ok(threshold), Ok(factor)) = (i64::try_from(1 - of.offset), i64::try_from(factor))
            else {
                return Err(ProveError::TooWide);
            };
            base = Some(own);
            rises.push((threshold, factor));
        }
        rises.sort_unstable();
        let first = i64::try_from(form.offset).map_err(|_| ProveError::TooWide)?;
        let is_whole = form.exponent == 0;
        Ok(base
            .filter(|_| is_whole)
            .map(|base| Steps { base, first, rises }))
    }

    /// A function of a sum of steps.
    fn mapped_steps(&mut self, steps: &Steps, of: impl Fn(i64) -> i64) -> Result<Form, ProveError> {
        let mut value = steps.first;
        let mut sum = Form::constant(of(value).into());
        for &(threshold, height) in &steps.rises {
            let before = of(value);
            value += height;
            let step = self.step(&steps.base, threshold)?;
            sum = sum.plus(&step, (of(value) - before).into(), 0)?;
        }
        Ok(sum)
    }

    /// 1 where `⌊form·2^-shift⌋` is odd and the dropped bits are not all 0.
    pub fn tie_bit(&mut self, form: &Form, shift: u32) -> Result<Form, ProveError> {
        if let Some(steps) = self.as_steps(form)? {
            let is_odd = |x: i64| x >> shift & 1 == 1 && x & ((1 << shift) - 1) != 0;
            return self.mapped_steps(&steps, |x| is_odd(x).into());
        }
        let form = self.intern(form);
        Ok(self.atom(Atom::TieBit { form, shift }, Interval { lo: 0, hi: 1 }))
    }

    /// The low `bits` bits of a form, as a signed or unsigned word.
    pub fn wrapped(
        &mut self,
        form: &Form,
        interval: Interval,
        bits: u32,
        signed: bool,
    ) -> Result<Form, ProveError> {
        if !signed {
            return self.remainder(form, interval, bits);
        }
        if bits == 0 {
            return Ok(Form::default());
        }
        let half = Form::constant(1 << (bits - 1).min(100));
        let lifted = form.plus(&half, 1, 0)?;
        let above = interval.plus(Interval::point(
            1_i64.checked_shl(bits - 1).ok_or(ProveError::TooWide)?,
        ));
        self.remainder(&lifted, above, bits)?.plus(&half, -1, 0)
    }

    /// The largest of several. Constants and lower bounds become one lower bound of the others' largest.
    pub fn max(&mut self, all: &[Form]) -> Result<Form, ProveError> {
        let mut floor: Option<i64> = None;
        let mut ids: Vec<FormId> = Vec::new();
        let mut open: Vec<Form> = all.to_vec();
        while let Some(form) = open.pop() {
            if let Some(value) = form.as_constant() {
                let value = i64::try_from(value).map_err(|_| ProveError::TooWide)?;
                floor = Some(floor.map_or(value, |floor| floor.max(value)));
                continue;
            }
            match (self.lone_atom(&form), self.lower_bound(&form)?) {
                (Some(Atom::Max(own)), _) => ids.extend(own),
                (_, Some((inner, bound))) => open.extend([inner, Form::constant(bound.into())]),
                _ => ids.push(self.intern(&form)),
            }
        }
        ids.sort_unstable();
        ids.dedup();
        let ranges = ids.iter().map(|&id| self.range(&self.bodies[id as usize]));
        let ranges: Vec<Interval> = ranges.collect::<Result<_, _>>()?;
        let Some(lowest) = ranges.iter().map(|range| range.lo).max() else {
            return Ok(Form::constant(floor.unwrap_or(0).into()));
        };
        // Those that never exceed another's smallest value do not count.
        let counts = |range: &Interval| range.hi > lowest || range.lo == lowest;
        let pairs = ids.into_iter().zip(ranges).filter(|pair| counts(&pair.1));
        let pairs: Vec<(FormId, Interval)> = pairs.collect();
        let largest = if let [(id, _)] = pairs[..] {
            self.form(id).clone()
        } else {
            let hi = pairs.iter().map(|pair| pair.1.hi).max().unwrap_or(lowest);
            let ids = pairs.into_iter().map(|pair| pair.0).collect();
            self.atom(Atom::Max(ids), Interval { lo: lowest, hi })
        };
        match floor {
            Some(floor) => self.requant(&largest, 0, false, floor, i64::MAX),
            None => Ok(largest),
        }
    }

    /// The atom that a form is.
    fn lone_atom(&self, form: &Form) -> Option<Atom> {
        match form.terms[..] {
            [(id, 1)] if form.offset == 0 && form.exponent == 0 => {
                Some(self.atoms[id as usize].0.clone())
            }
            _ => None,
        }
    }

    /// The operand and bound of a value that is only bounded from below.
    fn lower_bound(&self, form: &Form) -> Result<Option<(Form, i64)>, ProveError> {
        let Some(Atom::Requant {
            form: inner,
            shift: 0,
            tie_to_even: false,
            lo,
            hi,
        }) = self.lone_atom(form)
        else {
            return Ok(None);
        };
        let inner = self.form(inner).clone();
        let is_lower = self.range(&inner)?.hi == hi;
        Ok(is_lower.then_some((inner, lo)))
    }
}

impl Forms {
    /// The product of two, neither of which is constant.
    pub fn product(&mut self, a: &Form, b: &Form) -> Result<Form, ProveError> {
        match (a.as_constant(), b.as_constant()) {
            (Some(factor), _) => return b.scaled(factor, 0),
            (None, Some(factor)) => return a.scaled(factor, 0),
            (None, None) => {}
        }
        let interval = self.range(a)?.times(self.range(b)?);
        let (a, b) = (self.intern(a), self.intern(b));
        Ok(self.atom(Atom::Product(a.min(b), a.max(b)), interval))
    }

    /// `(all - low)·2^-bits`, an integer.
    pub fn divided(&self, all: &Form, low: &Form, bits: u32) -> Result<Form, ProveError> {
        all.plus(low, -1, 0)?.divided(bits)
    }

    /// `values[form - lo]`; a rounding where it is one.
    pub fn table(&mut self, form: &Form, lo: i64, values: Vec<i64>) -> Result<Form, ProveError> {
        let (Some(&first), Some(&last)) = (values.first(), values.last()) else {
            return Ok(Form::default());
        };
        let entries = || (lo..).zip(&values);
        let is_rounding = |shift: i32| {
            let rounded = |x: i64| (x >> shift).clamp(first, last);
            first <= last && entries().all(|(x, &y)| rounded(x) == y)
        };
        if let Some(shift) = (0..16).find(|&shift| is_rounding(shift)) {
            return self.requant(form, shift, false, first, last);
        }
        let interval = values.iter().fold(Interval::point(first), |all, &y| {
            all.hull(Interval::point(y))
        });
        let form = self.intern(form);
        Ok(self.atom(
            Atom::Table {
                form,
                lo,
                values: values.into(),
            },
            interval,
        ))
    }

    /// The two values that a form compares: 1 where the first is less than the second, else 0.
    pub fn comparison(&self, form: &Form) -> Option<(Form, Form)> {
        match self.lone_atom(form)? {
            Atom::Less(less, greater) => {
                Some((self.form(less).clone(), self.form(greater).clone()))
            }
            Atom::Requant {
                form,
                shift: 0,
                tie_to_even: false,
                lo: 0,
                hi: 1,
            } => Some((Form::default(), self.form(form).clone())),
            _ => None,
        }
    }

    /// The lowest index of the largest of several, given with their indices. Those that cannot win are left out.
    pub fn argmax(&mut self, entries: &[(i64, Form)]) -> Result<Form, ProveError> {
        // The same constant may be added to all.
        let are_whole = entries.iter().all(|entry| entry.1.exponent == 0);
        let first = entries
            .iter()
            .min_by_key(|entry| entry.0)
            .filter(|_| are_whole);
        let less = Form::constant(first.map_or(0, |entry| -entry.1.offset));
        let mut ranged = Vec::with_capacity(entries.len());
        for (index, form) in entries {
            let form = form.plus(&less, 1, 0)?;
            ranged.push((*index, self.intern(&form), self.range(&form)?));
        }
        ranged.sort_unstable_by_key(|entry| entry.0);
        let all = ranged.clone();
        let loses = |entry: &(i64, FormId, Interval)| {
            let wins = |other: &(i64, FormId, Interval)| {
                other.2.lo > entry.2.hi || (other.2.lo == entry.2.hi && other.0 < entry.0)
            };
            all.iter().any(wins)
        };
        ranged.retain(|entry| !loses(entry));
        let (Some(first), Some(last)) = (ranged.first(), ranged.last()) else {
            return Ok(Form::default());
        };
        let interval = Interval {
            lo: first.0,
            hi: last.0,
        };
        let entries = ranged
            .into_iter()
            .map(|(index, form, _)| (index, form))
            .collect();
        Ok(self.atom(Atom::Argmax(entries), interval))
    }

    /// The index of the largest of two groups, each given by the index of its largest and that largest: the first where it is
    /// not less. None if they are no such groups, or an index of the second comes before one of the first.
    pub fn joined_argmax(
        &mut self,
        groups: [(&Form, &Form); 2],
    ) -> Result<Option<Form>, ProveError> {
        let mut all: Vec<(i64, Form)> = Vec::new();
        for (index, largest) in groups {
            let Some(own) = self.argmax_entries(index, largest)? else {
                return Ok(None);
            };
            let is_behind = |entry: &(i64, Form)| all.iter().all(|before| before.0 < entry.0);
            if !own.iter().all(is_behind) {
                return Ok(None);
            }
            all.extend(own);
        }
        self.argmax(&all).map(Some)
    }

    fn argmax_entries(
        &mut self,
        index: &Form,
        largest: &Form,
    ) -> Result<Option<Vec<(i64, Form)>>, ProveError> {
        if let Some(index) = index.as_constant() {
            return Ok(i64::try_from(index)
                .ok()
                .map(|index| vec![(index, largest.clone())]));
        }
        let [(id, 1)] = index.terms[..] else {
            return Ok(None);
        };
        let Atom::Argmax(entries) = self.atoms[id as usize].0.clone() else {
            return Ok(None);
        };
        let entries: Vec<(i64, Form)> = entries
            .into_iter()
            .map(|(index, form)| (index, self.form(form).clone()))
            .collect();
        let forms: Vec<Form> = entries.iter().map(|entry| entry.1.clone()).collect();
        let apart = largest.plus(&self.max(&forms)?, -1, 0)?.as_constant();
        let Some(apart) = apart.filter(|_| index.offset == 0) else {
            return Ok(None);
        };
        let moved = entries
            .into_iter()
            .map(|(index, form)| Ok((index, form.plus(&Form::constant(apart), 1, 0)?)));
        moved.collect::<Result<_, _>>().map(Some)
    }
}
