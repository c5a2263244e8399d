//! A profile: the rows that its times add up to, and the events of some batches.

use super::Part;
use super::recording::Recording;
use ir::{Graph, NodeId};
use std::time::Duration;

/// The time of a training, by node.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Batches measured.
    pub batches: u64,
    /// Threads that ran them.
    pub threads: usize,
    /// Time of all batches, on the wall; the rows add up to it.
    pub total: Duration,
    /// A row for every node or group of fused nodes, in the order of the graph, then those of all else.
    pub rows: Vec<ProfileRow>,
    /// The events of some batches, by thread and time. Those of one thread do not overlap.
    pub events: Vec<ProfileEvent>,
    /// The place of every node among the rows.
    row_of_node: Vec<usize>,
}

/// The time of one subject over all batches.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileRow {
    /// The subject.
    pub subject: Subject,
    /// Its forward pass, if it has one.
    pub forward: Duration,
    /// Its backward pass, if it has one.
    pub backward: Duration,
    /// All of its time.
    pub total: Duration,
}

/// The subject of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A node, or nodes that run as one step.
    Nodes {
        /// The names.
        names: Vec<String>,
        /// The operators.
        operators: Vec<&'static str>,
    },
    /// The order of the rows, and their copies into the network.
    Data,
    /// The compilation of plans.
    Compile,
    /// The loss and its gradient.
    Loss,
    /// The sums of gradients over shards and micro-batches.
    Gradients,
    /// The update of the parameters.
    Optimizer,
    /// Threads without work, while others had some.
    Waiting,
    /// The rest of the batches: scores, logs, progress.
    Other,
}

/// A stretch of time that one thread spent on one part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfileEvent {
    /// The part.
    pub part: Part,
    /// The number of the batch, from zero.
    pub batch: u64,
    /// The number of the thread: zero for the one that runs the training, from one on for those of its pool.
    pub thread: usize,
    /// Its beginning, since that of the profile.
    pub start: Duration,
    /// Its length.
    pub length: Duration,
}

/// The rows and events of a recording; `makers` names for every fused node the one whose step it is part of.
pub(super) fn summarize(
    mut recording: Recording,
    graph: &Graph,
    makers: &[Option<NodeId>],
    threads: usize,
) -> Profile {
    let mut rows: Vec<ProfileRow> = Vec::new();
    let mut row_of_node: Vec<usize> = Vec::new();
    for (id, node) in graph.iter() {
        let row = makers[id.index()].map_or(rows.len(), |maker| row_of_node[maker.index()]);
        row_of_node.push(row);
        if row == rows.len() {
            rows.push(ProfileRow::of_nodes());
        }
        let times = [Part::Forward(id), Part::Backward(id)].map(|part| recording.of(part));
        rows[row].add_node(&node.name, node.op.name(), times);
    }
    for (part, subject) in PARTS {
        rows.push(ProfileRow::of(subject.clone(), recording.of(*part)));
    }
    let mut other = recording.total.saturating_sub(recording.of_all());
    if threads > 1 {
        let waiting = recording.waiting.min(other);
        rows.push(ProfileRow::of(Subject::Waiting, waiting));
        other -= waiting;
    }
    rows.push(ProfileRow::of(Subject::Other, other));

    let by_thread = |event: &ProfileEvent| (event.thread, event.start);
    recording.events.sort_by_key(by_thread);
    Profile {
        batches: recording.batches,
        threads,
        total: recording.total,
        events: recording.events,
        rows,
        row_of_node,
    }
}

/// The parts that are no node, in the order of their rows.
const PARTS: &[(Part, Subject)] = &[
    (Part::Data, Subject::Data),
    (Part::Compile, Subject::Compile),
    (Part::Loss, Subject::Loss),
    (Part::Gradients, Subject::Gradients),
    (Part::Optimizer, Subject::Optimizer),
];

impl Profile {
    /// The row that an event counts for.
    pub fn row_of(&self, event: &ProfileEvent) -> &ProfileRow {
        let row = match event.part {
            Part::Forward(node) | Part::Backward(node) => self.row_of_node[node.index()],
            part => {
                let groups = self.row_of_node.iter().max().map_or(0, |last| last + 1);
                groups + PARTS.iter().take_while(|(own, _)| *own != part).count()
            }
        };
        &self.rows[row]
    }
}

impl ProfileRow {
    fn of(subject: Subject, total: Duration) -> Self {
        Self {
            subject,
            forward: Duration::ZERO,
            backward: Duration::ZERO,
            total,
        }
    }

    fn of_nodes() -> Self {
        let (names, operators) = (Vec::new(), Vec::new());
        Self::of(Subject::Nodes { names, operators }, Duration::ZERO)
    }

    fn add_node(&mut self, name: &str, operator: &'static str, [forward, backward]: [Duration; 2]) {
        if let Subject::Nodes { names, operators } = &mut self.subject {
            names.push(name.to_owned());
            operators.push(operator);
        }
        self.forward += forward;
        self.backward += backward;
        self.total += forward + backward;
    }
}
