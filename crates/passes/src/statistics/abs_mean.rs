//! The mean magnitude.

use super::accumulator::{Accumulator, Needs};
use super::entry::{COUNT, DIMS, Measure, ResultField, StatisticEntry};
use super::summary::{Seen, Summary};
use super::{Dims, keys};
use config::{Reader, Table};

/// The mean magnitude.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AbsMean {
    /// The axes that are reduced.
    pub dims: Dims,
}

impl Measure for AbsMean {
    const ENTRY: StatisticEntry = StatisticEntry {
        name: "abs_mean",
        about: "the mean magnitude",
        doc: "abs_mean = Σ|x| / n.",
        fields: &[DIMS],
        results: &[ResultField::new("abs_mean", "Σ|x| / n"), COUNT],
    };

    fn read(reader: &mut Reader, table: &Table) -> Self {
        let dims = keys::dims(reader, table);
        Self { dims }
    }

    fn dims(&self) -> &Dims {
        &self.dims
    }

    fn needs(&self) -> Needs {
        Needs::MAGNITUDES
    }

    fn summarize(&self, seen: &Seen) -> Summary {
        let mean = |group: &Accumulator| [group.mean(true, seen.count())];
        seen.summary(["abs_mean"], seen.accumulators.iter().map(mean))
    }
}
