//! `certificate.json`: what was proved, of which files, by which versions, and every word with its interval and its form.

use super::Proof;
use crate::check::{self, CheckError, Checked, Claim};
use crate::folder::Emitted;
use crate::net::Net;
use crate::ports::Ports;
use crate::print::names;
use crate::rtl::Rtl;
use crate::tools::ToolError;
use engine::integer::Program;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use thiserror::Error;

/// The files that a proof is about.
const FILES: [&str; 3] = ["network.mz", "rtl/net.sv", "ports.json"];

/// A proof on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The version of this layout.
    pub version: u32,
    /// The version of the program that proved.
    pub program: String,
    /// The tool that read the module.
    pub reader: String,
    /// The files with their SHA-256.
    pub files: Vec<(String, String)>,
    /// Bits of the input: the proof is for every value of them.
    pub input_bits: u32,
    /// Words that have an exact form.
    pub words: usize,
    /// Values that are not linear in others.
    pub atoms: usize,
    /// Elements of the result that are the network's.
    pub outputs: usize,
    /// Clock cycles from an input to its result.
    pub latency: u32,
    /// The words that are elements of the network, each a function of another word.
    pub elements: Vec<ElementWord>,
    /// The words that are linear in the inputs and in such elements.
    pub forms: Vec<WordForm>,
}

/// A word that is an element of the network, times a power of two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElementWord {
    /// The word.
    pub word: String,
    /// The step of the integer program.
    pub step: usize,
    /// The element of the step's value.
    pub element: usize,
    /// The word that it is a function of.
    pub source: String,
    /// The element is the word times 2 to this.
    pub shift: u32,
}

/// A word with its interval and its form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordForm {
    /// The word.
    pub word: String,
    /// The smallest value.
    pub min: i64,
    /// The largest value.
    pub max: i64,
    /// The form.
    pub form: String,
}

/// A certificate that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CertificateError {
    /// The check refused.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A word that has another form.
    #[error("certificate.json says something else about the word {0} than what was found")]
    Word(String),
}

/// The elements of a network that its netlist names.
pub fn elements(net: &Net) -> Vec<ElementWord> {
    let names = names(net);
    let element = |mark: &crate::net::Mark| {
        Some(ElementWord {
            word: names.get(mark.result.cell.index())?.clone(),
            step: mark.step as usize,
            element: mark.element as usize,
            source: names.get(mark.source.index())?.clone(),
            shift: mark.result.shift,
        })
    };
    net.marks.iter().filter_map(element).collect()
}

/// The forms of all words, if the module computes the program and its elements are what they are said to be.
pub fn checked_forms(
    rtl: &Rtl,
    ports: &Ports,
    program: &Program,
    elements: &[ElementWord],
) -> Result<Vec<WordForm>, CheckError> {
    let claims = elements.iter().map(|own| Claim {
        element: (own.step, own.element),
        source: &own.source,
        word: &own.word,
        shift: own.shift,
    });
    let claims: Vec<Claim> = claims.collect();
    let Checked { atoms, words } = check::check(rtl, ports, program, &claims)?;
    let form = |(word, (min, max), form)| WordForm {
        word,
        min: min as i64,
        max: max as i64,
        form: atoms.text(&form),
    };
    Ok(words.into_iter().map(form).collect())
}

impl Certificate {
    /// The certificate of a proof of a folder.
    pub fn of(
        emitted: &Emitted,
        proof: &Proof,
        reader: &str,
        elements: Vec<ElementWord>,
        forms: Vec<WordForm>,
    ) -> Result<Self, ToolError> {
        Ok(Self {
            version: 2,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            reader: reader.to_owned(),
            files: hashes(emitted)?,
            input_bits: proof.input_bits,
            words: proof.words,
            atoms: proof.atoms,
            outputs: proof.outputs,
            latency: proof.latency,
            elements,
            forms,
        })
    }

    /// Checks a module against the certificate: the network's elements are the words that it names, and every word has the form
    /// that it states.
    pub fn check(
        &self,
        rtl: &Rtl,
        ports: &Ports,
        program: &Program,
    ) -> Result<(), CertificateError> {
        let forms = checked_forms(rtl, ports, program, &self.elements)?;
        let both = forms.iter().zip(&self.forms);
        let other = both.clone().find(|(own, stated)| own != stated);
        let missing = || {
            let (own, stated) = (forms.get(both.len()), self.forms.get(both.len()));
            own.or(stated).map(|form| form.word.clone())
        };
        match other.map(|pair| pair.1.word.clone()).or_else(missing) {
            Some(word) => Err(CertificateError::Word(word)),
            None => Ok(()),
        }
    }

    /// Writes it into the folder.
    pub fn write(&self, emitted: &Emitted) -> Result<(), ToolError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        emitted.write("certificate.json", &text).map(|_| ())
    }

    /// The certificate of a folder.
    pub fn read(emitted: &Emitted) -> Result<Self, ToolError> {
        let path = emitted.path.join("certificate.json");
        if !path.is_file() {
            return Err(ToolError::file(
                path,
                "is not there; `ch prove` without --check writes it",
            ));
        }
        let text = crate::folder::read(&path)?;
        serde_json::from_str(&text).map_err(|error| {
            let message =
                format!("cannot be read: {error}; `ch prove` without --check writes it anew");
            ToolError::file(&path, &message)
        })
    }

    /// The first file of the folder that is not the one that was proved.
    pub fn changed(&self, emitted: &Emitted) -> Result<Option<String>, ToolError> {
        let now = hashes(emitted)?;
        let differs = |own: &&(String, String)| !self.files.contains(own);
        Ok(now.iter().find(differs).map(|own| own.0.clone()))
    }
}

fn hashes(emitted: &Emitted) -> Result<Vec<(String, String)>, ToolError> {
    let hash = |name: &str| {
        let path = emitted.path.join(name);
        let bytes = fs::read(&path).map_err(|error| ToolError::file(&path, &error))?;
        let digest = Sha256::digest(&bytes);
        let text = digest.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok((name.to_owned(), text))
    };
    FILES.iter().map(|name| hash(name)).collect()
}
