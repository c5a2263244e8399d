//! Trials from the rows of the tables.

use super::sql;
use crate::State;
use crate::storage::TrialRow;
use crate::storage::layout::{external, outcome, parse};
use postgres::{Client, Error, Row};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A row of `trials`.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub id: i32,
    pub number: u64,
    /// None while it is under way.
    pub state: Option<State>,
    started: SystemTime,
    finished: SystemTime,
}

impl Head {
    pub fn of(row: &Row) -> Self {
        let moment = |at: usize| {
            let seconds: Option<f64> = row.get(at);
            let since = Duration::try_from_secs_f64(seconds.unwrap_or(0.0)).unwrap_or_default();
            // What PostgreSQL keeps ends with microseconds.
            UNIX_EPOCH + Duration::from_micros((since.as_nanos() as u64 + 500) / 1000)
        };
        let state: String = row.get(2);
        Self {
            id: row.get(0),
            number: row.get::<_, Option<i32>>(1).unwrap_or(0) as u64,
            state: match state.as_str() {
                "COMPLETE" => Some(State::Complete),
                "PRUNED" => Some(State::Pruned),
                "FAIL" => Some(State::Failed),
                _ => None,
            },
            started: moment(3),
            finished: moment(4),
        }
    }
}

/// The rows that belong to a trial.
#[derive(Default)]
struct Parts {
    parameters: Map<String, Json>,
    values: Vec<f64>,
    attributes: Map<String, Json>,
    system: Map<String, Json>,
}

/// A trial that cannot be understood, and why.
pub(super) type Wrong = (u64, String);

/// The whole of some finished trials.
pub(super) fn trials(
    client: &mut Client,
    heads: &[Head],
) -> Result<Result<Vec<TrialRow>, Wrong>, Error> {
    let ids: Vec<i32> = heads.iter().map(|head| head.id).collect();
    let parameters = client.query(sql::PARAMETERS, &[&ids])?;
    let values = client.query(sql::VALUES, &[&ids])?;
    let attributes = client.query(sql::ATTRIBUTES, &[&ids])?;
    Ok(assemble(heads, &parameters, &values, &attributes))
}

fn assemble(
    heads: &[Head],
    parameters: &[Row],
    values: &[Row],
    attributes: &[Row],
) -> Result<Vec<TrialRow>, Wrong> {
    let mut parts: BTreeMap<i32, Parts> = BTreeMap::new();
    for row in parameters {
        let id: i32 = row.get(0);
        let text: Option<&str> = row.get(3);
        let value = external(
            text.unwrap_or_default(),
            row.get::<_, Option<f64>>(2).unwrap_or(f64::NAN),
        );
        let value = value.map_err(|why| (number_of(heads, id), why))?;
        parts
            .entry(id)
            .or_default()
            .parameters
            .insert(row.get(1), value);
    }
    for row in values {
        let value = match row.get::<_, &str>(2) {
            "INF_POS" => f64::INFINITY,
            "INF_NEG" => f64::NEG_INFINITY,
            _ => row.get::<_, Option<f64>>(1).unwrap_or(f64::NAN),
        };
        parts.entry(row.get(0)).or_default().values.push(value);
    }
    for row in attributes {
        let part = parts.entry(row.get(0)).or_default();
        let map = if row.get(3) {
            &mut part.attributes
        } else {
            &mut part.system
        };
        map.insert(row.get(1), parse(row.get(2)).unwrap_or(Json::Null));
    }
    let whole = heads.iter().filter_map(|head| {
        let part = parts.remove(&head.id).unwrap_or_default();
        stored(head, part)
    });
    Ok(whole.collect())
}

fn stored(head: &Head, part: Parts) -> Option<TrialRow> {
    Some(TrialRow {
        number: head.number,
        parameters: part.parameters,
        outcome: outcome(head.state?, part.values, &part.system),
        attributes: part.attributes,
        started: head.started,
        finished: head.finished,
    })
}

fn number_of(heads: &[Head], id: i32) -> u64 {
    let head = heads.iter().find(|head| head.id == id);
    head.map_or(0, |head| head.number)
}
