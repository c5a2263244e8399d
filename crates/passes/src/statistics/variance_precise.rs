//! Mean and variance of all values.

use super::accumulator::{Accumulator, Needs};
use super::entry::{DIMS, MOMENTS, Measure, StatisticEntry};
use super::summary::{Seen, Summary};
use super::{Dims, keys};
use config::{Reader, Table};

/// Mean and variance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariancePrecise {
    /// The axes that are reduced.
    pub dims: Dims,
}

impl Measure for VariancePrecise {
    const ENTRY: StatisticEntry = StatisticEntry {
        name: "variance_precise",
        about: "mean and variance of all values",
        doc: "mean = Σx / n, variance = Σ(x − mean)² / (n − 1).\nThe sums are exact: batches and threads do not change a bit, and a large mean does not hide a small variance.",
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
