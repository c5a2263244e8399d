//! Choices by a comparison: maxima and their indices.

use super::{Words, aligned};
use crate::prove::form::Form;
use crate::prove::{ProveError, Word};
use crate::rtl::{Bit, RtlCell};

impl Words<'_> {
    /// The comparison that a bit is, and its cycle: `less < greater` where it is 1.
    pub(super) fn comparison_of(&mut self, bit: Bit) -> Option<(Form, Form, Option<u32>)> {
        let Bit::Wire(wire) = bit else {
            return None;
        };
        let (driver, _) = *self.wires.get(&wire)?;
        if self.outputs[driver].len() > 1 {
            return None;
        }
        // A bit that is no rounding of a word is no comparison with a constant either.
        let word = self.word(driver).ok()?;
        let (less, greater) = self.forms.comparison(&word.form)?;
        Some((less, greater, word.stage))
    }

    /// A choice by a comparison: a maximum, or the index of one. None for other choices.
    pub(super) fn choice(&mut self, cell: &RtlCell) -> Result<Option<Word>, ProveError> {
        let Some((less, greater, selecting)) = self.comparison_of(cell.s[0]) else {
            return Ok(None);
        };
        let (Ok(zero), Ok(one)) = (self.read(&cell.a), self.read(&cell.b)) else {
            return Ok(None);
        };
        let stage = aligned(
            &cell.name,
            [aligned(&cell.name, [zero.stage, one.stage])?, selecting],
        )?;
        let apart =
            |value: &Form, of: &Form| Ok::<_, ProveError>(value.plus(of, -1, 0)?.as_constant());
        let (below, above) = (apart(&zero.form, &less)?, apart(&one.form, &greater)?);
        // Two constants by a comparison with a third are steps of a word, as those of roundings.
        let are_steps = [&zero.form, &one.form].map(|form| form.terms.is_empty()) == [true; 2]
            && (less.terms.is_empty() || greater.terms.is_empty());
        if are_steps {
            return Ok(None);
        }
        let form = if below.is_some() && below == above {
            // Either way the result is congruent to the larger, which decides the word if it fits.
            Some(self.forms.max(&[zero.form, one.form])?)
        } else {
            self.forms
                .joined_argmax([(&zero.form, &less), (&one.form, &greater)])?
        };
        match form {
            Some(form) => self.fitted(form, None, cell.y.len(), stage).map(Some),
            None => Ok(None),
        }
    }
}
