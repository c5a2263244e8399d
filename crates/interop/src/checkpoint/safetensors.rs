//! Safetensors: the length of a JSON header, the header, the elements.
//!
//! The reader is our own because it preserves the order of the file and names the tensor that is wrong. A training is kept
//! in the header's metadata under the key `mase`; its moments are tensors with a prefix.

use super::counters::{Entry, with_counters};
use super::{Checkpoint, Kind, NamedTensor, OptimizerState, Training};
use crate::Budget;
use crate::dtype::{DType, f32_bytes};
use crate::error::Problem;
use serde_json::{Map, Value as Json, json};

/// Bytes that a byte of the header takes as JSON, in the worst case.
const HEADER_RATIO: usize = 32;
/// The format's own limit.
const MAX_HEADER: u64 = 100_000_000;
const METADATA: &str = "__metadata__";
/// The key of the metadata under which ours is.
const OURS: &str = "mase";
const FIRST: &str = "mase.optimizer.first.";
const SECOND: &str = "mase.optimizer.second.";

/// True for a file that starts as safetensors do: a length that fits, then a brace.
pub fn is_safetensors(bytes: &[u8]) -> bool {
    split(bytes).is_some_and(|(header, _)| header.starts_with(b"{"))
}

/// Reads a file.
pub fn decode(bytes: &[u8], budget: &Budget) -> Result<Checkpoint, Problem> {
    let bad = || Problem::part("header", "is not JSON of the length announced");
    let (header, data) = split(bytes).ok_or_else(bad)?;
    budget.take_array(header.len(), HEADER_RATIO)?;
    let header: Json = serde_json::from_slice(header)
        .map_err(|error| Problem::part("header", error.to_string()))?;
    let Json::Object(mut header) = header else {
        return Err(bad());
    };
    let metadata = header.shift_remove(METADATA).unwrap_or(Json::Null);
    check_metadata(&metadata)?;
    let checkpoint = Checkpoint {
        kind: Kind::Safetensors,
        tensors: read_tensors(&header, data, budget)?,
        training: None,
        graph: None,
        metadata,
    };
    match checkpoint.metadata.get(OURS).and_then(Json::as_str) {
        Some(ours) => {
            let ours: Json = serde_json::from_str(ours)
                .map_err(|error| Problem::part("metadata mase", error.to_string()))?;
            Ok(read_ours(&ours, checkpoint))
        }
        None => Ok(checkpoint),
    }
}

/// The bytes of a file.
pub fn encode(checkpoint: &Checkpoint) -> Result<Vec<u8>, Problem> {
    let training = checkpoint.training.as_ref();
    let steps = training.map_or(0, |training| training.global_step);
    let ours = json!({
        "version": 1,
        "training": training.map(training_json),
        "graph": checkpoint.graph,
        "metadata": checkpoint.metadata,
    });
    let mut header = Map::new();
    header.insert(METADATA.to_owned(), json!({ OURS: ours.to_string() }));
    let mut data = Vec::new();
    for entry in with_counters(&checkpoint.tensors, steps) {
        if [FIRST, SECOND]
            .iter()
            .any(|prefix| entry.name().starts_with(prefix))
        {
            return Err(Problem::part(
                entry.name(),
                "the name is kept for the optimiser",
            ));
        }
        match entry {
            Entry::Float(tensor) => push_float(&mut header, &mut data, "", tensor)?,
            Entry::Counter(name, count) => {
                push(
                    &mut header,
                    &mut data,
                    name,
                    ("I64", &[]),
                    count.to_le_bytes().to_vec(),
                )?;
            }
        }
    }
    if let Some(optimizer) = training.and_then(|training| training.optimizer.as_ref()) {
        for (prefix, moments) in [(FIRST, &optimizer.first), (SECOND, &optimizer.second)] {
            for tensor in moments {
                push_float(&mut header, &mut data, prefix, tensor)?;
            }
        }
    }
    Ok(join(&header, &data))
}

/// The header and the elements.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER {
        return None;
    }
    rest.split_at_checked(length as usize)
}

/// Spaces behind the header let the elements start at a multiple of eight.
fn join(header: &Map<String, Json>, data: &[u8]) -> Vec<u8> {
    let mut text = Json::Object(header.clone()).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    [&(text.len() as u64).to_le_bytes(), text.as_slice(), data].concat()
}

fn push_float(
    header: &mut Map<String, Json>,
    data: &mut Vec<u8>,
    prefix: &str,
    tensor: &NamedTensor,
) -> Result<(), Problem> {
    let bytes = f32_bytes(&tensor.values);
    push(
        header,
        data,
        format!("{prefix}{}", tensor.name),
        ("F32", &tensor.shape),
        bytes,
    )
}

fn push(
    header: &mut Map<String, Json>,
    data: &mut Vec<u8>,
    name: String,
    (dtype, shape): (&str, &[usize]),
    bytes: Vec<u8>,
) -> Result<(), Problem> {
    let start = data.len();
    data.extend(bytes);
    if name == METADATA || header.contains_key(&name) {
        return Err(Problem::part(name, "the name is taken"));
    }
    let entry = json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, data.len()] });
    header.insert(name, entry);
    Ok(())
}

