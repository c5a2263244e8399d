//! Statistics of the values at a port, one file each, and their table.
//!
//! A new statistic is one file, its `mod` line and its line in the table. A [`Profile`] collects all statistics of one
//! port in one pass over its values.

use config::{Reader, Table};

mod abs_mean;
mod accumulator;
mod entry;
mod exact;
mod groups;
mod keys;
mod profile;
mod range_min_max;
mod range_n_sigma;
mod range_quantile;
mod record;
mod select;
mod summary;
mod variance_online;
mod variance_precise;

pub use abs_mean::AbsMean;
pub use entry::{ConfigField, ResultField, StatisticEntry};
pub use groups::Dims;
pub use profile::Profile;
pub use range_min_max::RangeMinMax;
pub use range_n_sigma::{RangeNSigma, VarMode};
pub use range_quantile::RangeQuantile;
pub use record::Record;
pub use summary::Summary;
pub use variance_online::VarianceOnline;
pub use variance_precise::VariancePrecise;

use accumulator::Needs;
use entry::{Measure, statistics};
use summary::Seen;

statistics! {
    /// The values themselves.
    Record(record),
    // moments
    /// Mean and variance.
    VarianceOnline(variance_online),
    /// Mean and variance.
    VariancePrecise(variance_precise),
    /// The mean magnitude.
    AbsMean(abs_mean),
    // ranges
    /// The mean, some standard deviations to both sides.
    RangeNSigma(range_n_sigma),
    /// The ends.
    RangeMinMax(range_min_max),
    /// The ends without outliers.
    RangeQuantile(range_quantile),
}

/// Errors of statistics.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatisticError {
    /// A sample does not have the axis.
    #[error("dims: axis {axis} is not below {}, the axes of a sample of shape {shape:?}", .shape.len())]
    Axis {
        /// The axis in the config.
        axis: usize,
        /// The shape of a sample.
        shape: Vec<usize>,
    },
    /// There are no values.
    #[error("there are no values: {rows} samples of shape {shape:?}")]
    Empty {
        /// The number of samples.
        rows: usize,
        /// The shape of a sample.
        shape: Vec<usize>,
    },
    /// A value is infinite or not a number.
    #[error("the value at {place:?} of sample {row} is {value}; statistics are of finite values")]
    NotFinite {
        /// The sample.
        row: usize,
        /// The place in the sample.
        place: Vec<usize>,
        /// The value.
        value: f32,
    },
}

impl StatisticError {
    /// The first value that is not finite, in samples that come after `rows` others.
    fn not_finite(samples: &[f32], shape: &[usize], rows: usize) -> Option<Self> {
        let at = samples.iter().position(|value| !value.is_finite())?;
        let mut rest = at;
        let mut place = vec![0; shape.len()];
        for (index, &size) in place.iter_mut().zip(shape).rev() {
            (*index, rest) = (rest % size, rest / size);
        }
        Some(Self::NotFinite {
            row: rows + rest,
            place,
            value: samples[at],
        })
    }

    /// The same error with `rows` more samples before it.
    fn after(self, rows: usize) -> Self {
        match self {
            Self::NotFinite { row, place, value } => Self::NotFinite {
                row: row + rows,
                place,
                value,
            },
            other => other,
        }
    }
}
