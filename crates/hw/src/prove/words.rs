//! The form of every word of the module.

use super::bits::Cone;
use super::form::{Atom, Form, Forms, combined};
use super::requant::{Recognized, recognize};
use super::rtl::{Bit, Kind, Rtl, RtlCell};
use super::{ProveError, Word};
use crate::net::Interval;
use crate::ports::Ports;
use std::collections::HashMap;

/// A word as its bits are read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The value, or what is congruent to it modulo 2^bits.
    pub form: Form,
    /// The interval of the value; none where the form is only congruent.
    pub interval: Option<Interval>,
    /// Registers behind the input; none for constants.
    pub stage: Option<u32>,
}

/// A driver of wires.
enum Driver {
    /// A word with a form.
    Word(Word),
    /// A function of bits of other words.
    Function {
        /// The wires of these bits.
        leaves: Vec<u32>,
    },
}

/// Bits of the widest word.
const MAX_BITS: usize = 62;

/// A word: the result of a cell or an input, or bits that have a name.
#[derive(Clone, Copy)]
enum Item {
    Driver(usize),
    Name(usize),
}

/// All words so far.
pub struct Words<'a> {
    rtl: &'a Rtl,
    forms: &'a mut Forms,
    drivers: Vec<Driver>,
    /// The cell of every driver behind the inputs.
    first_cell: usize,
    wires: HashMap<u32, (usize, usize)>,
    recognized: HashMap<usize, Word>,
    /// The names that hold a wire, and its place in them.
    names: HashMap<u32, Vec<(usize, usize)>>,
    /// The words of names; none for bits that are no word.
    named: HashMap<usize, Option<Word>>,
    /// The wires of every driver.
    outputs: Vec<Vec<u32>>,
}

impl<'a> Words<'a> {
    /// The words of a module whose inputs lie as the ports say.
    pub fn of(rtl: &'a Rtl, ports: &Ports, forms: &'a mut Forms) -> Result<Self, ProveError> {
        let mut words = Self {
            rtl,
            forms,
            drivers: Vec::new(),
            first_cell: 0,
            wires: HashMap::new(),
            recognized: HashMap::new(),
            names: names(rtl),
            named: HashMap::new(),
            outputs: Vec::new(),
        };
        words.inputs(ports)?;
        words.first_cell = words.drivers.len();
        for cell in &rtl.cells {
            let driver = words.cell(cell)?;
            words.push(driver, &cell.y);
        }
        Ok(words)
    }

    /// The number of words that have a form.
    pub fn count(&self) -> usize {
        let is_word = |driver: &&Driver| matches!(driver, Driver::Word(_));
        self.drivers.iter().filter(is_word).count() + self.recognized.len()
    }

    fn inputs(&mut self, ports: &Ports) -> Result<(), ProveError> {
        for (element, port) in ports.inputs.iter().enumerate() {
            let range = port.offset as usize..(port.offset + port.width) as usize;
            let bits = self.rtl.x.get(range).ok_or(ProveError::Ports("x"))?;
            let wires: Option<Vec<u32>> = bits
                .iter()
                .map(|bit| match bit {
                    Bit::Wire(wire) => Some(*wire),
                    Bit::Const(_) => None,
                })
                .collect();
            let wires = wires.ok_or(ProveError::Ports("x"))?;
            if port.width == 0 {
                continue;
            }
            let interval = Interval {
                lo: port.min,
                hi: port.max,
            };
            let form = self.forms.input(element as u32, interval);
            self.push(
                Driver::Word(Word {
                    form,
                    interval,
                    is_exact: true,
                    stage: Some(0),
                }),
                &wires,
            );
        }
        if self.rtl.x.len() as u32 != ports.input_bits().max(1)
            || self.rtl.y.len() as u32 != ports.output_bits().max(1)
        {
            return Err(ProveError::Ports("x and y"));
        }
        Ok(())
    }

    fn push(&mut self, driver: Driver, wires: &[u32]) {
        let at = self.drivers.len();
        self.drivers.push(driver);
        self.outputs.push(wires.to_vec());
        for (place, &wire) in wires.iter().enumerate() {
            self.wires.insert(wire, (at, place));
        }
    }

    fn cell(&mut self, cell: &RtlCell) -> Result<Driver, ProveError> {
        let constant = |bits: &[Bit]| bits.iter().all(|bit| matches!(bit, Bit::Const(_)));
        match cell.kind {
            Kind::Add | Kind::Sub | Kind::Neg | Kind::Mul => {
                self.arithmetic(cell).map(Driver::Word)
            }
            Kind::Register => self.register(cell).map(Driver::Word),
            Kind::Lt | Kind::Gt if !constant(&cell.a) && !constant(&cell.b) => {
                self.comparison(cell).map(Driver::Word)
            }
            Kind::Mux => match self.choice(cell)? {
                Some(word) => Ok(Driver::Word(word)),
                None => Ok(Driver::Function {
                    leaves: self.leaves(cell)?,
                }),
            },
            _ => Ok(Driver::Function {
                leaves: self.leaves(cell)?,
            }),
        }
    }

