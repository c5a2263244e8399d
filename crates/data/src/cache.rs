//! Prepared rows on disk, so that a large file is read and prepared once.
//!
//! A cache is one file: a header of ten 64-bit words (little-endian), then the rows as f32, then a byte of label and a
//! byte of part for each row. It belongs to the size, time and ends of the file it was made from, and its own
//! checksum is verified before use. Whatever is wrong with a cache, it is made anew.

use crate::dataset::Rows;
use crate::error::DataError;
use crate::hash;
use crate::options::OpenOptions;
use crate::places;
use crate::prepare::TEST;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const MAGIC: u64 = u64::from_le_bytes(*b"MASEROWS");
/// To be raised when the preparation or the layout changes.
const VERSION: u64 = 1;
const HEADER_BYTES: usize = 80;
/// Bytes at either end of the source that are part of its identity.
const END_BYTES: u64 = 1 << 16;

/// Rows and the part of each.
#[derive(Debug, PartialEq)]
pub(crate) struct Prepared {
    pub rows: Rows,
    pub parts: Vec<u8>,
}

/// The number of features and classes that the rows must have.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub width: usize,
    pub n_classes: usize,
}

/// The source that a cache must have been made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    size: u64,
    modified: u64,
    ends: u64,
}

/// The rows prepared from `source` earlier, else those that `prepare` gives, kept for the next time.
pub(crate) fn prepared(
    source: &Path,
    shape: Shape,
    options: &OpenOptions,
    prepare: impl FnOnce() -> Result<Prepared, DataError>,
) -> Result<Prepared, DataError> {
    let identity = identity(source).map_err(|error| DataError::Io {
        path: source.to_owned(),
        error,
    })?;
    let places = places_of(source, identity);
    for place in &places {
        match read(place, identity, shape) {
            Ok(prepared) => return Ok(prepared),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => options.report(&format!(
                "{}: {error}; preparing the data anew",
                place.display()
            )),
        }
    }
    let prepared = prepare()?;
    let bytes = encode(&prepared, identity, shape);
    let mut failure = None;
    for place in &places {
        match write(place, &bytes) {
            Ok(()) => return Ok(prepared),
            Err(error) => failure = Some(format!("{}: {error}", place.display())),
        }
    }
    if let Some(failure) = failure {
        options.report(&format!("the prepared data could not be kept: {failure}"));
    }
    Ok(prepared)
}

/// Beside the source, else in the user's cache.
fn places_of(source: &Path, identity: Identity) -> Vec<PathBuf> {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let beside = source.with_file_name(format!("{name}.prepared"));
    let number = hash::mix(hash::mix(identity.ends, identity.size), identity.modified);
    let shared = places::user_cache()
        .map(|cache| cache.join("prepared").join(format!("{name}.{number:016x}")));
    [Some(beside), shared].into_iter().flatten().collect()
}

fn identity(source: &Path) -> io::Result<Identity> {
    let mut file = File::open(source)?;
    let metadata = file.metadata()?;
    let since_epoch = metadata
        .modified()?
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let mut ends = Vec::new();
    file.by_ref().take(END_BYTES).read_to_end(&mut ends)?;
    file.seek(SeekFrom::Start(metadata.len().saturating_sub(END_BYTES)))?;
    file.take(END_BYTES).read_to_end(&mut ends)?;
    Ok(Identity {
        size: metadata.len(),
        modified: since_epoch.as_nanos() as u64,
        ends: hash::bytes(&ends),
    })
}

fn header(
    identity: Identity,
    shape: Shape,
    n_rows: usize,
    checksum: u64,
) -> [u64; HEADER_BYTES / 8] {
    [
        MAGIC,
        VERSION,
        identity.size,
        identity.modified,
        identity.ends,
        n_rows as u64,
        shape.width as u64,
        shape.n_classes as u64,
        checksum,
        // Reserved.
        0,
    ]
}

fn encode(prepared: &Prepared, identity: Identity, shape: Shape) -> Vec<u8> {
    let Prepared { rows, parts } = prepared;
    let checksum = hash::dataset(&rows.values, &rows.labels, parts);
    let mut bytes = Vec::new();
    for word in header(identity, shape, parts.len(), checksum) {
        bytes.extend(word.to_le_bytes());
    }
    for value in &rows.values {
        bytes.extend(value.to_le_bytes());
    }
    bytes.extend(rows.labels.iter().map(|&label| label as u8));
    bytes.extend(parts);
    bytes
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    interop::write_file(path, bytes)
}

