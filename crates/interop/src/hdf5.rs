//! HDF5 files whose rows are records with named fields, as CERN publishes its jets.
//!
//! Read a window of rows at a time, so that only the fields asked for are ever held. Fields are floats or integers of
//! either byte order. The label is one-hot: one field for each class, of which exactly one is 1.

use crate::Budget;
use crate::columns::{MAX_ROWS, Table, TableError, TableProblem, column};
use hdf5_pure::{Datatype, DatatypeByteOrder, File, FormatError};
use std::ops::Range;
use std::path::Path;

/// Bytes of a window, unless a single chunk is larger.
const WINDOW_BYTES: u64 = 1 << 23;

/// The fields of a dataset that make the table.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    /// The dataset in the file.
    pub dataset: &'a str,
    /// The fields that are features.
    pub features: &'a [&'a str],
    /// The one-hot fields.
    pub one_hot: &'a [&'a str],
    /// The class of each of them.
    pub classes: &'a [&'a str],
}

/// Reads the table.
pub fn read(path: &Path, records: Records) -> Result<Table, TableError> {
    let wrong = |problem: TableProblem| problem.of(path);
    let size = std::fs::metadata(path)
        .map_err(|error| wrong(error.into()))?
        .len();
    let file = File::open_streaming(path).map_err(|error| wrong(not_hdf5(&error, records)))?;
    table(&file, &Budget::of_size(size), records).map_err(wrong)
}

/// The table in the bytes of a file.
pub fn parse(bytes: Vec<u8>, records: Records) -> Result<Table, TableProblem> {
    let budget = Budget::of_size(bytes.len() as u64);
    let file = File::from_bytes(bytes).map_err(|error| not_hdf5(&error, records))?;
    table(&file, &budget, records)
}

fn not_hdf5(error: &hdf5_pure::Error, records: Records) -> TableProblem {
    TableProblem::Kind {
        kind: "an HDF5 file",
        message: described(error, records),
    }
}

/// An error, with the way out where the file is of a newer version of the format.
fn described(error: &hdf5_pure::Error, records: Records) -> String {
    let is_newer = match error {
        hdf5_pure::Error::Format(FormatError::InvalidLayoutVersion(version)) => *version >= 5,
        hdf5_pure::Error::Format(FormatError::UnsupportedVersion(version)) => *version >= 4,
        hdf5_pure::Error::Format(FormatError::InvalidDatatypeVersion { version, .. }) => {
            *version >= 5
        }
        _ => false,
    };
    if !is_newer {
        return error.to_string();
    }
    let name = records.dataset;
    format!(
        "{error}: it was written by HDF5 2.0 or newer with libver='latest'; write it again in Python as an older \
         version, h5py.File('NEW', 'w', libver=('earliest', 'v110'))['{name}'] = h5py.File('OLD')['{name}'][()]"
    )
}

fn table(file: &File, budget: &Budget, records: Records) -> Result<Table, TableProblem> {
    let place = || format!("dataset '{}'", records.dataset);
    let wrong = |error: hdf5_pure::Error| TableProblem::place(place(), described(&error, records));
    let dataset = file.dataset(records.dataset).map_err(wrong)?;
    let datatype = dataset.datatype().map_err(wrong)?;
    let shape = dataset.shape().map_err(wrong)?;
    let &[n_rows] = shape.as_slice() else {
        return Err(TableProblem::place(
            place(),
            format!("has shape {shape:?}; one axis of records was expected"),
        ));
    };
    let layout = Layout::new(&datatype, records)?;
    let chunk = dataset.chunk_shape().map_err(wrong)?;
    let window = window_rows(chunk.and_then(|axes| axes.first().copied()), &layout);
    check_size(n_rows, window, &layout, budget)?;
    let mut table = Table {
        features: records.features.iter().map(ToString::to_string).collect(),
        classes: records.classes.iter().map(ToString::to_string).collect(),
        ..Table::default()
    };
    table
        .values
        .reserve_exact(n_rows as usize * records.features.len());
    table.labels.reserve_exact(n_rows as usize);
    for start in (0..n_rows).step_by(window as usize) {
        let bytes = dataset.read_raw_rows(start, window).map_err(wrong)?;
        let expected = window.min(n_rows - start) * layout.size as u64;
        if bytes.len() as u64 != expected {
            let message = format!(
                "rows from {} have {} bytes, not {expected}",
                start + 1,
                bytes.len()
            );
            return Err(TableProblem::place(place(), message));
        }
        layout.append(&bytes, &mut table)?;
    }
    Ok(table)
}

