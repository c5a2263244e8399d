//! Functions of the bits of one word: roundings, ties, steps, tables.

use super::{Driver, MAX_DEPTH, Words};
use crate::net::Interval;
use crate::prove::bits::Cone;
use crate::prove::form::Form;
use crate::prove::requant::{Recognized, recognize};
use crate::prove::{ProveError, Word};
use crate::rtl::Bit;

impl Words<'_> {
    /// The form of a driver.
    pub(super) fn word(&mut self, driver: usize) -> Result<Word, ProveError> {
        let leaves = match &self.drivers[driver] {
            Driver::Word(word) => return Ok(word.clone()),
            Driver::Function { leaves } => leaves.clone(),
        };
        if let Some(word) = self.recognized.get(&driver) {
            return Ok(word.clone());
        }
        let cell = &self.rtl.cells[driver - self.first_cell];
        let not_understood = || ProveError::NotUnderstood {
            cell: cell.name.clone(),
        };
        if self.depth == MAX_DEPTH {
            return Err(not_understood());
        }
        let result: Vec<Bit> = cell.y.iter().map(|&wire| Bit::Wire(wire)).collect();
        self.depth += 1;
        let word = self.function(&leaves, &result);
        self.depth -= 1;
        let word = word?.ok_or_else(not_understood)?;
        self.recognized.insert(driver, word.clone());
        Ok(word)
    }

    /// The value of bits that are a function of one word, which holds the leaves.
    pub(super) fn function(
        &mut self,
        leaves: &[u32],
        result: &[Bit],
    ) -> Result<Option<Word>, ProveError> {
        for source in self.sources(leaves)? {
            let value = self.read(&source)?;
            let of = self.fitted(value.form, value.interval, source.len(), value.stage)?;
            let of = self.exact(&of, source.len())?;
            if let Some(recognized) = self.recognize(result, &source, of.interval) {
                let form = self.recognized_form(recognized, &of)?;
                let interval = self.forms.range(&form)?;
                return Ok(Some(Word {
                    form,
                    interval,
                    is_exact: true,
                    stage: of.stage,
                }));
            }
        }
        Ok(None)
    }

    /// True for a name whose lowest bit is a function of several bits, and whose others are bits of words.
    pub(super) fn ends_in_tie(&self, name: usize) -> bool {
        self.tie_leaves(&self.rtl.names[name]).is_some()
    }

    /// The bits of words that a word whose lowest bit is that of a tie is computed from.
    fn tie_leaves(&self, bits: &[Bit]) -> Option<Vec<u32>> {
        let (Bit::Wire(lowest), rest) = bits.split_first()? else {
            return None;
        };
        let mut leaves = match &self.drivers[self.wires.get(lowest)?.0] {
            Driver::Function { leaves } if leaves.len() > 1 => leaves.clone(),
            _ => return None,
        };
        for bit in rest {
            let Bit::Wire(wire) = bit else {
                return None;
            };
            match self.drivers[self.wires.get(wire)?.0] {
                Driver::Word(_) => leaves.push(*wire),
                Driver::Function { .. } => return None,
            }
        }
        leaves.sort_unstable();
        leaves.dedup();
        Some(leaves)
    }

    /// The value of a word whose lowest bit is that of a tie.
    pub(super) fn rounded(&mut self, bits: &[Bit]) -> Result<Option<Word>, ProveError> {
        match self.tie_leaves(bits) {
            Some(leaves) => self.function(&leaves, bits),
            None => Ok(None),
        }
    }

    /// The function that bits are of the bits of a word.
    fn recognize(&self, result: &[Bit], source: &[Bit], interval: Interval) -> Option<Recognized> {
        let cells = |wire: u32| {
            let (driver, at) = *self.wires.get(&wire)?;
            let cell = driver.checked_sub(self.first_cell)?;
            Some((&self.rtl.cells[cell], at))
        };
        let place = |wire: u32| {
            let places = source.iter().position(|bit| *bit == Bit::Wire(wire));
            places.map(|place| place as u32)
        };
        let cone = Cone {
            cells: &cells,
            place: &place,
            word: source,
        };
        recognize(&cone, interval, result)
    }

    /// The bits of words that hold all leaves: that of a driver if its form is whole, then those with a
    /// name, whole and narrow ones first.
    fn sources(&mut self, leaves: &[u32]) -> Result<Vec<Vec<Bit>>, ProveError> {
        let mut sources: Vec<Vec<Bit>> = Vec::new();
        let Some(first) = leaves.first() else {
            return Ok(sources);
        };
        let (driver, _) = *self
            .wires
            .get(first)
            .ok_or(ProveError::Undriven { wire: *first })?;
        let is_theirs = leaves
            .iter()
            .all(|wire| self.wires.get(wire).is_some_and(|own| own.0 == driver));
        let own = || {
            self.outputs[driver]
                .iter()
                .map(|&wire| Bit::Wire(wire))
                .collect()
        };
        let is_whole = match &self.drivers[driver] {
            Driver::Word(word) => word.is_exact && word.form.exponent == 0,
            Driver::Function { .. } => false,
        };
        if is_theirs && is_whole {
            return Ok(vec![own()]);
        }
        let holds = |bits: &[Bit]| leaves.iter().all(|&wire| bits.contains(&Bit::Wire(wire)));
        let named = self
            .names
            .get(first)
            .into_iter()
            .flatten()
            .map(|name| name.0);
        let mut named: Vec<usize> = named.filter(|&name| holds(&self.rtl.names[name])).collect();
        named.sort_by_key(|&name| self.rtl.names[name].len());
        named.dedup();
        let mut floored = Vec::new();
        for name in named {
            let bits = &self.rtl.names[name];
            match self.named(name)? {
                Some(word) if word.form.exponent == 0 => sources.push(bits.clone()),
                Some(_) => floored.push(bits.clone()),
                None => {}
            }
        }
        sources.append(&mut floored);
        if is_theirs {
            sources.push(
                self.outputs[driver]
                    .iter()
                    .map(|&wire| Bit::Wire(wire))
                    .collect(),
            );
        }
        Ok(sources)
    }

    fn recognized_form(&mut self, recognized: Recognized, of: &Word) -> Result<Form, ProveError> {
        match recognized {
            Recognized::Requant {
                shift,
                tie_to_even,
                bounds,
            } => self
                .forms
                .requant(&of.form, shift, tie_to_even, bounds.lo, bounds.hi),
            Recognized::Steps { first, steps } => {
                let reached = |x: i64| {
                    let passed = steps.iter().rev().find(|(threshold, _)| x >= *threshold);
                    Some(passed.map_or(first, |(_, value)| *value))
                };
                if let Some(function) = self.forms.mapped_one(&of.form, reached)? {
                    return Ok(function);
                }
                let mut form = Form::constant(first.into());
                let mut before = first;
                for (threshold, value) in steps {
                    let step = self.forms.step(&of.form, threshold)?;
                    form = form.plus(&step, i128::from(value - before), 0)?;
                    before = value;
                }
                Ok(form)
            }
            Recognized::TieBit { shift } => self.forms.tie_bit(&of.form, shift),
            Recognized::Table(values) => self.forms.table(&of.form, of.interval.lo, values),
        }
    }
}
