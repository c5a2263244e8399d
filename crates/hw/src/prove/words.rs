//! The form of every word of the module.

use super::bits::Cone;
use super::form::{Atom, Form, Forms};
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

/// A comparison of two values.
#[derive(Clone, Debug)]
struct Compared {
    less: Form,
    greater: Form,
}

/// A driver of wires.
enum Driver {
    /// A word with a form.
    Word(Word),
    /// A function of bits of other words, and those words if they are few.
    Function { support: Vec<usize> },
}

/// All words so far.
pub struct Words<'a> {
    rtl: &'a Rtl,
    forms: &'a mut Forms,
    drivers: Vec<Driver>,
    /// The cell of every driver behind the inputs.
    first_cell: usize,
    wires: HashMap<u32, (usize, usize)>,
    widths: Vec<usize>,
    compared: HashMap<usize, Compared>,
    recognized: HashMap<usize, Word>,
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
            widths: Vec::new(),
            compared: HashMap::new(),
            recognized: HashMap::new(),
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
        self.widths.push(wires.len());
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
            Kind::Mux if self.comparison_of(cell.s[0]).is_some() => {
                self.choice(cell).map(Driver::Word)
            }
            _ => Ok(Driver::Function {
                support: self.support(cell)?,
            }),
        }
    }

    /// The words whose bits a cell computes with.
    fn support(&self, cell: &RtlCell) -> Result<Vec<usize>, ProveError> {
        let mut support = Vec::new();
        for bit in cell.operands() {
            if let Bit::Wire(wire) = bit {
                let (driver, _) = *self.wires.get(&wire).ok_or(ProveError::Undriven { wire })?;
                match &self.drivers[driver] {
                    Driver::Word(_) => support.push(driver),
                    Driver::Function { support: own } => support.extend(own),
                }
            }
        }
        support.sort_unstable();
        support.dedup();
        Ok(support)
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

    /// The word of `bits` bits that is congruent to a form.
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
                    stage,
                });
            }
        }
        let form = self.forms.remainder(&form, range, bits as u32)?;
        let interval = self.forms.range(&form)?.intersect(Interval {
            lo: 0,
            hi: whole - 1,
        });
        Ok(Word {
            form,
            interval,
            stage,
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
        self.compared
            .insert(self.drivers.len(), Compared { less, greater });
        Ok(Word {
            form,
            interval,
            stage,
        })
    }

    fn comparison_of(&self, bit: Bit) -> Option<usize> {
        let Bit::Wire(wire) = bit else {
            return None;
        };
        let (driver, _) = *self.wires.get(&wire)?;
        // Through registers a comparison stays one.
        self.compared.contains_key(&driver).then_some(driver)
    }

    /// A choice by a comparison: a maximum, or the index of one.
    fn choice(&mut self, cell: &RtlCell) -> Result<Word, ProveError> {
        let unknown = || ProveError::NotUnderstood {
            cell: cell.name.clone(),
        };
        let select = self.comparison_of(cell.s[0]).ok_or_else(unknown)?;
        let compared = self.compared[&select].clone();
        let (zero, one) = (self.read(&cell.a)?, self.read(&cell.b)?);
        let selecting = match &self.drivers[select] {
            Driver::Word(word) => word.stage,
            Driver::Function { .. } => None,
        };
        let stage = aligned(
            &cell.name,
            [aligned(&cell.name, [zero.stage, one.stage])?, selecting],
        )?;
        let (Some(x), Some(y)) = (zero.interval, one.interval) else {
            return Err(unknown());
        };
        if zero.form == compared.less && one.form == compared.greater {
            let form = self.forms.max(&[zero.form, one.form])?;
            let interval = Interval {
                lo: x.lo.max(y.lo),
                hi: x.hi.max(y.hi),
            };
            return self.fitted(form, Some(interval), cell.y.len(), stage);
        }
        let form = self
            .forms
            .joined_argmax([(&zero.form, &compared.less), (&one.form, &compared.greater)])?;
        let form = form.ok_or_else(unknown)?;
        self.fitted(form, Some(x.hull(y)), cell.y.len(), stage)
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
        let mut parts: Vec<(Form, u32)> = Vec::new();
        let mut constant = 0_i128;
        let mut interval = Some(Interval::point(0));
        let mut stage = None;
        let mut at = 0;
        while at < bits.len() {
            let wire = match bits[at] {
                Bit::Const(value) => {
                    constant += i128::from(value) << at.min(100);
                    interval = interval
                        .map(|own| own.plus(Interval::point(i64::from(value)).shifted(at as u32)));
                    at += 1;
                    continue;
                }
                Bit::Wire(wire) => wire,
            };
            let (driver, first) = *self.wires.get(&wire).ok_or(ProveError::Undriven { wire })?;
            let word = self.word(driver)?;
            let run = self.run(&bits[at..], driver, first);
            let (form, own, used) = self.segment(&word, driver, first, run, &bits[at..])?;
            let names = || format!("wire {wire}");
            stage = aligned(&names(), [stage, word.stage])?;
            interval = match (interval, own) {
                (Some(all), Some(own)) => Some(all.plus(own.shifted(at as u32))),
                _ => None,
            };
            parts.push((form, at as u32));
            at += used;
        }
        let parts: Vec<(&Form, i128, u32)> =
            parts.iter().map(|(form, at)| (form, 1, *at)).collect();
        let form = super::form::combined(&parts, constant)?;
        let interval = match interval {
            Some(own) => Some(
                self.forms
                    .range(&form)
                    .map_or(own, |range| own.intersect(range)),
            ),
            None => None,
        };
        Ok(Reading {
            form,
            interval,
            stage,
        })
    }

    /// The number of bits that are neighbours in a word as they are here.
    fn run(&self, bits: &[Bit], driver: usize, first: usize) -> usize {
        let is_next = |(offset, bit): &(usize, &Bit)| match bit {
            Bit::Wire(wire) => self.wires.get(wire) == Some(&(driver, first + offset)),
            Bit::Const(_) => false,
        };
        bits.iter().enumerate().take_while(is_next).count()
    }

    /// The value of bits `first..first + run` of a word at the lower end of a list, its interval, and the bits that were used.
    fn segment(
        &mut self,
        word: &Word,
        driver: usize,
        first: usize,
        run: usize,
        rest: &[Bit],
    ) -> Result<(Form, Option<Interval>, usize), ProveError> {
        let (width, p) = (self.widths[driver], first as u32);
        let slice = Interval {
            lo: word.interval.lo >> p.min(63),
            hi: word.interval.hi >> p.min(63),
        };
        let is_top = first + run == width;
        let ends = run == rest.len();
        let copies = self.copies(rest, run, driver, first);
        let is_signed = word.interval.lo < 0;
        if is_top && is_signed && run + copies == rest.len() {
            return Ok((
                self.forms.floor(&word.form, word.interval, p)?,
                Some(slice),
                rest.len(),
            ));
        }
        if is_top && !is_signed {
            // The highest bit may be copied only where it is 0.
            let highest = i128::from(word.interval.hi) >> (width - 1);
            let used = if highest == 0 { run + copies } else { run };
            return Ok((
                self.forms.floor(&word.form, word.interval, p)?,
                Some(slice),
                used,
            ));
        }
        let above = p + run as u32;
        let inside = Interval {
            lo: 0,
            hi: (1_i64 << (above - p).min(62)) - 1,
        };
        if inside.holds(slice) {
            return Ok((
                self.forms.floor(&word.form, word.interval, p)?,
                Some(slice),
                run,
            ));
        }
        let signed = Interval {
            lo: -(1_i64 << (above - p - 1).min(62)),
            hi: (1_i64 << (above - p - 1).min(62)) - 1,
        };
        if run + copies == rest.len() && (copies > 0 || signed.holds(slice)) {
            // Sign bits that a narrower slice keeps, or a word that wraps.
            if signed.holds(slice) {
                return Ok((
                    self.forms.floor(&word.form, word.interval, p)?,
                    Some(slice),
                    rest.len(),
                ));
            }
            let low = self.forms.remainder(&word.form, word.interval, p)?;
            let all = self.forms.wrapped(&word.form, word.interval, above, true)?;
            return Ok((self.forms.divided(&all, &low, p)?, Some(signed), rest.len()));
        }
        if ends {
            return Ok((self.forms.floor(&word.form, word.interval, p)?, None, run));
        }
        let low = self.forms.remainder(&word.form, word.interval, p)?;
        let all = self.forms.remainder(&word.form, word.interval, above)?;
        Ok((self.forms.divided(&all, &low, p)?, Some(inside), run))
    }

    /// Copies of the highest bit of a run that follow it.
    fn copies(&self, rest: &[Bit], run: usize, driver: usize, first: usize) -> usize {
        let last = (driver, first + run - 1);
        let is_copy = |bit: &&Bit| match bit {
            Bit::Wire(wire) => self.wires.get(wire) == Some(&last),
            Bit::Const(_) => false,
        };
        rest[run..].iter().take_while(is_copy).count()
    }

    /// The form of a driver.
    fn word(&mut self, driver: usize) -> Result<Word, ProveError> {
        let support = match &self.drivers[driver] {
            Driver::Word(word) => return Ok(word.clone()),
            Driver::Function { support } => support.clone(),
        };
        if let Some(word) = self.recognized.get(&driver) {
            return Ok(word.clone());
        }
        let cell = &self.rtl.cells[driver - self.first_cell];
        let unknown = || ProveError::NotUnderstood {
            cell: cell.name.clone(),
        };
        let [source] = support[..] else {
            return Err(unknown());
        };
        let Driver::Word(of) = &self.drivers[source] else {
            return Err(unknown());
        };
        let of = of.clone();
        let cells = |wire: u32| {
            let (driver, at) = *self.wires.get(&wire)?;
            let cell = driver.checked_sub(self.first_cell)?;
            Some((&self.rtl.cells[cell], at))
        };
        let place = |wire: u32| match self.wires.get(&wire) {
            Some(&(driver, at)) if driver == source => Some(at as u32),
            _ => None,
        };
        let cone = Cone {
            cells: &cells,
            place: &place,
        };
        let result: Vec<Bit> = cell.y.iter().map(|&wire| Bit::Wire(wire)).collect();
        let recognized = recognize(&cone, of.interval, &result).ok_or_else(unknown)?;
        let form = match recognized {
            Recognized::Requant {
                shift,
                tie_to_even,
                bounds,
            } => self
                .forms
                .requant(&of.form, shift, tie_to_even, bounds.lo, bounds.hi)?,
            Recognized::TieBit { shift } => self.forms.tie_bit(&of.form, shift),
            Recognized::Table(values) => self.forms.table(&of.form, of.interval.lo, values)?,
        };
        let interval = self.forms.range(&form)?;
        let word = Word {
            form,
            interval,
            stage: of.stage,
        };
        self.recognized.insert(driver, word.clone());
        Ok(word)
    }
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
