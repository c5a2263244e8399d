//! Lists of bits as values: slices, concatenations and extensions of words.

use super::{Item, MAX_BITS, MAX_DEPTH, Reading, Words, aligned};
use crate::net::Interval;
use crate::prove::form::{Form, combined};
use crate::prove::{ProveError, Word};
use crate::rtl::Bit;

impl Words<'_> {
    /// The value of a list of bits, the lowest first.
    pub fn read(&mut self, bits: &[Bit]) -> Result<Reading, ProveError> {
        self.read_by(bits, true)
    }

    /// The same, with or without words that have a name only.
    fn read_by(&mut self, bits: &[Bit], by_name: bool) -> Result<Reading, ProveError> {
        let mut parts: Vec<(Form, u32)> = Vec::new();
        let mut constant = 0_i128;
        let mut interval = Some(Interval::point(0));
        let mut stage = None;
        let mut at = 0;
        if bits.len() > MAX_BITS {
            return Err(ProveError::TooWide);
        }
        while at < bits.len() {
            let wire = match bits[at] {
                Bit::Const(value) => {
                    constant += i128::from(value) << at;
                    let own = Interval::point(value.into()).shifted(at as u32);
                    interval = interval.map(|all| all.plus(own));
                    at += 1;
                    continue;
                }
                Bit::Wire(wire) => wire,
            };
            let (item, first, word) = self.longest(&bits[at..], wire, by_name)?;
            let (form, own, used) = self.segment(&word, item, first, &bits[at..])?;
            stage = aligned(&format!("wire {wire}"), [stage, word.stage])?;
            interval = match (interval, own) {
                (Some(all), Some(own)) => Some(all.plus(own.shifted(at as u32))),
                _ => None,
            };
            parts.push((form, at as u32));
            at += used;
        }
        let parts: Vec<(&Form, i128, u32)> =
            parts.iter().map(|(form, at)| (form, 1, *at)).collect();
        let form = combined(&parts, constant)?;
        let range = self.forms.range(&form)?;
        let interval = interval.map(|own| own.intersect(range));
        Ok(Reading {
            form,
            interval,
            stage,
        })
    }

    /// The word of which most of the first bits are neighbours, and the place of the first.
    pub(super) fn longest(
        &mut self,
        bits: &[Bit],
        wire: u32,
        by_name: bool,
    ) -> Result<(Item, usize, Word), ProveError> {
        let (driver, first) = *self.wires.get(&wire).ok_or(ProveError::Undriven { wire })?;
        let own = Item::Driver(driver);
        let mut best = (self.run(bits, own, first), own, first, None);
        let names = self.names.get(&wire).cloned();
        for (name, first) in names.into_iter().flatten() {
            let is_tie = self.ends_in_tie(name);
            if !by_name && !is_tie {
                continue;
            }
            let run = self.run(bits, Item::Name(name), first);
            // Bits of a rounding to the even are read as its own, though they are also bits of what is rounded.
            let is_longer = run > best.0 || (run == best.0 && is_tie);
            if is_longer && let Some(word) = self.named(name)? {
                best = (run, Item::Name(name), first, Some(word));
            }
        }
        let word = match best.3 {
            Some(word) => word,
            None => self.word(driver)?,
        };
        Ok((best.1, best.2, word))
    }

    /// The value of a word with a name, if all of it is driven and exact.
    pub(super) fn named(&mut self, name: usize) -> Result<Option<Word>, ProveError> {
        if let Some(known) = self.named.get(&name) {
            return Ok(known.clone());
        }
        let bits = &self.rtl.names[name];
        let is_driven = |bit: &Bit| match bit {
            Bit::Wire(wire) => self.wires.contains_key(wire),
            Bit::Const(_) => true,
        };
        if !bits.iter().all(is_driven) {
            return Ok(None);
        }
        if self.depth == MAX_DEPTH {
            return Ok(None);
        }
        self.depth += 1;
        let word = self.unknown_name(name);
        self.depth -= 1;
        word
    }

    /// The value of a word with a name that is read for the first time.
    fn unknown_name(&mut self, name: usize) -> Result<Option<Word>, ProveError> {
        let bits = &self.rtl.names[name];
        // While it is read, it is not read by its name.
        self.named.insert(name, None);
        if let Some(word) = self.rounded(bits)? {
            self.named.insert(name, Some(word.clone()));
            return Ok(Some(word));
        }
        let word = match self.read_by(bits, false) {
            Ok(value) => Some(self.fitted(value.form, value.interval, bits.len(), value.stage)?),
            // Bits of different cycles may have a name, but are no word.
            Err(ProveError::Stages { .. }) => None,
            Err(other) => return Err(other),
        };
        let word = word.filter(|word| word.is_exact);
        self.named.insert(name, word.clone());
        Ok(word)
    }

    /// The number of bits that are neighbours in a word as they are here.
    fn run(&self, bits: &[Bit], item: Item, first: usize) -> usize {
        let is_next = |(offset, bit): &(usize, &Bit)| self.is_at(**bit, item, first + offset);
        bits.iter().enumerate().take_while(is_next).count()
    }

    fn is_at(&self, bit: Bit, item: Item, place: usize) -> bool {
        match (bit, item) {
            (Bit::Const(_), _) => false,
            (Bit::Wire(wire), Item::Driver(driver)) => {
                self.wires.get(&wire) == Some(&(driver, place))
            }
            (_, Item::Name(name)) => self.rtl.names[name].get(place) == Some(&bit),
        }
    }

    /// The value of bits of a word from `first` on at the lower end of a list, its interval, and the bits that were used.
    fn segment(
        &mut self,
        word: &Word,
        item: Item,
        first: usize,
        rest: &[Bit],
    ) -> Result<(Form, Option<Interval>, usize), ProveError> {
        let width = match item {
            Item::Driver(driver) => self.outputs[driver].len(),
            Item::Name(name) => self.rtl.names[name].len(),
        };
        let (run, p) = (self.run(rest, item, first), first as u32);
        let ends = run == rest.len();
        if !word.is_exact && ends {
            return Ok((self.forms.floor(&word.form, word.interval, p)?, None, run));
        }
        let is_copy = |bit: &&Bit| self.is_at(**bit, item, first + run - 1);
        let copies = rest[run..].iter().take_while(is_copy).count();
        let above = p + run as u32;
        let unsigned = Interval {
            lo: 0,
            hi: (1 << run) - 1,
        };
        if !word.is_exact && copies == 0 {
            // Bits of a word are those of what is congruent to it.
            let low = self.forms.remainder(&word.form, word.interval, p)?;
            let all = self.forms.remainder(&word.form, word.interval, above)?;
            return Ok((self.forms.divided(&all, &low, p)?, Some(unsigned), run));
        }
        let word = self.exact(word, width)?;
        let slice = word.interval.map(|end| end >> p);
        let (is_top, is_signed) = (first + run == width, word.interval.lo < 0);
        let used = match (is_top, is_signed) {
            (true, true) if run + copies == rest.len() => Some(rest.len()),
            // The highest bit may be copied only where it is 0.
            (true, false) if word.interval.hi >> (width - 1) == 0 => Some(run + copies),
            (true, false) => Some(run),
            _ => None,
        };
        let half = 1_i64 << (run - 1);
        let signed = Interval {
            lo: -half,
            hi: half - 1,
        };
        let used = used.or_else(|| unsigned.holds(slice).then_some(run));
        // Sign bits that a narrower slice keeps.
        let keeps_sign = run + copies == rest.len() && signed.holds(slice);
        if let Some(used) = used.or(keeps_sign.then_some(rest.len())) {
            return Ok((
                self.forms.floor(&word.form, word.interval, p)?,
                Some(slice),
                used,
            ));
        }
        if ends {
            return Ok((self.forms.floor(&word.form, word.interval, p)?, None, run));
        }
        let low = self.forms.remainder(&word.form, word.interval, p)?;
        if run + copies == rest.len() && copies > 0 {
            let all = self.forms.wrapped(&word.form, word.interval, above, true)?;
            return Ok((self.forms.divided(&all, &low, p)?, Some(signed), rest.len()));
        }
        let all = self.forms.remainder(&word.form, word.interval, above)?;
        Ok((self.forms.divided(&all, &low, p)?, Some(unsigned), run))
    }
}
