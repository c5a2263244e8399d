//! Reading a journal: strict, bounded, and with the line of whatever is wrong.

use super::lines::op;
use crate::State;
use crate::storage::clock::from_iso;
use crate::storage::layout::{
    FACTS, METRIC_NAMES, compare_facts, direction_number, external, number, outcome, parse,
};
use crate::storage::{Attributes, StorageError, StudyInfo, TrialRow};
use crate::{Space, Trial};
use serde_json::{Map, Value as Json};
use std::time::{SystemTime, UNIX_EPOCH};

/// The content of a journal.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// For each of the lines that make a study, true when it is there.
    pub has: [bool; 3],
    /// Trials in the order of their numbers.
    pub trials: Vec<Draft>,
    /// Bytes up to the end of the last whole line.
    pub whole: usize,
}

/// A trial as far as the lines tell.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub parameters: Map<String, Json>,
    attributes: Map<String, Json>,
    /// Attributes of Optuna itself: constraints.
    system: Map<String, Json>,
    /// The worker that began it.
    pub worker: String,
    started: SystemTime,
    result: Option<(State, Vec<f64>, SystemTime)>,
}

/// A line that is wrong: its number, from 1, and why.
pub(super) type Wrong = (usize, String);

/// The beginning of the first line.
const OPENING: &[u8] = b"{\"op_code\":0,\"worker_id\":\"";

/// Reads a journal of the study `info`. What stands behind the last line end was cut off while it was written and is left
/// out.
pub(super) fn read(bytes: &[u8], info: &StudyInfo) -> Result<Content, Wrong> {
    let mut content = Content {
        whole: bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1),
        ..Content::default()
    };
    for (index, line) in bytes[..content.whole]
        .split(|&byte| byte == b'\n')
        .enumerate()
    {
        if line.is_empty() {
            continue;
        }
        let wrong = |error: &dyn std::fmt::Display| {
            (index + 1, format!("is not a line of a journal: {error}"))
        };
        let text = std::str::from_utf8(line).map_err(|error| wrong(&error))?;
        let json = parse(text).map_err(|error| wrong(&error))?;
        content.apply(&json, info).map_err(|why| (index + 1, why))?;
    }
    if !content.has[0] && content.whole > 0 {
        return Err((1, "has no study".to_owned()));
    }
    if content.whole == 0 && !begins_like_a_journal(bytes) {
        return Err((1, "is not a line of a journal".to_owned()));
    }
    Ok(content)
}

/// True when bytes without a whole line can be what is left of a first line.
fn begins_like_a_journal(bytes: &[u8]) -> bool {
    let length = bytes.len().min(OPENING.len());
    bytes[..length] == OPENING[..length]
}

impl Content {
    fn apply(&mut self, line: &Json, info: &StudyInfo) -> Result<(), String> {
        let code = line["op_code"].as_u64().ok_or("has no op_code")?;
        match code {
            op::CREATE_STUDY => self.study(line, info),
            op::STUDY_USER_ATTR => match line["user_attr"][FACTS].as_object() {
                Some(facts) => {
                    self.has[1] = true;
                    compare_facts(facts, info)
                }
                None => Ok(()),
            },
            op::STUDY_SYSTEM_ATTR => {
                self.has[2] |= line["system_attr"].get(METRIC_NAMES).is_some();
                Ok(())
            }
            op::TRIAL_INTERMEDIATE_VALUE => Ok(()),
            op::CREATE_TRIAL => self.begin(line),
            op::TRIAL_PARAM => {
                let name = line["param_name"]
                    .as_str()
                    .ok_or("has no param_name")?
                    .to_owned();
                let value = chosen(&line["distribution"], &line["param_value_internal"])?;
                self.trial(line)?.parameters.insert(name, value);
                Ok(())
            }
            op::TRIAL_USER_ATTR => {
                let more = attributes(line, "user_attr")?;
                self.trial(line)?.attributes.extend(more);
                Ok(())
            }
            op::TRIAL_SYSTEM_ATTR => {
                let more = attributes(line, "system_attr")?;
                self.trial(line)?.system.extend(more);
                Ok(())
            }
            op::TRIAL_STATE_VALUES => self.end(line),
            other => Err(format!("has operation {other}, which is not understood")),
        }
    }

