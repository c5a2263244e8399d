//! A user's own file with a label column: `jets.csv:class`.
//!
//! The rows are split like those of `jsc` (a fifth for testing, a tenth of the rest for validation, always the same
//! rows) and standardised as the options say. Rows that occur twice are kept: in a small table, how often a row occurs
//! is information.

use crate::dataset::{Dataset, Info, Rows};
use crate::error::DataError;
use crate::options::OpenOptions;
use crate::preparation::{Scaling, Standardize, Standardizer};
use crate::prepare;
use interop::columns::Table;
use interop::{csv, npz};
use std::path::{Path, PathBuf};

/// The endings of files that are tables, and who reads them.
type Reader = fn(&Path, &str) -> Result<(Table, Vec<usize>), DataError>;
const READERS: &[(&str, Reader)] = &[
    (".csv", read_csv),
    (".csv.gz", read_csv),
    (".tsv", read_csv),
    (".tsv.gz", read_csv),
    (".txt", read_csv),
    (".txt.gz", read_csv),
    (".npz", read_npz),
    (".parquet", read_parquet),
    (".pq", read_parquet),
];

/// More different decimals than this are measurements, not classes.
const MAX_DECIMALS: usize = 20;

/// The path and the label column, if the name is that of a file.
pub(crate) fn parse_name(name: &str) -> Option<(PathBuf, &str)> {
    let (path, label) = name.rsplit_once(':')?;
    reader(path).map(|_| (PathBuf::from(path), label))
}

fn reader(path: &str) -> Option<Reader> {
    let path = path.to_lowercase();
    let found = READERS.iter().find(|(ending, _)| path.ends_with(ending));
    found.map(|(_, reader)| *reader)
}

/// Reads, splits and standardises the file.
pub(crate) fn open(
    name: &str,
    path: &Path,
    label: &str,
    options: &OpenOptions,
) -> Result<Dataset, DataError> {
    let (table, sample_shape) = read(path, label)?;
    let refuse = |message: String| DataError::Content {
        path: path.to_owned(),
        message,
    };
    check(label, &table.classes, table.labels.len(), options.is_whole).map_err(refuse)?;
    let mut rows = Rows {
        width: sample_shape.iter().product(),
        values: table.values,
        labels: table.labels,
    };
    let parts = prepare::split(rows.labels.len());
    let scaling = scale(&mut rows, &parts, &options.standardize).map_err(refuse)?;
    let info = Info {
        name: name.to_owned(),
        sample_shape,
        classes: table.classes,
        features: table.features,
        source: path.display().to_string(),
        hash: 0,
        scaling,
    };
    Ok(prepare::assemble(info, rows, &parts, options.val_split))
}

/// Standardises the rows as is asked for.
fn scale(rows: &mut Rows, parts: &[u8], asked: &Standardize) -> Result<Scaling, String> {
    let scaling = match asked {
        Standardize::None => Scaling::None,
        Standardize::Train => Scaling::Train(Standardizer::of(rows, parts)),
        Standardize::By(standardizer) if standardizer.width() == rows.width => {
            Scaling::Given(standardizer.clone())
        }
        Standardize::By(standardizer) => {
            return Err(format!(
                "has {} features a row, but the network was trained on {}",
                rows.width,
                standardizer.width()
            ));
        }
    };
    if let Some(standardizer) = scaling.standardizer() {
        standardizer.apply(&mut rows.values);
    }
    Ok(scaling)
}

/// Refuses labels that cannot be learnt from: too few, all the same, or measurements. Rows that are used whole need only
/// have classes.
pub(super) fn check(
    label: &str,
    classes: &[String],
    n_rows: usize,
    is_whole: bool,
) -> Result<(), String> {
    if n_rows < prepare::MIN_ROWS && !is_whole {
        return Err(prepare::too_few(n_rows));
    }
    if let ([only], false) = (classes, is_whole) {
        return Err(format!(
            "column '{label}' has one class only, '{only}'; two are needed to tell apart"
        ));
    }
    if is_regression_target(classes, n_rows) {
        let n_values = classes.len();
        return Err(format!(
            "column '{label}' has {n_values} different decimals in {n_rows} rows: it is a regression target; name a column of classes"
        ));
    }
    Ok(())
}

/// Reads the table of a file, and the axes of one row.
pub(super) fn read(path: &Path, label: &str) -> Result<(Table, Vec<usize>), DataError> {
    let read = reader(&path.to_string_lossy()).expect("the name was parsed as that of a table");
    read(path, label)
}

/// True for labels that are numbers, not all of them whole, and either many or hardly ever the same.
fn is_regression_target(classes: &[String], n_rows: usize) -> bool {
    let numbers: Option<Vec<f64>> = classes.iter().map(|name| name.parse().ok()).collect();
    let is_decimal = numbers.is_some_and(|numbers| numbers.iter().any(|x| x.fract() != 0.0));
    is_decimal && (classes.len() > MAX_DECIMALS || classes.len() * 2 > n_rows)
}

fn read_csv(path: &Path, label: &str) -> Result<(Table, Vec<usize>), DataError> {
    let table = csv::read(path, label)?;
    let width = table.features.len();
    Ok((table, vec![width]))
}

fn read_npz(path: &Path, label: &str) -> Result<(Table, Vec<usize>), DataError> {
    Ok(npz::read(path, label)?)
}

#[cfg(feature = "parquet")]
pub(super) fn read_parquet(path: &Path, label: &str) -> Result<(Table, Vec<usize>), DataError> {
    let table = interop::parquet::read(path, label)?;
    let width = table.features.len();
    Ok((table, vec![width]))
}

#[cfg(not(feature = "parquet"))]
pub(super) fn read_parquet(path: &Path, _label: &str) -> Result<(Table, Vec<usize>), DataError> {
    let message = "Parquet files are read by programs built with `--features parquet`; this one was not, so save the table as CSV";
    Err(DataError::Content {
        path: path.to_owned(),
        message: message.to_owned(),
    })
}
