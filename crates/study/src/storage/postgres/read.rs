//! Trials from the rows of the tables.

use super::sql;
use crate::State;
use crate::storage::TrialRow;
use crate::storage::layout::{external, outcome, parse};
use postgres::types::FromSql;
use postgres::{Client, Error, Row};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A row of `trials`.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub id: i32,
    pub number: u64,
    pub stage: Stage,
    started: SystemTime,
    finished: SystemTime,
}

/// The stage that a trial is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Enqueued, and nobody has begun it.
    Waiting,
    /// Under way.
    Running,
    Ended(State),
}

impl Head {
    /// Reads a row, or says what is wrong with which trial.
    pub fn of(row: &Row) -> Result<Self, String> {
        let id = column(row, 0)?;
        let number: i32 = column(row, 1).map_err(|why| format!("trial with id {id}: {why}"))?;
        let number = u64::try_from(number)
            .map_err(|_| format!("trial with id {id} has the number {number}"))?;
        let wrong = |why| format!("trial {number}: {why}");
        let state: &str = column(row, 2).map_err(wrong)?;
        let stage = match state {
            "WAITING" => Stage::Waiting,
            "RUNNING" => Stage::Running,
            "COMPLETE" => Stage::Ended(State::Complete),
            "PRUNED" => Stage::Ended(State::Pruned),
            "FAIL" => Stage::Ended(State::Failed),
            other => return Err(format!("trial {number} has the unknown state '{other}'")),
        };
        Ok(Self {
            id,
            number,
            stage,
            started: moment(row, 3).map_err(wrong)?,
            finished: moment(row, 4).map_err(wrong)?,
        })
    }
}

/// A moment in seconds, or the epoch where there is none.
fn moment(row: &Row, at: usize) -> Result<SystemTime, String> {
    let seconds: Option<f64> = nullable(row, at)?;
    let since = Duration::try_from_secs_f64(seconds.unwrap_or(0.0)).unwrap_or_default();
    // What PostgreSQL keeps ends with microseconds.
    let micros = u64::try_from((since.as_nanos() + 500) / 1000).unwrap_or(0);
    Ok(UNIX_EPOCH + Duration::from_micros(micros))
}

/// A value that must be there.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, String> {
    nullable(row, at)?.ok_or_else(|| format!("column '{}' is NULL", row.columns()[at].name()))
}

/// A value that may be NULL.
fn nullable<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<Option<T>, String> {
    row.try_get(at)
        .map_err(|error| format!("column '{}': {error}", row.columns()[at].name()))
}

/// The rows that belong to a trial.
#[derive(Default)]
struct Parts {
    parameters: Map<String, Json>,
    values: Vec<f64>,
    attributes: Map<String, Json>,
    system: Map<String, Json>,
}

impl Parts {
    fn add_parameter(&mut self, row: &Row) -> Result<(), String> {
        let name: String = column(row, 1)?;
        let value = external(column(row, 3)?, column(row, 2)?)?;
        self.parameters.insert(name, value);
        Ok(())
    }

    fn add_value(&mut self, row: &Row) -> Result<(), String> {
        self.values.push(match column(row, 2)? {
            "INF_POS" => f64::INFINITY,
            "INF_NEG" => f64::NEG_INFINITY,
            _ => column(row, 1)?,
        });
        Ok(())
    }

    fn add_attribute(&mut self, row: &Row) -> Result<(), String> {
        let map = if column(row, 3)? {
            &mut self.attributes
        } else {
            &mut self.system
        };
        map.insert(
            column(row, 1)?,
            parse(column(row, 2)?).unwrap_or(Json::Null),
        );
        Ok(())
    }
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
    for (kind, rows) in [parameters, values, attributes].into_iter().enumerate() {
        for row in rows {
            let id = row.try_get(0).unwrap_or(0);
            let part = parts.entry(id).or_default();
            let read = match kind {
                0 => part.add_parameter(row),
                1 => part.add_value(row),
                _ => part.add_attribute(row),
            };
            read.map_err(|why| (number_of(heads, id), why))?;
        }
    }
    let whole = heads.iter().filter_map(|head| {
        let part = parts.remove(&head.id).unwrap_or_default();
        stored(head, part)
    });
    Ok(whole.collect())
}

fn stored(head: &Head, part: Parts) -> Option<TrialRow> {
    let Stage::Ended(state) = head.stage else {
        return None;
    };
    Some(TrialRow {
        number: head.number,
        parameters: part.parameters,
        outcome: outcome(state, part.values, &part.system),
        attributes: part.attributes,
        started: head.started,
        finished: head.finished,
    })
}

fn number_of(heads: &[Head], id: i32) -> u64 {
    let head = heads.iter().find(|head| head.id == id);
    head.map_or(0, |head| head.number)
}
