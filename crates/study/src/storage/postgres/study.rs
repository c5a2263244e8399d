//! Making the tables and the study, or finding them there.

use super::address::{Address, described};
use super::read::column;
use crate::Direction;
use crate::storage::layout::{FACTS, METRIC_NAMES, compare_facts, parse};
use crate::storage::{StorageError, StudyInfo};
use postgres::{Error, Transaction};
use serde_json::{Value as Json, json};

const SCHEMA: &str = include_str!("schema.sql");
/// The version of those tables.
const VERSION: &str = "v3.2.0.a";
/// Held while tables or studies are made, so that the first of many workers makes them and the others find them.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7308604)";

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

/// The id of the study, which is made if it is not there.
pub(super) fn create_or_join(address: &Address, info: &StudyInfo) -> Result<i32, StorageError> {
    let name = address.study.as_deref().unwrap_or(&info.name);
    let made = || -> Result<i32, Trouble> {
        let mut client = address.connect()?;
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
    };
    made().map_err(|trouble| match trouble {
        Trouble::Database(error) => StorageError::NoConnection {
            place: address.place.clone(),
            message: described(&error),
        },
        Trouble::Foreign(message) => StorageError::Foreign {
            place: format!("{}, study '{name}'", address.place),
            message,
        },
    })
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