    /// The bits of words that a cell computes with.
    fn leaves(&self, cell: &RtlCell) -> Result<Vec<u32>, ProveError> {
        let mut leaves = Vec::new();
        for bit in cell.operands() {
            if let Bit::Wire(wire) = bit {
                let (driver, _) = *self.wires.get(&wire).ok_or(ProveError::Undriven { wire })?;
                match &self.drivers[driver] {
                    Driver::Word(_) => leaves.push(wire),
                    Driver::Function { leaves: own } => leaves.extend(own),
                }
            }
        }
        leaves.sort_unstable();
        leaves.dedup();
        Ok(leaves)
    }

    fn arithmetic(&mut self, cell: &RtlCell) -> Result<Word, ProveError> {
        let bits = cell.y.len();
        let a = self.operand(cell, &cell.a, bits)?;
        let b = match cell.kind {
            Kind::Neg => Reading {
                form: Form::default(),
                interval: Some(Interval::point(0)),
                stage: None,
            },
            _ => self.operand(cell, &cell.b, bits)?,
        };
        let stage = aligned(&cell.name, [a.stage, b.stage])?;
        let negated = b.interval.map(Interval::negated);
        let sum = |x: Option<Interval>, y: Option<Interval>| Some(x?.plus(y?));
        let (form, interval) = match cell.kind {
            Kind::Add => (a.form.plus(&b.form, 1, 0)?, sum(a.interval, b.interval)),
            Kind::Sub => (a.form.plus(&b.form, -1, 0)?, sum(a.interval, negated)),
            Kind::Neg => (a.form.scaled(-1, 0)?, a.interval.map(Interval::negated)),
            _ => self.product(&a, &b)?,
        };
        self.fitted(form, interval, bits, stage)
    }

    fn product(
        &mut self,
        a: &Reading,
        b: &Reading,
    ) -> Result<(Form, Option<Interval>), ProveError> {
        let (Some(x), Some(y)) = (a.interval, b.interval) else {
            return Err(ProveError::TooWide);
        };
        let interval = x.times(y);
        Ok((self.forms.product(&a.form, &b.form)?, Some(interval)))
    }

    /// The word of `bits` bits that is congruent to a form; its value where it fits.
    fn fitted(
        &mut self,
        form: Form,
        interval: Option<Interval>,
        bits: usize,
        stage: Option<u32>,
    ) -> Result<Word, ProveError> {
        let range = self.forms.range(&form)?;
        let interval = interval.map_or(range, |own| own.intersect(range));
        if fits(interval, bits) {
            return Ok(Word {
                form,
                interval,
                is_exact: true,
                stage,
            });
        }
        // Operands are congruent; another representative may fit.
        let whole = 1_i64.checked_shl(bits as u32).ok_or(ProveError::TooWide)?;
        for steps in [-1_i64, 1] {
            let moved = range.plus(Interval::point(whole.saturating_mul(steps)));
            if fits(moved, bits) {
                let form =
                    form.plus(&Form::constant(i128::from(whole) * i128::from(steps)), 1, 0)?;
                return Ok(Word {
                    form,
                    interval: moved,
                    is_exact: true,
                    stage,
                });
            }
        }
        Ok(Word {
            form,
            interval: range,
            is_exact: false,
            stage,
        })
    }

    /// The word with a form that is its value.
    fn exact(&mut self, word: &Word, bits: usize) -> Result<Word, ProveError> {
        if word.is_exact {
            return Ok(word.clone());
        }
        let form = self
            .forms
            .remainder(&word.form, word.interval, bits as u32)?;
        let interval = self.forms.range(&form)?.intersect(Interval {
            lo: 0,
            hi: (1 << bits) - 1,
        });
        Ok(Word {
            form,
            interval,
            is_exact: true,
            ..*word
        })
    }

    fn register(&mut self, cell: &RtlCell) -> Result<Word, ProveError> {
        let value = self.read(&cell.a)?;
        let stage = value.stage.map(|stage| stage + 1);
        self.fitted(value.form, value.interval, cell.y.len(), stage)
    }

    fn comparison(&mut self, cell: &RtlCell) -> Result<Word, ProveError> {
        let bits = cell.a.len().max(cell.b.len());
        let [a, b] = [
            self.operand(cell, &cell.a, bits)?,
            self.operand(cell, &cell.b, bits)?,
        ];
        let stage = aligned(&cell.name, [a.stage, b.stage])?;
        // The comparison is that of the values only if both are what the bits are taken for.
        for reading in [&a, &b] {
            let is_own = |own: Interval| {
                if cell.signed {
                    fits_signed(own, bits)
                } else {
                    fits_unsigned(own, bits)
                }
            };
            if !reading.interval.is_some_and(is_own) {
                return Err(ProveError::NotUnderstood {
                    cell: cell.name.clone(),
                });
            }
        }
        let (less, greater) = if cell.kind == Kind::Lt {
            (a.form, b.form)
        } else {
            (b.form, a.form)
        };
        let (x, y) = (self.forms.intern(&less), self.forms.intern(&greater));
        let interval = Interval { lo: 0, hi: 1 };
        let form = self.forms.atom(Atom::Less(x, y), interval);
        Ok(Word {
            form,
            interval,
            is_exact: true,
            stage,
        })
    }

