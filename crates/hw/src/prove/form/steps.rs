//! Sums of steps of one form, which any function may follow.

use super::{Atom, AtomId, Form, Forms};
use crate::prove::ProveError;

/// `first`, and more from every threshold of the base on.
pub(super) struct Steps {
    base: Form,
    first: i64,
    /// Thresholds and heights, in order.
    rises: Vec<(i64, i64)>,
}

impl Forms {
    /// The steps of a form that is a sum of steps of one other.
    pub(super) fn as_steps(&self, form: &Form) -> Result<Option<Steps>, ProveError> {
        let mut base: Option<Form> = None;
        let mut rises = Vec::with_capacity(form.terms.len());
        for &(id, factor) in &form.terms {
            let Some((own, threshold)) = self.step_of(id) else {
                return Ok(None);
            };
            if base.as_ref().is_some_and(|base| *base != own) {
                return Ok(None);
            }
            let factor = i64::try_from(factor).map_err(|_| ProveError::TooWide)?;
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

    /// The form, without its constant, whose step an atom is, and the value of it from which on the atom is 1.
    pub(super) fn step_of(&self, id: AtomId) -> Option<(Form, i64)> {
        let Atom::Requant {
            form: of,
            shift: 0,
            tie_to_even: false,
            lo: 0,
            hi: 1,
        } = self.atoms[id as usize].0
        else {
            return None;
        };
        // 1 where the operand is positive: the base from the threshold on.
        let of = self.form(of);
        let threshold = i64::try_from(1 - of.offset)
            .ok()
            .filter(|_| of.exponent == 0)?;
        let base = Form {
            offset: 0,
            ..of.clone()
        };
        Some((base, threshold))
    }

    /// A function of a sum of steps.
    pub(super) fn mapped_steps(
        &mut self,
        steps: &Steps,
        of: impl Fn(i64) -> i64,
    ) -> Result<Form, ProveError> {
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
}
