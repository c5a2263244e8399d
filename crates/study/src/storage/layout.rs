//! The layout that all of Optuna's storages share: values, distributions, constraints and numbers.

use super::StudyInfo;
use crate::{Direction, Distribution, Outcome, State};
use serde_json::{Map, Value as Json, json};

/// Optuna's attributes with the names of objectives, and with violations of constraints.
pub(super) const METRIC_NAMES: &str = "study:metric_names";
const CONSTRAINTS: &str = "constraints";
/// The attribute with the best values that a trial could still have had when it was given up. They were not measured, so they are not
/// its values.
const BOUND: &str = "mase:bound";
/// The attribute with our own facts about a study.
pub(super) const FACTS: &str = "mase";

/// Optuna's number of a direction.
pub(super) fn direction_number(direction: Direction) -> u8 {
    match direction {
        Direction::Minimize => 1,
        Direction::Maximize => 2,
    }
}

/// Optuna's number of a state; 0 is a trial under way.
pub(super) fn state_number(state: State) -> u8 {
    match state {
        State::Complete => 1,
        State::Pruned => 2,
        State::Failed => 3,
    }
}

/// The state of a trial, and its values.
pub(super) fn result(outcome: &Outcome) -> (State, &[f64]) {
    if has_nan(outcome) {
        return (State::Failed, &[]);
    }
    match outcome.state {
        State::Pruned => (State::Pruned, &[]),
        state => (state, &outcome.values),
    }
}

/// The attributes of an outcome besides its result, by name, as JSON of Python's sort.
pub(super) fn system_attributes(outcome: &Outcome) -> Vec<(&'static str, String)> {
    let violation = outcome.violation.map(|v| (CONSTRAINTS, numbers(&[v])));
    let is_bound = result(outcome).0 == State::Pruned && !outcome.values.is_empty();
    let bound = is_bound.then(|| (BOUND, numbers(&outcome.values)));
    violation.into_iter().chain(bound).collect()
}

/// The outcome of a trial from what is kept of it.
pub(super) fn outcome(state: State, values: Vec<f64>, system: &Map<String, Json>) -> Outcome {
    let bound = system.get(BOUND).and_then(Json::as_array);
    let values = match bound {
        Some(bound) if values.is_empty() => bound.iter().filter_map(number).collect(),
        _ => values,
    };
    let outcome = Outcome {
        values,
        violation: violation(system.iter().map(|(name, value)| (name.as_str(), value))),
        state,
    };
    if has_nan(&outcome) {
        Outcome::failed()
    } else {
        outcome
    }
}

/// True when a value is not a number, which is no result for Optuna either.
fn has_nan(outcome: &Outcome) -> bool {
    outcome.values.iter().any(|value| value.is_nan())
}

/// A value as Optuna keeps it: the index of a choice, or the number itself; none when it is no value of the distribution.
pub(super) fn internal(distribution: &Distribution, value: &Json) -> Option<f64> {
    match distribution {
        Distribution::Categorical { choices } => {
            let index = choices.iter().position(|choice| choice == value)?;
            Some(index as f64)
        }
        _ => value.as_f64(),
    }
}

/// A value as users wrote it, from a distribution's text and the number that Optuna keeps.
pub(super) fn external(distribution: &str, number: f64) -> Result<Json, String> {
    let parsed =
        parse(distribution).map_err(|error| format!("has a broken distribution: {error}"))?;
    match parsed["name"].as_str() {
        Some("CategoricalDistribution") => {
            let choices = &parsed["attributes"]["choices"];
            let choice = choices.get(number as usize).filter(|_| number >= 0.0);
            choice
                .map(unfolded)
                .ok_or_else(|| format!("chooses number {number} of {choices}"))
        }
        Some("IntDistribution") => Ok((number as i64).into()),
        Some("FloatDistribution") => Ok(number.into()),
        Some(other) => Err(format!("has a distribution of an unknown kind, {other}")),
        None => Err("has a distribution without a name".to_owned()),
    }
}

/// A distribution as the text that Optuna keeps.
pub(super) fn distribution(distribution: &Distribution) -> String {
    let json = match distribution {
        Distribution::Categorical { choices } => {
            let choices: Vec<Json> = choices.iter().map(folded).collect();
            json!({ "name": "CategoricalDistribution", "attributes": { "choices": choices } })
        }
        Distribution::Int {
            low,
            high,
            step,
            log,
        } => {
            json!({ "name": "IntDistribution", "attributes": { "log": log, "step": step, "low": low, "high": high } })
        }
        Distribution::Float { low, high, log } => {
            json!({ "name": "FloatDistribution", "attributes": { "step": null, "low": low, "high": high, "log": log } })
        }
    };
    json.to_string()
}

/// Optuna's choices are single values; a list, such as a block size, is kept as its text. So is a text that looks like
/// one, so that both are told apart again.
fn folded(choice: &Json) -> Json {
    match choice {
        Json::Array(_) | Json::Object(_) => choice.to_string().into(),
        Json::String(text) if text.starts_with(['[', '{', '"']) => choice.to_string().into(),
        single => single.clone(),
    }
}

/// The way back from [`folded`].
pub(super) fn unfolded(choice: &Json) -> Json {
    let text = choice
        .as_str()
        .filter(|text| text.starts_with(['[', '{', '"']));
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_else(|| choice.clone())
}

