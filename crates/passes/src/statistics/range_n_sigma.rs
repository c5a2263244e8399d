//! The mean, some standard deviations to both sides.

use super::accumulator::{Accumulator, Needs};
use super::entry::{ABS, ConfigField, DIMS, Measure, RANGE, StatisticEntry};
use super::summary::{Seen, Summary};
use super::{Dims, keys};
use config::{Reader, Table};

/// The mean, some standard deviations to both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeNSigma {
    /// The axes that are reduced.
    pub dims: Dims,
    /// True to take magnitudes instead of values.
    pub abs: bool,
    /// Whose variance it is; both are the same number.
    pub var_mode: VarMode,
    /// The number of standard deviations.
    pub num_sigma: f64,
}

/// A way to compute a variance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VarMode {
    /// As `variance_precise`.
    #[default]
    Precise,
    /// As `variance_online`.
    Online,
}

impl VarMode {
    const WORDS: &'static [(&'static str, Self)] =
        &[("precise", Self::Precise), ("online", Self::Online)];
}

impl Default for RangeNSigma {
    fn default() -> Self {
        Self {
            dims: Dims::All,
            abs: false,
            var_mode: VarMode::Precise,
            num_sigma: 3.0,
        }
    }
}

impl Measure for RangeNSigma {
    const ENTRY: StatisticEntry = StatisticEntry {
        name: "range_n_sigma",
        about: "the mean, some standard deviations to both sides",
        doc: "min = mean − n·σ, max = mean + n·σ, range = max − min, where σ² is the variance (n − 1); with abs = true of |x|.",
        fields: &[
            DIMS,
            ABS,
            ConfigField::new(
                "var_mode",
                "\"precise\"",
                "precise or online, which give the same variance",
            ),
            ConfigField::new("num_sigma", "3", "how many standard deviations"),
        ],
        results: RANGE,
    };

    fn read(reader: &mut Reader, table: &Table) -> Self {
        let sigma = reader.number("num_sigma", 0.0..=f64::MAX);
        Self {
            dims: keys::dims(reader, table),
            abs: keys::abs(reader),
            var_mode: reader
                .choice("var_mode", VarMode::WORDS)
                .unwrap_or_default(),
            num_sigma: sigma.unwrap_or(3.0),
        }
    }

    fn dims(&self) -> &Dims {
        &self.dims
    }

    fn needs(&self) -> Needs {
        Needs::moments(self.abs)
    }

    fn summarize(&self, seen: &Seen) -> Summary {
        let ends = |group: &Accumulator| {
            let mean = group.mean(self.abs, seen.count());
            let reach = self.num_sigma * group.variance(self.abs, seen.count()).sqrt();
            [mean - reach, mean + reach]
        };
        seen.range(seen.accumulators.iter().map(ends))
    }
}
