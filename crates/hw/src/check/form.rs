//! Linear forms of integers over atoms, values that are not linear in others.

use std::collections::HashMap;

/// `offset + Σ factor·atom`, terms in the order of their atoms, no factor 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form {
    /// The constant.
    pub offset: i128,
    /// Atoms with their factors.
    pub terms: Vec<(usize, i128)>,
}

/// The smallest and the largest value.
pub type Range = (i128, i128);

/// A value that is not linear in others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// A word, by its name; the number tells words of one name apart.
    Word(String, usize),
    /// `⌊form / 2^bits⌋`.
    Floor(Form, u32),
    /// 1 where the first is less than the second.
    Less(Form, Form),
    /// The product of two.
    Product(Form, Form),
    /// The largest of several.
    Max(Vec<Form>),
    /// The lowest place of the largest.
    Argmax(Vec<(i128, Form)>),
}

/// All atoms, each once, with their ranges.
#[derive(Default)]
pub struct Atoms {
    /// The atoms in the order of their numbers.
    pub all: Vec<(Atom, Range)>,
    places: HashMap<Atom, usize>,
    /// Ranges of forms that are known better than from their atoms.
    pub known: HashMap<Form, Range>,
}

/// No value is larger than this.
const LARGEST: i128 = 1 << 62;

/// A form without terms.
pub fn constant(offset: i128) -> Form {
    Form {
        offset,
        terms: Vec::new(),
    }
}

/// `Σ form·factor`, if no number of it is too large.
pub fn sum(parts: &[(&Form, i128)]) -> Option<Form> {
    let (mut offset, mut all) = (0_i128, Vec::new());
    for (form, factor) in parts {
        offset = offset.checked_add(form.offset.checked_mul(*factor)?)?;
        for &(atom, own) in &form.terms {
            all.push((atom, own.checked_mul(*factor)?));
        }
    }
    all.sort_unstable_by_key(|term| term.0);
    let mut terms: Vec<(usize, i128)> = Vec::with_capacity(all.len());
    for (atom, factor) in all {
        match terms.last_mut() {
            Some(last) if last.0 == atom => last.1 = last.1.checked_add(factor)?,
            _ => terms.push((atom, factor)),
        }
    }
    terms.retain(|term| term.1 != 0);
    let is_small = |number: i128| (-LARGEST..=LARGEST).contains(&number);
    let are_small = is_small(offset) && terms.iter().all(|term| is_small(term.1));
    are_small.then_some(Form { offset, terms })
}

impl Atoms {
    /// The form that is an atom alone, or the one value that it has.
    pub fn atom(&mut self, atom: Atom, range: Range) -> Form {
        if range.0 == range.1 {
            return constant(range.0);
        }
        let next = self.all.len();
        let place = *self.places.entry(atom.clone()).or_insert(next);
        if place == next {
            self.all.push((atom, range));
        }
        Form {
            offset: 0,
            terms: vec![(place, 1)],
        }
    }

    /// The atom that a form is.
    pub fn alone(&self, form: &Form) -> Option<&Atom> {
        match form.terms[..] {
            [(atom, 1)] if form.offset == 0 => Some(&self.all[atom].0),
            _ => None,
        }
    }

    /// The form `f` and the bits of a form that is `⌊f / 2^bits⌋`.
    pub fn whole(&self, form: &Form) -> Option<(Form, u32)> {
        let floors = form.terms.iter().filter(|term| term.1 == 1);
        let mut floors = floors.filter_map(|term| match &self.all[term.0].0 {
            Atom::Floor(inner, bits) => Some((term.0, inner, *bits)),
            _ => None,
        });
        let ((place, inner, bits), None) = (floors.next()?, floors.next()) else {
            return None;
        };
        let mut rest = form.clone();
        rest.terms.retain(|term| term.0 != place);
        Some((sum(&[(&rest, 1 << bits), (inner, 1)])?, bits))
    }

