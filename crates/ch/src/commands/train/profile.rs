//! The profile of a training: a table for people, `profile.json` for trace viewers and other programs.

use crate::output::folder::write_file;
use crate::output::number::count;
use crate::output::{Console, fit};
use anyhow::Result;
use engine::{Part, Profile, ProfileEvent, ProfileRow, Subject};
use report::{Column, Slice, Table, Trace};
use serde_json::{Map, Value as Json, json};
use std::path::Path;
use std::time::Duration;

/// The file in the folder of a run.
pub const FILE: &str = "profile.json";

/// Rows of the table besides that of all others.
const MAX_ROWS: usize = 20;

/// The cell of what has no value.
const NONE: &str = "–";

/// The columns of the table.
pub const COLUMNS: &[Column] = &[
    Column::words("Node", "a node, or nodes that run as one step"),
    Column::words(
        "Operation",
        "what time went into: the operators of nodes, or a part of training besides them",
    ),
    Column::numbers(
        "Forward ms",
        "milliseconds of the forward pass of a mean batch",
    ),
    Column::numbers(
        "Backward ms",
        "milliseconds of the backward pass of a mean batch",
    ),
    Column::numbers("Total ms", "milliseconds of a mean batch"),
    Column::numbers("Share", "part of the time of all batches"),
];

/// A profile with the words for its rows.
pub struct ProfileReport<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The word for the optimiser.
    pub optimizer: &'a str,
}

impl ProfileReport<'_> {
    /// Writes the file, and returns the table with a line above and below it.
    pub fn write(&self, folder: &Path, console: &mut Console) -> Result<String> {
        let path = folder.join(FILE);
        let mut bytes = serde_json::to_vec(&self.to_json())?;
        bytes.push(b'\n');
        write_file(&path, &bytes, console)?;
        let table = fit::table(&self.table(), console.stream(), FILE);
        Ok(format!(
            "profile of {}: {:.2} s on {}, by parts of a mean batch\n\n{table}\nall parts, and the events of some batches: {}\n",
            batches(self.profile.batches),
            self.profile.total.as_secs_f64(),
            count(self.profile.threads as u64, "thread"),
            path.display()
        ))
    }

    /// The rows with the most time, one for all others, and their sum.
    fn table(&self) -> Table {
        let mut table = Table::with_columns(COLUMNS);
        let rows = self.sorted();
        let shown = rows.iter().take(MAX_ROWS);
        let shown = shown.take_while(|row| row.total > Duration::ZERO).count();
        let (first, others) = rows.split_at(shown);
        for row in first {
            let passes = match row.subject {
                Subject::Nodes { .. } => [row.forward, row.backward].map(|time| self.cell(time)),
                _ => [NONE, NONE].map(str::to_owned),
            };
            let [node, operation] = self.names(row);
            table.push(self.cells(node, operation, passes, row.total));
        }
        let sum = |of: fn(&ProfileRow) -> Duration, rows: &[&ProfileRow]| -> Duration {
            rows.iter().map(|row| of(row)).sum()
        };
        let line = |name: String, rows: &[&ProfileRow]| {
            let passes = [sum(|row| row.forward, rows), sum(|row| row.backward, rows)];
            let passes = passes.map(|time| self.cell(time));
            self.cells(name, NONE.to_owned(), passes, sum(|row| row.total, rows))
        };
        if !others.is_empty() {
            let name = count(others.len() as u64, "other");
            table.push(line(name, others));
        }
        table.totals = Some(line("total".to_owned(), &rows).into());
        table
    }

    fn cells(
        &self,
        node: String,
        operation: String,
        [forward, backward]: [String; 2],
        total: Duration,
    ) -> [String; 6] {
        let share = format!("{:.1}%", 100.0 * self.share(total));
        [node, operation, forward, backward, self.cell(total), share]
    }

    /// Milliseconds of a mean batch.
    fn cell(&self, time: Duration) -> String {
        format!("{:.3}", self.milliseconds(time))
    }

    /// All rows, from the one with the most time on; rows with none in the order of the graph.
    fn sorted(&self) -> Vec<&ProfileRow> {
        let mut rows: Vec<&ProfileRow> = self.profile.rows.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.total));
        rows
    }

    fn milliseconds(&self, time: Duration) -> f64 {
        1e3 * time.as_secs_f64() / self.profile.batches.max(1) as f64
    }

    fn share(&self, time: Duration) -> f64 {
        let total = self.profile.total.as_secs_f64();
        if total > 0.0 {
            time.as_secs_f64() / total
        } else {
            0.0
        }
    }

    /// The cells `Node` and `Operation` of a row.
    fn names(&self, row: &ProfileRow) -> [String; 2] {
        let part = match &row.subject {
            Subject::Nodes { names, operators } => {
                return [names.join(" + "), operators.join(" + ")];
            }
            Subject::Data => "data",
            Subject::Compile => "compile",
            Subject::Loss => "cross_entropy",
            Subject::Gradients => "gradient_sum",
            Subject::Optimizer => self.optimizer,
            Subject::Waiting => "waiting",
            Subject::Other => "other",
        };
        [NONE, part].map(str::to_owned)
    }

    /// The trace of some batches, with all rows beside it.
    fn to_json(&self) -> Json {
        let profile = self.profile;
        let rows = self.sorted().into_iter().map(|row| {
            let nodes = match &row.subject {
                Subject::Nodes { names, .. } => json!(names),
                _ => json!([]),
            };
            json!({
                "nodes": nodes,
                "operation": self.names(row)[1],
                "forward_ms": self.milliseconds(row.forward),
                "backward_ms": self.milliseconds(row.backward),
                "total_ms": self.milliseconds(row.total),
                "share": self.share(row.total),
            })
        });
        let mut json = self.trace().to_json();
        json["profile"] = json!({
            "batches": profile.batches,
            "threads": profile.threads,
            "seconds": profile.total.as_secs_f64(),
            "rows": rows.collect::<Vec<Json>>(),
        });
        json
    }

    fn trace(&self) -> Trace {
        let events = &self.profile.events;
        let mut threads: Vec<usize> = events.iter().map(|event| event.thread).collect();
        threads.dedup();
        let name = |thread: usize| match thread {
            0 => "training".to_owned(),
            number => format!("worker {number}"),
        };
        Trace {
            process: "ch train".to_owned(),
            threads: threads.into_iter().map(|t| (t, name(t))).collect(),
            slices: events.iter().map(|event| self.slice(event)).collect(),
        }
    }

    fn slice(&self, event: &ProfileEvent) -> Slice {
        let [node, operation] = self.names(self.profile.row_of(event));
        let category = match event.part {
            Part::Forward(_) => "forward",
            Part::Backward(_) => "backward",
            _ => "training",
        };
        let name = if node == NONE {
            operation.clone()
        } else {
            node
        };
        Slice {
            name,
            category: category.to_owned(),
            thread: event.thread,
            start: event.start,
            length: event.length,
            facts: Map::from_iter([
                ("operation".to_owned(), operation.into()),
                ("batch".to_owned(), event.batch.into()),
            ]),
        }
    }
}

fn batches(count: u64) -> String {
    match count {
        1 => "1 batch".to_owned(),
        n => format!("{n} batches"),
    }
}
