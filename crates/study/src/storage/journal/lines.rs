//! The lines of a journal as Optuna writes them: one JSON object each, `op_code` first.

use crate::State;
use crate::storage::clock::to_iso;
use crate::storage::layout::{
    FACTS, METRIC_NAMES, direction_number, distribution, internal, numbers, result, state_number,
    system_attributes,
};
use crate::storage::{Attributes, StudyInfo, chosen, with_note};
use crate::{Point, Space, Trial};
use serde_json::{Map, Value as Json, json};
use std::time::SystemTime;

/// Optuna's numbers of operations.
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

/// The lines that make a study: that it is there, our facts about it, what its objectives are called.
pub(super) fn study(info: &StudyInfo, worker: &str) -> [String; 3] {
    let directions: Vec<u8> = info
        .directions
        .iter()
        .map(|direction| direction_number(*direction))
        .collect();
    [
        json!({ "op_code": op::CREATE_STUDY, "worker_id": worker, "study_name": info.name, "directions": directions }),
        json!({ "op_code": op::STUDY_USER_ATTR, "worker_id": worker, "study_id": 0, "user_attr": { FACTS: info.facts } }),
        json!({ "op_code": op::STUDY_SYSTEM_ATTR, "worker_id": worker, "study_id": 0, "system_attr": { METRIC_NAMES: info.metric_names } }),
    ]
    .map(|line| line.to_string() + "\n")
}

/// The line that begins a trial, with all its parameters.
pub(super) fn begin(space: &Space, point: &Point, started: SystemTime, worker: &str) -> String {
    let mut params = Map::new();
    let mut distributions = Map::new();
    for (name, own, value) in chosen(space, point) {
        params.insert(name.to_owned(), json!(internal(own, &value)));
        distributions.insert(name.to_owned(), distribution(own).into());
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
pub(super) fn end(trial: &Trial, attributes: &Attributes, worker: &str) -> String {
    // Optuna wants one attribute a line.
    let attribute = |(name, value): (&str, Json)| {
        json!({
            "op_code": op::TRIAL_USER_ATTR,
            "worker_id": worker,
            "trial_id": trial.number,
            "user_attr": { name: value },
        })
    };
    let lines = with_note(trial, attributes).map(attribute);
    let mut text: String = lines.map(|line| line.to_string() + "\n").collect();
    // Values need not be finite, which only Python's JSON can say.
    let number = trial.number;
    for (name, list) in system_attributes(&trial.outcome) {
        let line = format!(
            r#"{{"op_code":{},"worker_id":"{worker}","trial_id":{number},"system_attr":{{"{name}":{list}}}}}"#,
            op::TRIAL_SYSTEM_ATTR
        );
        text.extend([&line, "\n"]);
    }
    let (ended, values) = result(&trial.outcome);
    text + &state(number, ended, values, trial.finished, worker)
}

/// The line with the result of a trial.
pub(super) fn state(
    number: u64,
    state: State,
    values: &[f64],
    finished: SystemTime,
    worker: &str,
) -> String {
    let list = if values.is_empty() {
        "null".to_owned()
    } else {
        numbers(values)
    };
    let line = format!(
        r#"{{"op_code":{},"worker_id":"{worker}","trial_id":{number},"state":{},"values":{list},"datetime_complete":"{}"}}"#,
        op::TRIAL_STATE_VALUES,
        state_number(state),
        to_iso(finished)
    );
    line + "\n"
}
