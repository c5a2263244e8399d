//! Trials that wait to be run, as Optuna's `enqueue_trial` leaves them: some values are fixed, the others are ours.

use super::rows::Beginning;
use super::sql;
use crate::storage::layout::{parse, unfolded};
use crate::storage::{NOTE, chosen};
use crate::{Point, Space};
use postgres::{Client, Error, GenericClient};
use serde_json::{Map, Value as Json, json};

/// Begins a waiting trial with the values that are fixed in it; none when somebody else has begun it. One whose values
/// are none of the space's fails at once, with a note.
pub(super) fn begin(
    client: &mut Client,
    study: i32,
    number: u64,
    space: &Space,
    point: &Point,
    worker: &str,
) -> Result<Option<(i32, Point)>, Error> {
    let mut work = client.transaction()?;
    let place = number as i32;
    let Some(row) = work.query_opt(sql::WAITING, &[&study, &place, &worker])? else {
        return Ok(None);
    };
    let trial: i32 = row.try_get(0)?;
    let begun = match fixed(&mut work, trial, space, point)? {
        Ok(point) => {
            let row = Beginning::new(study, number, chosen(space, &point), worker);
            work.execute(
                sql::BEGIN,
                &[&trial, &row.names, &row.values, &row.distributions, &worker],
            )?;
            Some((trial, point))
        }
        Err(why) => {
            work.execute(sql::REFUSE, &[&trial, &NOTE, &json!(why).to_string()])?;
            None
        }
    };
    work.commit()?;
    Ok(begun)
}

/// The point with the values that are fixed in a trial, or why they are none of the space's.
pub(super) fn fixed(
    client: &mut impl GenericClient,
    trial: i32,
    space: &Space,
    point: &Point,
) -> Result<Result<Point, String>, Error> {
    let Some(row) = client.query_opt(sql::FIXED, &[&trial])? else {
        return Ok(Ok(point.clone()));
    };
    let text: Option<&str> = row.try_get(0)?;
    let json = text.and_then(|text| parse(text).ok());
    Ok(match json.as_ref().and_then(|json| json.as_object()) {
        Some(named) => space
            .with_fixed(point, &unfolded_all(named))
            .map_err(|error| format!("was enqueued with values that do not fit: {error}")),
        None => Err("was enqueued with values that are no JSON object".to_owned()),
    })
}

/// The values as users wrote them: lists are texts in Optuna's choices.
fn unfolded_all(named: &Map<String, Json>) -> Map<String, Json> {
    let values = named.iter();
    values
        .map(|(name, value)| (name.clone(), unfolded(value)))
        .collect()
}
