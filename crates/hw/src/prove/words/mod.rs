//! The form of every word of the module.

mod arithmetic;
mod choice;
mod function;
mod read;

use super::form::{Form, Forms};
use super::{ProveError, Word};
use crate::net::Interval;
use crate::ports::Ports;
use crate::rtl::{Bit, Kind, Rtl, RtlCell};
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

/// Words within words: what is printed has a few.
const MAX_DEPTH: u32 = 100;

/// Bits that a function may have of other words: those of two words are more than any rounding has.
const MAX_LEAVES: usize = 2 * MAX_BITS;

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
    /// Words that are being read for the sake of another.
    depth: u32,
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
            depth: 0,
        };
        words.inputs(ports)?;
        words.first_cell = words.drivers.len();
        for cell in &rtl.cells {
            let driver = words.cell(cell)?;
            words.push(driver, &cell.y);
        }
        Ok(words)
    }

    /// The form with all that depends on one input alone gathered.
    pub fn gathered(&mut self, form: &Form) -> Result<Form, ProveError> {
        self.forms.gathered(form)
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
        if leaves.len() > MAX_LEAVES {
            return Err(ProveError::NotUnderstood {
                cell: cell.name.clone(),
            });
        }
        Ok(leaves)
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
