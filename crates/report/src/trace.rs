//! Stretches of time on the threads of a program, in Chrome's trace-event format, which Perfetto and
//! `chrome://tracing` open.

use serde_json::{Map, Value as Json, json};
use std::time::Duration;

/// The one process of a trace.
const PROCESS: u32 = 1;

/// A trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The name of the process.
    pub process: String,
    /// The threads with their names.
    pub threads: Vec<(usize, String)>,
    /// The stretches, by thread and time.
    pub slices: Vec<Slice>,
}

/// A stretch of time on one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// The name that a viewer writes on it.
    pub name: String,
    /// Its category, by which a viewer selects.
    pub category: String,
    /// The number of the thread.
    pub thread: usize,
    /// Its beginning.
    pub start: Duration,
    /// Its length.
    pub length: Duration,
    /// Further facts that a viewer shows when it is selected.
    pub facts: Map<String, Json>,
}

impl Trace {
    /// The trace in JSON.
    pub fn to_json(&self) -> Json {
        let named = |what: &str, thread: usize, name: &str| {
            json!({
                "ph": "M",
                "name": what,
                "pid": PROCESS,
                "tid": thread,
                "args": { "name": name },
            })
        };
        let threads = self.threads.iter();
        let threads = threads.map(|(thread, name)| named("thread_name", *thread, name));
        let names = std::iter::once(named("process_name", 0, &self.process)).chain(threads);
        let events: Vec<Json> = names
            .chain(self.slices.iter().map(Slice::to_json))
            .collect();
        json!({ "displayTimeUnit": "ms", "traceEvents": events })
    }
}

impl Slice {
    /// A complete event. Times are microseconds, with nanoseconds behind the point.
    fn to_json(&self) -> Json {
        let microseconds = |time: Duration| time.as_nanos() as f64 / 1e3;
        json!({
            "ph": "X",
            "name": self.name,
            "cat": self.category,
            "ts": microseconds(self.start),
            "dur": microseconds(self.length),
            "pid": PROCESS,
            "tid": self.thread,
            "args": self.facts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_complete_events_behind_the_names() {
        let slice = Slice {
            name: "conv".to_owned(),
            category: "forward".to_owned(),
            thread: 2,
            start: Duration::from_nanos(1_234_567),
            length: Duration::from_nanos(89),
            facts: Map::from_iter([("batch".to_owned(), 3.into())]),
        };
        let trace = Trace {
            process: "ch".to_owned(),
            threads: vec![(2, "worker 2".to_owned())],
            slices: vec![slice],
        };
        let expected = json!({
            "displayTimeUnit": "ms",
            "traceEvents": [
                { "ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": { "name": "ch" } },
                { "ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": { "name": "worker 2" } },
                {
                    "ph": "X", "name": "conv", "cat": "forward", "ts": 1234.567, "dur": 0.089,
                    "pid": 1, "tid": 2, "args": { "batch": 3 }
                },
            ],
        });
        assert_eq!(trace.to_json(), expected);
    }
}
