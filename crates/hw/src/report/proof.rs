//! The claims of `certificate.json`, as far as reports show them.
//!
//! Only the top of the file is read, leniently: `ch prove --check` judges the rest.

use super::{list, text};
use crate::folder::{self, Emitted};
use serde::Serialize;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The claim of a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// The program that proved, with its version.
    pub program: String,
    /// The tool that read the module.
    pub reader: String,
    /// The files with their SHA-256.
    pub files: Vec<(String, String)>,
    /// The first file that is another one now.
    pub changed: Option<String>,
    /// Bits of the input: the proof is for every value of them.
    pub input_bits: u64,
    /// Words that have an exact form.
    pub words: u64,
    /// Elements of the result that are the network's.
    pub outputs: u64,
    /// Clock cycles from an input to its result.
    pub latency: u64,
}

impl Claim {
    /// The claim of a folder's certificate; none where there is no certificate, or none that can be read.
    pub fn read(emitted: &Emitted) -> Option<Self> {
        let path = emitted.path.join("certificate.json");
        let own = folder::read(&path).ok()?;
        let mut claim = Self::of(&serde_json::from_str(&own).ok()?);
        let is_changed = |(name, hash): &&(String, String)| {
            sha256(&emitted.path.join(name)).as_ref() != Some(hash)
        };
        claim.changed = claim
            .files
            .iter()
            .find(is_changed)
            .map(|(name, _)| name.clone());
        Some(claim)
    }

    fn of(certificate: &Json) -> Self {
        let files = list(certificate, "files").iter().filter_map(|pair| {
            let part = |at: usize| Some(pair.get(at)?.as_str()?.to_owned());
            Some((part(0)?, part(1)?))
        });
        // A list is counted.
        let count = |key: &str| match &certificate[key] {
            Json::Array(all) => all.len() as u64,
            number => number.as_u64().unwrap_or(0),
        };
        Self {
            program: match text(certificate, "program") {
                version if version.starts_with(|c: char| c.is_ascii_digit()) => {
                    format!("mase {version}")
                }
                program => program.to_owned(),
            },
            reader: text(certificate, "reader").to_owned(),
            files: files.collect(),
            changed: None,
            input_bits: count("input_bits"),
            words: count("words"),
            outputs: count("outputs"),
            latency: count("latency"),
        }
    }
}

/// The SHA-256 of a file in hexadecimal digits; none where it cannot be read.
pub fn sha256(path: &Path) -> Option<String> {
    let digest = Sha256::digest(fs::read(path).ok()?);
    Some(digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_claim_is_read_from_any_json() {
        let good = json!({ "program": "1.0", "files": [["a", "b"], ["c"], 5], "words": [1, 2], "outputs": 5 });
        let claim = Claim::of(&good);
        assert_eq!(claim.files, [("a".to_owned(), "b".to_owned())]);
        assert_eq!((claim.words, claim.outputs, claim.latency), (2, 5, 0));
        for hostile in [json!(null), json!([1]), json!({ "files": {} })] {
            assert_eq!(Claim::of(&hostile), Claim::default());
        }
    }
}
