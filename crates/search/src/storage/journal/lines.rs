//! The lines of a journal as Optuna writes them: one JSON object each, `op_code` first.

use crate::storage::clock::to_iso;
use crate::storage::{Chosen, StoredTrial, StudyInfo};
use crate::{Direction, Distribution, State};
use serde_json::{Map, Value as Json, json};
use std::time::SystemTime;

/// What a line does, by Optuna's numbers.
pub(super) mod op {
    pub const CREATE_STUDY: u64 = 0;
    pub const STUDY_USER_ATTR: u64 = 2;
    pub const STUDY_SYSTEM_ATTR: u64 = 3;
    pub const CREATE_TRIAL: u64 = 4;
    pub const TRIAL_PARAM: u64 = 5;
    pub const TRIAL_STATE_VALUES: u64 = 6;
    pub const TRIAL_INTERMEDIATE_VALUE: u64 = 7;
    pub const TRIAL_USER_ATTR: u64 = 8;
    pub const TRIAL_SYSTEM_ATTR: u64 = 9;
}

/// Where Optuna keeps what objectives are called, and how far constraints are violated.
pub(super) const METRIC_NAMES: &str = "study:metric_names";
pub(super) const CONSTRAINTS: &str = "constraints";
/// Where our own facts about a study are.
pub(super) const FACTS: &str = "mase";

/// The lines that make a study.
pub(super) fn study(info: &StudyInfo, worker: &str) -> String {
    let directions: Vec<u8> = info
        .directions
        .iter()
        .map(|direction| direction_number(*direction))
        .collect();
    let lines = [
        json!({ "op_code": op::CREATE_STUDY, "worker_id": worker, "study_name": info.name, "directions": directions }),
        json!({ "op_code": op::STUDY_USER_ATTR, "worker_id": worker, "study_id": 0, "user_attr": { FACTS: info.facts } }),
        json!({ "op_code": op::STUDY_SYSTEM_ATTR, "worker_id": worker, "study_id": 0, "system_attr": { METRIC_NAMES: info.metric_names } }),
    ];
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

/// Optuna's number of a direction.
pub(super) fn direction_number(direction: Direction) -> u8 {
    match direction {
        Direction::Minimize => 1,
        Direction::Maximize => 2,
    }
}

/// The line that begins a trial, with all its parameters.
pub(super) fn begin(chosen: &[Chosen], started: SystemTime, worker: &str) -> String {
    let mut params = Map::new();
    let mut distributions = Map::new();
    for Chosen { parameter, value } in chosen {
        params.insert(
            parameter.name.clone(),
            internal(&parameter.distribution, value),
        );
        distributions.insert(
            parameter.name.clone(),
            distribution(&parameter.distribution).into(),
        );
    }
    let line = json!({
        "op_code": op::CREATE_TRIAL,
        "worker_id": worker,
        "study_id": 0,
        "datetime_start": to_iso(started),
        "params": params,
        "distributions": distributions,
    });
    line.to_string() + "\n"
}

/// The lines that end a trial.
pub(super) fn end(trial: &StoredTrial, worker: &str) -> String {
    // Optuna wants one attribute a line.
    let attribute = |(name, value): (&String, &Json)| {
        json!({
            "op_code": op::TRIAL_USER_ATTR,
            "worker_id": worker,
            "trial_id": trial.number,
            "user_attr": { name: value },
        })
    };
    let mut lines: Vec<Json> = trial.attributes.iter().map(attribute).collect();
    if let Some(violation) = trial.outcome.violation {
        lines.push(json!({
            "op_code": op::TRIAL_SYSTEM_ATTR,
            "worker_id": worker,
            "trial_id": trial.number,
            "system_attr": { CONSTRAINTS: [violation] },
        }));
    }
    lines.push(json!({
        "op_code": op::TRIAL_STATE_VALUES,
        "worker_id": worker,
        "trial_id": trial.number,
        "state": state_number(trial.outcome.state),
        "values": if trial.outcome.values.is_empty() { Json::Null } else { json!(trial.outcome.values) },
        "datetime_complete": to_iso(trial.finished),
    }));
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

/// Optuna's number of a state; 0 is a trial under way.
fn state_number(state: State) -> u8 {
    match state {
        State::Complete => 1,
        State::Pruned => 2,
        State::Failed => 3,
    }
}

/// A value as Optuna keeps it: the index of a choice, or the number itself as a float.
fn internal(distribution: &Distribution, value: &Json) -> Json {
    match distribution {
        Distribution::Categorical { choices } => {
            choices.iter().position(|choice| choice == value).into()
        }
        _ => json!(value.as_f64()),
    }
}

/// A distribution as the text that Optuna keeps.
fn distribution(distribution: &Distribution) -> String {
    let json = match distribution {
        Distribution::Categorical { choices } => {
            let choices: Vec<Json> = choices.iter().map(plain).collect();
            json!({ "name": "CategoricalDistribution", "attributes": { "choices": choices } })
        }
        Distribution::Int {
            low,
            high,
            step,
            log,
        } => {
            json!({ "name": "IntDistribution", "attributes": { "log": log, "step": step, "low": low, "high": high } })
        }
        Distribution::Float { low, high, log } => {
            json!({ "name": "FloatDistribution", "attributes": { "step": null, "low": low, "high": high, "log": log } })
        }
    };
    json.to_string()
}

/// Optuna's choices are single values; a list, such as a block size, is kept as its text.
fn plain(choice: &Json) -> Json {
    match choice {
        Json::Array(_) | Json::Object(_) => choice.to_string().into(),
        single => single.clone(),
    }
}
