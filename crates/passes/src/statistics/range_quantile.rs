//! The range that leaves out the outliers on both sides.

use super::accumulator::Needs;
use super::entry::{ABS, ConfigField, DIMS, Measure, RANGE, StatisticEntry};
use super::select::quantiles;
use super::summary::{Seen, Summary};
use super::{Dims, keys};
use config::{Reader, Table};

/// Groups that are gathered together: they lie in the same cache lines.
const GROUPS: usize = 16;

/// The range between two quantiles.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeQuantile {
    /// The axes that are reduced.
    pub dims: Dims,
    /// True to take magnitudes instead of values.
    pub abs: bool,
    /// The share of values that are not above the upper end.
    pub quantile: f64,
}

impl Default for RangeQuantile {
    fn default() -> Self {
        Self {
            dims: Dims::All,
            abs: false,
            quantile: 0.975,
        }
    }
}

impl Measure for RangeQuantile {
    const ENTRY: StatisticEntry = StatisticEntry {
        name: "range_quantile",
        about: "the range without outliers: between two quantiles",
        doc: "min = quantile(1 − q), max = quantile(q), range = max − min, by linear interpolation as NumPy has it; with abs = true of |x|.\nAll values are kept until the end: the quantiles are exact.",
        fields: &[
            DIMS,
            ABS,
            ConfigField::new("quantile", "0.975", "q, from 0 to 1"),
        ],
        results: RANGE,
    };

    fn read(reader: &mut Reader, table: &Table) -> Self {
        let quantile = reader.number("quantile", 0.0..=1.0);
        Self {
            dims: keys::dims(reader, table),
            abs: keys::abs(reader),
            quantile: quantile.unwrap_or(0.975),
        }
    }

    fn dims(&self) -> &Dims {
        &self.dims
    }

    fn needs(&self) -> Needs {
        Needs::VALUES
    }

    fn summarize(&self, seen: &Seen) -> Summary {
        let levels = [1.0 - self.quantile, self.quantile];
        let count = seen.groups.count();
        if count == 1 {
            let ends = quantiles(seen.values, self.abs, levels);
            return seen.range(std::iter::once(ends));
        }
        let mut ends = Vec::with_capacity(count);
        let mut gathered = Vec::new();
        for first in (0..count).step_by(GROUPS) {
            let last = (first + GROUPS).min(count);
            gathered.clear();
            seen.groups.gather(seen.values, first, last, &mut gathered);
            let groups = gathered.chunks(seen.count() as usize);
            ends.extend(groups.map(|values| quantiles(values, self.abs, levels)));
        }
        seen.range(ends.into_iter())
    }
}
