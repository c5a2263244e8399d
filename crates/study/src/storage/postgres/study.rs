//! Making the tables and the study, or finding them there.

use super::address::{Address, described};
use super::read::column;
use super::{sql, wait};
use crate::Direction;
use crate::storage::layout::{FACTS, METRIC_NAMES, compare_facts, parse};
use crate::storage::{StorageError, StudyInfo};
use postgres::error::SqlState;
use postgres::{Error, Transaction};
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

const SCHEMA: &str = include_str!("schema.sql");
/// The version of those tables.
const VERSION: &str = "v3.2.0.a";
/// Held while tables or studies are made, so that the first of many workers makes them and the others find them.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7308604)";
/// The time after which a wait for a lock is told.
const LOCK_TIMEOUT: &str = "SET lock_timeout = '2s'";

/// A refusal, or what the database says.
enum Trouble {
    Foreign(String),
    Database(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

/// The id of the study, which is made if it is not there: all of it, its tables too, or nothing.
pub(super) fn create_or_join(
    address: &Address,
    info: &StudyInfo,
    on_wait: &mut dyn FnMut(&str),
) -> Result<i32, StorageError> {
    let name = address.study.as_deref().unwrap_or(&info.name);
    let (started, mut next_note) = (Instant::now(), Duration::ZERO);
    loop {
        match attempt(address, name, info) {
            Ok(study) => return Ok(study),
            Err(Trouble::Database(error)) if is_lock(&error) => {
                // A wait for a lock ends after a while, only so that it can be told.
                if started.elapsed() >= next_note {
                    on_wait(&waiting(address, started.elapsed()));
                    next_note = started.elapsed() * 2;
                }
            }
            Err(Trouble::Database(error)) => {
                return Err(StorageError::NoConnection {
                    place: address.place.clone(),
                    message: described(&error),
                });
            }
            Err(Trouble::Foreign(message)) => {
                return Err(StorageError::Foreign {
                    place: format!("{}, study '{name}'", address.place),
                    message,
                });
            }
        }
    }
}

fn attempt(address: &Address, name: &str, info: &StudyInfo) -> Result<i32, Trouble> {
    let mut client = address.connect()?;
    client.batch_execute(LOCK_TIMEOUT)?;
    let mut work = client.transaction()?;
    work.execute(LOCK, &[])?;
    make_tables(&mut work)?;
    let found = work.query_opt(
        "SELECT study_id FROM studies WHERE study_name = $1",
        &[&name],
    )?;
    let study = match found {
        Some(row) => row.try_get(0)?,
        None => create(&mut work, name, info)?,
    };
    join(&mut work, study, info)?;
    work.commit()?;
    Ok(study)
}

fn is_lock(error: &Error) -> bool {
    error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE)
}

/// A sentence of who makes the others wait.
fn waiting(address: &Address, time: Duration) -> String {
    let asked = || -> Result<String, Error> {
        let mut client = address.connect()?;
        client.batch_execute(sql::BOUND)?;
        match client.query_opt(sql::LOCK_HOLDER, &[])? {
            Some(row) => Ok(format!(
                "the lock under which studies are made, {}",
                wait::holder(&row)?
            )),
            None => Ok("a lock on its tables".to_owned()),
        }
    };
    let lock = asked().unwrap_or_else(|error| format!("a lock; {}", described(&error)));
    format!(
        "{}: still waiting after {:.0} s for {lock}",
        address.place,
        time.as_secs_f64()
    )
}

fn make_tables(work: &mut Transaction) -> Result<(), Trouble> {
    let is_there: bool = work
        .query_one("SELECT to_regclass('alembic_version') IS NOT NULL", &[])?
        .try_get(0)?;
    if !is_there {
        work.batch_execute(SCHEMA)?;
    }
    let version: Option<String> = work
        .query_opt("SELECT version_num FROM alembic_version", &[])?
        .map(|row| row.try_get(0))
        .transpose()?;
    match version {
        Some(version) if version == VERSION => Ok(()),
        other => Err(Trouble::Foreign(format!(
            "the database has Optuna's tables of version {}, and {VERSION} is needed; `optuna storage upgrade` brings \
             older ones there",
            other.as_deref().unwrap_or("nothing")
        ))),
    }
}

fn create(work: &mut Transaction, name: &str, info: &StudyInfo) -> Result<i32, Error> {
    let study: i32 = work
        .query_one(
            "INSERT INTO studies (study_name) VALUES ($1) RETURNING study_id",
            &[&name],
        )?
        .try_get(0)?;
    for (objective, direction) in info.directions.iter().enumerate() {
        work.execute(
            "INSERT INTO study_directions (direction, study_id, objective) VALUES ($1::text::studydirection, $2, $3)",
            &[&direction_name(*direction), &study, &(objective as i32)],
        )?;
    }
    let names = json!(info.metric_names).to_string();
    work.execute(
        "INSERT INTO study_system_attributes (study_id, key, value_json) VALUES ($1, $2, $3)",
        &[&study, &METRIC_NAMES, &names],
    )?;
    Ok(study)
}

/// A study that is there must be the same; one that was made without our facts gets them.
fn join(work: &mut Transaction, study: i32, info: &StudyInfo) -> Result<(), Trouble> {
    let query =
        "SELECT direction::text FROM study_directions WHERE study_id = $1 ORDER BY objective";
    let there: Vec<String> = work
        .query(query, &[&study])?
        .iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, _>>()?;
    let here: Vec<&str> = info.directions.iter().map(|d| direction_name(*d)).collect();
    if there != here {
        let (there, here) = (there.join(", "), here.join(", "));
        return Err(Trouble::Foreign(format!(
            "has the directions {there}, not {here}"
        )));
    }
    let query = "SELECT value_json FROM study_user_attributes WHERE study_id = $1 AND key = $2";
    if let Some(row) = work.query_opt(query, &[&study, &FACTS])? {
        let facts = column(&row, 0).map_err(Trouble::Foreign)?;
        let facts = parse(facts).unwrap_or(Json::Null);
        let facts = facts.as_object().cloned().unwrap_or_default();
        return compare_facts(&facts, info).map_err(Trouble::Foreign);
    }
    let facts = Json::Object(info.facts.clone()).to_string();
    work.execute(
        "INSERT INTO study_user_attributes (study_id, key, value_json) VALUES ($1, $2, $3)",
        &[&study, &FACTS, &facts],
    )?;
    Ok(())
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Minimize => "MINIMIZE",
        Direction::Maximize => "MAXIMIZE",
    }
}