/// Whole chunks, as many as fit a window: a chunk is then unpacked once.
fn window_rows(chunk_rows: Option<u64>, layout: &Layout) -> u64 {
    let chunk = chunk_rows.unwrap_or(1).max(1);
    let chunks = WINDOW_BYTES / (layout.size as u64).saturating_mul(chunk).max(1);
    chunk.saturating_mul(chunks.max(1))
}

/// Charges the table, and a window of records twice: packed and unpacked.
fn check_size(
    n_rows: u64,
    window: u64,
    layout: &Layout,
    budget: &Budget,
) -> Result<(), TableProblem> {
    if n_rows == 0 {
        return Err(TableProblem::NoRows);
    }
    if n_rows > MAX_ROWS as u64 {
        return Err(TableProblem::TooLarge {
            what: "rows",
            got: n_rows,
            limit: MAX_ROWS as u64,
        });
    }
    let of_row = (layout.features.len() + 1) as u64 * size_of::<f32>() as u64;
    let table = n_rows.saturating_mul(of_row);
    let windows = window.saturating_mul(layout.size as u64).saturating_mul(2);
    Ok(budget.take(table.saturating_add(windows))?)
}

/// The offsets of the wanted fields in a record.
struct Layout {
    size: usize,
    features: Vec<Field>,
    one_hot: Vec<Field>,
}

struct Field {
    name: String,
    bytes: Range<usize>,
    kind: Kind,
    is_big_endian: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Float,
    Signed,
    Unsigned,
}

impl Layout {
    fn new(datatype: &Datatype, records: Records) -> Result<Self, TableProblem> {
        let Datatype::Compound { size, members } = datatype else {
            let message = "the rows are not records with named fields";
            return Err(TableProblem::place(
                format!("dataset '{}'", records.dataset),
                message,
            ));
        };
        let size = *size as usize;
        let names: Vec<String> = members.iter().map(|member| member.name.clone()).collect();
        let field = |name: &&str| {
            let member = &members[column(&names, name)?];
            Field::new(name, member.byte_offset, &member.datatype)
                .filter(|field| field.bytes.end <= size)
                .ok_or_else(|| {
                    TableProblem::place(
                        format!("column '{name}'"),
                        "is neither a float nor an integer of a record",
                    )
                })
        };
        Ok(Self {
            size,
            features: records
                .features
                .iter()
                .map(field)
                .collect::<Result<_, _>>()?,
            one_hot: records
                .one_hot
                .iter()
                .map(field)
                .collect::<Result<_, _>>()?,
        })
    }

    fn append(&self, bytes: &[u8], table: &mut Table) -> Result<(), TableProblem> {
        for record in bytes.chunks_exact(self.size) {
            let row = table.labels.len() + 1;
            for field in &self.features {
                let value = field.value(record) as f32;
                if !value.is_finite() {
                    return Err(TableProblem::Cell {
                        row,
                        column: field.name.clone(),
                        message: format!("{} is not a finite float32", field.value(record)),
                    });
                }
                table.values.push(value);
            }
            table.labels.push(self.label(record, row)?);
        }
        Ok(())
    }

    fn label(&self, record: &[u8], row: usize) -> Result<u32, TableProblem> {
        let mut label = None;
        for (class, field) in self.one_hot.iter().enumerate() {
            let value = field.value(record);
            let repeated = value == 1.0 && label.replace(class as u32).is_some();
            if repeated || (value != 0.0 && value != 1.0) {
                return Err(TableProblem::Cell {
                    row,
                    column: field.name.clone(),
                    message: format!("{value} is no one-hot label: one field is 1, the others 0"),
                });
            }
        }
        label.ok_or_else(|| {
            TableProblem::place(
                format!("row {row}"),
                "belongs to no class: all one-hot fields are 0",
            )
        })
    }
}

impl Field {
    fn new(name: &str, offset: u64, datatype: &Datatype) -> Option<Self> {
        let (kind, size, order) = match datatype {
            Datatype::FloatingPoint {
                size: size @ (4 | 8),
                byte_order,
                ..
            } => (Kind::Float, *size, byte_order),
            Datatype::FixedPoint {
                size: size @ 1..=8,
                byte_order,
                layout,
            } if layout.signed => (Kind::Signed, *size, byte_order),
            Datatype::FixedPoint {
                size: size @ 1..=8,
                byte_order,
                ..
            } => (Kind::Unsigned, *size, byte_order),
            _ => return None,
        };
        let is_big_endian = match order {
            DatatypeByteOrder::LittleEndian => false,
            DatatypeByteOrder::BigEndian => true,
            DatatypeByteOrder::Vax => return None,
        };
        let start = usize::try_from(offset).ok()?;
        Some(Self {
            name: name.to_owned(),
            bytes: start..start.checked_add(size as usize)?,
            kind,
            is_big_endian,
        })
    }

