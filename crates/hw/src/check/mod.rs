//! The check of a certificate: a module computes its program for every input, shown anew and by other means than the proof's.
//!
//! Every word of the module is a linear form over its inputs and over words that are not linear in others ([`form`]). Sums and
//! registers give forms by themselves. Which word is which element of the program, and which word it is a function of, the
//! certificate says; that function is then computed for every value that the word can have (`cone.rs`), or bounds of a wide word
//! piece by piece (`pieces.rs`), and compared with the stages of the program. Nothing here is shared with the solver, the printer or the prover.

mod cone;
mod elements;
pub mod form;
mod pieces;
mod words;

use crate::ports::Ports;
use crate::rtl::{Bit, Kind, Rtl};
use engine::integer::{Arithmetic, Program, Source};
use form::{Atom, Atoms, Form, Range, constant, sum};
use std::collections::HashMap;
use thiserror::Error;

/// A certificate that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckError {
    /// A cell whose operands are values of different clock cycles.
    #[error("{0} joins values of different cycles")]
    Cycles(String),
    /// A result that is not the program's, and the first word that is not the element that it is said to be.
    #[error("{name} is not shown to be what the network computes{}", refused(.word.as_deref()))]
    Result {
        /// The result.
        name: String,
        /// The word.
        word: Option<String>,
    },
}

fn refused(word: Option<&str>) -> String {
    word.map_or_else(String::new, |word| {
        format!("; the word {word} is not shown to be its element")
    })
}

/// A word that is an element of the program, and the word that it is a function of.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    /// The step and the element.
    pub element: (usize, usize),
    /// The word that the element is a function of.
    pub source: &'a str,
    /// The word of the element.
    pub word: &'a str,
    /// The element is the word times a power of two.
    pub shift: u32,
}

/// All words with a form: name, range, form.
pub struct Checked {
    /// The atoms of the forms.
    pub atoms: Atoms,
    /// The words, in the order of their names.
    pub words: Vec<(String, Range, Form)>,
}

/// The driver of a wire, and the wire's place in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    Input(usize, usize),
    Cell(usize, usize),
}

impl Driver {
    fn moved(self, more: usize) -> Self {
        match self {
            Self::Input(element, place) => Self::Input(element, place + more),
            Self::Cell(cell, place) => Self::Cell(cell, place + more),
        }
    }
}

struct Checker<'a> {
    rtl: &'a Rtl,
    drivers: HashMap<u32, Driver>,
    atoms: Atoms,
    inputs: Vec<Option<Form>>,
    /// Per cell a form that is congruent to its result modulo 2 to its width.
    forms: Vec<Option<Form>>,
    /// Per cell the registers before its result; none where it is always the same.
    cycles: Vec<Option<u32>>,
    /// The first word that is not the element that it is said to be.
    refused: Option<String>,
}

/// Shows that a module computes a program, if the claims hold.
pub fn check(
    rtl: &Rtl,
    ports: &Ports,
    program: &Program,
    claims: &[Claim],
) -> Result<Checked, CheckError> {
    let mut checker = Checker::new(rtl, ports)?;
    let claims: HashMap<(usize, usize), &Claim> =
        claims.iter().map(|own| (own.element, own)).collect();
    let mut values: Vec<Vec<Option<Form>>> = Vec::with_capacity(program.steps.len());
    let mut n_inputs = 0;
    for (at, step) in program.steps.iter().enumerate() {
        checker.propagate();
        let mut own = Vec::with_capacity(step.len());
        for i in 0..step.len() {
            let source = match &step.source {
                Source::Encode { grids, .. } => {
                    let (point, port) = (grids.point(i), ports.inputs.get(n_inputs + i));
                    let codes = |min: i64, max: i64| {
                        (i128::from(min), i128::from(max)) == (point.min, point.max)
                    };
                    let lift = step.ranges[0].frac.saturating_sub(point.frac_width);
                    let port = port.filter(|port| codes(port.min, port.max));
                    let form = port.and_then(|_| checker.inputs.get(n_inputs + i)?.clone());
                    form.and_then(|form| sum(&[(&form, 1_i128.checked_shl(lift as u32)?)]))
                }
                _ => step.source_of(i, &mut checker, |k, at| values[step.inputs[k]][at].clone()),
            };
            own.push(checker.staged(step, i, source, claims.get(&(at, i)).copied()));
        }
        n_inputs += if matches!(step.source, Source::Encode { .. }) {
            step.len()
        } else {
            0
        };
        values.push(own);
    }
    checker.propagate();
    let results = program
        .outputs
        .iter()
        .flat_map(|output| &values[output.step]);
    let results: Vec<&Option<Form>> = results.collect();
    for (at, port) in ports.outputs.iter().enumerate() {
        let bits = rtl
            .y
            .get(port.offset as usize..(port.offset + port.width) as usize);
        let is_right = bits.and_then(|bits| {
            let expected = results.get(at).copied()?.as_ref()?;
            let found = checker.read(bits)?;
            let apart = sum(&[(&found, 1), (expected, -1)])?;
            let is_same = apart.terms.is_empty() && apart.offset % (1 << port.width) == 0;
            let in_time = checker
                .cycle(bits)
                .ok()?
                .is_none_or(|cycle| cycle == ports.latency);
            Some(
                is_same && in_time && fits(checker.atoms.range(expected)?, port.width, port.signed),
            )
        });
        if is_right != Some(true) || results.len() != ports.outputs.len() {
            return Err(CheckError::Result {
                name: port.name.clone(),
                word: checker.refused,
            });
        }
    }
    let mut words = Vec::new();
    for (name, bits) in rtl
        .labels
        .iter()
        .zip(&rtl.names)
        .filter(|own| own.1.len() <= 62)
    {
        if let Some(form) = checker.read(bits)
            && let Some(range) = checker.atoms.range(&form)
        {
            words.push((name.clone(), range, form));
        }
    }
    Ok(Checked {
        atoms: checker.atoms,
        words,
    })
}

