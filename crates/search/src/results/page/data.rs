//! The data of the chapter, in columns over the trials, so that ten thousand of them stay below a megabyte.
//!
//! Of a column whose entries are all the same only the first is kept.

use crate::results::{FLOAT, Report, importances};
use crate::{Budget, OBJECTIVES, ObjectiveEntry, Scores, Search, Side, Source};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use study::{Direction, State, Trial};

/// Everything that the chapter on a search shows.
pub fn data(report: &Report) -> Json {
    let (search, trials) = (report.search, report.results.history.trials());
    let place = |trial: &Trial| trials.iter().position(|other| other.number == trial.number);
    let nearest = report.nearest();
    json!({
        "sampler": search.config.sampler.name,
        "seed": search.seed,
        "rows": search.rows.len(),
        "configurations": search.space.study_space().size().map(|size| size as f64),
        "numbers": trials.iter().map(|trial| trial.number).collect::<Vec<_>>(),
        "states": trials.iter().map(state).collect::<String>(),
        "best": report.best_spread(usize::MAX).into_iter().filter_map(place).collect::<Vec<_>>(),
        "nearest": nearest.and_then(place),
        "excess": nearest.map(|trial| report.excess(trial)),
        "columns": columns(report),
        "objectives": objectives(search),
        "budgets": budgets(search),
        "levels": levels(report),
        "parameters": parameters(report),
        "notes": choices(trials.iter().map(|trial| trial.note.clone().map(Json::from)).collect()),
        "importances": importances(search, report.results),
    })
}

/// Complete, over the budget, given up or failed, as one letter.
fn state(trial: &Trial) -> char {
    let is_over = trial.outcome.violation.is_some_and(|by| by > 0.0);
    match trial.outcome.state {
        State::Complete if is_over => 'o',
        State::Complete => 'c',
        State::Pruned => 'p',
        State::Failed => 'f',
    }
}

/// Everything that can stand on an axis: every objective, and the sum when they are summed.
fn columns(report: &Report) -> Vec<Json> {
    let (search, trials) = (report.search, report.results.history.trials());
    let goals = &search.config.goals;
    let metrics = goals.measured().map(|entry| {
        let mut asked = goals.objectives.iter();
        let goal = asked.position(|goal| goal.objective == entry.objective);
        let goal = goal.filter(|_| goals.sum.is_none());
        // Trials that others ran in the same study have values, but no scores.
        let value = |trial: &Trial| match Scores::of(trial) {
            Some(scores) => Some(scores[entry.objective]),
            None => report.objective(trial, goal?),
        };
        let values = trials.iter().map(value);
        let direction = goals.direction_of(entry.objective);
        column(entry.name, entry.about, direction, values)
    });
    let sum = goals.sum.map(|direction| {
        let about = "the metrics that are searched for, each times its scale";
        let values = trials.iter().map(|trial| report.objective(trial, 0));
        column(&goals.names()[0], about, direction, values)
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
    collapse_constant(&mut values);
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
    let goals = &search.config.goals;
    if goals.sum.is_some() {
        return vec![goals.measured().count()];
    }
    let objectives = goals.objectives.iter();
    objectives.map(|goal| goal.objective as usize).collect()
}

fn budgets(search: &Search) -> Vec<Json> {
    let budgets = search.config.goals.budgets.iter();
    let one = |budget: &Budget| {
        let side = match budget.side {
            Side::AtMost => "at most",
            Side::AtLeast => "at least",
        };
        json!({ "column": budget.objective as usize, "side": side, "limit": budget.limit })
    };
    budgets.map(one).collect()
}

/// The answers of the float network, as levels of their columns.
fn levels(report: &Report) -> Vec<Json> {
    let Some(scores) = &report.float_scores else {
        return Vec::new();
    };
    let answers = OBJECTIVES
        .iter()
        .filter(|entry| entry.source == Source::Software);
    let level = |entry: &ObjectiveEntry| {
        let value = short(scores[entry.objective]);
        json!({ "column": entry.objective as usize, "name": FLOAT, "limit": value })
    };
    answers.map(level).collect()
}

/// The keys of all nodes with what every trial had there, fixed ones too.
fn parameters(report: &Report) -> Vec<Json> {
    let trials = report.results.history.trials();
    let mut places = BTreeMap::new();
    let mut columns: Vec<(String, String, Vec<Option<Json>>)> = Vec::new();
    for (row, trial) in trials.iter().enumerate() {
        for (node, key, value) in entries(report.search.space.sampled_config(&trial.point)) {
            let place = *places
                .entry((node.clone(), key.clone()))
                .or_insert(columns.len());
            if place == columns.len() {
                columns.push((node, key, vec![None; trials.len()]));
            }
            columns[place].2[row] = Some(value);
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
    collapse_constant(&mut letters);
    let mut column = Map::new();
    column.insert("list".to_owned(), Json::Array(list));
    column.insert(
        "letters".to_owned(),
        Json::String(letters.into_iter().collect()),
    );
    column
}

/// Shortens a column whose entries are all the same to the first.
fn collapse_constant<T: PartialEq>(column: &mut Vec<T>) {
    if column.windows(2).all(|pair| pair[0] == pair[1]) {
        column.truncate(1);
    }
}
