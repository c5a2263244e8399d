//! Reading a journal: strict, bounded, and with the line of whatever is wrong.

use super::lines::{CONSTRAINTS, FACTS, direction_number, op};
use crate::storage::clock::from_iso;
use crate::storage::{StoredTrial, StudyInfo};
use crate::{Outcome, State};
use serde_json::{Map, Value as Json};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a journal holds.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Whether there is a study.
    has_study: bool,
    /// Trials in the order of their numbers.
    pub trials: Vec<Draft>,
    /// Bytes up to the end of the last whole line.
    pub whole: usize,
}

/// A trial as far as the lines tell.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    parameters: Map<String, Json>,
    attributes: Map<String, Json>,
    violation: Option<f64>,
    started: SystemTime,
    result: Option<(State, Vec<f64>, SystemTime)>,
}

/// A line that is wrong: its number, from 1, and why.
pub(super) type Wrong = (usize, String);

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
        let json: Json = serde_json::from_slice(line)
            .map_err(|error| (index + 1, format!("is not a line of a journal: {error}")))?;
        content.apply(&json, info).map_err(|why| (index + 1, why))?;
    }
    if !content.has_study && content.whole > 0 {
        return Err((1, "has no study".to_owned()));
    }
    Ok(content)
}

impl Content {
    fn apply(&mut self, line: &Json, info: &StudyInfo) -> Result<(), String> {
        let code = line["op_code"].as_u64().ok_or("has no op_code")?;
        match code {
            op::CREATE_STUDY => self.study(line, info),
            op::STUDY_USER_ATTR => compare_facts(&line["user_attr"], info),
            op::STUDY_SYSTEM_ATTR | op::TRIAL_INTERMEDIATE_VALUE => Ok(()),
            op::CREATE_TRIAL => self.begin(line),
            op::TRIAL_PARAM => {
                let name = line["param_name"]
                    .as_str()
                    .ok_or("has no param_name")?
                    .to_owned();
                let value = external(&line["distribution"], &line["param_value_internal"])?;
                self.trial(line)?.parameters.insert(name, value);
                Ok(())
            }
            op::TRIAL_USER_ATTR => {
                let more = line["user_attr"]
                    .as_object()
                    .ok_or("has no user_attr")?
                    .clone();
                self.trial(line)?.attributes.extend(more);
                Ok(())
            }
            op::TRIAL_SYSTEM_ATTR => {
                if let Some(values) = line["system_attr"][CONSTRAINTS].as_array() {
                    self.trial(line)?.violation = Some(
                        values
                            .iter()
                            .filter_map(Json::as_f64)
                            .map(|v| v.max(0.0))
                            .sum(),
                    );
                }
                Ok(())
            }
            op::TRIAL_STATE_VALUES => self.end(line),
            other => Err(format!("has operation {other}, which is not understood")),
        }
    }

    fn study(&mut self, line: &Json, info: &StudyInfo) -> Result<(), String> {
        if std::mem::replace(&mut self.has_study, true) {
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
        if !self.has_study || line["study_id"] != 0 {
            return Err("begins a trial of a study that is not there".to_owned());
        }
        let mut parameters = Map::new();
        for (name, value) in line["params"].as_object().into_iter().flatten() {
            parameters.insert(name.clone(), external(&line["distributions"][name], value)?);
        }
        let mut draft = Draft {
            parameters,
            attributes: line["user_attrs"].as_object().cloned().unwrap_or_default(),
            violation: None,
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
    pub fn finished(&self) -> Vec<StoredTrial> {
        let numbered = self.trials.iter().enumerate();
        numbered
            .filter_map(|(number, draft)| draft.stored(number as u64))
            .collect()
    }
}

impl Draft {
    fn stored(&self, number: u64) -> Option<StoredTrial> {
        let (state, values, finished) = self.result.clone()?;
        Some(StoredTrial {
            number,
            parameters: self.parameters.clone(),
            outcome: Outcome {
                values,
                violation: self.violation,
                state,
            },
            attributes: self.attributes.clone(),
            started: self.started,
            finished,
        })
    }
}

/// A study that was made with other facts would not go on as it began.
fn compare_facts(attributes: &Json, info: &StudyInfo) -> Result<(), String> {
    let Some(facts) = attributes[FACTS].as_object() else {
        return Ok(());
    };
    let keys = facts.keys().chain(info.facts.keys());
    let differing = keys
        .clone()
        .find(|key| facts.get(*key) != info.facts.get(*key));
    match differing {
        None => Ok(()),
        Some(key) => {
            let shown = |facts: &Map<String, Json>| {
                facts
                    .get(key)
                    .map_or_else(|| "nothing".to_owned(), ToString::to_string)
            };
            Err(format!(
                "was made with {key} = {}, now it is {}; search in a new folder instead",
                shown(facts),
                shown(&info.facts)
            ))
        }
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
    let list = line["values"].as_array();
    list.map_or_else(Vec::new, |values| {
        values.iter().filter_map(Json::as_f64).collect()
    })
}

fn moment(json: &Json) -> SystemTime {
    json.as_str().and_then(from_iso).unwrap_or(UNIX_EPOCH)
}

/// A value as users wrote it, from a distribution's text and the number that Optuna keeps.
fn external(distribution: &Json, value: &Json) -> Result<Json, String> {
    let text = distribution
        .as_str()
        .ok_or("has a parameter without a distribution")?;
    let parsed: Json = serde_json::from_str(text)
        .map_err(|error| format!("has a broken distribution: {error}"))?;
    let number = value.as_f64().ok_or("has a parameter without a value")?;
    match parsed["name"].as_str() {
        Some("CategoricalDistribution") => {
            let choice = parsed["attributes"]["choices"].get(number as usize);
            let choice = choice.ok_or_else(|| {
                format!(
                    "chooses number {number} of {}",
                    parsed["attributes"]["choices"]
                )
            })?;
            Ok(listed(choice))
        }
        Some("IntDistribution") => Ok((number as i64).into()),
        Some("FloatDistribution") => Ok(number.into()),
        other => Err(format!("has a distribution of an unknown kind, {other:?}")),
    }
}

/// Lists were written as their text.
fn listed(choice: &Json) -> Json {
    let list = choice
        .as_str()
        .filter(|text| text.starts_with('['))
        .and_then(|text| serde_json::from_str(text).ok());
    list.unwrap_or_else(|| choice.clone())
}
