//! Maxima, their indices, products and tables.

use super::{Atom, Form, FormId, Forms};
use crate::net::Interval;
use crate::prove::ProveError;

impl Forms {
    /// The largest of several. Constants and lower bounds become one lower bound of the others' largest.
    pub fn max(&mut self, all: &[Form]) -> Result<Form, ProveError> {
        let mut floor: Option<i64> = None;
        let mut forms: Vec<Form> = Vec::new();
        let mut open: Vec<Form> = all.to_vec();
        while let Some(form) = open.pop() {
            if let Some(value) = form.as_constant() {
                let value = i64::try_from(value).map_err(|_| ProveError::TooWide)?;
                floor = Some(floor.map_or(value, |floor| floor.max(value)));
            } else if let Some(parts) = self.parts_of_max(&form)? {
                open.extend(parts);
            } else {
                forms.push(form);
            }
        }
        let mut ranged = Vec::with_capacity(forms.len());
        for form in forms {
            ranged.push((self.range(&form)?, form));
        }
        let Some(lowest) = ranged.iter().map(|own| own.0.lo).max() else {
            return Ok(Form::constant(floor.unwrap_or(0).into()));
        };
        // Those that never exceed another's smallest value do not count.
        ranged.retain(|(range, _)| range.hi > lowest || range.lo == lowest);
        let largest = self.largest(&ranged, lowest)?;
        match floor {
            Some(floor) => self.requant(&largest, 0, false, floor, i64::MAX),
            None => Ok(largest),
        }
    }

    /// The forms of which a form is the maximum, each with a constant added; also of a value that is only bounded from below.
    fn parts_of_max(&self, form: &Form) -> Result<Option<Vec<Form>>, ProveError> {
        let offset = Form::constant(form.offset);
        let bare = Form {
            offset: 0,
            ..form.clone()
        };
        let parts = match (self.lone_atom(&bare), self.lower_bound(&bare)?) {
            (Some(Atom::Max(own)), _) => own.iter().map(|&id| self.form(id).clone()).collect(),
            (_, Some((inner, bound))) => vec![inner, Form::constant(bound.into())],
            _ => return Ok(None),
        };
        let moved = parts.iter().map(|part| part.plus(&offset, 1, 0));
        moved.collect::<Result<_, _>>().map(Some)
    }

