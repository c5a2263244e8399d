//! The container before PyTorch 1.6: five pickles (magic number, version, system, object, keys), then for every key
//! the number of elements and the elements.

use super::container::stream;
use super::tensor::Reference;
use crate::Budget;
use crate::error::Problem;
use crate::pickle::{Pickle, View};
use std::collections::BTreeMap;

const MAGIC: i128 = 0x1950_a86a_20f9_469c_fc6c;

/// A pickle and its storages by key.
type Parts<'a> = (Pickle, BTreeMap<String, &'a [u8]>);

/// The object and its storages, or `None` when the file does not start with the magic number.
pub fn open<'a>(bytes: &'a [u8], budget: &Budget) -> Result<Option<Parts<'a>>, Problem> {
    // A file of another kind is only tried, and what it takes is free again.
    let Ok((magic, mut at)) = stream("magic number", bytes, &budget.clone()) else {
        return Ok(None);
    };
    if magic.root().int() != Some(MAGIC) {
        return Ok(None);
    }
    let mut next = |part: &str| {
        let (pickle, length) = stream(part, &bytes[at..], budget)?;
        at += length;
        Ok::<_, Problem>(pickle)
    };
    next("format version")?;
    let system = next("system")?;
    let little = system.root().get("little_endian").and_then(View::int);
    if little == Some(0) {
        return Err(Problem::part("system", "only little-endian files are read"));
    }
    let object = next("object")?;
    let keys = next("storage keys")?;
    let storages = storages(&object, &keys, &bytes[at..], budget)?;
    Ok(Some((object, storages)))
}

fn storages<'a>(
    object: &Pickle,
    keys: &Pickle,
    mut bytes: &'a [u8],
    budget: &Budget,
) -> Result<BTreeMap<String, &'a [u8]>, Problem> {
    let mut sizes = BTreeMap::new();
    for reference in object.persistents() {
        let reference = Reference::read(reference, budget)?;
        sizes.insert(
            reference.key,
            reference.dtype.map_or(1, crate::dtype::DType::size),
        );
    }
    let mut storages = BTreeMap::new();
    let keys = keys.root();
    let keys = keys
        .elements()
        .ok_or_else(|| Problem::part("storage keys", "are not a list"))?;
    for key in keys {
        let key = key.text().unwrap_or_default();
        let part = || format!("storage {key}");
        let size = sizes
            .get(key)
            .ok_or_else(|| Problem::part(part(), "no tensor refers to it"))?;
        let (count, rest) = bytes
            .split_first_chunk()
            .ok_or_else(|| Problem::part(part(), "the file ends before it"))?;
        let count = u64::from_le_bytes(*count);
        let length = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(*size));
        let data = length.and_then(|length| rest.split_at_checked(length));
        let Some((data, rest)) = data else {
            let message = format!(
                "{count} elements of {size} bytes are announced, {} bytes are left",
                rest.len()
            );
            return Err(Problem::part(part(), message));
        };
        budget.take(key.len() as u64)?;
        storages.insert(key.to_owned(), data);
        bytes = rest;
    }
    Ok(storages)
}
