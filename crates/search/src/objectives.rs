//! Objectives: what a trial can be judged by, computed from what was measured of it.

use crate::evaluate::Costs;
use config::is_same_name;
use std::ops::{Index, IndexMut};
use study::{Direction, Trial};

/// The origin of an objective's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Running the network on rows.
    Software,
    /// The graph with its formats alone.
    Hardware,
    /// The netlist that the graph with its formats becomes, which is made where it is asked for.
    Netlist,
}

/// Everything that is measured of a trial.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// Share of rows with the right answer.
    pub accuracy: f64,
    /// Mean cross-entropy.
    pub loss: f64,
    /// Costs of the graph with its formats.
    pub costs: Costs,
    /// Bits of a weight that memory density compares with.
    pub compare_to: f64,
}

/// One line of the table of objectives.
#[derive(Clone, Copy, Debug)]
pub struct ObjectiveEntry {
    /// The objective.
    pub objective: Objective,
    /// The name in configs and results.
    pub name: &'static str,
    /// The origin of its value.
    pub source: Source,
    /// The better side.
    pub direction: Direction,
    /// One line.
    pub about: &'static str,
    value: fn(&Measurement) -> f64,
}

macro_rules! objectives {
    ($($variant:ident = $name:literal, $source:ident, $direction:ident, $value:expr, $about:literal;)*) => {
        /// An entry of [`OBJECTIVES`].
        #[expect(clippy::doc_markdown, reason = "the lines are the text of the table")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Objective {
            $(#[doc = $about] $variant,)*
        }

        /// Every objective, in the order in which [`Scores`] holds their values.
        pub static OBJECTIVES: &[ObjectiveEntry] = &[
            $(ObjectiveEntry {
                objective: Objective::$variant,
                name: $name,
                source: Source::$source,
                direction: Direction::$direction,
                about: $about,
                value: $value,
            },)*
        ];

        const COUNT: usize = [$(Objective::$variant),*].len();
    };
}

#[rustfmt::skip]
objectives! {
    // of the network's answers
    Accuracy = "accuracy", Software, Maximize, |m| m.accuracy, "share of rows whose label has the largest result";
    Loss = "loss", Software, Minimize, |m| m.loss, "mean cross-entropy";
    // of the graph with its formats
    AverageBitwidth = "average_bitwidth", Hardware, Minimize, |m| m.costs.average_bitwidth(), "bits of a weight of the linear, convolution and embedding layers, averaged over their weights";
    MemoryDensity = "memory_density", Hardware, Maximize, |m| m.compare_to / m.costs.average_bitwidth(), "how many times smaller the weights are than with compare_to bits each";
    Flops = "flops", Hardware, Minimize, |m| m.costs.flops(), "floating-point operations for one row";
    Bitops = "bitops", Hardware, Minimize, |m| m.costs.bitops(), "bit operations for one row";
    ModelSize = "model_size", Hardware, Minimize, |m| m.costs.model_size(), "bytes of all parameters and buffers";
    // of the netlist
    AdderBits = "adder_bits", Netlist, Minimize, |m| m.costs.netlist.adder_bits, "bits of all adders of the network as hardware";
    Lut = "lut", Netlist, Minimize, |m| m.costs.netlist.lut, "look-up tables of the network as hardware, estimated for a target";
    Ff = "ff", Netlist, Minimize, |m| m.costs.netlist.ff, "flip-flops of the network as hardware";
    LatencyCycles = "latency_cycles", Netlist, Minimize, |m| m.costs.netlist.latency_cycles, "clock cycles from an input to its result";
}

/// The objectives that decide between trials whose values are equal: the smaller is better.
pub const TIE_BREAKERS: [Objective; 2] = [Objective::Bitops, Objective::ModelSize];

impl Objective {
    /// The objective of this name, or of the original's name for it; case, `-` and `_` make no difference.
    pub fn find(name: &str) -> Option<Self> {
        let aliases = [("total_bitops", "bitops"), ("total_flops", "flops")];
        let alias = aliases.iter().find(|(alias, _)| is_same_name(alias, name));
        let wanted = alias.map_or(name, |(_, own)| own);
        let mut entries = OBJECTIVES.iter();
        let found = entries.find(|entry| is_same_name(entry.name, wanted));
        found.map(|entry| entry.objective)
    }

    /// Its line of the table.
    pub fn entry(self) -> &'static ObjectiveEntry {
        &OBJECTIVES[self as usize]
    }

    /// The name in configs and results.
    pub fn name(self) -> &'static str {
        self.entry().name
    }
}

/// The values of all objectives for one trial.
#[derive(Clone, Copy, Debug)]
pub struct Scores([f64; COUNT]);

/// Scores that were not measured equal each other.
impl PartialEq for Scores {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.0.iter().zip(&other.0);
        pairs.all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
    }
}

impl Scores {
    /// The objectives of a measurement.
    pub fn new(measurement: &Measurement) -> Self {
        Self(std::array::from_fn(|k| (OBJECTIVES[k].value)(measurement)))
    }

    /// The scores of a finished trial; none when it could not be run, or was run by another program.
    pub fn of(trial: &Trial) -> Option<Self> {
        trial.metrics.as_slice().try_into().ok().map(Self)
    }

    /// True when the netlist was made.
    pub fn has_netlist(&self) -> bool {
        !self[Objective::AdderBits].is_nan()
    }

    /// All values in the order of [`OBJECTIVES`], as [`Trial::metrics`] holds them.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// The same with nothing known of the answers: objectives that need rows are not numbers.
    #[must_use]
    pub fn without_answers(mut self) -> Self {
        for entry in OBJECTIVES {
            if entry.source == Source::Software {
                self[entry.objective] = f64::NAN;
            }
        }
        self
    }

    /// The objectives of one source with their values.
    pub fn of_source(&self, source: Source) -> impl Iterator<Item = (&'static str, f64)> {
        let entries = OBJECTIVES
            .iter()
            .filter(move |entry| entry.source == source);
        entries.map(|entry| (entry.name, self[entry.objective]))
    }
}

impl Index<Objective> for Scores {
    type Output = f64;

    fn index(&self, objective: Objective) -> &f64 {
        &self.0[objective as usize]
    }
}

impl IndexMut<Objective> for Scores {
    fn index_mut(&mut self, objective: Objective) -> &mut f64 {
        &mut self.0[objective as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_equal_each_other_where_all_of_them_do() {
        let same = Scores([1.0; COUNT]);
        assert_eq!(same, same);
        for k in 0..COUNT {
            let (mut other, mut unknown) = (same, same);
            other.0[k] = 2.0;
            unknown.0[k] = f64::NAN;
            assert_ne!(same, other);
            assert_ne!(same, unknown);
            assert_eq!(unknown, unknown, "neither was measured");
        }
    }
}
