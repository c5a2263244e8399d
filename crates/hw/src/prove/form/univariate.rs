//! Functions of one element of the input, as the list of their values: a list decides what they are, however they are written.

use super::{Atom, AtomId, Form, Forms};
use crate::net::Interval;
use crate::prove::ProveError;
use std::sync::Arc;

/// Values of an input that are few enough to be tried one by one.
const MAX_VALUES: i64 = 1 << 12;

/// Terms that depend on one input alone, or all those that depend on several.
type Group = (Option<AtomId>, Vec<(AtomId, i128)>);

/// The values of an atom for every value of one input.
#[derive(Clone, Debug)]
pub(super) struct OfOne {
    pub(super) input: AtomId,
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
        let first = self.ones[form.terms.first()?.0 as usize].as_ref()?;
        let sums = self.numerators(form)?;
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
        let values: Vec<i128> = values.into_iter().map(i128::from).collect();
        self.line_or_table(input, &values)
    }

    /// A function of an input by its values: a line over it, or a multiple of a table that begins with 0, and a constant.
    pub(super) fn line_or_table(
        &mut self,
        input: AtomId,
        values: &[i128],
    ) -> Result<Option<Form>, ProveError> {
        let alone = Form {
            terms: vec![(input, 1)],
            ..Form::default()
        };
        let lo = self.atoms[input as usize].1.lo;
        let first = values[0];
        let slope = values.get(1).map_or(0, |second| second - first);
        let is_line = values.windows(2).all(|pair| pair[1] - pair[0] == slope);
        if is_line {
            let constant = Form::constant(first - slope * i128::from(lo));
            return constant.plus(&alone, slope, 0).map(Some);
        }
        let rises = || values.iter().map(|value| value - first);
        let factor = rises().fold(0, gcd);
        let Some(values) = rises()
            .map(|rise| i64::try_from(rise / factor).ok())
            .collect::<Option<Vec<i64>>>()
        else {
            return Ok(None);
        };
        let bounds = values.iter().fold(Interval::point(0), |all, &value| {
            all.hull(Interval::point(value))
        });
        let form = self.intern(&alone);
        let values = values.into();
        let table = self.atom(Atom::Table { form, lo, values }, bounds);
        Form::constant(first).plus(&table, factor, 0).map(Some)
    }

    /// The form with all that depends on one input alone as one line or table, for every input.
    pub(in crate::prove) fn gathered(&mut self, form: &Form) -> Result<Form, ProveError> {
        let mut gathered = Form {
            offset: form.offset,
            ..Form::default()
        };
        for (input, terms) in self.groups(form) {
            let own = Form {
                terms,
                ..Form::default()
            };
            let values = input.and_then(|input| Some((input, self.numerators(&own)?)));
            let one = match values {
                Some((input, values)) => self.line_or_table(input, &values)?,
                None => None,
            };
            gathered = gathered.plus(&one.unwrap_or(own), 1, 0)?;
        }
        gathered.divided(form.exponent)
    }

    /// The terms of a form by the one input that they depend on; those that depend on several are one group more.
    fn groups(&self, form: &Form) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for &term in &form.terms {
            let input = self.ones[term.0 as usize].as_ref().map(|own| own.input);
            match groups.iter_mut().find(|group| group.0 == input) {
                Some(group) => group.1.push(term),
                None => groups.push((input, vec![term])),
            }
        }
        groups
    }

    /// The values of a form of one input, times the power of two that it is divided by.
    pub(super) fn numerators(&self, form: &Form) -> Option<Vec<i128>> {
        let of = |id: AtomId| self.ones[id as usize].as_ref();
        let first = of(form.terms.first()?.0)?;
        let mut sums = vec![form.offset; first.values.len()];
        for &(id, factor) in &form.terms {
            let own = of(id).filter(|own| own.input == first.input)?;
            for (sum, &value) in sums.iter_mut().zip(own.values.iter()) {
                *sum = sum.checked_add(factor.checked_mul(value.into())?)?;
            }
        }
        Some(sums)
    }
}

/// The greatest common divisor, not negative.
fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// True where `⌊x·2^-shift⌋` is odd and the dropped bits are not all 0.
pub(super) fn tie_bit(x: i64, shift: u32) -> bool {
    x >> shift.min(63) & 1 == 1 && x & ((1 << shift.min(62)) - 1) != 0
}