    /// The comparison that a bit is, and its cycle: `less < greater` where it is 1.
    fn comparison_of(&mut self, bit: Bit) -> Option<(Form, Form, Option<u32>)> {
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
    fn choice(&mut self, cell: &RtlCell) -> Result<Option<Word>, ProveError> {
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

    /// An operand of a cell, extended to `bits` bits.
    fn operand(
        &mut self,
        cell: &RtlCell,
        bits: &[Bit],
        wide: usize,
    ) -> Result<Reading, ProveError> {
        let mut all = bits.to_vec();
        let fill = match bits.last() {
            Some(&sign) if cell.signed => sign,
            _ => Bit::Const(false),
        };
        all.resize(wide, fill);
        self.read(&all)
    }

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
    fn longest(
        &mut self,
        bits: &[Bit],
        wire: u32,
        by_name: bool,
    ) -> Result<(Item, usize, Word), ProveError> {
        let (driver, first) = *self.wires.get(&wire).ok_or(ProveError::Undriven { wire })?;
        let own = Item::Driver(driver);
        let mut best = (self.run(bits, own, first), own, first, None);
        let names = self.names.get(&wire).filter(|_| by_name).cloned();
        for (name, first) in names.into_iter().flatten() {
            let run = self.run(bits, Item::Name(name), first);
            if run > best.0
                && let Some(word) = self.named(name)?
            {
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
    fn named(&mut self, name: usize) -> Result<Option<Word>, ProveError> {
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

    /// The form of a driver.
    fn word(&mut self, driver: usize) -> Result<Word, ProveError> {
        let leaves = match &self.drivers[driver] {
            Driver::Word(word) => return Ok(word.clone()),
            Driver::Function { leaves } => leaves.clone(),
        };
        if let Some(word) = self.recognized.get(&driver) {
            return Ok(word.clone());
        }
        let cell = &self.rtl.cells[driver - self.first_cell];
        let result: Vec<Bit> = cell.y.iter().map(|&wire| Bit::Wire(wire)).collect();
        let word = self.function(&leaves, &result)?;
        let word = word.ok_or_else(|| ProveError::NotUnderstood {
            cell: cell.name.clone(),
        })?;
        self.recognized.insert(driver, word.clone());
        Ok(word)
    }

    /// The value of bits that are a function of one word, which holds the leaves.
    fn function(&mut self, leaves: &[u32], result: &[Bit]) -> Result<Option<Word>, ProveError> {
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

    /// The value of a word whose lowest bit is that of a tie.
    fn rounded(&mut self, bits: &[Bit]) -> Result<Option<Word>, ProveError> {
        let Some(Bit::Wire(lowest)) = bits.first() else {
            return Ok(None);
        };
        let mut leaves = match self.wires.get(lowest).map(|place| &self.drivers[place.0]) {
            Some(Driver::Function { leaves }) if leaves.len() > 1 => leaves.clone(),
            _ => return Ok(None),
        };
        for bit in &bits[1..] {
            match bit {
                Bit::Wire(wire) if matches!(self.wires.get(wire), Some(own) if matches!(self.drivers[own.0], Driver::Word(_))) =>
                {
                    leaves.push(*wire);
                }
                _ => return Ok(None),
            }
        }
        leaves.sort_unstable();
        leaves.dedup();
        self.function(&leaves, bits)
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

/// The names that hold each wire, and its place in them.
fn names(rtl: &Rtl) -> HashMap<u32, Vec<(usize, usize)>> {
    let mut names: HashMap<u32, Vec<(usize, usize)>> = HashMap::new();
    let are_words = |name: &(usize, &Vec<Bit>)| (2..=MAX_BITS).contains(&name.1.len());
    for (at, name) in rtl.names.iter().enumerate().filter(are_words) {
        for (place, bit) in name.iter().enumerate() {
            if let Bit::Wire(wire) = bit {
                names.entry(*wire).or_default().push((at, place));
            }
        }
    }
    names
}

/// The stage of operands that must have the same.
fn aligned(name: &str, stages: [Option<u32>; 2]) -> Result<Option<u32>, ProveError> {
    match stages {
        [Some(x), Some(y)] if x != y => Err(ProveError::Stages {
            cell: name.to_owned(),
            stages: (x, y),
        }),
        [Some(x), _] => Ok(Some(x)),
        [None, y] => Ok(y),
    }
}

fn fits(interval: Interval, bits: usize) -> bool {
    fits_unsigned(interval, bits) || fits_signed(interval, bits)
}

fn fits_unsigned(interval: Interval, bits: usize) -> bool {
    interval.lo >= 0 && i128::from(interval.hi) < 1 << bits.min(100)
}

fn fits_signed(interval: Interval, bits: usize) -> bool {
    let half = 1_i128 << (bits.min(100) - 1);
    -half <= i128::from(interval.lo) && i128::from(interval.hi) < half
}
