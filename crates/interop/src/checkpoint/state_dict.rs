//! The contents of a PyTorch file: a Lightning checkpoint, a state dict under a key, or a bare one.

use super::counters::{Entry, with_counters};
use super::{Checkpoint, Kind, NamedTensor, lightning};
use crate::Budget;
use crate::error::Problem;
use crate::pickle::{Out, View};
use crate::torch::{Dense, Storages, Tensors, open};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Lightning's prefix of every name: the attribute of the module that holds the network.
pub const PREFIX: &str = "model.";
/// Keys under which people put a state dict.
const KEYS: &[&str] = &["state_dict", "model_state_dict"];
/// Names of skipped entries that are kept.
const MAX_SKIPPED: usize = 100;

/// The tensors of a state dict, and the names of entries that are none.
pub struct Entries {
    /// By dotted name; those of a Lightning checkpoint without [`PREFIX`].
    pub tensors: Vec<NamedTensor>,
    /// `name (what it is)`.
    pub skipped: Vec<String>,
}

/// Reads a file of PyTorch.
pub fn decode(bytes: &[u8], budget: &Budget) -> Result<Checkpoint, Problem> {
    let (pickle, mut tensors) = open(bytes, budget)?;
    let root = pickle.root();
    let nested = KEYS
        .iter()
        .find_map(|key| root.get(key).filter(|value| value.entries().is_some()));
    let kind = match nested {
        Some(_) if lightning::is_lightning(root) => Kind::Lightning,
        _ => Kind::StateDict,
    };
    let entries = read_entries(nested.unwrap_or(root), &mut tensors, kind)?;
    if kind == Kind::Lightning {
        return lightning::decode(root, &mut tensors, entries);
    }
    Ok(Checkpoint {
        kind,
        tensors: entries.tensors,
        training: None,
        graph: None,
        metadata: skipped_metadata(&entries.skipped),
    })
}

/// The one tensor that a file of PyTorch is; `None` when it is something else.
pub fn decode_tensor(bytes: &[u8], budget: &Budget) -> Result<Option<Dense>, Problem> {
    let (pickle, mut tensors) = open(bytes, budget)?;
    tensors.read(pickle.root())
}

/// Writes the tensors as PyTorch's `torch.save(model.state_dict(), …)` does.
pub fn encode(checkpoint: &Checkpoint) -> Result<Vec<u8>, Problem> {
    let mut storages = Storages::default();
    let steps = checkpoint
        .training
        .as_ref()
        .map_or(0, |training| training.global_step);
    let root = state_dict(&checkpoint.tensors, "", steps, &mut storages);
    storages.pack(&root)
}

/// A state dict with a prefix before every name.
pub fn state_dict(
    tensors: &[NamedTensor],
    prefix: &str,
    steps: u64,
    storages: &mut Storages,
) -> Out {
    let entries = with_counters(tensors, steps).into_iter().map(|entry| {
        let name = Out::text(format!("{prefix}{}", entry.name()));
        let tensor = match entry {
            Entry::Float(tensor) => storages.float(&tensor.shape, &tensor.values),
            Entry::Counter(_, count) => storages.long(count),
        };
        (name, tensor)
    });
    Out::OrderedDict(entries.collect())
}

/// `{"skipped": […]}`, or null when nothing was.
pub fn skipped_metadata(skipped: &[String]) -> Json {
    match skipped {
        [] => Json::Null,
        _ => json!({ "skipped": skipped }),
    }
}

fn read_entries(dict: View, tensors: &mut Tensors, kind: Kind) -> Result<Entries, Problem> {
    let Some(entries) = dict.entries() else {
        let message = format!("it is {}; save a state_dict() instead", dict.describe());
        return Err(Problem::NoTensors(message));
    };
    let mut found: Vec<NamedTensor> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut skipped = Vec::new();
    for (key, value) in entries {
        let Some(name) = key.text() else { continue };
        // The name is copied to the tensor, to the places and where its prefix is stripped; it may be shared by many.
        tensors.budget().take_array(name.len(), 4)?;
        let dense = tensors
            .read(value)
            .map_err(|problem| problem.of_tensor(name))?;
        let Some(dense) = dense else {
            if skipped.len() < MAX_SKIPPED {
                skipped.push(format!("{name} ({})", value.describe()));
            }
            continue;
        };
        let tensor = NamedTensor {
            name: name.to_owned(),
            shape: dense.shape,
            values: dense.values,
        };
        // A key that is set twice has its last value, as in Python.
        if let Some(&place) = places.get(name) {
            found[place] = tensor;
        } else {
            places.insert(name.to_owned(), found.len());
            found.push(tensor);
        }
    }
    if found.is_empty() && kind == Kind::StateDict {
        let message = format!("the dict has {} other entries", skipped.len());
        return Err(Problem::NoTensors(message));
    }
    if kind == Kind::Lightning {
        strip_prefix(&mut found);
    }
    Ok(Entries {
        tensors: found,
        skipped,
    })
}

/// Takes the prefix off the names that have it: metrics and losses may stand beside the model. Names stay as they are
/// when two would become one.
fn strip_prefix(tensors: &mut [NamedTensor]) {
    let stripped = |tensor: &NamedTensor| {
        let name = tensor.name.strip_prefix(PREFIX);
        name.unwrap_or(&tensor.name).to_owned()
    };
    let names: BTreeSet<String> = tensors.iter().map(stripped).collect();
    if names.len() < tensors.len() {
        return;
    }
    for tensor in tensors {
        tensor.name = stripped(tensor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(names: &[&str]) -> Vec<String> {
        let tensor = |name: &&str| NamedTensor {
            name: (*name).to_owned(),
            shape: Vec::new(),
            values: vec![0.0],
        };
        let mut tensors: Vec<NamedTensor> = names.iter().map(tensor).collect();
        strip_prefix(&mut tensors);
        tensors.into_iter().map(|tensor| tensor.name).collect()
    }

    #[test]
    fn the_prefix_stays_where_two_names_would_become_one() {
        assert_eq!(
            stripped(&["model.a", "model.b", "loss"]),
            ["a", "b", "loss"]
        );
        assert_eq!(stripped(&["model.a", "b", "a"]), ["model.a", "b", "a"]);
        assert_eq!(stripped(&["model.model.a"]), ["model.a"]);
    }
}