/// True when a word has all values of a range.
fn fits((lo, hi): Range, width: u32, signed: bool) -> bool {
    let all = 1_i128 << width.min(62);
    if signed {
        -all <= 2 * lo && 2 * hi < all
    } else {
        lo >= 0 && hi < all
    }
}

/// The program computed in forms; none for what is not known, or too large.
impl Arithmetic for Checker<'_> {
    type Value = Option<Form>;

    fn sum(&mut self, terms: Vec<(Option<Form>, i64)>, offset: i64) -> Option<Form> {
        let offset = constant(offset.into());
        let parts = terms
            .iter()
            .map(|(form, factor)| Some((form.as_ref()?, i128::from(*factor))));
        let parts: Option<Vec<_>> = parts.chain([Some((&offset, 1))]).collect();
        sum(&parts?)
    }

    fn product(&mut self, a: Option<Form>, b: Option<Form>) -> Option<Form> {
        self.times(a?, b?)
    }

    fn max(&mut self, values: Vec<Option<Form>>) -> Option<Form> {
        let values: Option<Vec<Form>> = values.into_iter().collect();
        self.atoms.max(&values?)
    }

    fn argmax(&mut self, values: Vec<Option<Form>>) -> Option<Form> {
        let entries = (0..)
            .zip(values)
            .map(|(place, value)| Some((place, value?)));
        let entries: Option<Vec<_>> = entries.collect();
        self.atoms.argmax(&entries?)
    }
}

impl<'a> Checker<'a> {
    fn new(rtl: &'a Rtl, ports: &Ports) -> Result<Self, CheckError> {
        let (mut atoms, mut drivers) = (Atoms::default(), HashMap::new());
        let mut inputs = Vec::with_capacity(ports.inputs.len());
        for (element, port) in ports.inputs.iter().enumerate() {
            for place in 0..port.width as usize {
                if let Some(Bit::Wire(wire)) = rtl.x.get(port.offset as usize + place) {
                    drivers.insert(*wire, Driver::Input(element, place));
                }
            }
            let range = (port.min.into(), port.max.into());
            let is_word = fits(range, port.width, port.signed);
            let before = ports.inputs[..element].iter();
            let number = before.filter(|other| other.name == port.name).count();
            let word = Atom::Word(port.name.clone(), number);
            inputs.push(is_word.then(|| atoms.atom(word, range)));
        }
        for (at, cell) in rtl.cells.iter().enumerate() {
            let places = cell.y.iter().enumerate();
            drivers.extend(places.map(|(place, &wire)| (wire, Driver::Cell(at, place))));
        }
        let forms = vec![None; rtl.cells.len()];
        let mut own = Self {
            rtl,
            drivers,
            atoms,
            inputs,
            forms,
            cycles: Vec::new(),
            refused: None,
        };
        for cell in &rtl.cells {
            let operands: Vec<Bit> = cell.operands().collect();
            let cycle = own
                .cycle(&operands)
                .map_err(|()| CheckError::Cycles(cell.name.clone()))?;
            own.cycles
                .push(cycle.map(|cycle| cycle + u32::from(cell.kind == Kind::Register)));
        }
        Ok(own)
    }

    /// The cycle of some bits, none where all are constant; an error where they have several.
    fn cycle(&self, bits: &[Bit]) -> Result<Option<u32>, ()> {
        let of = |bit: &Bit| match bit {
            Bit::Wire(wire) => match self.drivers.get(wire) {
                Some(Driver::Cell(cell, _)) => self.cycles[*cell],
                _ => Some(0),
            },
            Bit::Const(_) => None,
        };
        let mut cycles = bits.iter().filter_map(of);
        let first = cycles.next();
        if cycles.all(|cycle| Some(cycle) == first) {
            Ok(first)
        } else {
            Err(())
        }
    }

    fn bits(&self, name: &str) -> Option<&'a [Bit]> {
        let at = self.rtl.labels.iter().position(|own| own == name)?;
        Some(&self.rtl.names[at])
    }
}
