//! Trials as the columns that statements take.

use super::link::Open;
use crate::storage::layout::{distribution, internal, result, system_attributes};
use crate::storage::{Attributes, with_note};
use crate::{Distribution, Trial};
use postgres::Error;
use postgres::types::ToSql;
use serde_json::Value as Json;
use std::time::{SystemTime, UNIX_EPOCH};

/// The outcome of a claim.
pub(super) enum Claim {
    Mine(i32),
    /// Another number is the next.
    Next(u64),
    NoStudy,
}

/// A trial that begins, as columns.
pub(super) struct Beginning<'a> {
    study: i32,
    number: i32,
    pub names: Vec<&'a str>,
    pub values: Vec<Option<f64>>,
    pub distributions: Vec<String>,
    worker: &'a str,
}

impl<'a> Beginning<'a> {
    pub fn new(
        study: i32,
        number: u64,
        chosen: impl Iterator<Item = (&'a str, &'a Distribution, Json)>,
        worker: &'a str,
    ) -> Self {
        let mut row = Self {
            study,
            number: number as i32,
            names: Vec::new(),
            values: Vec::new(),
            distributions: Vec::new(),
            worker,
        };
        for (name, own, value) in chosen {
            row.names.push(name);
            row.values.push(internal(own, &value));
            row.distributions.push(distribution(own));
        }
        row
    }

    pub fn write(&self, open: &mut Open, is_again: bool) -> Result<Claim, Error> {
        let columns: &[&(dyn ToSql + Sync)] = &[
            &self.study,
            &self.number,
            &self.names,
            &self.values,
            &self.distributions,
            &self.worker,
            &is_again,
        ];
        let row = open.client.query_one(&open.claim, columns)?;
        let (trial, next): (Option<i32>, i32) = (row.try_get(0)?, row.try_get(1)?);
        Ok(match trial {
            Some(trial) => Claim::Mine(trial),
            None => u64::try_from(next).map_or(Claim::NoStudy, Claim::Next),
        })
    }
}

/// The result of a trial, as columns.
pub(super) struct Ending {
    trial: i32,
    state: &'static str,
    started: f64,
    finished: f64,
    values: Vec<Option<f64>>,
    kinds: Vec<&'static str>,
    names: Vec<String>,
    attributes: Vec<String>,
    system_names: Vec<&'static str>,
    system: Vec<String>,
}

impl Ending {
    pub fn new(id: i32, trial: &Trial, attributes: &Attributes) -> Self {
        let outcome = &trial.outcome;
        let (state, values) = result(outcome);
        let kind = |value: &f64| match *value {
            f64::INFINITY => "INF_POS",
            f64::NEG_INFINITY => "INF_NEG",
            _ => "FINITE",
        };
        let (names, attributes) = with_note(trial, attributes)
            .map(|(name, value)| (name.to_owned(), value.to_string()))
            .unzip();
        let (system_names, system) = system_attributes(outcome).into_iter().unzip();
        Self {
            trial: id,
            state: state.name(),
            started: seconds(trial.started),
            finished: seconds(trial.finished),
            values: values.iter().map(|v| v.is_finite().then_some(*v)).collect(),
            kinds: values.iter().map(kind).collect(),
            names,
            attributes,
            system_names,
            system,
        }
    }

    pub fn write(&self, open: &mut Open) -> Result<(), Error> {
        let columns: &[&(dyn ToSql + Sync)] = &[
            &self.trial,
            &self.state,
            &self.started,
            &self.finished,
            &self.values,
            &self.kinds,
            &self.names,
            &self.attributes,
            &self.system_names,
            &self.system,
        ];
        open.client.query_one(&open.finish, columns).map(|_| ())
    }
}

fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}
