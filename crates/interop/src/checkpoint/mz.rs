//! `.mz`, one file for a graph: a zip archive of `mz.json` (version), `graph.mg` (text form) and
//! `weights.safetensors` (tensors, training and metadata).

use super::{Checkpoint, Kind, safetensors};
use crate::Budget;
use crate::archive::{Archive, pack};
use crate::error::Problem;
use serde_json::{Value as Json, json};

/// The version that is written, and the newest that is read.
const VERSION: u64 = 1;
const ABOUT: &str = "mz.json";
const GRAPH: &str = "graph.mg";
const WEIGHTS: &str = "weights.safetensors";

/// True for an archive with our own description.
pub fn is_mz(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK")
        && Archive::open(bytes, &Budget::of_size(0)).is_ok_and(|archive| archive.has(ABOUT))
}

/// Reads a file.
pub fn decode(bytes: &[u8], budget: &Budget) -> Result<Checkpoint, Problem> {
    let mut archive = Archive::open(bytes, budget)?;
    let about: Json = serde_json::from_slice(&archive.read(ABOUT)?)
        .map_err(|error| Problem::part(ABOUT, error.to_string()))?;
    let got = about["version"]
        .as_u64()
        .ok_or_else(|| Problem::part(ABOUT, "has no version"))?;
    if got > VERSION {
        return Err(Problem::Version {
            got,
            known: VERSION,
        });
    }
    let graph = if archive.has(GRAPH) {
        Some(archive.read_text(GRAPH)?)
    } else {
        None
    };
    let weights = safetensors::decode(&archive.read(WEIGHTS)?, budget)?;
    Ok(Checkpoint {
        kind: Kind::Mz,
        graph,
        ..weights
    })
}

/// The bytes of a file.
pub fn encode(checkpoint: &Checkpoint) -> Result<Vec<u8>, Problem> {
    let about = json!({ "version": VERSION }).to_string();
    let weights = Checkpoint {
        graph: None,
        ..checkpoint.clone()
    };
    let weights = safetensors::encode(&weights)?;
    let mut entries = vec![(ABOUT.to_owned(), about.as_bytes())];
    if let Some(graph) = &checkpoint.graph {
        entries.push((GRAPH.to_owned(), graph.as_bytes()));
    }
    entries.push((WEIGHTS.to_owned(), &weights));
    pack(entries)
}
