//! Forms of words: of bits, and of the results of cells.

use super::form::{Atom, Form, Range, constant, sum};
use super::{Checker, Driver, fits};
use crate::rtl::{Bit, Kind, RtlCell};

impl Checker<'_> {
    /// Gives a form to every cell whose operands have one, as far as there is one.
    pub fn propagate(&mut self) {
        for (at, cell) in self.rtl.cells.iter().enumerate() {
            if self.forms[at].is_none() && cell.y.len() <= 62 {
                let form = self.result(cell);
                self.forms[at] = form.map(|form| self.placed(form, cell.y.len() as u32));
            }
        }
    }

    /// A form moved by a multiple of 2 to the width to where a word holds all of its values, with or without a sign, if it does
    /// so anywhere. It stays congruent to itself.
    fn placed(&self, mut form: Form, width: u32) -> Form {
        let Some((lo, hi)) = self.atoms.range(&form) else {
            return form;
        };
        let all = 1_i128 << width;
        let moves = [0, -lo.div_euclid(all), -(lo + all / 2).div_euclid(all)];
        let holds = |more: &&i128| {
            let (lo, hi) = (lo + *more * all, hi + *more * all);
            fits((lo, hi), width, lo < 0)
        };
        let moved = moves.iter().find(holds).map(|more| more * all);
        form.offset += moved.unwrap_or(0);
        form
    }

    /// Bits as neighbours in the same words: where they begin, what drives them, how many there are. The sign of the last word
    /// may be repeated behind it.
    fn pieces(&self, bits: &[Bit]) -> Option<Vec<(usize, Driver, usize)>> {
        let (mut all, mut at) = (Vec::new(), 0);
        while at < bits.len() {
            let Bit::Wire(wire) = bits[at] else {
                at += 1;
                continue;
            };
            let driver = *self.drivers.get(&wire)?;
            let is_at = |bit: Bit, more: usize| match bit {
                Bit::Wire(wire) => self.drivers.get(&wire) == Some(&driver.moved(more)),
                Bit::Const(_) => false,
            };
            let run = (at..bits.len())
                .take_while(|&k| is_at(bits[k], k - at))
                .count();
            all.push((at, driver, run));
            let is_top = bits[at + run..].iter().all(|&bit| is_at(bit, run - 1));
            at = if is_top { bits.len() } else { at + run };
        }
        Some(all)
    }

    /// The value of bits, modulo 2 to their number.
    pub fn read(&mut self, bits: &[Bit]) -> Option<Form> {
        (bits.len() <= 64).then_some(())?;
        let ones = (0..bits.len()).filter(|&at| bits[at] == Bit::Const(true));
        let mut value = constant(ones.map(|at| 1_i128 << at).sum());
        for (at, driver, run) in self.pieces(bits)? {
            let (own, place) = match driver {
                Driver::Input(element, place) => (self.inputs[element].clone()?, place),
                Driver::Cell(cell, place) => (self.forms[cell].clone()?, place),
            };
            let mut floor = |place: usize| self.atoms.floor(&own, place as u32);
            let (low, above) = (floor(place)?, 1_i128 << run);
            let is_repeated = bits.get(at + run).is_some()
                && bits[at + run..]
                    .iter()
                    .all(|bit| *bit == bits[at + run - 1]);
            let piece = if at + run == bits.len() {
                low
            } else if is_repeated {
                let (high, sign) = (floor(place + run)?, floor(place + run - 1)?);
                sum(&[(&low, 1), (&high, above), (&sign, -above)])?
            } else {
                sum(&[(&low, 1), (&floor(place + run)?, -above)])?
            };
            value = sum(&[(&value, 1), (&piece, 1 << at)])?;
        }
        Some(value)
    }

    /// The word of a function that was shown to have a range. Cells that compute its bits get forms from it.
    pub fn named(&mut self, name: &str, bits: &[Bit], range: Range) -> Option<Form> {
        let width = bits.len() as u32;
        fits(range, width, range.0 < 0).then_some(())?;
        let pieces = self.pieces(bits)?;
        let open = pieces.iter().filter_map(|&(at, driver, run)| match driver {
            Driver::Cell(cell, place) if self.forms[cell].is_none() => Some((at, cell, place, run)),
            _ => None,
        });
        let open: Vec<_> = open.collect();
        let word = Atom::Word(name.to_owned(), 0);
        if open.len() == pieces.len() {
            let word = self.atoms.atom(word, range);
            for (at, cell, place, run) in open {
                (place + run <= 62 && self.rtl.cells[cell].y.len() == place + run).then_some(())?;
                // Lower bits of the cell may be anything.
                let low = Atom::Word(self.rtl.cells[cell].name.clone(), 0);
                let low = self.atoms.atom(low, (0, (1 << place) - 1));
                let own = self.atoms.floor(&word, at as u32)?;
                let above = if at + run == bits.len() {
                    Form::default()
                } else {
                    self.atoms.floor(&word, (at + run) as u32)?
                };
                let parts = [
                    (&own, 1 << place),
                    (&above, -(1 << (place + run))),
                    (&low, 1),
                ];
                self.forms[cell] = Some(sum(&parts)?);
            }
        } else if let [(0, cell, 0, run)] = open[..] {
            // The lowest bits are the word without the others.
            self.forms[cell] = Some(Form::default());
            let rest = self.read(bits);
            self.forms[cell] = None;
            let rest = rest?;
            fits(self.atoms.range(&rest)?, width, range.0 < 0).then_some(())?;
            let word = self.atoms.atom(word, range);
            let own = sum(&[(&word, 1), (&rest, -1)])?;
            self.atoms.known.insert(own.clone(), (0, (1 << run) - 1));
            self.forms[cell] = Some(own);
        }
        self.read(bits)
    }

    /// `a·b`.
    pub fn times(&mut self, a: Form, b: Form) -> Option<Form> {
        for (form, factor) in [(&a, &b), (&b, &a)] {
            if factor.terms.is_empty() {
                return sum(&[(form, factor.offset)]);
            }
        }
        // Powers of two go outside.
        let (a, left) = halved(a);
        let (b, right) = halved(b);
        let (x, y) = (self.atoms.range(&a)?, self.atoms.range(&b)?);
        let ends = [
            x.0.checked_mul(y.0)?,
            x.0.checked_mul(y.1)?,
            x.1.checked_mul(y.0)?,
            x.1.checked_mul(y.1)?,
        ];
        let range = (*ends.iter().min()?, *ends.iter().max()?);
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        let product = self.atoms.atom(Atom::Product(a, b), range);
        sum(&[(&product, 1 << (left + right).min(62))])
    }

    fn result(&mut self, cell: &RtlCell) -> Option<Form> {
        let [a, b] = [&cell.a, &cell.b].map(|bits| extended(bits, cell.y.len(), cell.signed));
        match cell.kind {
            Kind::Register => self.read(&a),
            Kind::Add => sum(&[(&self.read(&a)?, 1), (&self.read(&b)?, 1)]),
            Kind::Sub => sum(&[(&self.read(&a)?, 1), (&self.read(&b)?, -1)]),
            Kind::Neg => sum(&[(&self.read(&a)?, -1)]),
            Kind::Mul => {
                let (a, b) = (self.read(&a)?, self.read(&b)?);
                self.times(a, b)
            }
            Kind::Lt => self.less(cell, &cell.a, &cell.b),
            Kind::Gt => self.less(cell, &cell.b, &cell.a),
            Kind::Mux => self.choice(cell),
            _ => None,
        }
    }

    fn less(&mut self, cell: &RtlCell, a: &[Bit], b: &[Bit]) -> Option<Form> {
        let width = a.len().max(b.len());
        let mut ranges = Vec::with_capacity(2);
        let mut forms = Vec::with_capacity(2);
        for bits in [a, b] {
            let form = self.read(&extended(bits, width, cell.signed))?;
            let range = self.atoms.range(&form)?;
            // Only values that the bits are taken for compare as the bits do.
            fits(range, width as u32, cell.signed).then_some(())?;
            ranges.push(range);
            forms.push(form);
        }
        let range = (
            i128::from(ranges[0].1 < ranges[1].0),
            i128::from(ranges[0].0 < ranges[1].1),
        );
        let b = forms.pop()?;
        Some(self.atoms.atom(Atom::Less(forms.pop()?, b), range))
    }

    /// A choice of the larger, or of the place of the larger.
    fn choice(&mut self, cell: &RtlCell) -> Option<Form> {
        let select = self.read(&cell.s)?;
        let (zero, one) = (self.read(&cell.a)?, self.read(&cell.b)?);
        let Some(Atom::Less(less, greater)) = self.atoms.alone(&select).cloned() else {
            return None;
        };
        let apart = [
            sum(&[(&zero, 1), (&less, -1)])?,
            sum(&[(&one, 1), (&greater, -1)])?,
        ];
        if apart[0] == apart[1] && apart[0].terms.is_empty() {
            return self.atoms.max(&[zero, one]);
        }
        let mut entries = self.entries(&zero, &less)?;
        let more = self.entries(&one, &greater)?;
        (entries.last()?.0 < more.first()?.0).then_some(())?;
        entries.extend(more);
        self.atoms.argmax(&entries)
    }

    /// The entries of a place whose value is the largest of them.
    fn entries(&mut self, place: &Form, largest: &Form) -> Option<Vec<(i128, Form)>> {
        if place.terms.is_empty() {
            return Some(vec![(place.offset, largest.clone())]);
        }
        let Some(Atom::Argmax(entries)) = self.atoms.alone(place).cloned() else {
            return None;
        };
        let forms: Vec<Form> = entries.iter().map(|entry| entry.1.clone()).collect();
        (self.atoms.max(&forms)? == *largest).then_some(entries)
    }
}

/// A form without the powers of two that all of it has, and their bits.
fn halved(mut form: Form) -> (Form, u32) {
    let zeros = form.terms.iter().map(|term| term.1.trailing_zeros()).min();
    let zeros = zeros.unwrap_or(0).min(form.offset.trailing_zeros());
    form.offset >>= zeros;
    form.terms.iter_mut().for_each(|term| term.1 >>= zeros);
    (form, zeros)
}

/// Bits extended to a width.
fn extended(bits: &[Bit], width: usize, signed: bool) -> Vec<Bit> {
    let fill = bits.last().filter(|_| signed).copied();
    let mut all = bits.to_vec();
    all.resize(width.max(bits.len()), fill.unwrap_or(Bit::Const(false)));
    all
}
