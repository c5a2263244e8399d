//! IDX arrays of bytes, as MNIST is published: a big-endian header, then the elements. Files may be gzipped.

use crate::columns::{self, TableError, TableProblem};
use crate::{Budget, gzip};
use std::io::Read;
use std::path::Path;

/// Larger arrays are refused: 1 GiB.
pub const MAX_BYTES: u64 = 1 << 30;
/// The type of unsigned bytes, the only one that is read.
const UNSIGNED_BYTE: u8 = 8;

/// An array of bytes in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Bytes {
    /// The axes.
    pub shape: Vec<usize>,
    /// The elements, the last axis fastest.
    pub values: Vec<u8>,
}

/// Reads an array.
pub fn read(path: &Path) -> Result<Bytes, TableError> {
    let read = columns::open(path).and_then(|(file, budget)| parse(file, &budget));
    read.map_err(|problem| problem.of(path))
}

/// The array that the content of a file is.
pub fn parse(file: impl Read, budget: &Budget) -> Result<Bytes, TableProblem> {
    let mut reader = gzip::reader(file, budget)?;
    let shape = header(&mut reader)?;
    let expected = shape
        .iter()
        .try_fold(1_u64, |n, &size| n.checked_mul(size as u64))
        .filter(|&n| n <= MAX_BYTES)
        .ok_or_else(|| {
            TableProblem::place(
                "header",
                format!("shape {shape:?} is more than the {MAX_BYTES} bytes that are read"),
            )
        })?;
    // Bytes that become floats: five bytes of memory for each.
    budget.take(expected.saturating_mul(5))?;
    // Memory is taken as bytes come, not as the header promises.
    let mut values = Vec::new();
    reader
        .take(expected + 1)
        .read_to_end(&mut values)
        .map_err(|error| TableProblem::place("elements", error.to_string()))?;
    if values.len() as u64 != expected {
        let got = if values.len() as u64 > expected {
            "more".to_owned()
        } else {
            values.len().to_string()
        };
        return Err(TableProblem::place(
            "elements",
            format!("shape {shape:?} needs {expected} bytes, the file has {got}"),
        ));
    }
    values.shrink_to_fit();
    Ok(Bytes { shape, values })
}

fn header(reader: &mut impl Read) -> Result<Vec<usize>, TableProblem> {
    let not_idx = |message: String| TableProblem::Kind {
        kind: "an IDX file of bytes",
        message,
    };
    let word = |reader: &mut dyn Read| {
        let mut bytes = [0; 4];
        let read = reader.read_exact(&mut bytes);
        read.map(|()| bytes)
            .map_err(|error| not_idx(format!("the header: {error}")))
    };
    let magic = word(reader)?;
    let [0, 0, UNSIGNED_BYTE, rank @ 1..=8] = magic else {
        return Err(not_idx(format!(
            "it starts with {magic:02x?}, not [00, 00, 08, rank]"
        )));
    };
    (0..rank)
        .map(|_| Ok(u32::from_be_bytes(word(reader)?) as usize))
        .collect()
}
