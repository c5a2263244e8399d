//! `jsc-openml`: the jets of `OpenML` 42468, from its ARFF or Parquet file or from the four arrays of the hls4ml tutorial.
//!
//! The table is prepared as `jsc` is. The tutorial's arrays are standardised and split already, and stay as they
//! are; only the validation rows are taken from its training part.

use super::{file, jsc};
use crate::cache::{self, Prepared, Shape};
use crate::catalog::{FileEntry, Origin};
use crate::dataset::{Dataset, Rows};
use crate::download::{Check, Kind};
use crate::error::DataError;
use crate::open::Request;
use crate::prepare;
use interop::arff;
use interop::npy::{self, Array};
use std::path::Path;

/// The table that `OpenML` publishes, with no checksum that could be compared.
pub(crate) const TABLE: &[FileEntry] = &[FileEntry {
    names: &[
        "hls4ml_lhc_jets_hlf.arff",
        "hls4ml_lhc_jets_hlf.arff.gz",
        "hls4ml_lhc_jets_hlf.parquet",
        "hls4ml_lhc_jets_hlf.pq",
        "dataset_42468.pq",
    ],
    origin: Some(Origin {
        url: "openml:42468",
        n_bytes: None,
        check: Check::Kind(Kind::Arff),
    }),
}];
/// The tutorial's arrays.
pub(crate) const ARRAYS: &[FileEntry] = &[
    FileEntry::local(&["X_train_val.npy"]),
    FileEntry::local(&["y_train_val.npy"]),
    FileEntry::local(&["X_test.npy"]),
    FileEntry::local(&["y_test.npy"]),
];

#[rustfmt::skip]
const FEATURES: &[&str] = &[
    "zlogz", "c1_b0_mmdt", "c1_b1_mmdt", "c1_b2_mmdt", "c2_b1_mmdt", "c2_b2_mmdt", "d2_b1_mmdt", "d2_b2_mmdt",
    "d2_a1_b1_mmdt", "d2_a1_b2_mmdt", "m2_b1_mmdt", "m2_b2_mmdt", "n2_b1_mmdt", "n2_b2_mmdt", "mass_mmdt",
    "multiplicity",
];

/// Reads whichever form was found.
pub(crate) fn load(request: &Request) -> Result<Dataset, DataError> {
    let prepared = if request.paths.len() == 1 {
        read_table(request, &request.paths[0])?
    } else {
        read_arrays(request)?
    };
    let features = FEATURES.iter().map(ToString::to_string).collect();
    Ok(jsc::assemble(request, features, prepared))
}

fn read_table(request: &Request, path: &Path) -> Result<Prepared, DataError> {
    let shape = Shape {
        width: FEATURES.len(),
        n_classes: request.entry.classes.len(),
    };
    cache::prepared(path, shape, request.options, || {
        let ending = path.extension().unwrap_or_default();
        let table = if ending == "parquet" || ending == "pq" {
            file::read_parquet(path, "class")?.0
        } else {
            arff::read(path, "class")?
        };
        for (what, found, expected) in [
            ("columns", &table.features, FEATURES),
            ("classes", &table.classes, request.entry.classes),
        ] {
            if found != expected {
                let message = format!("has the {what} {found:?}, not {expected:?}");
                return Err(wrong(path, message));
            }
        }
        jsc::prepare_table(request, table)
    })
}

fn read_arrays(request: &Request) -> Result<Prepared, DataError> {
    let mut rows = Rows {
        values: Vec::new(),
        labels: Vec::new(),
        width: FEATURES.len(),
    };
    let mut counts = [0; 2];
    for (count, pair) in counts.iter_mut().zip(request.paths.chunks_exact(2)) {
        let features = npy::read(&pair[0])?;
        let labels = one_hot(&pair[1], request.entry.classes.len())?;
        check_features(&pair[0], &features, labels.len())?;
        *count = labels.len();
        rows.values.extend(features.values);
        rows.labels.extend(labels);
    }
    let parts = prepare::split_given(counts[0], counts[1]);
    Ok(Prepared { rows, parts })
}

fn check_features(path: &Path, array: &Array, n_rows: usize) -> Result<(), DataError> {
    let width = FEATURES.len();
    if array.shape != [n_rows, width] || n_rows == 0 {
        let message = format!(
            "has shape {:?}; [{n_rows}, {width}] was expected",
            array.shape
        );
        return Err(wrong(path, message));
    }
    match array.values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => {
            let (row, column) = (at / width + 1, FEATURES[at % width]);
            Err(wrong(
                path,
                format!(
                    "row {row}, column '{column}': {} is not finite",
                    array.values[at]
                ),
            ))
        }
    }
}

/// The class of every row of a one-hot array.
fn one_hot(path: &Path, n_classes: usize) -> Result<Vec<u32>, DataError> {
    let array = npy::read(path)?;
    if array.shape.len() != 2 || array.shape[1] != n_classes {
        let message = format!(
            "has shape {:?}; one-hot rows of {n_classes} were expected",
            array.shape
        );
        return Err(wrong(path, message));
    }
    let label = |(row, values): (usize, &[f32])| {
        let hot = values.iter().position(|&value| value == 1.0);
        let n_cold = values.iter().filter(|&&value| value == 0.0).count();
        hot.filter(|_| n_cold + 1 == n_classes)
            .map(|class| class as u32)
            .ok_or_else(|| wrong(path, format!("row {}: {values:?} is not one-hot", row + 1)))
    };
    array
        .values
        .chunks_exact(n_classes)
        .enumerate()
        .map(label)
        .collect()
}

fn wrong(path: &Path, message: String) -> DataError {
    DataError::Content {
        path: path.to_owned(),
        message,
    }
}
