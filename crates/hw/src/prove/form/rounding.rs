//! Roundings with bounds, in a form in which equal functions look equal.

use super::univariate::tie_bit;
use super::{Atom, Form, Forms, Scaled, combined};
use crate::net::Interval;
use crate::prove::ProveError;

/// Values of a requantised form that are few enough to be sums of steps.
const FEW: i64 = 3;

impl Forms {
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
        let rounded = |x: i64| {
            let free = Interval::point(x).requantized(shift, tie_to_even);
            free.lo.clamp(lo, hi)
        };
        if let Some(function) = self.mapped_one(form, |x| Some(rounded(x)))? {
            return Ok(function);
        }
        if let Some((whole, from)) = self.floored(form)?
            && !tie_to_even
        {
            return self.requant(&whole, shift + from as i32, false, lo, hi);
        }
        let form = &self.gathered(form)?;
        if !tie_to_even
            && let Some((other, bits)) = self.without_low_bits(form, shift.unsigned_abs())?
        {
            return self.requant(&other, shift - bits as i32, false, lo, hi);
        }
        if let Some(steps) = self.as_steps(form)? {
            return self.mapped_steps(&steps, rounded);
        }
        if let Some(taken) = self.inner_requant(form, shift, tie_to_even, lo, hi)? {
            return Ok(taken);
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

    /// 1 where the form is at least a threshold, else 0.
    pub fn step(&mut self, form: &Form, threshold: i64) -> Result<Form, ProveError> {
        let offset = 1 - i128::from(threshold);
        let above = form.plus(&Form::constant(offset), 1, 0)?;
        self.requant(&above, 0, false, 0, 1)
    }

    /// 1 where `⌊form·2^-shift⌋` is odd and the dropped bits are not all 0.
    pub fn tie_bit(&mut self, form: &Form, shift: u32) -> Result<Form, ProveError> {
        if let Some(function) = self.mapped_one(form, |x| Some(tie_bit(x, shift).into()))? {
            return Ok(function);
        }
        if let Some(steps) = self.as_steps(form)? {
            return self.mapped_steps(&steps, |x| tie_bit(x, shift).into());
        }
        let form = self.intern(form);
        Ok(self.atom(Atom::TieBit { form, shift }, Interval { lo: 0, hi: 1 }))
    }
}