    fn value(&self, record: &[u8]) -> f64 {
        let bytes = &record[self.bytes.clone()];
        match (self.kind, self.is_big_endian, bytes) {
            (Kind::Float, false, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            (Kind::Float, true, &[a, b, c, d]) => f64::from(f32::from_be_bytes([a, b, c, d])),
            (Kind::Float, ..) => f64::from_bits(self.word(bytes)),
            (Kind::Unsigned, ..) => self.word(bytes) as f64,
            (Kind::Signed, ..) => {
                let unused = 64 - 8 * bytes.len() as u32;
                ((self.word(bytes) << unused) as i64 >> unused) as f64
            }
        }
    }

    fn word(&self, bytes: &[u8]) -> u64 {
        let join = |word: u64, &byte: &u8| (word << 8) + u64::from(byte);
        if self.is_big_endian {
            bytes.iter().fold(0, join)
        } else {
            bytes.iter().rev().fold(0, join)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of this size, of which so many fields are features.
    fn layout(size: usize, n_features: usize) -> Layout {
        let field = |_| Field {
            name: String::new(),
            bytes: 0..1,
            kind: Kind::Unsigned,
            is_big_endian: false,
        };
        Layout {
            size,
            features: (0..n_features).map(field).collect(),
            one_hot: Vec::new(),
        }
    }

    #[test]
    fn a_window_is_the_chunks_that_fit_eight_mebibytes() {
        let cases = [
            // Records without chunks: as many as fit.
            (None, 8, 1 << 20),
            (None, 3, 2_796_202),
            (None, 1 << 24, 1),
            // Chunks: whole ones, and at least one.
            (Some(50), 100, 83_850),
            (Some(1 << 20), 8, 1 << 20),
            (Some(3 << 18), 8, 3 << 18),
            (Some(1 << 30), 8, 1 << 30),
            (Some(0), 8, 1 << 20),
            (Some(u64::MAX), 8, u64::MAX),
        ];
        for (chunk, size, rows) in cases {
            assert_eq!(
                window_rows(chunk, &layout(size, 1)),
                rows,
                "{chunk:?} of {size}"
            );
        }
    }

    /// The charge is exact: the budget of any file is used up by one byte more.
    #[test]
    fn a_table_and_two_windows_are_charged() {
        let charged = |n_rows, window, size, n_features| {
            let budget = Budget::of_size(0);
            check_size(n_rows, window, &layout(size, n_features), &budget)
                .map(|()| budget.max() - budget.left())
        };
        assert_eq!(charged(10, 1, 0, 3).unwrap(), 10 * 16);
        assert_eq!(charged(1, 100, 7, 0).unwrap(), 4 + 1400);
        assert_eq!(charged(7_999_999, 1, 16, 7).unwrap(), 256_000_000);
        for (n_rows, window) in [(8_000_000, 1), (1, 8_000_000), (1, u64::MAX)] {
            let problem = charged(n_rows, window, 16, 7).unwrap_err();
            assert!(matches!(problem, TableProblem::Budget(_)), "{problem}");
        }
    }

    #[test]
    fn rows_are_counted_with_32_bits() {
        let budget = Budget::of_size(u64::MAX);
        let check = |n_rows| check_size(n_rows, 1, &layout(1, 1), &budget);
        assert!(matches!(check(0), Err(TableProblem::NoRows)));
        assert!(check(1).is_ok());
        assert!(check(MAX_ROWS as u64).is_ok());
        assert_eq!(
            check(MAX_ROWS as u64 + 1).unwrap_err().to_string(),
            "has 4294967296 rows, more than the 4294967295 that are read"
        );
    }

    /// The versions that libver='latest' of HDF5 2.0 writes, beside the newest versions that are read.
    #[test]
    fn files_of_a_newer_version_are_told_the_way_out() {
        let records = Records {
            dataset: "rows",
            features: &[],
            one_hot: &[],
            classes: &[],
        };
        let datatype = |version| FormatError::InvalidDatatypeVersion { class: 6, version };
        for (error, is_newer) in [
            (FormatError::InvalidLayoutVersion(4), false),
            (FormatError::InvalidLayoutVersion(5), true),
            (FormatError::UnsupportedVersion(3), false),
            (FormatError::UnsupportedVersion(4), true),
            (datatype(4), false),
            (datatype(5), true),
        ] {
            let text = described(&hdf5_pure::Error::Format(error), records);
            assert_eq!(
                text.contains("['rows'] = h5py.File('OLD')"),
                is_newer,
                "{text}"
            );
        }
    }
}