/// By how much the constraints in the attributes of a trial are exceeded: a list, or one attribute for each.
fn violation<'a>(attributes: impl Iterator<Item = (&'a str, &'a Json)>) -> Option<f64> {
    let mut all = Vec::new();
    for (name, value) in attributes {
        let Some(rest) = name.strip_prefix(CONSTRAINTS) else {
            continue;
        };
        match value {
            Json::Array(values) if rest.is_empty() => all.extend(values.iter().filter_map(number)),
            single if rest.starts_with(':') => all.extend(number(single)),
            _ => {}
        }
    }
    match all[..] {
        [] => None,
        [single] => Some(single),
        _ => Some(all.iter().map(|value| value.max(0.0)).sum()),
    }
}

/// A study that was made with other facts would not go on as it began.
pub(super) fn compare_facts(facts: &Map<String, Json>, info: &StudyInfo) -> Result<(), String> {
    let Some((key, there, here)) = first_difference(facts, &info.facts) else {
        return Ok(());
    };
    let shown =
        |fact: Option<&Json>| fact.map_or_else(|| "nothing".to_owned(), ToString::to_string);
    Err(format!(
        "was made with {key} = {}, now it is {}; begin a new study instead",
        shown(there),
        shown(here)
    ))
}

/// The first key whose values differ, with both; inside of tables its whole path.
fn first_difference<'a>(
    there: &'a Map<String, Json>,
    here: &'a Map<String, Json>,
) -> Option<(String, Option<&'a Json>, Option<&'a Json>)> {
    let mut keys = there.keys().chain(here.keys());
    let key = keys.find(|key| there.get(*key) != here.get(*key))?;
    match (there.get(key), here.get(key)) {
        (Some(Json::Object(there)), Some(Json::Object(here))) => {
            let (inner, there, here) = first_difference(there, here)?;
            Some((format!("{key}.{inner}"), there, here))
        }
        (there, here) => Some((key.clone(), there, here)),
    }
}

/// Numbers as Python writes them in a list, where they need not be finite.
pub(super) fn numbers(values: &[f64]) -> String {
    let one = |value: &f64| match *value {
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        value if value.is_nan() => "NaN".to_owned(),
        value => json!(value).to_string(),
    };
    format!(
        "[{}]",
        values.iter().map(one).collect::<Vec<_>>().join(", ")
    )
}

/// A number of a text that [`parse`] has read.
pub(super) fn number(json: &Json) -> Option<f64> {
    match json.as_str() {
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        Some("NaN") => Some(f64::NAN),
        Some(_) => None,
        None => json.as_f64(),
    }
}

/// Reads JSON as Python writes it: with `NaN`, `Infinity` and `-Infinity`, which become texts of that name.
pub(super) fn parse(text: &str) -> Result<Json, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| {
        // Only what is out of the ordinary pays for being looked at twice.
        match quoted(text) {
            Some(quoted) => serde_json::from_str(&quoted),
            None => Err(error),
        }
    })
}

/// The text with quotes around numbers that are not finite; none when there are no such.
fn quoted(text: &str) -> Option<String> {
    const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    let (mut out, mut rest) = (String::with_capacity(text.len() + 8), text);
    let (mut is_inside, mut is_changed) = (false, false);
    while let Some(c) = rest.chars().next() {
        let word = WORDS
            .iter()
            .find(|word| !is_inside && rest.starts_with(**word));
        if let Some(word) = word {
            out.extend(["\"", word, "\""]);
            rest = &rest[word.len()..];
            is_changed = true;
            continue;
        }
        let is_escape = is_inside && c == '\\';
        let taken = rest.chars().take(if is_escape { 2 } else { 1 });
        let (part, tail) = rest.split_at(taken.map(char::len_utf8).sum());
        is_inside ^= c == '"';
        out.push_str(part);
        rest = tail;
    }
    is_changed.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_python_read_back() {
        let all = [1.5, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-300];
        let text = format!(r#"{{"NaN \" Infinity": {}, "é": NaN}}"#, numbers(&all));
        let json = parse(&text).unwrap();
        let read: Vec<f64> = json["NaN \" Infinity"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(number)
            .collect();
        assert_eq!(read, all);
        assert!(number(&json["é"]).is_some_and(f64::is_nan));
        for text in ["Infinit", "[Infinity", "\"NaN", "\\"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_choice_is_read_as_it_was_written() {
        let choices = [
            json!("a"),
            json!(3),
            json!(2.5),
            json!(null),
            json!(true),
            json!([1, 16]),
            json!("[1, 16]"),
            json!("\"x\""),
            json!({"a": [1]}),
            json!("{"),
        ];
        let kind = Distribution::Categorical {
            choices: choices.to_vec(),
        };
        for (index, choice) in choices.iter().enumerate() {
            let number = internal(&kind, choice);
            assert_eq!(number, Some(index as f64));
            assert_eq!(
                external(&distribution(&kind), index as f64).as_ref(),
                Ok(choice)
            );
        }
        assert_eq!(internal(&kind, &json!("b")), None);
        for number in [-1.0, 10.0, f64::NAN] {
            assert!(external(&distribution(&kind), number).is_err(), "{number}");
        }
    }

    #[test]
    fn constraints_of_both_kinds_are_summed() {
        let sum = |text: &str| {
            let json = parse(text).unwrap();
            let pairs = json
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, value)| (name.as_str(), value));
            violation(pairs)
        };
        assert_eq!(sum(r#"{"other": [1.0]}"#), None);
        assert_eq!(sum(r#"{"constraints_of_others": [1.0]}"#), None);
        assert_eq!(sum(r#"{"constraints_of_others": 1.0}"#), None);
        assert_eq!(sum(r#"{"constraints": [-1.0]}"#), Some(-1.0));
        assert_eq!(sum(r#"{"constraints": [-1.0, 2.0, 0.5]}"#), Some(2.5));
        assert_eq!(
            sum(r#"{"constraints:a": 1.0, "constraints:b": Infinity}"#),
            Some(f64::INFINITY)
        );
    }
}
