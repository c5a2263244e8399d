//! What the page is told of a search, in columns over the trials, so that ten thousand of them stay below a megabyte.
//!
//! Of a column whose entries are all the same only the first is kept.

use crate::config::Side;
use crate::metrics::METRICS;
use crate::results::{Report, importances};
use crate::runner::{Search, TrialRecord};
use crate::{Direction, State};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// Everything that the page shows.
pub fn data(report: &Report) -> Json {
    let (search, records) = (report.search, &report.results.records);
    let place = |record: &TrialRecord| records.iter().position(|r| r.number == record.number);
    let nearest = report.nearest();
    json!({
        "sampler": search.config.sampler,
        "seed": search.seed,
        "rows": search.task.rows.len(),
        "configurations": search.task.formats.space.size().map(|size| size as f64),
        "numbers": records.iter().map(|record| record.number).collect::<Vec<_>>(),
        "states": records.iter().map(state).collect::<String>(),
        "best": report.best().into_iter().filter_map(place).collect::<Vec<_>>(),
        "nearest": nearest.and_then(place),
        "excess": nearest.map(|record| report.excess(record)),
        "columns": columns(report),
        "objectives": objectives(search),
        "budgets": budgets(search),
        "parameters": parameters(report),
        "notes": choices(records.iter().map(|record| record.note.clone().map(Json::from)).collect()),
        "importances": importances(search, report.results),
    })
}

/// Complete, over the budget, given up or failed, as one letter.
fn state(record: &TrialRecord) -> char {
    let is_over = record.outcome.violation.is_some_and(|by| by > 0.0);
    match record.outcome.state {
        State::Complete if is_over => 'o',
        State::Complete => 'c',
        State::Pruned => 'p',
        State::Failed => 'f',
    }
}

/// What can stand on an axis: every metric, and the sum when metrics are summed.
fn columns(report: &Report) -> Vec<Json> {
    let (search, records) = (report.search, &report.results.records);
    let metrics = METRICS.iter().enumerate().map(|(metric, entry)| {
        let mut asked = search.config.objectives.iter();
        let objective = asked.position(|objective| objective.metric == metric);
        let direction = objective.map_or(entry.direction, |index| {
            search.config.objectives[index].metric_direction()
        });
        let objective = objective.filter(|_| search.config.sum.is_none());
        // Trials that others ran in the same study have values, but no scores.
        let value = |record: &TrialRecord| match record.scores {
            Some(scores) => Some(scores.0[metric]),
            None => report.objective(record, objective?),
        };
        let values = records.iter().map(value);
        column(entry.name, entry.about, direction, values)
    });
    let sum = search.config.sum.map(|direction| {
        let about = "the metrics that are searched for, each times its scale";
        let values = records.iter().map(|record| report.objective(record, 0));
        column(&search.objective_names()[0], about, direction, values)
    });
    metrics.chain(sum).collect()
}

fn column(
    name: &str,
    about: &str,
    direction: Direction,
    values: impl Iterator<Item = Option<f64>>,
) -> Json {
    let mut values: Vec<Json> = values
        .map(|value| value.map_or(Json::Null, short))
        .collect();
    keep_once(&mut values);
    json!({ "name": name, "about": about, "up": direction == Direction::Maximize, "values": values })
}

/// A number with seven digits, more than a page shows; whole numbers stay whole.
fn short(value: f64) -> Json {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return json!(value as i64);
    }
    format!("{value:.6e}")
        .parse::<f64>()
        .map_or(Json::Null, Json::from)
}

/// The places of the objectives among the columns.
fn objectives(search: &Search) -> Vec<usize> {
    match search.config.sum {
        Some(_) => vec![METRICS.len()],
        None => search
            .config
            .objectives
            .iter()
            .map(|objective| objective.metric)
            .collect(),
    }
}

fn budgets(search: &Search) -> Vec<Json> {
    let budgets = search.config.budgets.iter();
    let one = |budget: &crate::config::Budget| {
        let side = match budget.side {
            Side::AtMost => "at most",
            Side::AtLeast => "at least",
        };
        json!({ "column": budget.metric, "side": side, "limit": budget.limit })
    };
    budgets.map(one).collect()
}

/// The keys of all nodes with what every trial had there, fixed ones too.
fn parameters(report: &Report) -> Vec<Json> {
    let records = &report.results.records;
    let mut places = BTreeMap::new();
    let mut columns: Vec<(String, String, Vec<Option<Json>>)> = Vec::new();
    for (trial, record) in records.iter().enumerate() {
        for (node, key, value) in entries(report.search.task.formats.sampled_config(&record.point))
        {
            let place = *places
                .entry((node.clone(), key.clone()))
                .or_insert(columns.len());
            if place == columns.len() {
                columns.push((node, key, vec![None; records.len()]));
            }
            columns[place].2[trial] = Some(value);
        }
    }
    let one = |(node, key, values)| {
        let mut parameter = choices(values);
        parameter.insert("node".to_owned(), Json::String(node));
        parameter.insert("key".to_owned(), Json::String(key));
        Json::Object(parameter)
    };
    columns.into_iter().map(one).collect()
}

/// Node, key and value of all that a configuration says.
fn entries(config: Map<String, Json>) -> impl Iterator<Item = (String, String, Json)> {
    config.into_iter().flat_map(|(node, mut keys)| {
        let keys = match keys["config"].take() {
            Json::Object(keys) => keys,
            _ => Map::new(),
        };
        keys.into_iter()
            .map(move |(key, value)| (node.clone(), key, value))
    })
}

/// A column as the list of its different values and a text with a letter for each trial: `0` for the first value and so on
/// through the character set, a space where there is none.
fn choices(values: Vec<Option<Json>>) -> Map<String, Json> {
    let mut list: Vec<Json> = Vec::new();
    let mut places = BTreeMap::new();
    let mut letters: Vec<char> = Vec::with_capacity(values.len());
    for value in values {
        let Some(value) = value else {
            letters.push(' ');
            continue;
        };
        let place = *places.entry(value.to_string()).or_insert(list.len());
        if place == list.len() {
            list.push(value);
        }
        // A column has no more values than its key has choices in a file: far fewer than letters.
        letters.push(
            u32::try_from(place)
                .ok()
                .and_then(|place| char::from_u32(u32::from('0') + place))
                .unwrap_or(' '),
        );
    }
    keep_once(&mut letters);
    let mut column = Map::new();
    column.insert("list".to_owned(), Json::Array(list));
    column.insert(
        "letters".to_owned(),
        Json::String(letters.into_iter().collect()),
    );
    column
}

/// Keeps the first entry of a column whose entries are all the same.
fn keep_once<T: PartialEq>(column: &mut Vec<T>) {
    if column.windows(2).all(|pair| pair[0] == pair[1]) {
        column.truncate(1);
    }
}