    fn study(&mut self, line: &Json, info: &StudyInfo) -> Result<(), String> {
        if std::mem::replace(&mut self.has[0], true) {
            return Err("begins a second study; a journal of ours holds one".to_owned());
        }
        let name = line["study_name"].as_str().unwrap_or_default();
        if name != info.name {
            return Err(format!("holds the study '{name}', not '{}'", info.name));
        }
        let directions: Vec<Json> = info
            .directions
            .iter()
            .map(|d| direction_number(*d).into())
            .collect();
        if line["directions"].as_array() != Some(&directions) {
            return Err(format!(
                "has the directions {}, not {}",
                line["directions"],
                Json::from(directions)
            ));
        }
        Ok(())
    }

    fn begin(&mut self, line: &Json) -> Result<(), String> {
        if !self.has[0] || line["study_id"] != 0 {
            return Err("begins a trial of a study that is not there".to_owned());
        }
        let mut parameters = Map::new();
        for (name, value) in line["params"].as_object().into_iter().flatten() {
            parameters.insert(name.clone(), chosen(&line["distributions"][name], value)?);
        }
        let mut draft = Draft {
            parameters,
            attributes: line["user_attrs"].as_object().cloned().unwrap_or_default(),
            system: line["system_attrs"]
                .as_object()
                .cloned()
                .unwrap_or_default(),
            worker: line["worker_id"].as_str().unwrap_or_default().to_owned(),
            started: moment(&line["datetime_start"]),
            result: None,
        };
        // Optuna can also write a whole trial at once.
        if let Some(state) = line.get("state").and_then(finished) {
            draft.result = Some((state, values(line), moment(&line["datetime_complete"])));
        }
        self.trials.push(draft);
        Ok(())
    }

    fn end(&mut self, line: &Json) -> Result<(), String> {
        let Some(state) = finished(&line["state"]) else {
            return Ok(());
        };
        let (values, time) = (values(line), moment(&line["datetime_complete"]));
        let trial = self.trial(line)?;
        // Two workers may finish a trial that one took over from the other; the first result counts.
        trial.result.get_or_insert((state, values, time));
        Ok(())
    }

    fn trial(&mut self, line: &Json) -> Result<&mut Draft, String> {
        let id = line["trial_id"].as_u64().ok_or("has no trial_id")?;
        let count = self.trials.len();
        let index = usize::try_from(id).unwrap_or(usize::MAX);
        self.trials
            .get_mut(index)
            .ok_or_else(|| format!("speaks of trial {id}, but there are {count}"))
    }

    /// The finished trials.
    pub fn finished(self, space: &Space) -> Result<Vec<(Trial, Attributes)>, StorageError> {
        let numbered = self.trials.into_iter().enumerate();
        numbered
            .filter_map(|(number, draft)| draft.into_row(number as u64))
            .map(|row| row.into_trial(space))
            .collect()
    }
}

impl Draft {
    /// True when it has a result.
    pub fn is_finished(&self) -> bool {
        self.result.is_some()
    }

    /// Marks it as failed.
    pub fn fail(&mut self, now: SystemTime) {
        self.result.get_or_insert((State::Failed, Vec::new(), now));
    }

    fn into_row(self, number: u64) -> Option<TrialRow> {
        let (state, values, finished) = self.result?;
        Some(TrialRow {
            number,
            outcome: outcome(state, values, &self.system),
            parameters: self.parameters,
            attributes: self.attributes,
            started: self.started,
            finished,
        })
    }
}

fn finished(state: &Json) -> Option<State> {
    match state.as_u64()? {
        1 => Some(State::Complete),
        2 => Some(State::Pruned),
        3 => Some(State::Failed),
        _ => None,
    }
}

fn values(line: &Json) -> Vec<f64> {
    // A whole trial of one objective has its value by itself.
    if let Some(value) = line.get("value").and_then(number) {
        return vec![value];
    }
    let list = line["values"].as_array();
    list.map_or_else(Vec::new, |values| {
        values.iter().filter_map(number).collect()
    })
}

fn moment(json: &Json) -> SystemTime {
    json.as_str().and_then(from_iso).unwrap_or(UNIX_EPOCH)
}

fn chosen(distribution: &Json, value: &Json) -> Result<Json, String> {
    let text = distribution
        .as_str()
        .ok_or("has a parameter without a distribution")?;
    external(
        text,
        value.as_f64().ok_or("has a parameter without a value")?,
    )
}

fn attributes(line: &Json, key: &str) -> Result<Map<String, Json>, String> {
    let attributes = line[key].as_object().cloned();
    attributes.ok_or_else(|| format!("has no {key}"))
}
