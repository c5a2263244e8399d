//! Table entries, and the macro that makes the statistics' enum and its dispatch from one line a statistic.

use super::{Dims, Needs, Seen, Summary};
use config::{Reader, Table};

/// One line of the table of statistics.
#[derive(Clone, Copy, Debug)]
pub struct StatisticEntry {
    /// The name in configs.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// The formula, and what there is to know.
    pub doc: &'static str,
    /// The keys of its config.
    pub fields: &'static [ConfigField],
    /// The fields of its result.
    pub results: &'static [ResultField],
}

/// A key of a statistic's config.
#[derive(Clone, Copy, Debug)]
pub struct ConfigField {
    /// The key.
    pub name: &'static str,
    /// The default.
    pub default: &'static str,
    /// One line.
    pub about: &'static str,
}

/// A field of a statistic's result.
#[derive(Clone, Copy, Debug)]
pub struct ResultField {
    /// The name.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
}

impl ConfigField {
    pub(super) const fn new(
        name: &'static str,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self {
            name,
            default,
            about,
        }
    }
}

impl ResultField {
    pub(super) const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about }
    }
}

/// `dims`, which all but `record` have.
pub(super) const DIMS: ConfigField = ConfigField::new(
    "dims",
    "\"all\"",
    "\"all\": one number; \"NA\": every element of a sample by itself; a list: the axes of a sample to reduce",
);
/// `abs`, which all ranges have.
pub(super) const ABS: ConfigField = ConfigField::new(
    "abs",
    "false",
    "whether magnitudes are taken instead of values",
);
/// `count`, which all have.
pub(super) const COUNT: ResultField =
    ResultField::new("count", "how many values each number comes from");
/// The results of moments.
pub(super) const MOMENTS: &[ResultField] = &[
    ResultField::new("mean", "Σx / n"),
    ResultField::new("variance", "Σ(x − mean)² / (n − 1); null of a single value"),
    COUNT,
];
/// The results of a range.
pub(super) const RANGE: &[ResultField] = &[
    ResultField::new("min", "the lower end"),
    ResultField::new("max", "the upper end"),
    ResultField::new("range", "max − min"),
    COUNT,
];

/// One statistic with its config.
pub(super) trait Measure: Sized {
    /// Its line of the table.
    const ENTRY: StatisticEntry;

    /// Reads the config from a table that the reader is on. Problems are the reader's.
    fn read(reader: &mut Reader, table: &Table) -> Self;

    /// The axes that are reduced.
    fn dims(&self) -> &Dims;

    /// The state that must be collected.
    fn needs(&self) -> Needs;

    /// The result.
    fn summarize(&self, seen: &Seen) -> Summary;
}

/// Makes `enum Statistic`, its table and the dispatch to the statistic's own file.
macro_rules! statistics {
    ($($(#[$doc:meta])* $variant:ident($module:ident),)*) => {
        /// A statistic with its config.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Statistic {
            $($(#[$doc])* $variant($module::$variant),)*
        }

        /// Every statistic, in reading order.
        pub static STATISTICS: &[StatisticEntry] = &[$(<$module::$variant as Measure>::ENTRY,)*];

        $(impl From<$module::$variant> for Statistic {
            fn from(statistic: $module::$variant) -> Self {
                Self::$variant(statistic)
            }
        })*

        impl Statistic {
            /// The statistic of this name with the config in `table`, which the reader is on; nothing when there is no
            /// such statistic.
            pub fn read(name: &str, reader: &mut Reader, table: &Table) -> Option<Self> {
                $(if name == <$module::$variant as Measure>::ENTRY.name {
                    return Some(Self::$variant(Measure::read(reader, table)));
                })*
                None
            }

            /// The statistic's line of the table.
            pub fn entry(&self) -> &'static StatisticEntry {
                match self {
                    $(Self::$variant(_) => const { &<$module::$variant as Measure>::ENTRY },)*
                }
            }

            fn dims(&self) -> &Dims {
                match self {
                    $(Self::$variant(statistic) => statistic.dims(),)*
                }
            }

            fn needs(&self) -> Needs {
                match self {
                    $(Self::$variant(statistic) => statistic.needs(),)*
                }
            }

            fn summarize(&self, seen: &Seen) -> Summary {
                match self {
                    $(Self::$variant(statistic) => statistic.summarize(seen),)*
                }
            }
        }
    };
}
pub(super) use statistics;