    /// The largest of several forms, of which one is at least `lowest`: what all have in common is added to an atom.
    fn largest(&mut self, ranged: &[(Interval, Form)], lowest: i64) -> Result<Form, ProveError> {
        if let [(_, form)] = ranged {
            return Ok(form.clone());
        }
        let common = common_offset(ranged.iter().map(|own| &own.1));
        let less = Form::constant(-common);
        let mut ids: Vec<FormId> = Vec::with_capacity(ranged.len());
        for (_, form) in ranged {
            let form = form.plus(&less, 1, 0)?;
            ids.push(self.intern(&form));
        }
        ids.sort_unstable();
        ids.dedup();
        if let [id] = ids[..] {
            return self.form(id).plus(&less, -1, 0);
        }
        let hi = ranged.iter().map(|own| own.0.hi).max().unwrap_or(lowest);
        let moved = |end: i64| {
            let end = i128::from(end) - common;
            i64::try_from(end).map_err(|_| ProveError::TooWide)
        };
        let interval = Interval {
            lo: moved(lowest)?,
            hi: moved(hi)?,
        };
        self.atom(Atom::Max(ids), interval).plus(&less, -1, 0)
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

    /// The two values that a form compares: 1 where the first is less than the second, else 0.
    pub fn comparison(&self, form: &Form) -> Option<(Form, Form)> {
        match self.lone_atom(form) {
            Some(Atom::Less(less, greater)) => {
                Some((self.form(less).clone(), self.form(greater).clone()))
            }
            Some(Atom::Requant {
                form,
                shift: 0,
                tie_to_even: false,
                lo: 0,
                hi: 1,
            }) => Some((Form::default(), self.form(form).clone())),
            // What is 0 or 1 says itself where it is positive.
            _ => {
                let is_bit = Interval { lo: 0, hi: 1 }.holds(self.range(form).ok()?);
                is_bit.then(|| (Form::default(), form.clone()))
            }
        }
    }

    /// The lowest index of the largest of several, given with their indices. Those that cannot win are left out.
    pub fn argmax(&mut self, entries: &[(i64, Form)]) -> Result<Form, ProveError> {
        let mut ranged = Vec::with_capacity(entries.len());
        for (index, form) in entries {
            ranged.push((*index, form, self.range(form)?));
        }
        ranged.sort_unstable_by_key(|entry| entry.0);
        let all = ranged.clone();
        let loses = |entry: &(i64, &Form, Interval)| {
            let wins = |other: &(i64, &Form, Interval)| {
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
        if let [(zero, less, _), (one, greater, _)] = ranged[..]
            && (less.terms.is_empty() || greater.terms.is_empty())
        {
            let is_greater = self.step(&greater.plus(less, -1, 0)?, 1)?;
            return Form::constant(zero.into()).plus(&is_greater, (one - zero).into(), 0);
        }
        // The same constant may be added to all.
        let less = Form::constant(-common_offset(ranged.iter().map(|entry| entry.1)));
        let mut entries = Vec::with_capacity(ranged.len());
        for (index, form, _) in ranged {
            let form = form.plus(&less, 1, 0)?;
            entries.push((index, self.intern(&form)));
        }
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
        let Some(entries) = self.entries_of(index) else {
            return Ok(None);
        };
        let forms: Vec<Form> = entries.iter().map(|entry| entry.1.clone()).collect();
        let Some(apart) = largest.plus(&self.max(&forms)?, -1, 0)?.as_constant() else {
            return Ok(None);
        };
        let moved = entries
            .into_iter()
            .map(|(index, form)| Ok((index, form.plus(&Form::constant(apart), 1, 0)?)));
        moved.collect::<Result<_, _>>().map(Some)
    }

    /// The entries of an index of the largest, of which one may be constant.
    fn entries_of(&self, index: &Form) -> Option<Vec<(i64, Form)>> {
        let [(id, factor)] = index.terms[..] else {
            return None;
        };
        let first = i64::try_from(index.offset).ok()?;
        if let (Atom::Argmax(entries), 0, 1) = (&self.atoms[id as usize].0, first, factor) {
            let own = entries.iter();
            return Some(
                own.map(|&(index, form)| (index, self.form(form).clone()))
                    .collect(),
            );
        }
        let bit = Form {
            terms: vec![(id, 1)],
            ..Form::default()
        };
        let (less, greater) = self.comparison(&bit)?;
        let second = first.checked_add(i64::try_from(factor).ok()?)?;
        (first < second && index.exponent == 0).then(|| vec![(first, less), (second, greater)])
    }

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

    /// `values[form - lo]`; a rounding where it is one.
    pub fn table(&mut self, form: &Form, lo: i64, values: Vec<i64>) -> Result<Form, ProveError> {
        let (Some(&first), Some(&last)) = (values.first(), values.last()) else {
            return Ok(Form::default());
        };
        let entry = |x: i64| {
            values
                .get(usize::try_from(x.checked_sub(lo)?).ok()?)
                .copied()
        };
        if let Some(function) = self.mapped_one(form, entry)? {
            return Ok(function);
        }
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
}

/// The smallest constant that forms have, 0 where one of them is a quotient: the same of forms that a constant is added to, but for it.
fn common_offset<'a>(forms: impl Iterator<Item = &'a Form>) -> i128 {
    let mut least = None;
    for form in forms {
        if form.exponent > 0 {
            return 0;
        }
        least = Some(least.map_or(form.offset, |least: i128| least.min(form.offset)));
    }
    least.unwrap_or(0)
}
