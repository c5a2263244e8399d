//! What a trial is judged by: metrics of the network's answers, and metrics of what it costs.

use crate::Direction;

/// Where the value of a metric comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Running the network on rows.
    Software,
    /// The graph with its formats alone.
    Hardware,
}

/// What the table says of one metric.
#[derive(Clone, Copy, Debug)]
pub struct MetricEntry {
    /// The name in configs and results.
    pub name: &'static str,
    /// Where its value comes from.
    pub source: Source,
    /// Which values are better.
    pub direction: Direction,
    /// One line.
    pub about: &'static str,
}

const fn metric(
    name: &'static str,
    source: Source,
    direction: Direction,
    about: &'static str,
) -> MetricEntry {
    MetricEntry {
        name,
        source,
        direction,
        about,
    }
}

use Direction::{Maximize, Minimize};
use Source::{Hardware, Software};

/// Every metric, in the order in which [`Scores`] holds their values.
#[rustfmt::skip]
pub static METRICS: &[MetricEntry] = &[
    metric("accuracy", Software, Maximize, "share of rows whose label has the largest result"),
    metric("loss", Software, Minimize, "mean cross-entropy"),
    metric("average_bitwidth", Hardware, Minimize, "bits of a weight of the linear, convolution and embedding layers, averaged over their weights"),
    metric("memory_density", Hardware, Maximize, "how many times smaller the weights are than with compare_to bits each"),
    metric("flops", Hardware, Minimize, "floating-point operations for one row"),
    metric("bitops", Hardware, Minimize, "bit operations for one row"),
    metric("model_size", Hardware, Minimize, "bytes of all parameters and buffers"),
];

/// The number of metrics.
pub const COUNT: usize = 7;

/// The values of all metrics of one trial, in the order of [`METRICS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores(pub [f64; COUNT]);

impl Scores {
    /// The value of a metric.
    pub fn get(&self, name: &str) -> Option<f64> {
        position(name).map(|index| self.0[index])
    }

    /// The same with nothing known of the answers: metrics that need rows are not numbers.
    #[must_use]
    pub fn without_answers(mut self) -> Self {
        for (entry, value) in METRICS.iter().zip(&mut self.0) {
            if entry.source == Software {
                *value = f64::NAN;
            }
        }
        self
    }

    /// The metrics of one source with their values.
    pub fn of(&self, source: Source) -> impl Iterator<Item = (&'static str, f64)> {
        METRICS
            .iter()
            .zip(self.0)
            .filter(move |(entry, _)| entry.source == source)
            .map(|(entry, value)| (entry.name, value))
    }
}

/// The place of a metric in the table.
pub fn position(name: &str) -> Option<usize> {
    METRICS.iter().position(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_have_a_place_for_every_metric() {
        assert_eq!(METRICS.len(), COUNT);
        for (index, entry) in METRICS.iter().enumerate() {
            assert_eq!(position(entry.name), Some(index));
        }
    }
}