/// Every tensor in the order of the elements, which must follow each other without holes.
fn read_tensors(
    header: &Map<String, Json>,
    data: &[u8],
    budget: &Budget,
) -> Result<Vec<NamedTensor>, Problem> {
    let mut entries = Vec::new();
    for (name, entry) in header {
        let entry = Stored::read(entry)
            .ok_or_else(|| Problem::part(name, "an entry without dtype, shape and data_offsets"))?;
        entries.push((name, entry));
    }
    entries.sort_by_key(|(_, entry)| (entry.start, entry.end));
    let mut at = 0;
    let mut tensors = Vec::with_capacity(entries.len());
    for (name, entry) in entries {
        let stored = entry.end.saturating_sub(entry.start);
        // The smallest elements have one byte, and become four.
        budget.take_array(stored.min(data.len()), size_of::<f32>())?;
        let values = entry
            .values(at, data)
            .map_err(|message| Problem::part(name, message))?;
        at = entry.end;
        tensors.push(NamedTensor {
            name: name.clone(),
            shape: entry.shape,
            values,
        });
    }
    if at != data.len() {
        let message = format!(
            "{} bytes of elements, the header describes {at}",
            data.len()
        );
        return Err(Problem::part("elements", message));
    }
    Ok(tensors)
}

/// An entry of the header.
struct Stored<'a> {
    dtype: &'a str,
    shape: Vec<usize>,
    start: usize,
    end: usize,
}

impl<'a> Stored<'a> {
    fn read(entry: &'a Json) -> Option<Self> {
        let sizes = |key: &str| -> Option<Vec<usize>> {
            let sizes = entry.get(key)?.as_array()?.iter();
            sizes
                .map(|size| usize::try_from(size.as_u64()?).ok())
                .collect()
        };
        let &[start, end] = sizes("data_offsets")?.as_slice() else {
            return None;
        };
        Some(Self {
            dtype: entry.get("dtype")?.as_str()?,
            shape: sizes("shape")?,
            start,
            end,
        })
    }

    fn values(&self, at: usize, data: &[u8]) -> Result<Vec<f32>, String> {
        let (start, end) = (self.start, self.end);
        let dtype = DType::of_safetensors(self.dtype)
            .ok_or_else(|| format!("elements of {} are not read", self.dtype))?;
        let size = self
            .shape
            .iter()
            .try_fold(dtype.size(), |n, &size| n.checked_mul(size));
        if end.checked_sub(start) != size || size.is_none() {
            return Err(format!(
                "bytes {start} to {end} do not hold {} of shape {:?}",
                self.dtype, self.shape
            ));
        }
        if start != at {
            return Err(format!(
                "starts at byte {start}, the tensor before it ends at {at}"
            ));
        }
        let bytes = data.get(start..end);
        let bytes =
            bytes.ok_or_else(|| format!("ends at byte {end}, the file has {}", data.len()))?;
        Ok(dtype.values(bytes))
    }
}

/// The format's metadata is a dict of texts.
fn check_metadata(metadata: &Json) -> Result<(), Problem> {
    let is_text = |map: &Map<String, Json>| map.values().all(Json::is_string);
    if metadata.is_null() || metadata.as_object().is_some_and(is_text) {
        return Ok(());
    }
    Err(Problem::part(METADATA, "is not a dict of texts"))
}

fn read_ours(ours: &Json, mut checkpoint: Checkpoint) -> Checkpoint {
    let first = take_prefixed(&mut checkpoint.tensors, FIRST);
    let second = take_prefixed(&mut checkpoint.tensors, SECOND);
    checkpoint.training = read_training(&ours["training"], first, second);
    checkpoint.graph = ours["graph"].as_str().map(str::to_owned);
    checkpoint.metadata = ours["metadata"].clone();
    checkpoint
}

fn take_prefixed(tensors: &mut Vec<NamedTensor>, prefix: &str) -> Vec<NamedTensor> {
    let (taken, kept) = std::mem::take(tensors)
        .into_iter()
        .partition(|tensor| tensor.name.starts_with(prefix));
    *tensors = kept;
    let mut taken: Vec<NamedTensor> = taken;
    for tensor in &mut taken {
        tensor.name.drain(..prefix.len());
    }
    taken
}

fn training_json(training: &Training) -> Json {
    json!({
        "epoch": training.epoch,
        "global_step": training.global_step,
        "hyper_parameters": training.hyper_parameters,
        "resume": training.resume,
        "optimizer": training.optimizer.as_ref().map(|optimizer| json!({
            "name": optimizer.name,
            "steps": optimizer.steps,
            "learning_rate": optimizer.learning_rate,
            "weight_decay": optimizer.weight_decay,
        })),
    })
}

fn read_training(
    json: &Json,
    first: Vec<NamedTensor>,
    second: Vec<NamedTensor>,
) -> Option<Training> {
    let optimizer = json.get("optimizer").and_then(|optimizer| {
        Some(OptimizerState {
            name: optimizer.get("name")?.as_str()?.to_owned(),
            steps: optimizer.get("steps")?.as_u64()?,
            learning_rate: optimizer.get("learning_rate")?.as_f64()?,
            weight_decay: optimizer.get("weight_decay")?.as_f64()?,
            first,
            second,
        })
    });
    Some(Training {
        epoch: json.get("epoch")?.as_u64()?,
        global_step: json.get("global_step")?.as_u64()?,
        optimizer,
        hyper_parameters: json.get("hyper_parameters")?.as_object()?.clone(),
        resume: json.get("resume")?.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_are_texts_by_name() {
        for (metadata, is_read) in [
            (json!(null), true),
            (json!({}), true),
            (json!({"format": "pt"}), true),
            (json!({"format": 1}), false),
            (json!({"a": "b", "c": null}), false),
            (json!(["format"]), false),
            (json!("pt"), false),
        ] {
            let checked = check_metadata(&metadata);
            assert_eq!(checked.is_ok(), is_read, "{metadata}");
            if let Err(problem) = checked {
                assert_eq!(problem.to_string(), "__metadata__: is not a dict of texts");
            }
        }
    }
}
