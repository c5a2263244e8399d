//! Datasets: those of the table, files with a label column, and arrays of the caller's.

use crate::arrays::{give, read, values};
use crate::errors::{argument, note, sentence, wrong_type};
use crate::json;
use crate::lend::{Owner, lend};
use crate::work;
use data::{Arrays, InputArray, OpenOptions, Rows, Standardize, ValSplit, Values};
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use random::{Permutation, Random};
use serde_json::{Map, Value as Json};
use std::path::PathBuf;
use std::sync::Arc;

/// The shares of training, validation and test rows where nobody gives others.
const SHARES: [f64; 3] = [0.8, 0.1, 0.1];

/// Rows with labels, split for training, validation and testing.
#[pyclass(frozen, module = "mase")]
pub struct Dataset {
    pub inner: Arc<data::Dataset>,
    /// The key that opens it again: the name and the options; nothing for arrays in memory.
    origin: Option<(String, Map<String, Json>)>,
}

/// Part of a dataset: `x`, the samples, and `y`, their labels.
#[pyclass(frozen, module = "mase")]
pub struct Split {
    inner: data::Split,
    sample_shape: Vec<usize>,
}

#[pymethods]
impl Dataset {
    /// The name it was opened by.
    #[getter]
    fn name(&self) -> String {
        self.inner.info.name.clone()
    }

    /// The axes of one sample.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.inner.info.sample_shape)
    }

    /// The classes, in the order of the labels.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.inner.info.classes.clone()
    }

    /// The names of the columns; empty for pictures.
    #[getter]
    fn features(&self) -> Vec<String> {
        self.inner.info.features.clone()
    }

    /// The rows to train on.
    #[getter]
    fn train(&self) -> Split {
        self.split(&self.inner.train)
    }

    /// The rows to choose by.
    #[getter]
    fn val(&self) -> Split {
        self.split(&self.inner.val)
    }

    /// The rows to report on.
    #[getter]
    fn test(&self) -> Split {
        self.split(&self.inner.test)
    }

    fn __repr__(&self) -> String {
        let [train, val, test] = self.counts();
        format!(
            "<mase.Dataset {}: {train} training, {val} validation, {test} test rows>",
            self.inner.info.name
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let module = py.import("mase._pickle")?;
        if let Some((name, options)) = &self.origin {
            let options = json::to_python(py, &Json::Object(options.clone()))?;
            return (module.getattr("open_dataset")?, (name, options)).into_pyobject(py);
        }
        let whole = self.split(&self.inner.whole());
        let state = (
            &self.inner.info.name,
            whole.x(py)?,
            whole.y(py)?,
            self.counts(),
        );
        (module.getattr("make_dataset")?, state).into_pyobject(py)
    }
}

impl Dataset {
    fn split(&self, split: &data::Split) -> Split {
        Split {
            inner: split.clone(),
            sample_shape: self.inner.info.sample_shape.clone(),
        }
    }

    fn counts(&self) -> [usize; 3] {
        let data = &self.inner;
        [data.train.len(), data.val.len(), data.test.len()]
    }
}

#[pymethods]
impl Split {
    /// The samples: an array, or a dict of them where a network takes several. A view where the rows follow one another.
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(arrays) = self.inner.arrays() else {
            return self.rows(py)?.into_bound_py_any(py);
        };
        let indices = self.inner.indices();
        let dict = PyDict::new(py);
        for array in arrays {
            let shape = [&[indices.len()], array.shape.as_slice()].concat();
            let width = array.width();
            let item = match &array.values {
                Values::F32(all) => {
                    give(py, gather(py, all, width, indices), &shape)?.into_bound_py_any(py)?
                }
                Values::I64(all) => {
                    give(py, gather(py, all, width, indices), &shape)?.into_bound_py_any(py)?
                }
            };
            dict.set_item(&array.name, item)?;
        }
        dict.into_bound_py_any(py)
    }

    /// The labels, in an array of int64.
    #[getter]
    fn y<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<i64>>> {
        let labels = self.inner.labels_of(self.inner.indices());
        let labels: Vec<i64> = labels.into_iter().map(i64::from).collect();
        let len = labels.len();
        give(py, labels, &[len])
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __repr__(&self) -> String {
        format!("<mase.Split of {} rows>", self.inner.len())
    }
}

