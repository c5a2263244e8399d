//! Timed runs of a network.

use super::scores::Scores;
use crate::PassError;
use data::Split;
use engine::{Input, Network, PlanOptions, gather};
use ir::{DType, Graph, Verified};
use random::Random;
use std::time::Instant;

/// The batches of a measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// Batches that are timed.
    pub num_batches: usize,
    /// Batches before them.
    pub num_warmup_batches: usize,
    /// Rows of a batch, at most those there are.
    pub batch_size: usize,
    /// Threads of the network.
    pub threads: usize,
}

/// The measurements of a run.
pub(super) struct Measurement {
    /// The latency of each timed batch.
    pub milliseconds: Vec<f64>,
    /// Rows of each timed batch.
    pub batch_size: usize,
    /// Bytes of parameters and buffers.
    pub parameter_bytes: u64,
    /// Bytes of all values that are alive while a batch runs.
    pub activation_bytes: u64,
}

/// Mean and quantiles of latencies in milliseconds.
#[derive(Debug, PartialEq)]
pub(super) struct Latency {
    pub average: f64,
    pub median: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
}

impl Latency {
    /// Those of at least one latency; quantiles are interpolated linearly, as NumPy does.
    pub fn of(milliseconds: &[f64]) -> Self {
        let mut sorted = milliseconds.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quantile = |level: f64| {
            let place = level * (sorted.len() - 1) as f64;
            let (low, high) = (
                sorted[place.floor() as usize],
                sorted[place.ceil() as usize],
            );
            low + (high - low) * place.fract()
        };
        Self {
            average: sorted.iter().sum::<f64>() / sorted.len() as f64,
            median: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
        }
    }
}

/// Times a network on rows, which repeat where there are too few, and scores each of them once.
pub(super) fn on_rows(
    graph: &Graph,
    rows: &Split,
    schedule: Schedule,
    mut scores: Option<&mut Scores>,
) -> Result<Measurement, PassError> {
    let size = schedule.batch_size.min(rows.len());
    let batches = rows.indices().chunks_exact(size);
    let last = batches.remainder();
    let batches: Vec<&[u32]> = batches.collect();
    let inputs = |indices| gather(rows.elements(), indices);
    let mut network = Network::new(graph.clone(), schedule.threads)?;
    for k in 0..schedule.num_warmup_batches {
        let batch = batches[k % batches.len()];
        network.run(PlanOptions::eval(size), &inputs(batch))?;
    }
    let mut measurement = Measurement::new(&network, size);
    for k in 0..schedule.num_batches {
        let batch = batches[k % batches.len()];
        let outputs = measurement.time(&mut network, &inputs(batch))?;
        if let Some(scores) = scores.as_deref_mut().filter(|_| k < batches.len()) {
            scores.add(&outputs.output(0), &rows.labels_of(batch));
        }
    }
    if let Some(scores) = scores.filter(|_| !last.is_empty()) {
        let outputs = network.run(PlanOptions::eval(last.len()), &inputs(last))?;
        scores.add(&outputs.output(0), &rows.labels_of(last));
    }
    Ok(measurement)
}

/// Times a network on one batch of normal numbers and of indices 0.
pub(super) fn on_random_rows(
    verified: &Verified,
    schedule: Schedule,
    seed: u64,
) -> Result<Measurement, PassError> {
    let size = schedule.batch_size;
    let placeholders = verified.placeholders().into_iter();
    let values: Vec<Values> = placeholders
        .map(|id| {
            let ty = verified.ty(id.into());
            let node = verified.graph().node(id);
            let sizes = ty
                .shape
                .bind(size)
                .ok_or_else(|| PassError::node(node, format!("a batch of {size} is too large")))?;
            let count: usize = sizes.iter().product();
            let random = Random::new(seed, &node.name);
            Ok(match ty.dtype {
                DType::I64 => Values::Indices(vec![0; count]),
                DType::F32 | DType::Bool => {
                    Values::Floats((0..count as u64).map(|k| random.normal(k)).collect())
                }
            })
        })
        .collect::<Result<_, PassError>>()?;
    let inputs: Vec<Input> = values.iter().map(Values::input).collect();
    let mut network = Network::new(verified.graph().clone(), schedule.threads)?;
    for _ in 0..schedule.num_warmup_batches {
        network.run(PlanOptions::eval(size), &inputs)?;
    }
    let mut measurement = Measurement::new(&network, size);
    for _ in 0..schedule.num_batches {
        measurement.time(&mut network, &inputs)?;
    }
    Ok(measurement)
}

/// The made-up values of a placeholder.
enum Values {
    Floats(Vec<f32>),
    Indices(Vec<i64>),
}

impl Values {
    fn input(&self) -> Input<'_> {
        match self {
            Self::Floats(values) => Input::F32(values),
            Self::Indices(values) => Input::I64(values),
        }
    }
}

impl Measurement {
    fn new(network: &Network, batch_size: usize) -> Self {
        let elements: usize = network.state().iter().map(|(_, values)| values.len()).sum();
        Self {
            milliseconds: Vec::new(),
            batch_size,
            parameter_bytes: bytes(elements),
            activation_bytes: 0,
        }
    }

    /// Runs a batch and notes how long it took.
    fn time<'n>(
        &mut self,
        network: &'n mut Network,
        inputs: &[Input],
    ) -> Result<&'n engine::Plan, PassError> {
        let started = Instant::now();
        let plan = network.run(PlanOptions::eval(self.batch_size), inputs)?;
        self.milliseconds
            .push(started.elapsed().as_secs_f64() * 1e3);
        self.activation_bytes = bytes(plan.arena_len());
        Ok(plan)
    }
}

fn bytes(elements: usize) -> u64 {
    (elements * size_of::<f32>()) as u64
}

/// The largest resident memory of this process so far, in kilobytes, where the system tells it.
pub(super) fn process_peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.quantile([4, 1, 3, 2, 10], [0.5, 0.9, 0.95, 0.99])
        let latency = Latency::of(&[4.0, 1.0, 3.0, 2.0, 10.0]);
        let found = [
            latency.average,
            latency.median,
            latency.p90,
            latency.p95,
            latency.p99,
        ];
        for (found, expected) in found.into_iter().zip([4.0, 3.0, 7.6, 8.8, 9.76]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        let one = Latency::of(&[2.5]);
        assert_eq!((one.average, one.median, one.p99), (2.5, 2.5, 2.5));
    }
}
