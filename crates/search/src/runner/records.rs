//! What is known of a trial, as it is kept and read back.

use super::Search;
use crate::metrics::{METRICS, MetricEntry, Scores, Source};
use crate::storage::StoredTrial;
use crate::{Outcome, Point, State};
use serde_json::{Map, Value as Json, json};
use std::time::SystemTime;

/// What is known of one finished trial.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRecord {
    /// Its number.
    pub number: u64,
    /// What was tried.
    pub point: Point,
    /// The values of the objectives, and how it ended.
    pub outcome: Outcome,
    /// All metrics; those that were not measured, of a trial that was given up, are not numbers; none when it could not be
    /// run.
    pub scores: Option<Scores>,
    /// Why it failed.
    pub note: Option<String>,
    /// When it was begun.
    pub started: SystemTime,
    /// When it was done.
    pub finished: SystemTime,
}

/// Names of what is kept beside a trial.
const SOFTWARE: &str = "software_metrics";
const HARDWARE: &str = "hardware_metrics";

impl Search {
    /// The trial as it is kept.
    pub(super) fn stored(&self, record: &TrialRecord) -> StoredTrial {
        let mut attributes = Map::new();
        if let Some(scores) = &record.scores {
            attributes.insert(SOFTWARE.to_owned(), metrics(scores, Source::Software));
            attributes.insert(HARDWARE.to_owned(), metrics(scores, Source::Hardware));
            attributes.insert(
                "scaled_metrics".to_owned(),
                Json::Object(self.scaled(scores)),
            );
        }
        if let Some(note) = &record.note {
            attributes.insert("note".to_owned(), note.as_str().into());
        }
        let sampled = self.task.formats.sampled_config(&record.point);
        attributes.insert("sampled_config".to_owned(), Json::Object(sampled));
        StoredTrial {
            number: record.number,
            parameters: self.task.formats.space.named(&record.point),
            outcome: record.outcome.clone(),
            attributes,
            started: record.started,
            finished: record.finished,
        }
    }
}

/// A kept trial that is said to be complete but lacks a value has failed: what is not a number is kept as nothing.
pub(super) fn mend(stored: &mut StoredTrial, objectives: usize) {
    let count = stored.outcome.values.len();
    let may_be_empty = stored.outcome.state != State::Complete;
    if count != objectives && !(may_be_empty && count == 0) {
        let note = format!("it is kept with {count} values for {objectives} objectives");
        write_off(stored, note);
    }
}

/// A kept trial that cannot count.
pub(super) fn write_off(stored: &mut StoredTrial, note: String) {
    stored.attributes.insert("note".to_owned(), note.into());
    stored.outcome = Outcome::failed();
}

/// What is known of a kept trial.
pub(super) fn record(stored: StoredTrial, point: Point) -> TrialRecord {
    let metric = |entry: &MetricEntry| {
        let group = if entry.source == Source::Software {
            SOFTWARE
        } else {
            HARDWARE
        };
        // What is not a number has no other form in JSON than null.
        let value = stored.attributes.get(group)?.get(entry.name)?;
        Some(value.as_f64().unwrap_or(f64::NAN))
    };
    let all: Option<Vec<f64>> = METRICS.iter().map(metric).collect();
    TrialRecord {
        number: stored.number,
        point,
        scores: all.and_then(|all| all.try_into().ok()).map(Scores),
        note: stored
            .attributes
            .get("note")
            .and_then(Json::as_str)
            .map(str::to_owned),
        outcome: stored.outcome,
        started: stored.started,
        finished: stored.finished,
    }
}

/// The metrics of one source as JSON.
pub fn metrics(scores: &Scores, source: Source) -> Json {
    let pairs = scores
        .of(source)
        .map(|(name, value)| (name.to_owned(), json!(value)));
    Json::Object(pairs.collect())
}
