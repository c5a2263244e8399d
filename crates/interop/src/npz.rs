//! NumPy's `.npz` archives: all arrays by name, or the table that two of them make.

use crate::archive::{self, Archive};
use crate::columns::{Labels, Table, TableError, TableProblem, column};
use crate::npy::{self, Array, Numbers, Texts, Values};
use crate::{Budget, bounded};
use std::path::Path;

/// Larger files are refused: 4 GiB.
pub const MAX_BYTES: u64 = 1 << 32;
const ENDING: &str = ".npy";
/// Digits of a column's number, and what a small text takes besides.
const DIGITS: usize = 24;
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
    let budget = &Budget::of_size(bytes.len() as u64);
    let mut content = Content::open(bytes, budget)?;
    let (classes, labels) = content.labels(label)?;
    let names = content.names.clone();
    let mut array = |name: &str| -> Result<Array, TableProblem> {
        let bytes = content.read(name)?;
        let array = npy::decode_within(&bytes, budget).map_err(|problem| wrong(name, &problem));
        budget.give_back(bytes.len() as u64);
        array
    };
    let (name, features) = features(&names, label, labels.len(), &mut array)?;
    let sample_shape = features.shape[1..].to_vec();
    let width: usize = sample_shape.iter().product();
    check_finite(&name, &features.values, width)?;
    budget.take_array(width, size_of::<String>() + name.len() + DIGITS)?;
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

/// Arrays of numbers by name, whose integers are integers, and the labels of their rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrays {
    /// Every array but the labels, by name in alphabetic order.
    pub arrays: Vec<(String, Numbers)>,
    /// The classes, ordered as those of a [`Table`].
    pub classes: Vec<String>,
    /// The class of every row; empty when no labels were asked for.
    pub labels: Vec<u32>,
}

/// Reads every array of numbers; `label` has the labels where there are some.
pub fn read_arrays(path: &Path, label: Option<&str>) -> Result<Arrays, TableError> {
    let bytes = read_bytes(path).map_err(|problem| problem.of(path))?;
    parse_arrays(&bytes, label).map_err(|problem| problem.of(path))
}

/// The arrays of numbers in the bytes of an archive.
pub fn parse_arrays(bytes: &[u8], label: Option<&str>) -> Result<Arrays, TableProblem> {
    let budget = &Budget::of_size(bytes.len() as u64);
    let mut content = Content::open(bytes, budget)?;
    let (classes, labels) = match label {
        Some(label) => content.labels(label)?,
        None => Default::default(),
    };
    let mut arrays = Vec::new();
    for name in content.names.clone() {
        if Some(name.as_str()) == label {
            continue;
        }
        let bytes = content.read(&name)?;
        let array = npy::decode_numbers_within(&bytes, budget);
        let array = array.map_err(|problem| wrong(&name, &problem))?;
        budget.give_back(bytes.len() as u64);
        if let Values::F32(values) = &array.values {
            let width = array.shape.iter().skip(1).product::<usize>().max(1);
            check_finite(&name, values, width)?;
        }
        arrays.push((name, array));
    }
    Ok(Arrays {
        arrays,
        classes,
        labels,
    })
}

/// The bytes of an archive of these arrays.
///
/// # Errors
/// When two arrays have the same name.
///
/// # Panics
/// If an array has not as many values as its shape has elements.
pub fn encode(arrays: &[(String, Numbers)]) -> Result<Vec<u8>, TableProblem> {
    let files: Vec<(String, Vec<u8>)> = arrays
        .iter()
        .map(|(name, array)| (format!("{name}{ENDING}"), npy::encode_numbers(array)))
        .collect();
    let entries = files
        .iter()
        .map(|(name, bytes)| (name.clone(), bytes.as_slice()));
    archive::pack(entries).map_err(|problem| not_npz(problem.to_string()))
}

fn not_npz(message: String) -> TableProblem {
    TableProblem::Kind {
        kind: "an .npz archive",
        message,
    }
}

/// An archive and the names of its arrays.
struct Content<'a> {
    budget: &'a Budget,
    archive: Archive<'a>,
    names: Vec<String>,
}

impl<'a> Content<'a> {
    fn open(bytes: &'a [u8], budget: &'a Budget) -> Result<Self, TableProblem> {
        let archive = Archive::open(bytes, budget);
        let archive = archive.map_err(|problem| not_npz(problem.to_string()))?;
        let mut names: Vec<String> = archive
            .names()
            .filter_map(|name| Some(name.strip_suffix(ENDING)?.to_owned()))
            .collect();
        names.sort_unstable();
        Ok(Self {
            budget,
            archive,
            names,
        })
    }

    /// The bytes of an array.
    fn read(&mut self, name: &str) -> Result<Vec<u8>, TableProblem> {
        let bytes = self.archive.read(&format!("{name}{ENDING}"));
        bytes.map_err(|problem| wrong(name, &problem))
    }

    /// The classes and the class of every row, from the array of this name.
    fn labels(&mut self, name: &str) -> Result<(Vec<String>, Vec<u32>), TableProblem> {
        column(&self.names, name)?;
        let bytes = self.read(name)?;
        let texts =
            npy::decode_texts(&bytes, self.budget).map_err(|problem| wrong(name, &problem))?;
        if let Some(texts) = texts {
            return text_labels(name, &texts, self.budget);
        }
        let array =
            npy::decode_within(&bytes, self.budget).map_err(|problem| wrong(name, &problem))?;
        labels(name, &array, self.budget)
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, TableProblem> {
    let too_large = || {
        let message = format!("has more than the {MAX_BYTES} bytes that are read");
        TableProblem::place("archive", message)
    };
    bounded::read(path, MAX_BYTES)?.ok_or_else(too_large)
}

fn wrong(name: &str, problem: &impl ToString) -> TableProblem {
    TableProblem::place(format!("array '{name}'"), problem.to_string())
}

/// Labels that are texts; those that occur are the classes.
fn text_labels(
    name: &str,
    texts: &Texts,
    budget: &Budget,
) -> Result<(Vec<String>, Vec<u32>), TableProblem> {
    check_labels(name, &texts.shape)?;
    let mut labels = Labels::default();
    for text in &texts.values {
        labels
            .push(text, budget)
            .map_err(|message| wrong(name, &message))?;
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
fn labels(
    name: &str,
    array: &Array,
    budget: &Budget,
) -> Result<(Vec<String>, Vec<u32>), TableProblem> {
    let place = || format!("array '{name}'");
    check_labels(name, &array.shape)?;
    let mut labels = Labels::default();
    for (row, value) in (1..).zip(&array.values) {
        if value.fract() != 0.0 {
            let message = format!("label {row} is {value}, not a whole number");
            return Err(TableProblem::place(place(), message));
        }
        let pushed = labels.push(&value.to_string(), budget);
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
    Err(TableProblem::FeatureArrays(found.len()))
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
