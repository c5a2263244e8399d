//! Checkpoints: named tensors, and what a training needs to go on.
//!
//! Four kinds of file are read and written. What a file is follows from its content, never from its name, and
//! nothing in it is executed: a pickle is read as data (`pickle.rs`), a tensor from its description (`torch.rs`).

use crate::error::{InteropError, Problem};
use crate::torch;
use crate::{Budget, bounded};
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

mod counters;
mod lightning;
mod metadata;
mod mz;
mod optimizer;
mod safetensors;
pub(crate) mod state_dict;

/// Larger files are refused: 16 GiB.
pub const MAX_BYTES: u64 = 1 << 34;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A checkpoint of PyTorch Lightning.
    Lightning,
    /// A state dict of PyTorch, alone or under the key `state_dict`.
    StateDict,
    /// Safetensors.
    Safetensors,
    /// Our own: graph, tensors and metadata in one file.
    Mz,
}

/// A word that names no kind of checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown checkpoint type '{0}'; known are pl, pt, mz, safetensors and auto")]
pub struct UnknownKind(pub String);

/// A tensor by its dotted name, its values as f32 in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTensor {
    /// The dotted name, `seq_blocks.2.weight`.
    pub name: String,
    /// The axes; empty for a single number.
    pub shape: Vec<usize>,
    /// The elements, the last axis fastest. Other number types are rounded to the nearest f32.
    pub values: Vec<f32>,
}

/// The state of an optimiser between steps.
#[derive(Clone, Debug, PartialEq)]
pub struct OptimizerState {
    /// `adam`, `adamw` or `sgd`.
    pub name: String,
    /// Updates made.
    pub steps: u64,
    /// The learning rate of the next step.
    pub learning_rate: f64,
    /// The weight decay.
    pub weight_decay: f64,
    /// First moments of the gradients, or the momentum of SGD, by parameter name in the order of the parameters.
    pub first: Vec<NamedTensor>,
    /// Second moments of the gradients; empty for SGD.
    pub second: Vec<NamedTensor>,
}

/// The progress of a training.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Training {
    /// Index of the epoch, from zero.
    pub epoch: u64,
    /// Optimiser steps made.
    pub global_step: u64,
    /// The state of the optimiser; `None` when the file has none or it cannot be matched with the parameters.
    pub optimizer: Option<OptimizerState>,
    /// The settings of the training.
    pub hyper_parameters: Map<String, Json>,
    /// Additional state of our own training loop; null in files of others.
    pub resume: Json,
}

/// The content of a file of weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The format of the file, read or to be written.
    pub kind: Kind,
    /// Parameters and buffers in the order of the file; without the `model.` that Lightning puts before every name.
    pub tensors: Vec<NamedTensor>,
    /// The progress of the training, when the file has it.
    pub training: Option<Training>,
    /// The graph's text form, in `.mz` files.
    pub graph: Option<String>,
    /// Further facts: the metadata of the file, and a list of skipped parts.
    pub metadata: Json,
}

impl Kind {
    /// The kind a user names; `None` is `auto`, by content.
    pub fn parse(word: &str) -> Result<Option<Self>, UnknownKind> {
        match word {
            "auto" => Ok(None),
            "pl" => Ok(Some(Self::Lightning)),
            "pt" => Ok(Some(Self::StateDict)),
            "safetensors" => Ok(Some(Self::Safetensors)),
            "mz" => Ok(Some(Self::Mz)),
            _ => Err(UnknownKind(word.to_owned())),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Self::Lightning => "a Lightning checkpoint (pl)",
            Self::StateDict => "a PyTorch state dict (pt)",
            Self::Safetensors => "a safetensors file (safetensors)",
            Self::Mz => "a MASE graph file (mz)",
        })
    }
}

/// Reads a checkpoint. With a `kind`, a file of another kind is an error that names its kind.
pub fn read(path: &Path, kind: Option<Kind>) -> Result<Checkpoint, InteropError> {
    let checkpoint = read_bytes(path).and_then(|bytes| {
        decode(&bytes, kind).map_err(|problem| metadata::name_weights(problem, path, &bytes))
    });
    checkpoint.map_err(|problem| InteropError {
        path: path.to_owned(),
        problem,
    })
}

/// Writes a checkpoint in the format of its kind; the file appears whole or not at all.
pub fn write(path: &Path, checkpoint: &Checkpoint) -> Result<(), InteropError> {
    let written = encode(checkpoint).and_then(|bytes| Ok(crate::write_file(path, &bytes)?));
    written.map_err(|problem| InteropError {
        path: path.to_owned(),
        problem,
    })
}

/// The checkpoint that the bytes of a file are.
pub fn decode(bytes: &[u8], kind: Option<Kind>) -> Result<Checkpoint, Problem> {
    let budget = &Budget::of_size(bytes.len() as u64);
    let checkpoint = if mz::is_mz(bytes) {
        mz::decode(bytes, budget)
    } else if safetensors::is_safetensors(bytes) {
        safetensors::decode(bytes, budget)
    } else if metadata::is_metadata(bytes) {
        Err(metadata::problem())
    } else if bytes.starts_with(b"PK") || torch::starts_like_pickle(bytes) {
        state_dict::decode(bytes, budget)
    } else {
        Err(unknown(bytes))
    }?;
    match kind {
        Some(asked) if asked != checkpoint.kind => Err(Problem::Kind {
            asked,
            found: checkpoint.kind,
        }),
        _ => Ok(checkpoint),
    }
}

/// The bytes of a file that holds this checkpoint. A state dict holds the tensors and nothing else.
pub fn encode(checkpoint: &Checkpoint) -> Result<Vec<u8>, Problem> {
    let optimizer = checkpoint
        .training
        .as_ref()
        .and_then(|training| training.optimizer.as_ref());
    let moments = optimizer
        .iter()
        .flat_map(|state| state.first.iter().chain(&state.second));
    for tensor in checkpoint.tensors.iter().chain(moments) {
        tensor.check()?;
    }
    let mut names = BTreeSet::new();
    for tensor in &checkpoint.tensors {
        if !names.insert(tensor.name.as_str()) {
            return Err(Problem::part(&tensor.name, "the name is taken"));
        }
    }
    match checkpoint.kind {
        Kind::Lightning => lightning::encode(checkpoint),
        Kind::StateDict => state_dict::encode(checkpoint),
        Kind::Safetensors => safetensors::encode(checkpoint),
        Kind::Mz => mz::encode(checkpoint),
    }
}

impl NamedTensor {
    fn check(&self) -> Result<(), Problem> {
        let numel = self
            .shape
            .iter()
            .try_fold(1_usize, |n, &size| n.checked_mul(size));
        if numel == Some(self.values.len()) {
            return Ok(());
        }
        let message = format!(
            "shape {:?} does not have {} values",
            self.shape,
            self.values.len()
        );
        Err(Problem::part(&self.name, message))
    }
}

fn unknown(bytes: &[u8]) -> Problem {
    Problem::Unknown {
        start: first_bytes(bytes),
    }
}

pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    bounded::read(path, MAX_BYTES)?.ok_or(Problem::TooLarge)
}

/// The first bytes of a file, printable.
pub(crate) fn first_bytes(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes[..bytes.len().min(8)].escape_ascii())
}
