//! Descriptions of what keeps a worker waiting: a lock and who holds it, or trials and who runs them.

use super::address::described;
use super::link::Links;
use super::sql;
use postgres::{Client, Error, Row};

/// Trials that are named; of the others their number is enough.
const MAX_NAMED: usize = 3;

/// The reason why the calls of these connections, or a worker that needs these trials of the study, get no further.
pub(super) fn describe(links: &Links, study: i32, trials: &[u64]) -> String {
    let place = &links.address.place;
    let asked = || -> Result<Option<String>, Error> {
        let mut client = links.address.connect()?;
        client.batch_execute(sql::BOUND)?;
        let blocker = client.query_opt(sql::BLOCKER, &[&links.processes()])?;
        match blocker {
            Some(row) => Ok(Some(format!("a lock of {place}, {}", holder(&row)?))),
            None => holders(&mut client, study, trials),
        }
    };
    match asked() {
        Ok(Some(text)) => text,
        Ok(None) => format!("an answer of {place}"),
        Err(error) => format!("{place}, which answers: {}", described(&error)),
    }
}

/// The process in a row of [`sql::BLOCKER`] or [`sql::LOCK_HOLDER`]. What is another user's may be hidden.
pub(super) fn holder(row: &Row) -> Result<String, Error> {
    let process: i32 = row.try_get(0)?;
    let program: Option<String> = row.try_get(1)?;
    let host: Option<String> = row.try_get(2)?;
    let held: Option<f64> = row.try_get(3)?;
    let program = program.filter(|name| !name.is_empty());
    let program = program.map_or_else(String::new, |name| format!(" of {name}"));
    let host = host.map_or_else(String::new, |host| format!(" at {host}"));
    let held = held.map_or_else(String::new, |held| format!(", for {held:.0} s"));
    Ok(format!(
        "which process {process}{program}{host} holds{held}"
    ))
}

/// The workers that run these trials.
fn holders(client: &mut Client, study: i32, trials: &[u64]) -> Result<Option<String>, Error> {
    let numbers: Vec<i32> = trials
        .iter()
        .filter_map(|&number| i32::try_from(number).ok())
        .collect();
    let rows = client.query(sql::HOLDERS, &[&study, &numbers])?;
    let mut named = Vec::new();
    for row in rows.iter().take(MAX_NAMED) {
        let number: i32 = row.try_get(0)?;
        let worker: Option<String> = row.try_get(1)?;
        let (began, heard): (Option<f64>, Option<f64>) = (row.try_get(2)?, row.try_get(3)?);
        let worker = worker.map_or_else(
            || "another program".to_owned(),
            |worker| format!("worker {}", worker.trim_matches('"')),
        );
        let began = began.map_or_else(String::new, |began| format!(" {began:.0} s ago"));
        let heard = heard.map_or_else(String::new, |heard| {
            format!(", last heard {heard:.0} s ago")
        });
        named.push(format!(
            "trial {number}, which {worker} began{began}{heard}"
        ));
    }
    if rows.len() > MAX_NAMED {
        named.push(format!("{} more", rows.len() - MAX_NAMED));
    }
    if let (true, Some(first)) = (rows.is_empty(), numbers.first()) {
        named.push(format!("the result of trial {first}, which nobody runs"));
    }
    Ok((!named.is_empty()).then(|| named.join("; ")))
}
