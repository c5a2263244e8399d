//! The tensors of a program: pickled ones, and raw ones with a list of their shapes.

use super::arguments::Extent;
use super::{Layout, ScalarType, Stored, Tensors};
use crate::Budget;
use crate::archive::Archive;
use crate::checkpoint::state_dict;
use crate::dtype::DType;
use crate::error::Problem;
use crate::torch::Layout as Strided;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// All tensors of a file.
pub(super) fn read(
    archive: &mut Archive,
    layout: &Layout,
    budget: &Budget,
) -> Result<Tensors, Problem> {
    let prefix = &layout.prefix;
    if layout.model.is_empty() {
        let mut tensors = Tensors::new();
        for name in ["state_dict", "constants"] {
            let entry = format!("{prefix}serialized_{name}.pt");
            if archive.has(&entry) {
                tensors.extend(pickled(&archive.read(&entry)?, &entry, budget)?);
            }
        }
        return Ok(tensors);
    }
    let mut tensors = Tensors::new();
    for kind in ["weights", "constants"] {
        let folder = format!("{prefix}data/{kind}/");
        let config = format!("{folder}{}_{kind}_config.json", layout.model);
        if archive.has(&config) {
            listed(archive, &folder, &config, budget, &mut tensors)?;
        }
    }
    Ok(tensors)
}

/// The tensors of a pickled dict; an empty dict has none.
fn pickled(bytes: &[u8], entry: &str, budget: &Budget) -> Result<Tensors, Problem> {
    // The archive's budget bounds what is unpacked; this one what the pickle describes.
    let own = Budget::of_size(bytes.len() as u64);
    budget.take_array(bytes.len(), 2)?;
    let read = match state_dict::decode(bytes, &own) {
        Ok(read) => read.tensors,
        Err(Problem::NoTensors(_)) => Vec::new(),
        Err(problem) => return Err(problem.of_tensor(entry)),
    };
    let stored = read.into_iter().map(|tensor| {
        let stored = Stored {
            shape: tensor.shape,
            dtype: None,
            values: tensor.values,
        };
        (tensor.name, stored)
    });
    Ok(stored.collect())
}

/// The tensors that a list names.
fn listed(
    archive: &mut Archive,
    folder: &str,
    config: &str,
    budget: &Budget,
    tensors: &mut Tensors,
) -> Result<(), Problem> {
    let text = archive.read_text(config)?;
    budget.take_array(text.len(), 8)?;
    let json: Json =
        serde_json::from_str(&text).map_err(|error| Problem::part(config, error.to_string()))?;
    // Tensors may be views of one storage.
    let mut storages: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for (name, entry) in json["config"].as_object().into_iter().flatten() {
        let bad = |why: &str| Problem::part(format!("{config}: {name}"), why);
        let path = entry["path_name"].as_str().unwrap_or_default();
        if entry["tensor_meta"].is_null() {
            continue;
        }
        if !storages.contains_key(path) {
            storages.insert(path.to_owned(), archive.read(&format!("{folder}{path}"))?);
        }
        let bytes = &storages[path];
        let meta = &entry["tensor_meta"];
        let stored = if entry["use_pickle"].as_bool() == Some(true) {
            let pickled = state_dict::decode_tensor(bytes, budget)?;
            let dense = pickled.ok_or_else(|| bad("is pickled as PyTorch does not write it"))?;
            Stored {
                shape: dense.shape,
                dtype: None,
                values: dense.values,
            }
        } else {
            let view = View::of(meta).map_err(|key| {
                let value = &meta[key];
                bad(&format!("has the {key} {value}, which is not read"))
            })?;
            view.read(bytes, budget)
                .map_err(|problem| problem.of_tensor(name))?
        };
        tensors.insert(name.clone(), stored);
    }
    Ok(())
}

/// A view of raw bytes.
struct View {
    dtype: ScalarType,
    element: DType,
    shape: Vec<usize>,
    strides: Vec<usize>,
    offset: usize,
}

impl View {
    /// The view that an entry describes, or the key of what is not read.
    fn of(meta: &Json) -> Result<Self, &'static str> {
        let sizes = |key| -> Result<Vec<usize>, &'static str> {
            let extents = meta[key].as_array().ok_or(key)?;
            extents.iter().map(|json| size(json).ok_or(key)).collect()
        };
        let dtype = meta["dtype"].as_u64().and_then(ScalarType::of_number);
        let dtype = dtype.ok_or("dtype")?;
        Ok(Self {
            dtype,
            element: DType::of_torch(dtype.name()).ok_or("dtype")?,
            shape: sizes("sizes")?,
            strides: sizes("strides")?,
            offset: size(&meta["storage_offset"]).ok_or("storage_offset")?,
        })
    }

    fn read(self, bytes: &[u8], budget: &Budget) -> Result<Stored, Problem> {
        let Self { shape, strides, .. } = self;
        let n_strides = strides.len();
        let layout = Strided::new(self.offset, shape.clone(), strides).ok_or_else(|| {
            let message = format!(
                "has {} axes and {n_strides} strides, which is not read",
                shape.len()
            );
            Problem::part("tensor", message)
        })?;
        Ok(Stored {
            values: layout.values(bytes, self.element, budget)?,
            shape,
            dtype: Some(self.dtype),
        })
    }
}

fn size(json: &Json) -> Option<usize> {
    match Extent::read(json)? {
        Extent::Number(number) => usize::try_from(number).ok(),
        Extent::Name(_) => None,
    }
}
