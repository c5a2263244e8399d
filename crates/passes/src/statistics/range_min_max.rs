//! The least and the largest value.

use super::accumulator::{Accumulator, Needs};
use super::entry::{ABS, DIMS, Measure, RANGE, StatisticEntry};
use super::summary::{Seen, Summary};
use super::{Dims, keys};
use config::{Reader, Table};

/// The least and the largest value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RangeMinMax {
    /// The axes that are reduced.
    pub dims: Dims,
    /// True to take magnitudes instead of values.
    pub abs: bool,
}

impl Measure for RangeMinMax {
    const ENTRY: StatisticEntry = StatisticEntry {
        name: "range_min_max",
        about: "the least and the largest value",
        doc: "min = min x, max = max x, range = max − min; with abs = true of |x|.",
        fields: &[DIMS, ABS],
        results: RANGE,
    };

    fn read(reader: &mut Reader, table: &Table) -> Self {
        Self {
            dims: keys::dims(reader, table),
            abs: keys::abs(reader),
        }
    }

    fn dims(&self) -> &Dims {
        &self.dims
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn summarize(&self, seen: &Seen) -> Summary {
        let ends = |group: &Accumulator| {
            let ends = group.extremes;
            let (min, max) = if self.abs {
                (ends.min_magnitude, ends.max_magnitude)
            } else {
                (ends.min, ends.max)
            };
            // Adding zero turns -0 into 0, which the order of values would decide on otherwise.
            [f64::from(min) + 0.0, f64::from(max) + 0.0]
        };
        seen.range(seen.accumulators.iter().map(ends))
    }
}
