//! NumPy's `.npz` archives of arrays, and the table that two of them make.

use crate::archive::Archive;
use crate::columns::{Labels, Table, TableError, TableProblem, column};
use crate::npy::{self, Array, Texts};
use std::io::Read;
use std::path::Path;

/// Larger files are refused: 4 GiB.
pub const MAX_BYTES: u64 = 1 << 32;
const ENDING: &str = ".npy";
/// The array of features, where several would do.
const FEATURES: [&str; 2] = ["x", "X"];

/// Reads the table of which the array `label` has the labels, and the axes of one row.
///
/// The features are the array called `x` or `X`, else the only other array with two or more axes and as many rows.
pub fn read(path: &Path, label: &str) -> Result<(Table, Vec<usize>), TableError> {
    let bytes = read_bytes(path).map_err(|problem| problem.of(path))?;
    parse(&bytes, label).map_err(|problem| problem.of(path))
}

/// The table in the bytes of an archive, and the axes of one row.
pub fn parse(bytes: &[u8], label: &str) -> Result<(Table, Vec<usize>), TableProblem> {
    let not_npz = |message: String| TableProblem::Kind {
        kind: "an .npz archive",
        message,
    };
    let mut archive = Archive::open(bytes).map_err(|problem| not_npz(problem.to_string()))?;
    let mut names: Vec<String> = archive
        .names()
        .filter_map(|name| Some(name.strip_suffix(ENDING)?.to_owned()))
        .collect();
    names.sort_unstable();
    column(&names, label)?;
    let mut content = |name: &str| -> Result<Vec<u8>, TableProblem> {
        let bytes = archive.read(&format!("{name}{ENDING}"));
        bytes.map_err(|problem| wrong(name, &problem))
    };
    let label_bytes = content(label)?;
    let texts = npy::decode_texts(&label_bytes).map_err(|problem| wrong(label, &problem))?;
    let mut array = |name: &str| -> Result<Array, TableProblem> {
        npy::decode(&content(name)?).map_err(|problem| wrong(name, &problem))
    };
    let (classes, labels) = match texts {
        Some(texts) => text_labels(label, &texts)?,
        None => labels(label, &array(label)?)?,
    };
    let (name, features) = features(&names, label, labels.len(), &mut array)?;
    let sample_shape = features.shape[1..].to_vec();
    let width: usize = sample_shape.iter().product();
    check_finite(&name, &features.values, width)?;
    let table = Table {
        features: (0..width)
            .map(|position| format!("{name}{position}"))
            .collect(),
        values: features.values,
        classes,
        labels,
    };
    Ok((table, sample_shape))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, TableProblem> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(TableProblem::TooLarge {
            what: "bytes",
            got: bytes.len() as u64,
            limit: MAX_BYTES,
        });
    }
    Ok(bytes)
}

fn wrong(name: &str, problem: &impl ToString) -> TableProblem {
    TableProblem::place(format!("array '{name}'"), problem.to_string())
}

/// Labels that are texts; those that occur are the classes.
fn text_labels(name: &str, texts: &Texts) -> Result<(Vec<String>, Vec<u32>), TableProblem> {
    check_labels(name, &texts.shape)?;
    let mut labels = Labels::default();
    for text in &texts.values {
        labels.push(text).map_err(|message| wrong(name, &message))?;
    }
    Ok(labels.finish())
}

/// One label for each row, and at least one row.
fn check_labels(name: &str, shape: &[usize]) -> Result<(), TableProblem> {
    match shape {
        [0] | [0, 1] => Err(TableProblem::NoRows),
        [_] | [_, 1] => Ok(()),
        _ => {
            let message = format!("has shape {shape:?}; one label for each row was expected");
            Err(wrong(name, &message))
        }
    }
}

/// Labels of one axis of whole numbers; the numbers that occur are the classes.
fn labels(name: &str, array: &Array) -> Result<(Vec<String>, Vec<u32>), TableProblem> {
    let place = || format!("array '{name}'");
    check_labels(name, &array.shape)?;
    let mut labels = Labels::default();
    for (row, value) in (1..).zip(&array.values) {
        if value.fract() != 0.0 {
            let message = format!("label {row} is {value}, not a whole number");
            return Err(TableProblem::place(place(), message));
        }
        let pushed = labels.push(&value.to_string());
        pushed.map_err(|message| TableProblem::place(place(), message))?;
    }
    Ok(labels.finish())
}

fn features(
    names: &[String],
    label: &str,
    n_rows: usize,
    array: &mut impl FnMut(&str) -> Result<Array, TableProblem>,
) -> Result<(String, Array), TableProblem> {
    let fits = |array: &Array| {
        array.shape.len() >= 2 && array.shape[0] == n_rows && !array.values.is_empty()
    };
    if let Some(name) = FEATURES
        .into_iter()
        .find(|name| *name != label && names.iter().any(|other| other == name))
    {
        let found = array(name)?;
        if fits(&found) {
            return Ok((name.to_owned(), found));
        }
        let message = format!(
            "has shape {:?}; {n_rows} rows of features were expected",
            found.shape
        );
        return Err(TableProblem::place(format!("array '{name}'"), message));
    }
    let mut found = Vec::new();
    for name in names.iter().filter(|name| *name != label) {
        // An array of another kind, such as text, is none of ours.
        if let Some(array) = array(name).ok().filter(fits) {
            found.push((name.clone(), array));
        }
    }
    if found.len() == 1 {
        return Ok(found.remove(0));
    }
    let message = format!(
        "{} arrays could be the features; call one of them x",
        found.len()
    );
    Err(TableProblem::place("archive", message))
}

fn check_finite(name: &str, values: &[f32], width: usize) -> Result<(), TableProblem> {
    let Some(at) = values.iter().position(|value| !value.is_finite()) else {
        return Ok(());
    };
    Err(TableProblem::Cell {
        row: at / width + 1,
        column: format!("{name}{}", at % width),
        message: format!("{} is not a finite float32", values[at]),
    })
}
