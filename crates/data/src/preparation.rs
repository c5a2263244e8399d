//! The preparation of rows that belongs to a network: the order of its classes, the mean and deviation of its features.
//!
//! Both come from the rows that a network was trained on and go with it in its checkpoints, so that other rows are
//! prepared as those were.

use crate::dataset::{Info, Rows};
use crate::prepare::TEST;
use interop::checkpoint::Checkpoint;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::fmt;

/// The key of a preparation among the metadata of a graph file.
pub const PREPARATION: &str = "preparation";

/// The mean and deviation of every feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standardizer {
    /// The mean of each feature.
    pub mean: Vec<f64>,
    /// The deviation of each feature; 1 for a feature that does not vary.
    pub deviation: Vec<f64>,
}

impl Standardizer {
    /// The mean and deviation over the training part, the rows held for validation included.
    pub(crate) fn of(rows: &Rows, parts: &[u8]) -> Self {
        let mean = column_means(rows, parts, |_, value| value);
        let variance = column_means(rows, parts, |column, value| (value - mean[column]).powi(2));
        let deviation = variance.into_iter().map(deviation).collect();
        Self { mean, deviation }
    }

    /// Subtracts the mean from every feature of every row and divides by the deviation.
    ///
    /// # Panics
    /// If the rows do not have [`Standardizer::width`] features each.
    pub fn apply(&self, values: &mut [f32]) {
        assert_eq!(values.len() % self.width().max(1), 0, "rows are whole");
        for row in values.chunks_exact_mut(self.width().max(1)) {
            for ((value, mean), deviation) in row.iter_mut().zip(&self.mean).zip(&self.deviation) {
                *value = ((f64::from(*value) - mean) / deviation) as f32;
            }
        }
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    fn is_sound(&self) -> bool {
        let is_positive = |deviation: &f64| deviation.is_finite() && *deviation > 0.0;
        self.mean.len() == self.deviation.len()
            && self.mean.iter().all(|mean| mean.is_finite())
            && self.deviation.iter().all(is_positive)
    }
}

fn deviation(variance: f64) -> f64 {
    if variance > 0.0 { variance.sqrt() } else { 1.0 }
}

fn column_means(rows: &Rows, parts: &[u8], term: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    let mut sums = vec![0.0; rows.width];
    let all = rows.values.chunks_exact(rows.width).zip(parts);
    for (row, _) in all.filter(|(_, part)| **part != TEST) {
        for (column, (sum, &value)) in sums.iter_mut().zip(row).enumerate() {
            *sum += term(column, f64::from(value));
        }
    }
    let count = parts.iter().filter(|part| **part != TEST).count();
    sums.iter().map(|sum| sum / count as f64).collect()
}

/// The standardising that is asked for when a table of the user's is opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Standardize {
    /// By the training part of the table.
    #[default]
    Train,
    /// Not at all.
    None,
    /// By the mean and deviation that a network was trained with.
    By(Standardizer),
}

/// The scaling of a dataset's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Scaling {
    /// The dataset's own, in words.
    Own(&'static str),
    /// None: the values of the file.
    None,
    /// By the training part of the table.
    Train(Standardizer),
    /// By the mean and deviation that a network was trained with.
    Given(Standardizer),
}

impl Scaling {
    /// The mean and deviation that a network needs to be used on other rows.
    pub fn standardizer(&self) -> Option<&Standardizer> {
        match self {
            Self::Own(_) | Self::None => None,
            Self::Train(standardizer) | Self::Given(standardizer) => Some(standardizer),
        }
    }
}

impl fmt::Display for Scaling {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Own(words) => words,
            Self::None => "not standardised",
            Self::Train(_) => "standardised by its training part",
            Self::Given(_) => "standardised by the mean and deviation of the checkpoint",
        })
    }
}

/// The preparation of the rows that a network was trained on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// The name that the dataset was opened by.
    #[serde(default)]
    pub dataset: Option<String>,
    /// The classes, in the order of the network's outputs.
    #[serde(default)]
    pub classes: Option<Vec<String>>,
    /// The mean and deviation of the features; none where the rows were taken as they are.
    #[serde(default)]
    pub standardizer: Option<Standardizer>,
}

impl Preparation {
    /// The preparation of a dataset.
    pub fn of(info: &Info) -> Self {
        Self {
            dataset: Some(info.name.clone()),
            classes: Some(info.classes.clone()),
            standardizer: info.scaling.standardizer().cloned(),
        }
    }

    /// The preparation that a checkpoint holds, empty where it holds none; a damaged one is told in words.
    pub fn of_checkpoint(file: &Checkpoint) -> Result<Self, String> {
        let preparation = match (file.metadata.get(PREPARATION), &file.training) {
            (Some(recorded), _) => Self::deserialize(recorded),
            (None, Some(training)) => Self::of_hyper_parameters(&training.hyper_parameters),
            (None, None) => Ok(Self::default()),
        };
        let preparation =
            preparation.map_err(|error| format!("its preparation of rows is damaged: {error}"))?;
        match &preparation.standardizer {
            Some(standardizer) if !standardizer.is_sound() => Err(
                "its mean and deviation of features are not finite, or of different lengths"
                    .to_owned(),
            ),
            _ => Ok(preparation),
        }
    }

    /// The preparation among the settings of a training. Other programs may mean something else by `dataset` and `classes`.
    fn of_hyper_parameters(settings: &Map<String, Json>) -> Result<Self, serde_json::Error> {
        let standardizer = settings.get("standardizer");
        Ok(Self {
            dataset: settings
                .get("dataset")
                .and_then(|name| String::deserialize(name).ok()),
            classes: settings
                .get("classes")
                .and_then(|names| Vec::deserialize(names).ok()),
            standardizer: standardizer.map_or(Ok(None), Option::deserialize)?,
        })
    }

    /// The entries of a checkpoint's hyper-parameters.
    pub fn to_map(&self) -> Map<String, Json> {
        match serde_json::to_value(self) {
            Ok(Json::Object(map)) => map,
            _ => Map::new(),
        }
    }
}