impl Split {
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let (indices, width) = (self.inner.indices(), self.inner.width());
        let shape = [&[indices.len()], self.sample_shape.as_slice()].concat();
        let first = indices.first().map_or(0, |&first| first as usize);
        let follow = |(place, &row): (usize, &u32)| row as usize == first + place;
        if indices.iter().enumerate().all(follow) {
            let range = first * width..(first + indices.len()) * width;
            return lend(py, Owner::Rows(self.inner.clone()), range, &shape);
        }
        give(py, gather(py, self.inner.rows(), width, indices), &shape)
    }
}

fn gather<T: Copy + Send + Sync>(
    py: Python,
    values: &[T],
    width: usize,
    indices: &[u32],
) -> Vec<T> {
    py.detach(|| {
        let rows = indices.iter().map(|&row| row as usize * width);
        rows.flat_map(|start| &values[start..start + width])
            .copied()
            .collect()
    })
}

/// A dataset by its name, or the file of this name with its label column (`jets.csv:class`); or one of arrays, `x` with a row for
/// each sample (or a dict of arrays by the names of a network's inputs) and `y` with the number of its class, of which `split`
/// gives the shares for training, validation and testing (0.8, 0.1, 0.1), drawn by the seed; or `rows` the number of each, in their order.
#[pyfunction]
#[pyo3(
    signature = (name=None, *, x=None, y=None, split=None, rows=None, seed=0, data_dir=None, offline=false, val_split="held-out".to_owned()),
    text_signature = "(name=None, *, x=None, y=None, split=None, rows=None, seed=0, data_dir=None, offline=False, val_split='held-out')"
)]
pub fn dataset(
    py: Python,
    #[pyo3(from_py_with = argument::name)] name: Option<String>,
    x: Option<&Bound<PyAny>>,
    y: Option<&Bound<PyAny>>,
    #[pyo3(from_py_with = argument::split)] split: Option<[f64; 3]>,
    #[pyo3(from_py_with = argument::rows)] rows: Option<[usize; 3]>,
    #[pyo3(from_py_with = argument::seed)] seed: u64,
    #[pyo3(from_py_with = argument::data_dir)] data_dir: Option<PathBuf>,
    #[pyo3(from_py_with = argument::offline)] offline: bool,
    #[pyo3(from_py_with = argument::val_split)] val_split: String,
) -> PyResult<Dataset> {
    if let (Some(x), Some(y)) = (x, y) {
        let name = name.unwrap_or_else(|| "arrays".to_owned());
        let parts = match rows {
            Some(counts) => Parts::InOrder(counts),
            None => Parts::Drawn(split.unwrap_or(SHARES), seed),
        };
        return of_arrays(&name, x, y, &parts);
    }
    let Some(name) = name.filter(|_| x.is_none() && y.is_none()) else {
        return Err(wrong_type(
            "dataset: give the name of a dataset, or both arrays, x and y",
        ));
    };
    let is_held_out = match val_split.as_str() {
        "held-out" => true,
        "train" => false,
        other => {
            return Err(sentence(format!(
                "val_split: '{other}' is neither 'held-out' nor 'train'"
            )));
        }
    };
    let mut options = Map::new();
    options.insert("seed".to_owned(), seed.into());
    options.insert("offline".to_owned(), offline.into());
    options.insert("val_split".to_owned(), val_split.into());
    let folder = data_dir.as_ref().map(|path| path.display().to_string());
    options.insert("data_dir".to_owned(), folder.into());
    let asked = name.clone();
    let (opened, notes) = work::run(py, move || {
        let notes = std::cell::RefCell::new(Vec::new());
        let opened = data::open(
            &asked,
            &OpenOptions {
                data_dir,
                seed,
                offline,
                val_split: if is_held_out {
                    ValSplit::HeldOut
                } else {
                    ValSplit::Train
                },
                standardize: Standardize::Train,
                notice: Some(&|sentence| notes.borrow_mut().push(sentence.to_owned())),
                ..OpenOptions::default()
            },
        );
        (opened, notes.take())
    })?;
    note(py, &notes)?;
    let inner = Arc::new(opened.map_err(sentence)?);
    let origin = Some((name, options));
    Ok(Dataset { inner, origin })
}

