//! Low bits that a rounding drops: where they depend on one input alone, or on steps of one other form, they are dropped there.

use super::{AtomId, Form, Forms};
use crate::prove::ProveError;

/// The sources that terms depend on.
#[derive(PartialEq)]
enum Base {
    Input(AtomId),
    Steps(Form),
    Several,
}

/// Terms of one base.
struct Group {
    base: Base,
    terms: Vec<(AtomId, i128)>,
}

impl Group {
    /// The power of two that all its factors are multiples of.
    fn zeros(&self) -> u32 {
        let zeros = self.terms.iter().map(|term| term.1.trailing_zeros());
        zeros.min().unwrap_or(u32::MAX)
    }
}

impl Forms {
    /// `⌊form·2^-shift⌋` as `⌊other·2^-(shift - bits)⌋`: where all terms but those of one input, or of steps of one form, are
    /// multiples of a power of two, the low bits of these are dropped in their own table or steps.
    pub(super) fn without_low_bits(
        &mut self,
        form: &Form,
        shift: u32,
    ) -> Result<Option<(Form, u32)>, ProveError> {
        if form.exponent > 0 {
            return Ok(None);
        }
        let mut groups = self.groups_by_base(form);
        let Some(low) = (0..groups.len()).min_by_key(|&at| groups[at].zeros()) else {
            return Ok(None);
        };
        let low = groups.swap_remove(low);
        let Some(bits) = groups.iter().map(Group::zeros).min() else {
            return Ok(None);
        };
        let bits = bits.min(shift);
        if low.zeros() >= bits {
            return Ok(None);
        }
        let Some(mut sum) = self.dropped(form.offset, &low, bits)? else {
            return Ok(None);
        };
        for group in groups {
            let terms = group.terms.iter().map(|term| (term.0, term.1 >> bits));
            let part = Form {
                terms: terms.collect(),
                ..Form::default()
            };
            sum = sum.plus(&part, 1, 0)?;
        }
        Ok(Some((sum, bits)))
    }

    /// `⌊(offset + Σ terms)·2^-bits⌋` for the terms of one base.
    fn dropped(
        &mut self,
        offset: i128,
        group: &Group,
        bits: u32,
    ) -> Result<Option<Form>, ProveError> {
        let mut terms = group.terms.clone();
        terms.sort_unstable_by_key(|term| term.0);
        let own = Form {
            offset,
            terms,
            exponent: 0,
        };
        match group.base {
            Base::Several => Ok(None),
            Base::Input(input) => {
                let Some(values) = self.numerators(&own) else {
                    return Ok(None);
                };
                let values: Vec<i128> = values.iter().map(|value| value >> bits).collect();
                self.line_or_table(input, &values)
            }
            Base::Steps(_) => match self.as_steps(&own)? {
                Some(steps) => self.mapped_steps(&steps, |x| x >> bits).map(Some),
                None => Ok(None),
            },
        }
    }

    /// The terms of a form by what they depend on alone; all others are one group more.
    fn groups_by_base(&self, form: &Form) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for &term in &form.terms {
            let base = match &self.ones[term.0 as usize] {
                Some(own) => Base::Input(own.input),
                None => self
                    .step_of(term.0)
                    .map_or(Base::Several, |step| Base::Steps(step.0)),
            };
            match groups.iter_mut().find(|group| group.base == base) {
                Some(group) => group.terms.push(term),
                None => groups.push(Group {
                    base,
                    terms: vec![term],
                }),
            }
        }
        groups
    }
}
