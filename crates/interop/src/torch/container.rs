//! Recognition of PyTorch's containers, and the places of their storages.

use super::Tensors;
use super::legacy;
use crate::Budget;
use crate::archive::Archive;
use crate::error::Problem;
use crate::pickle::{Pickle, PickleError, parse};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The source of storages.
pub enum Source<'a> {
    /// Entries `<prefix>data/<key>` of an archive.
    Zip {
        archive: Archive<'a>,
        prefix: String,
    },
    /// Found beforehand, or inside the pickle.
    Memory,
}

/// A file of PyTorch: the description, and what turns descriptions into tensors.
pub fn open<'a>(bytes: &'a [u8], budget: &'a Budget) -> Result<(Pickle, Tensors<'a>), Problem> {
    if bytes.starts_with(b"PK") {
        return open_zip(bytes, budget);
    }
    if bytes.get(257..262) == Some(b"ustar") {
        let message = "the tar format of PyTorch before 0.2 is not read; load and save it with PyTorch 1.6 or later";
        return Err(Problem::part("container", message));
    }
    let (pickle, storages) = match legacy::open(bytes, budget)? {
        Some(parts) => parts,
        None => (stream("pickle", bytes, budget)?.0, BTreeMap::new()),
    };
    let storages = storages
        .into_iter()
        .map(|(key, data)| (key, Cow::Borrowed(data)));
    let tensors = Tensors::new(Source::Memory, storages.collect(), budget);
    Ok((pickle, tensors))
}

/// True for a file that may be a pickle: protocol 2 and later have a mark, older ones start with a container.
pub fn starts_like_pickle(bytes: &[u8]) -> bool {
    matches!(bytes, [0x80, 0..=5, ..] | [b'(' | b'}' | b']' | b'c', ..])
}

/// One pickle stream, with its name in errors.
pub fn stream(part: &str, bytes: &[u8], budget: &Budget) -> Result<(Pickle, usize), Problem> {
    parse(bytes, budget).map_err(|PickleError { at, message }| Problem::Pickle {
        part: part.to_owned(),
        at,
        message,
    })
}

fn open_zip<'a>(bytes: &'a [u8], budget: &'a Budget) -> Result<(Pickle, Tensors<'a>), Problem> {
    let mut archive = Archive::open(bytes, budget)?;
    let name = archive
        .names()
        .find(|name| name == "data.pkl" || name.ends_with("/data.pkl"));
    let Some(name) = name.map(Cow::into_owned) else {
        return Err(Problem::part(
            "zip archive",
            "has no data.pkl, so it is not a file of PyTorch",
        ));
    };
    let prefix = name.trim_end_matches("data.pkl").to_owned();
    if archive.has(&format!("{prefix}constants.pkl")) {
        return Err(Problem::NoTensors(
            "it is a TorchScript program; save its state_dict() instead".to_owned(),
        ));
    }
    let order = format!("{prefix}byteorder");
    if archive.has(&order) && archive.read(&order)? != b"little" {
        return Err(Problem::part(order, "only little-endian files are read"));
    }
    let (pickle, _) = stream(&name, &archive.read(&name)?, budget)?;
    let source = Source::Zip { archive, prefix };
    Ok((pickle, Tensors::new(source, BTreeMap::new(), budget)))
}