/// The splits of rows in arrays.
enum Parts {
    /// So many rows each, in the order of the arrays.
    InOrder([usize; 3]),
    /// These shares, drawn by a seed.
    Drawn([f64; 3], u64),
}

/// A dataset of arrays, whose rows are put in the order of their splits.
fn of_arrays(name: &str, x: &Bound<PyAny>, y: &Bound<PyAny>, parts: &Parts) -> PyResult<Dataset> {
    let labels = labels(y)?;
    if labels.is_empty() {
        return Err(sentence("y: the arrays are empty; give at least one row"));
    }
    let all = labels.len() as u64;
    let (counts, order): ([usize; 3], Vec<u32>) = match parts {
        Parts::InOrder(counts) if counts.iter().sum::<usize>() != labels.len() => {
            return Err(sentence(format!(
                "rows: {counts:?} are not the {all} rows of the arrays"
            )));
        }
        Parts::InOrder(counts) => (*counts, (0..all as u32).collect()),
        Parts::Drawn(shares, seed) => {
            let order = Permutation::new(Random::new(*seed, "split"), all);
            let order = x
                .py()
                .detach(|| (0..all).map(|k| order.at(k) as u32).collect());
            (split_counts(*shares, labels.len())?, order)
        }
    };
    let labels = order.iter().map(|&row| labels[row as usize]).collect();
    let inner = of_rows(name, x, labels, &order, counts)?;
    Ok(Dataset {
        inner: Arc::new(inner),
        origin: None,
    })
}

fn of_rows(
    name: &str,
    x: &Bound<PyAny>,
    labels: Vec<u32>,
    order: &[u32],
    counts: [usize; 3],
) -> PyResult<data::Dataset> {
    let check = |what: &str, shape: &[usize]| match shape.first() {
        Some(&rows) if rows == order.len() => Ok(shape[1..].to_vec()),
        _ => Err(sentence(format!(
            "{what}: has {} rows, but y has {} labels",
            shape.first().copied().unwrap_or(0),
            order.len()
        ))),
    };
    let Ok(dict) = x.cast::<PyDict>() else {
        let x = read::<f32>("x", x)?;
        let sample = check("x", x.shape())?;
        let width = sample.iter().product();
        let rows = Rows {
            values: gather(x.py(), values(&x)?, width, order),
            labels,
            width,
        };
        return Ok(data::Dataset::of_table(name, sample, rows, counts));
    };
    let mut inputs = Vec::new();
    for (key, value) in dict {
        let key: String = key.extract()?;
        let (shape, values) = if let Ok(array) = read::<i64>(&key, &value) {
            let shape = check(&key, array.shape())?;
            let all = gather(array.py(), values(&array)?, shape.iter().product(), order);
            (shape, Values::I64(all))
        } else {
            let array = read::<f32>(&key, &value)?;
            let shape = check(&key, array.shape())?;
            let all = gather(array.py(), values(&array)?, shape.iter().product(), order);
            (shape, Values::F32(all))
        };
        let name = key;
        inputs.push(InputArray {
            name,
            shape,
            values,
        });
    }
    let arrays = Arrays { inputs, labels };
    Ok(data::Dataset::of_named_arrays(name, arrays, counts))
}

fn labels(y: &Bound<PyAny>) -> PyResult<Vec<u32>> {
    let y = read::<i64>("y", y)?;
    if y.shape().len() != 1 {
        return Err(sentence(format!(
            "y: expected one label for each row, got an array of {} axes",
            y.shape().len()
        )));
    }
    let number = |&label: &i64| {
        u32::try_from(label)
            .map_err(|_| sentence(format!("y: {label} is not the number of a class")))
    };
    let all = values(&y)?;
    y.py().detach(|| all.iter().map(number).collect())
}

/// The rows of each split: the shares of all rows, rounded down, and what is left for training.
fn split_counts(shares: [f64; 3], rows: usize) -> PyResult<[usize; 3]> {
    let total: f64 = shares.iter().sum();
    if shares.iter().any(|share| *share < 0.0) || !(total > 0.0 && total.is_finite()) {
        return Err(sentence(format!(
            "split: {shares:?} are not the shares of training, validation and test rows"
        )));
    }
    let [_, val, test] = shares.map(|share| (share / total * rows as f64) as usize);
    Ok([rows - val - test, val, test])
}
