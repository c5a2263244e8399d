//! Times while they are measured: sums over all batches, events of the first ones.

use super::{Part, ProfileEvent};
use crate::shard::{Pass, Shard};
use ir::NodeId;
use kernels::threads::current_thread;
use std::time::{Duration, Instant};

/// Batches whose events are not recorded: the first ones fill caches and compile plans.
const WARM_UP: u64 = 2;
/// Batches whose events are recorded.
const TRACED: u64 = 16;
/// Events after which no further batch is recorded.
const MAX_EVENTS: usize = 100_000;

/// The time of one step of a shard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepTime {
    at: usize,
    pass: Pass,
    thread: usize,
    start: Instant,
    length: Duration,
}

impl StepTime {
    /// Runs step `at` and returns its time.
    pub fn of(at: usize, pass: Pass, run: impl FnOnce()) -> Self {
        let start = Instant::now();
        run();
        Self {
            at,
            pass,
            thread: current_thread(),
            start,
            length: start.elapsed(),
        }
    }

    fn part(&self, nodes: &[NodeId]) -> Part {
        match self.pass {
            Pass::Forward | Pass::FinishForward => Part::Forward(nodes[self.at]),
            Pass::Backward | Pass::FinishBackward => Part::Backward(nodes[self.at]),
        }
    }
}

/// The times so far.
#[derive(Debug)]
pub(super) struct Recording {
    origin: Instant,
    /// The beginning of the batch under way.
    begun: Option<Instant>,
    /// Batches begun.
    pub batches: u64,
    /// Time of all batches, and of parts between them.
    pub total: Duration,
    /// Time in which threads had no steps to run, as a share of all threads.
    pub waiting: Duration,
    /// The sums of the parts, by [`index`].
    sums: Vec<Duration>,
    pub events: Vec<ProfileEvent>,
    is_traced: bool,
}

impl Recording {
    pub fn new(origin: Instant) -> Self {
        Self {
            origin,
            begun: None,
            batches: 0,
            total: Duration::ZERO,
            waiting: Duration::ZERO,
            sums: Vec::new(),
            events: Vec::new(),
            is_traced: true,
        }
    }

    pub fn begin_batch(&mut self, now: Instant) {
        self.end_batch(now);
        if self.batches == WARM_UP {
            self.events.clear();
        }
        self.is_traced = self.batches < WARM_UP + TRACED && self.events.len() < MAX_EVENTS;
        self.batches += 1;
        self.begun = Some(now);
    }

    pub fn end_batch(&mut self, now: Instant) {
        if let Some(begun) = self.begun.take() {
            self.total += now - begun;
        }
    }

    /// Counts work of the calling thread.
    pub fn add(&mut self, part: Part, start: Instant, length: Duration) {
        self.count_between(length);
        self.sum(part, length);
        self.record(part, current_thread(), start, length);
    }

    /// Counts the steps of shards, which took `length` on so many threads.
    pub fn add_shards(&mut self, shards: &mut [Shard], length: Duration, threads: usize) {
        self.count_between(length);
        let mut worked = Duration::ZERO;
        for shard in shards {
            for time in shard.times.drain(..) {
                let part = time.part(&shard.program.nodes);
                let share = time.length / threads as u32;
                worked += share;
                self.sum(part, share);
                self.record(part, time.thread, time.start, time.length);
            }
        }
        self.waiting += length.saturating_sub(worked);
    }

    /// The time of a part over all batches.
    pub fn of(&self, part: Part) -> Duration {
        self.sums.get(index(part)).copied().unwrap_or_default()
    }

    /// The time of all parts over all batches.
    pub fn of_all(&self) -> Duration {
        self.sums.iter().sum()
    }

    /// Work between two batches adds to their time.
    fn count_between(&mut self, length: Duration) {
        if self.begun.is_none() {
            self.total += length;
        }
    }

    fn sum(&mut self, part: Part, length: Duration) {
        let at = index(part);
        if at >= self.sums.len() {
            self.sums.resize(at + 1, Duration::ZERO);
        }
        self.sums[at] += length;
    }

    fn record(&mut self, part: Part, thread: usize, start: Instant, length: Duration) {
        if self.is_traced {
            self.events.push(ProfileEvent {
                part,
                batch: self.batches.saturating_sub(1),
                thread,
                start: start - self.origin,
                length,
            });
        }
    }
}

/// The place of a part among the sums.
fn index(part: Part) -> usize {
    const NODES: usize = 5;
    match part {
        Part::Data => 0,
        Part::Compile => 1,
        Part::Loss => 2,
        Part::Gradients => 3,
        Part::Optimizer => 4,
        Part::Forward(node) => NODES + 2 * node.index(),
        Part::Backward(node) => NODES + 2 * node.index() + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A recording of batches of 10 ms each, 4 ms of which are the loss; rows are laid out for 2 ms before the first.
    fn recording(batches: u64) -> Recording {
        let origin = Instant::now();
        let mut recording = Recording::new(origin);
        recording.add(Part::Data, origin, 2 * MS);
        for batch in 0..batches as u32 {
            let start = origin + 2 * MS + 10 * batch * MS;
            recording.begin_batch(start);
            recording.add(Part::Loss, start + MS, 4 * MS);
            recording.end_batch(start + 10 * MS);
        }
        recording
    }

    #[test]
    fn sums_run_over_all_batches() {
        for batches in [0, 1, 100] {
            let recording = recording(batches);
            assert_eq!(recording.batches, batches);
            assert_eq!(recording.total, 2 * MS + 10 * batches as u32 * MS);
            assert_eq!(recording.of(Part::Loss), 4 * batches as u32 * MS);
            assert_eq!(recording.of(Part::Data), 2 * MS);
            assert_eq!(recording.of(Part::Backward(NodeId(3))), Duration::ZERO);
            assert_eq!(recording.of_all(), (2 + 4 * batches as u32) * MS);
        }
    }

    /// The first batches are traced unless there are others.
    #[test]
    fn events_are_those_of_some_batches() {
        for (batches, traced) in [(0, 0..0), (1, 0..1), (2, 0..2), (3, 2..3), (100, 2..18)] {
            let recording = recording(batches);
            let losses = recording.events.iter().filter(|e| e.part == Part::Loss);
            let found: Vec<u64> = losses.map(|event| event.batch).collect();
            assert_eq!(found, traced.collect::<Vec<_>>(), "{batches} batches");
        }
    }

    #[test]
    fn a_batch_with_too_many_events_is_the_last_that_is_traced() {
        let origin = Instant::now();
        let mut recording = Recording::new(origin);
        for _ in 0..WARM_UP + 3 {
            recording.begin_batch(origin);
            for _ in 0..=MAX_EVENTS / 2 {
                recording.add(Part::Loss, origin, MS);
            }
        }
        let last = recording.events.last().map(|event| event.batch);
        assert_eq!(last, Some(WARM_UP + 1));
        assert_eq!(recording.events.len(), MAX_EVENTS + 2);
    }
}