    /// The range of a form, its atoms taken as independent.
    pub fn range(&self, form: &Form) -> Option<Range> {
        if let Some(known) = self.known.get(form) {
            return Some(*known);
        }
        let zeros = form.terms.iter().map(|term| term.1.trailing_zeros());
        let zeros = zeros.fold(form.offset.trailing_zeros(), u32::min);
        if zeros > 0 && !form.terms.is_empty() {
            let terms = form.terms.iter().map(|term| (term.0, term.1 >> zeros));
            let (lo, hi) = self.range(&Form {
                offset: form.offset >> zeros,
                terms: terms.collect(),
            })?;
            return Some((lo << zeros, hi << zeros));
        }
        if let Some((whole, bits)) = self.whole(form) {
            let (lo, hi) = self.range(&whole)?;
            return Some((lo >> bits, hi >> bits));
        }
        let (mut lo, mut hi) = (form.offset, form.offset);
        for &(atom, factor) in &form.terms {
            let own = self.all[atom].1;
            let ends = [factor.checked_mul(own.0)?, factor.checked_mul(own.1)?];
            lo = lo.checked_add(ends[0].min(ends[1]))?;
            hi = hi.checked_add(ends[0].max(ends[1]))?;
        }
        (lo >= -LARGEST && hi <= LARGEST).then_some((lo, hi))
    }

    /// `⌊form / 2^bits⌋`: multiples of the divisor outside, a floor within a floor as one.
    pub fn floor(&mut self, form: &Form, bits: u32) -> Option<Form> {
        let (lo, hi) = self.range(form)?;
        if bits > 60 || lo >> bits == hi >> bits {
            return (bits <= 60).then(|| constant(lo >> bits));
        }
        // A sign is the same however many bits lie before it.
        let is_sign = |bits: u32| (lo >> bits, hi >> bits) == (-1, 0);
        let bits = (0..=bits)
            .rev()
            .take_while(|&bits| is_sign(bits))
            .last()
            .unwrap_or(bits);
        let divisor = 1_i128 << bits;
        let part = |of: fn(i128, i128) -> i128| {
            let terms = form.terms.iter().map(|term| (term.0, of(term.1, divisor)));
            let terms = terms.filter(|term| term.1 != 0).collect();
            Form {
                offset: of(form.offset, divisor),
                terms,
            }
        };
        let (outside, rest) = (part(i128::div_euclid), part(i128::rem_euclid));
        if rest.terms.is_empty() {
            return Some(outside);
        }
        let inside = if let Some((whole, more)) = self.whole(&rest) {
            self.floor(&whole, bits + more)?
        } else {
            let (lo, hi) = self.range(&rest)?;
            self.atom(Atom::Floor(rest, bits), (lo >> bits, hi >> bits))
        };
        sum(&[(&outside, 1), (&inside, 1)])
    }

    /// The largest of several: those of a maximum among them are taken one by one, and what cannot win is left out.
    pub fn max(&mut self, forms: &[Form]) -> Option<Form> {
        let mut all: Vec<(Form, Range)> = Vec::new();
        for form in forms {
            let parts = match self.alone(form) {
                Some(Atom::Max(parts)) => parts.clone(),
                _ => vec![form.clone()],
            };
            for part in parts {
                let range = self.range(&part)?;
                all.push((part, range));
            }
        }
        let lo = all.iter().map(|own| own.1.0).max()?;
        let hi = all.iter().map(|own| own.1.1).max()?;
        all.sort_unstable();
        all.dedup();
        let best = all.iter().position(|own| own.1.0 == lo)?;
        let mut places = 0..all.len();
        all.retain(|own| places.next() == Some(best) || own.1.1 > lo);
        if let [only] = &mut all[..] {
            return Some(std::mem::take(&mut only.0));
        }
        let forms = all.into_iter().map(|own| own.0).collect();
        Some(self.atom(Atom::Max(forms), (lo, hi)))
    }

    /// The lowest place of the largest of several, in the order of their places; what cannot win is left out.
    pub fn argmax(&mut self, entries: &[(i128, Form)]) -> Option<Form> {
        let ranges = entries.iter().map(|entry| self.range(&entry.1));
        let ranges: Vec<Range> = ranges.collect::<Option<_>>()?;
        let wins = |winner: usize, loser: usize| {
            let (lo, hi) = (ranges[winner].0, ranges[loser].1);
            lo > hi || (lo == hi && winner < loser)
        };
        let stays = |&at: &usize| !(0..entries.len()).any(|other| wins(other, at));
        let left: Vec<usize> = (0..entries.len()).filter(stays).collect();
        let range = (entries[*left.first()?].0, entries[*left.last()?].0);
        let entries = left.iter().map(|&at| entries[at].clone()).collect();
        Some(self.atom(Atom::Argmax(entries), range))
    }
}