fn read(path: &Path, identity: Identity, shape: Shape) -> io::Result<Prepared> {
    let mut file = File::open(path)?;
    let n_bytes = file.metadata()?.len();
    let mut words = [0; HEADER_BYTES];
    file.read_exact(&mut words)?;
    let (words, _) = words.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let (n_rows, checksum) = (words[5], words[8]);
    let row_bytes = shape.width as u64 * 4 + 2;
    let expected = n_rows
        .checked_mul(row_bytes)
        .and_then(|bytes| bytes.checked_add(HEADER_BYTES as u64));
    if words != header(identity, shape, n_rows as usize, checksum) {
        return Err(invalid("was made from other data or by another version"));
    }
    if expected != Some(n_bytes) {
        return Err(invalid("has the wrong length"));
    }
    let n_rows = n_rows as usize;
    let rows = Rows {
        values: read_floats(&mut file, n_rows * shape.width)?,
        labels: read_bytes(&mut file, n_rows)?
            .into_iter()
            .map(u32::from)
            .collect(),
        width: shape.width,
    };
    let parts = read_bytes(&mut file, n_rows)?;
    let is_sound = hash::dataset(&rows.values, &rows.labels, &parts) == checksum
        && rows
            .labels
            .iter()
            .all(|&label| (label as usize) < shape.n_classes)
        && parts.iter().all(|&part| part <= TEST);
    if is_sound {
        Ok(Prepared { rows, parts })
    } else {
        Err(invalid("is damaged"))
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Piece by piece, so that the rows are held once.
fn read_floats(file: &mut File, count: usize) -> io::Result<Vec<f32>> {
    let mut values = Vec::with_capacity(count);
    let mut piece = vec![0; 1 << 20];
    while values.len() < count {
        let n_bytes = piece.len().min((count - values.len()) * 4);
        file.read_exact(&mut piece[..n_bytes])?;
        let floats = piece[..n_bytes].chunks_exact(4);
        values.extend(
            floats.map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        );
    }
    Ok(values)
}

fn read_bytes(file: &mut File, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A piece has 262 144 floats.
    #[test]
    fn floats_of_several_pieces_are_read_whole() {
        let path = std::env::temp_dir().join(format!("data-cache-{}", std::process::id()));
        for count in [0, 1, 262_144, 262_145, 600_000] {
            let values: Vec<f32> = (0..count).map(|k| k as f32).collect();
            let bytes: Vec<u8> = values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect();
            fs::write(&path, [&bytes[..], b"rest"].concat()).unwrap();
            let mut file = File::open(&path).unwrap();
            assert!(read_floats(&mut file, count).unwrap() == values, "{count}");
            assert_eq!(read_bytes(&mut file, 4).unwrap(), b"rest");
            assert!(read_bytes(&mut file, 1).is_err());
        }
        fs::remove_file(path).unwrap();
    }

    /// A whole file with a right checksum may still hold labels and parts that there are not.
    #[test]
    fn rows_have_labels_of_the_classes_and_one_of_three_parts() {
        let path = std::env::temp_dir().join(format!("data-cache-labels-{}", std::process::id()));
        let identity = Identity {
            size: 7,
            modified: 8,
            ends: 9,
        };
        let shape = Shape {
            width: 2,
            n_classes: 3,
        };
        let reread = |label: u32, part: u8| {
            let prepared = Prepared {
                rows: Rows {
                    values: vec![0.5, -1.0, 2.0, 4.0],
                    labels: vec![0, label],
                    width: 2,
                },
                parts: vec![0, part],
            };
            write(&path, &encode(&prepared, identity, shape)).unwrap();
            let read = read(&path, identity, shape).map_err(|error| error.to_string());
            assert!(read.as_ref().is_ok_and(|read| *read == prepared) || read.is_err());
            read.map(|_| ())
        };
        assert_eq!(TEST, 2);
        assert_eq!(reread(2, 2), Ok(()));
        assert_eq!(reread(3, 2), Err("is damaged".to_owned()));
        assert_eq!(reread(2, 3), Err("is damaged".to_owned()));
        fs::remove_file(path).unwrap();
    }
}
