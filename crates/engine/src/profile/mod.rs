//! The time of a training by node.
//!
//! A [`Profiler`] is passed through the plans of a training. It adds up the time of every part over all batches, and records
//! the single events of some of them. One that is off takes a branch for each step, and nothing that is computed depends on
//! it.
//!
//! Times are those of a clock on the wall. A step that runs on one of several threads counts for its share of them, so that
//! the parts of a batch add up to the time that it took; [`Subject::Waiting`] is what threads spent without work.

mod recording;
mod summary;

pub(crate) use recording::StepTime;
pub use summary::{Profile, ProfileEvent, ProfileRow, Subject};

use crate::fuse::fuse;
use crate::options::PlanOptions;
use crate::shard::Shard;
use ir::{NodeId, Verified};
use kernels::threads::Pool;
use recording::Recording;
use std::time::Instant;

/// A part of the work on a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The order of the rows, and their copies into the network.
    Data,
    /// The compilation of a plan, once for every number of rows.
    Compile,
    /// The loss and its gradient.
    Loss,
    /// The sums of gradients over micro-batches.
    Gradients,
    /// The update of the parameters.
    Optimizer,
    /// The forward pass of a node, and what it prepares of its parameters.
    Forward(NodeId),
    /// The backward pass of a node.
    Backward(NodeId),
}

/// A profiler, which is off unless it was started.
#[derive(Debug, Default)]
pub struct Profiler(Option<Box<Recording>>);

impl Profiler {
    /// A profiler that measures from now on.
    pub fn started() -> Self {
        Self(Some(Box::new(Recording::new(Instant::now()))))
    }

    /// True when it measures.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Marks the beginning of a batch. All time until [`Profiler::end_batch`] is part of it.
    pub fn begin_batch(&mut self) {
        if let Some(recording) = &mut self.0 {
            recording.begin_batch(Instant::now());
        }
    }

    /// Marks the end of a batch.
    pub fn end_batch(&mut self) {
        if let Some(recording) = &mut self.0 {
            recording.end_batch(Instant::now());
        }
    }

    /// Does some work that is a part of a batch, or between two of them.
    pub fn time<T>(&mut self, part: Part, work: impl FnOnce() -> T) -> T {
        let Some(recording) = &mut self.0 else {
            return work();
        };
        let start = Instant::now();
        let result = work();
        recording.add(part, start, start.elapsed());
        result
    }

    /// Runs steps of all shards; where it measures, `work` leaves their times in the shards.
    pub(crate) fn run_shards(
        &mut self,
        shards: &mut [Shard],
        pool: &Pool,
        work: impl Fn(&mut Shard) + Sync,
    ) {
        let Some(recording) = &mut self.0 else {
            pool.for_each(shards, |_, shard| work(shard));
            return;
        };
        let start = Instant::now();
        pool.for_each(shards, |_, shard| work(shard));
        // A single shard is run by the calling thread, and nobody waits for it.
        let threads = if shards.len() > 1 { pool.threads() } else { 1 };
        recording.add_shards(shards, start.elapsed(), threads);
    }

    /// Ends the profile of a graph that ran with these options.
    pub(crate) fn finish(
        &mut self,
        verified: &Verified,
        options: &PlanOptions,
        threads: usize,
    ) -> Option<Profile> {
        let mut recording = self.0.take()?;
        recording.end_batch(Instant::now());
        // The nodes of a group are the same for every number of rows.
        let fusions = fuse(verified, options);
        let makers: Vec<Option<NodeId>> =
            fusions.into_iter().map(|fusion| fusion.made_by).collect();
        Some(summary::summarize(
            *recording,
            verified.graph(),
            &makers,
            threads,
        ))
    }
}
