//! Maxima, their indices, products and tables.

use super::{Atom, Form, FormId, Forms};
use crate::net::Interval;
use crate::prove::ProveError;

impl Forms {
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
