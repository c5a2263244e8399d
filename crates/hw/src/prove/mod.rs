//! Proofs that a module computes its network, for every input.
//!
//! yosys reads the printed text, so that the printer is not trusted. Every word of the module gets an exact linear form over the
//! inputs, remainders, requantised values, maxima and tables ([`form`]); ranges and the alignment of registers are checked on the
//! way (`words`). The results are compared with the forms of the integer program (`reference.rs`), not with those of the netlist,
//! so that the solver is not trusted either.

mod bits;
mod certificate;
pub mod form;
mod read;
mod reference;
mod requant;
mod text;
mod words;

pub use certificate::{
    Certificate, CertificateError, ElementWord, WordForm, checked_forms, elements,
};
pub use read::read;

use crate::net::Interval;
use crate::ports::Ports;
use crate::rtl::{Rtl, RtlError};
use engine::integer::Program;
use form::{Form, Forms};
use thiserror::Error;
use words::Words;

/// A proof that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProveError {
    /// The netlist of yosys is not what it should be.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// A function that is no rounding, maximum or table.
    #[error("cell {cell} is no rounding, maximum, index or table of a word")]
    NotUnderstood {
        /// Its name.
        cell: String,
    },
    /// A wire that nothing drives.
    #[error("wire {wire} is not driven")]
    Undriven {
        /// The wire.
        wire: u32,
    },
    /// Operands of different clock cycles.
    #[error("{cell} joins values of cycle {} and cycle {}", stages.0, stages.1)]
    Stages {
        /// The cell, or the wire.
        cell: String,
        /// Both cycles.
        stages: (u32, u32),
    },
    /// Ports that do not fit the module.
    #[error("the bits of {0} are not those that ports.json says")]
    Ports(&'static str),
    /// A form of more than 128 bits.
    #[error("a form has more than 128 bits")]
    TooWide,
    /// The program has other inputs or results than the ports.
    #[error("the program has {program} {what} and ports.json {ports}")]
    Elements {
        /// Inputs or results.
        what: &'static str,
        /// Those of the program.
        program: usize,
        /// Those of the ports.
        ports: usize,
    },
    /// A result that is not the program's.
    #[error("{element} could not be shown to be what the network computes")]
    Differs {
        /// Its name in the ports.
        element: String,
    },
}

/// A word with its form.
#[derive(Clone, Debug)]
pub struct Word {
    /// The value, or what is congruent to it modulo 2^bits.
    pub form: Form,
    /// The interval of the form.
    pub interval: Interval,
    /// True when the form is the value.
    pub is_exact: bool,
    /// Registers behind the input; none for constants.
    pub stage: Option<u32>,
}

/// A proof for every input.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Words that have a form.
    pub words: usize,
    /// Values that are not linear in others.
    pub atoms: usize,
    /// Bits of the input that the result may depend on.
    pub input_bits: u32,
    /// Elements of the result.
    pub outputs: usize,
    /// Clock cycles from an input to its result.
    pub latency: u32,
}

impl Proof {
    /// The proof of a module with such ports.
    pub fn of(ports: &Ports, words: usize) -> Self {
        Self {
            words,
            atoms: 0,
            input_bits: ports.input_bits(),
            outputs: ports.outputs.len(),
            latency: ports.latency,
        }
    }
}

/// Proves that the module that yosys read computes the program for every input.
pub fn prove(rtl: &Rtl, ports: &Ports, program: &Program) -> Result<Proof, ProveError> {
    let mut forms = Forms::default();
    let expected = reference::outputs(program, ports, &mut forms)?;
    let mut words = Words::of(rtl, ports, &mut forms)?;
    for (element, expected) in ports.outputs.iter().zip(&expected) {
        let range = element.offset as usize..(element.offset + element.width) as usize;
        let bits = rtl.y.get(range).ok_or(ProveError::Ports("y"))?;
        let value = words.read(bits)?;
        let differs = || ProveError::Differs {
            element: element.name.clone(),
        };
        let difference = words.gathered(&value.form.plus(expected, -1, 0)?)?;
        // Both lie within the word, so that they are equal where they are congruent.
        let whole = 1 << element.width.min(100);
        let rest = difference.mapped(|value| value.rem_euclid(whole));
        if difference.exponent > 0 || rest.as_constant() != Some(0) {
            return Err(differs());
        }
        if let Some(stage) = value.stage
            && stage != ports.latency
        {
            let stages = (stage, ports.latency);
            return Err(ProveError::Stages {
                cell: element.name.clone(),
                stages,
            });
        }
    }
    let count = words.count();
    Ok(Proof {
        atoms: forms.atoms().len(),
        ..Proof::of(ports, count)
    })
}
