//! Mean and variance while values come by: nothing is kept but sums.

use super::accumulator::{Accumulator, Needs};
use super::summary::{Seen, Summary};
use super::table::{DIMS, MOMENTS, Measure, StatisticEntry};
use super::{Dims, keys};
use crate::config::{Reader, Table};

/// Mean and variance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VarianceOnline {
    /// What is taken together.
    pub dims: Dims,
}

impl Measure for VarianceOnline {
    const ENTRY: StatisticEntry = StatisticEntry {
        name: "variance_online",
        about: "mean and variance, while values come by",
        doc: "mean = Σx / n, variance = Σ(x − mean)² / (n − 1).\nThe same numbers as variance_precise: the sums are exact, so that there is nothing to choose between the two.\nDiffers from MASE: its online variance divides by n and rounds with every sample.",
        fields: &[DIMS],
        results: MOMENTS,
    };

    fn read(reader: &mut Reader, table: &Table) -> Self {
        let dims = keys::dims(reader, table);
        Self { dims }
    }

    fn dims(&self) -> &Dims {
        &self.dims
    }

    fn needs(&self) -> Needs {
        Needs::moments(false)
    }

    fn summarize(&self, seen: &Seen) -> Summary {
        let count = seen.count();
        let moments =
            |group: &Accumulator| [group.mean(false, count), group.variance(false, count)];
        seen.summary(["mean", "variance"], seen.accumulators.iter().map(moments))
    }
}
