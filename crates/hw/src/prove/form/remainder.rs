//! Remainders modulo powers of two, and what is left without them: low and high bits.

use super::{Atom, AtomId, Form, Forms, MAX_BITS, Scaled, combined};
use crate::net::Interval;
use crate::prove::ProveError;

impl Forms {
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
    pub(super) fn without_remainders(
        &self,
        form: &Form,
        bits: u32,
    ) -> Result<Option<Form>, ProveError> {
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
    pub(super) fn floored(&mut self, form: &Form) -> Result<Option<(Form, u32)>, ProveError> {
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

    /// `(all - low)·2^-bits`, an integer.
    pub fn divided(&self, all: &Form, low: &Form, bits: u32) -> Result<Form, ProveError> {
        all.plus(low, -1, 0)?.divided(bits)
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
}
