//! Atoms: values that are not linear in others, each once.

use super::univariate::OfOne;
use super::{AtomId, Form, FormId};
use crate::net::Interval;
use crate::prove::ProveError;
use std::collections::HashMap;
use std::sync::Arc;

/// A value that is not linear in others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// An element of the input.
    Input(u32),
    /// `form mod 2^bits`.
    Remainder {
        /// The form, its factors reduced.
        form: FormId,
        /// Bits that are kept.
        bits: u32,
    },
    /// `clamp(⌊form·2^-shift⌋, lo, hi)`.
    Requant {
        /// The operand.
        form: FormId,
        /// Bits to the right.
        shift: u32,
        /// Clears the lowest bit where the dropped bits are 0.
        tie_to_even: bool,
        /// The smallest result.
        lo: i64,
        /// The largest result.
        hi: i64,
    },
    /// 1 where `⌊form·2^-shift⌋` is odd and the dropped bits are not all 0.
    TieBit {
        /// The operand.
        form: FormId,
        /// Bits to the right.
        shift: u32,
    },
    /// The largest of several, in the order of their numbers.
    Max(Vec<FormId>),
    /// The lowest index of the largest of several, in the order of their indices.
    Argmax(Vec<(i64, FormId)>),
    /// 1 where the first is less than the second.
    Less(FormId, FormId),
    /// The product of two, in the order of their numbers.
    Product(FormId, FormId),
    /// `values[form - lo]`.
    Table {
        /// The operand.
        form: FormId,
        /// The index of the first value.
        lo: i64,
        /// The results.
        values: Arc<[i64]>,
    },
}

/// All atoms and the forms that they are functions of.
#[derive(Clone, Debug, Default)]
pub struct Forms {
    pub(super) atoms: Vec<(Atom, Interval)>,
    /// Per atom, its values for every value of the one input that it depends on.
    pub(super) ones: Vec<Option<OfOne>>,
    atom_ids: HashMap<Atom, AtomId>,
    pub(super) bodies: Vec<Form>,
    form_ids: HashMap<Form, FormId>,
}

impl Forms {
    /// The atoms in the order of their numbers, with their intervals.
    pub fn atoms(&self) -> &[(Atom, Interval)] {
        &self.atoms
    }

    /// A form that an atom is a function of.
    pub fn form(&self, id: FormId) -> &Form {
        &self.bodies[id as usize]
    }

    /// An element of the input.
    pub fn input(&mut self, element: u32, interval: Interval) -> Form {
        self.atom(Atom::Input(element), interval)
    }

    /// The form that is an atom alone.
    pub fn atom(&mut self, atom: Atom, interval: Interval) -> Form {
        if let Some(value) = interval.single() {
            return Form::constant(value.into());
        }
        let next = self.atoms.len() as AtomId;
        let id = *self.atom_ids.entry(atom.clone()).or_insert(next);
        if id == next {
            self.ones.push(self.of_one(id, &atom, interval));
            self.atoms.push((atom, interval));
        }
        Form {
            terms: vec![(id, 1)],
            ..Form::default()
        }
    }

    /// The number of a form.
    pub fn intern(&mut self, form: &Form) -> FormId {
        if let Some(&id) = self.form_ids.get(form) {
            return id;
        }
        let id = self.bodies.len() as FormId;
        self.bodies.push(form.clone());
        self.form_ids.insert(form.clone(), id);
        id
    }

    /// The ends of what a form can be, its atoms taken as independent.
    pub fn range(&self, form: &Form) -> Result<Interval, ProveError> {
        let mut ends = [form.offset; 2];
        for &(atom, factor) in &form.terms {
            let Interval { lo, hi } = self.atoms[atom as usize].1;
            let own = [lo, hi].map(|end| factor.checked_mul(end.into()));
            let [Some(x), Some(y)] = own else {
                return Err(ProveError::TooWide);
            };
            let sums = [ends[0].checked_add(x.min(y)), ends[1].checked_add(x.max(y))];
            let [Some(lo), Some(hi)] = sums else {
                return Err(ProveError::TooWide);
            };
            ends = [lo, hi];
        }
        // An integer lies between: the lower end is rounded up.
        let (lo, hi) = (-((-ends[0]) >> form.exponent), ends[1] >> form.exponent);
        match (i64::try_from(lo), i64::try_from(hi)) {
            (Ok(lo), Ok(hi)) => Ok(Interval { lo, hi }),
            _ => Err(ProveError::TooWide),
        }
    }

    /// The atom that a form is.
    pub(super) fn lone_atom(&self, form: &Form) -> Option<Atom> {
        match form.terms[..] {
            [(id, 1)] if form.offset == 0 && form.exponent == 0 => {
                Some(self.atoms[id as usize].0.clone())
            }
            _ => None,
        }
    }
}
