//! Functions of one element of the input, as the list of their values: a list decides what they are, however they are written.

use super::{Atom, AtomId, Form, Forms};
use crate::net::Interval;
use crate::prove::ProveError;
use std::sync::Arc;

/// Values of an input that are few enough to be tried one by one.
const MAX_VALUES: i64 = 1 << 12;

/// The values of an atom for every value of one input.
#[derive(Clone, Debug)]
pub(super) struct OfOne {
    input: AtomId,
    values: Arc<[i64]>,
}

impl Forms {
    /// The values of a new atom, if it depends on one input alone.
    pub(super) fn of_one(&self, id: AtomId, atom: &Atom, interval: Interval) -> Option<OfOne> {
        let (form, map): (_, &dyn Fn(i64) -> Option<i64>) = match atom {
            Atom::Input(_) => {
                let is_small = interval.hi.checked_sub(interval.lo)? < MAX_VALUES;
                return is_small.then(|| OfOne {
                    input: id,
                    values: (interval.lo..=interval.hi).collect(),
                });
            }
            Atom::Remainder { form, bits } => (form, &|x: i64| {
                Some(x.rem_euclid(1_i64.checked_shl(*bits)?))
            }),
            Atom::Requant {
                form,
                shift,
                tie_to_even,
                lo,
                hi,
            } => (form, &|x: i64| {
                let free = Interval::point(x).requantized(*shift as i32, *tie_to_even);
                Some(free.lo.clamp(*lo, *hi))
            }),
            Atom::TieBit { form, shift } => (form, &|x: i64| Some(tie_bit(x, *shift).into())),
            Atom::Table { form, lo, values } => (form, &|x: i64| {
                let at = usize::try_from(x.checked_sub(*lo)?).ok()?;
                values.get(at).copied()
            }),
            Atom::Max(_) | Atom::Argmax(_) | Atom::Less(..) | Atom::Product(..) => return None,
        };
        let OfOne { input, values } = self.function_of_one(self.form(*form))?;
        let values: Option<Arc<[i64]>> = values.iter().map(|&x| map(x)).collect();
        Some(OfOne {
            input,
            values: values?,
        })
    }

    /// The values of a form, if it depends on one input alone.
    fn function_of_one(&self, form: &Form) -> Option<OfOne> {
        let of = |id: AtomId| self.ones[id as usize].as_ref();
        let first = of(form.terms.first()?.0)?;
        let mut sums = vec![form.offset; first.values.len()];
        for &(id, factor) in &form.terms {
            let own = of(id).filter(|own| own.input == first.input)?;
            for (sum, &value) in sums.iter_mut().zip(own.values.iter()) {
                *sum = sum.checked_add(factor.checked_mul(value.into())?)?;
            }
        }
        let values = sums
            .iter()
            .map(|sum| i64::try_from(sum >> form.exponent).ok());
        Some(OfOne {
            input: first.input,
            values: values.collect::<Option<_>>()?,
        })
    }

    /// A function of a form that depends on one input alone: a line over the input, or its table.
    pub(in crate::prove) fn mapped_one(
        &mut self,
        form: &Form,
        map: impl Fn(i64) -> Option<i64>,
    ) -> Result<Option<Form>, ProveError> {
        let Some(OfOne { input, values }) = self.function_of_one(form) else {
            return Ok(None);
        };
        let Some(values) = values.iter().map(|&x| map(x)).collect::<Option<Vec<i64>>>() else {
            return Ok(None);
        };
        let alone = Form {
            terms: vec![(input, 1)],
            ..Form::default()
        };
        let lo = self.atoms[input as usize].1.lo;
        let first = values[0];
        let slope = values.get(1).map_or(0, |second| second - first);
        let is_line = values.windows(2).all(|pair| pair[1] - pair[0] == slope);
        if is_line {
            let offset = i128::from(first) - i128::from(slope) * i128::from(lo);
            let constant = Form::constant(offset);
            return constant.plus(&alone, slope.into(), 0).map(Some);
        }
        let bounds = Interval {
            lo: values.iter().copied().min().unwrap_or(first),
            hi: values.iter().copied().max().unwrap_or(first),
        };
        let form = self.intern(&alone);
        let values = values.into();
        Ok(Some(self.atom(Atom::Table { form, lo, values }, bounds)))
    }
}

/// True where `⌊x·2^-shift⌋` is odd and the dropped bits are not all 0.
pub(super) fn tie_bit(x: i64, shift: u32) -> bool {
    x >> shift.min(63) & 1 == 1 && x & ((1 << shift.min(62)) - 1) != 0
}
