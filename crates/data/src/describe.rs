//! The description of a dataset that `ch data info` prints.

use crate::arrays::InputArray;
use crate::dataset::{Dataset, Split};
use interop::npy::Values;
use serde::Serialize;
use std::fmt;

/// A dataset in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// The name it was opened by.
    pub name: String,
    /// The origin of the rows.
    pub source: String,
    /// The scaling of the values, in words.
    pub scaling: String,
    /// The hash of rows, labels and splits, in hexadecimal.
    pub hash: String,
    /// The axes of one sample.
    pub sample_shape: Vec<usize>,
    /// Rows to train on, to choose by, to report on.
    pub rows: Counts,
    /// The number of rows of each class.
    pub classes: Vec<ClassCounts>,
    /// The range of each feature over the training rows; one entry for all pixels of pictures.
    pub features: Vec<Range>,
}

/// Rows in each split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Rows to train on.
    pub train: usize,
    /// Rows to choose by.
    pub val: usize,
    /// Rows to report on.
    pub test: usize,
}

/// The number of rows of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassCounts {
    /// The class.
    pub name: String,
    /// Its rows in each split.
    #[serde(flatten)]
    pub rows: Counts,
}

/// The range of a feature.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Range {
    /// The feature.
    pub name: String,
    /// The smallest value.
    pub min: f32,
    /// The largest value.
    pub max: f32,
    /// The mean.
    pub mean: f64,
    /// The standard deviation, over all rows.
    pub deviation: f64,
}

/// Describes a dataset.
pub fn describe(dataset: &Dataset) -> Description {
    let info = &dataset.info;
    let per_class =
        [&dataset.train, &dataset.val, &dataset.test].map(|split| count(split, info.classes.len()));
    let classes = info
        .classes
        .iter()
        .enumerate()
        .map(|(class, name)| ClassCounts {
            name: name.clone(),
            rows: Counts {
                train: per_class[0][class],
                val: per_class[1][class],
                test: per_class[2][class],
            },
        });
    Description {
        name: info.name.clone(),
        source: info.source.clone(),
        scaling: info.scaling.to_string(),
        hash: format!("{:016x}", info.hash),
        sample_shape: info.sample_shape.clone(),
        rows: Counts {
            train: dataset.train.len(),
            val: dataset.val.len(),
            test: dataset.test.len(),
        },
        classes: classes.collect(),
        features: ranges(&dataset.train, &info.features),
    }
}

fn count(split: &Split, n_classes: usize) -> Vec<usize> {
    let mut counts = vec![0; n_classes];
    for &row in split.indices() {
        counts[split.labels()[row as usize] as usize] += 1;
    }
    counts
}

fn ranges(split: &Split, names: &[String]) -> Vec<Range> {
    if let Some(arrays) = split.arrays() {
        return arrays
            .iter()
            .map(|array| array_range(split, array))
            .collect();
    }
    if names.is_empty() {
        return vec![range("all pixels", || rows(split).flatten().copied())];
    }
    let named = names.iter().enumerate();
    named
        .map(|(column, name)| range(name, || rows(split).map(move |row| row[column])))
        .collect()
}

fn array_range(split: &Split, array: &InputArray) -> Range {
    let width = array.width();
    let places = || {
        let rows = split.indices().iter();
        rows.flat_map(move |&row| row as usize * width..(row as usize + 1) * width)
    };
    match &array.values {
        Values::F32(values) => range(&array.name, || places().map(|at| values[at])),
        Values::I64(values) => range(&array.name, || places().map(|at| values[at] as f32)),
    }
}

fn rows(split: &Split) -> impl Iterator<Item = &[f32]> {
    let width = split.width();
    let row = move |&row: &u32| &split.rows()[row as usize * width..][..width];
    split.indices().iter().map(row)
}

fn range<I: Iterator<Item = f32>>(name: &str, values: impl Fn() -> I) -> Range {
    let count = values().count().max(1) as f64;
    let mean = values().map(f64::from).sum::<f64>() / count;
    let variance = values()
        .map(|value| (f64::from(value) - mean).powi(2))
        .sum::<f64>()
        / count;
    Range {
        name: name.to_owned(),
        min: values().fold(f32::INFINITY, f32::min),
        max: values().fold(f32::NEG_INFINITY, f32::max),
        mean,
        deviation: variance.sqrt(),
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Counts { train, val, test } = self.rows;
        writeln!(
            f,
            "{}: samples of {:?}, {} classes",
            self.name,
            self.sample_shape,
            self.classes.len()
        )?;
        writeln!(f, "source  {}", self.source)?;
        writeln!(f, "values  {}", self.scaling)?;
        writeln!(f, "hash    {}\n", self.hash)?;
        let width = |names: &mut dyn Iterator<Item = &String>| {
            names
                .map(|name| name.chars().count())
                .max()
                .unwrap_or(0)
                .max(7)
        };
        let wide = width(&mut self.classes.iter().map(|class| &class.name));
        writeln!(
            f,
            "{:wide$} {:>9} {:>9} {:>9}",
            "class", "train", "val", "test"
        )?;
        for ClassCounts { name, rows } in &self.classes {
            writeln!(
                f,
                "{name:wide$} {:>9} {:>9} {:>9}",
                rows.train, rows.val, rows.test
            )?;
        }
        writeln!(f, "{:wide$} {train:>9} {val:>9} {test:>9}\n", "total")?;
        let wide = width(&mut self.features.iter().map(|feature| &feature.name));
        writeln!(
            f,
            "{:wide$} {:>10} {:>10} {:>10} {:>10}",
            "feature", "min", "max", "mean", "deviation"
        )?;
        for Range {
            name,
            min,
            max,
            mean,
            deviation,
        } in &self.features
        {
            writeln!(
                f,
                "{name:wide$} {min:>10.4} {max:>10.4} {mean:>10.4} {deviation:>10.4}"
            )?;
        }
        Ok(())
    }
}
