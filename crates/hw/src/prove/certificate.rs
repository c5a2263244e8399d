//! `certificate.json`: what was proved, of which files, by which versions.

use super::Proof;
use crate::folder::Emitted;
use crate::tools::ToolError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;

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
}

impl Certificate {
    /// The certificate of a proof of a folder.
    pub fn of(emitted: &Emitted, proof: &Proof, reader: &str) -> Result<Self, ToolError> {
        Ok(Self {
            version: 1,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            reader: reader.to_owned(),
            files: hashes(emitted)?,
            input_bits: proof.input_bits,
            words: proof.words,
            atoms: proof.atoms,
            outputs: proof.outputs,
            latency: proof.latency,
        })
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
        serde_json::from_str(&text).map_err(|error| ToolError::file(&path, &error))
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
