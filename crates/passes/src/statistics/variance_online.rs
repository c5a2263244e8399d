//! Mean and variance while values come by: nothing is kept but sums.

use super::accumulator::Needs;
use super::entry::{DIMS, MOMENTS, Measure, StatisticEntry};
use super::summary::{Seen, Summary};
use super::{Dims, VariancePrecise};
use config::{Reader, Table};

/// Mean and variance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VarianceOnline(VariancePrecise);

impl Measure for VarianceOnline {
    const ENTRY: StatisticEntry = StatisticEntry {
        name: "variance_online",
        about: "mean and variance, while values come by",
        doc: "mean = Σx / n, variance = Σ(x − mean)² / (n − 1).\nThe same numbers as variance_precise: the sums are exact, so that there is nothing to choose between the two.\nDiffers from MASE: its online variance divides by n and rounds with every sample.",
        fields: &[DIMS],
        results: MOMENTS,
    };

    fn read(reader: &mut Reader, table: &Table) -> Self {
        Self(VariancePrecise::read(reader, table))
    }

    fn dims(&self) -> &Dims {
        self.0.dims()
    }

    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn summarize(&self, seen: &Seen) -> Summary {
        self.0.summarize(seen)
    }
}
