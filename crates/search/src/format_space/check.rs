//! Mistakes in choices that would show only when a trial makes them.
//!
//! Every key must be a field of a format that its operand can have, every choice must be part of some format that can be
//! made, and under every name one must be. Choices that do not go with some others are fine: no point combines them.

use super::choices::{Choice, Choices, KeyChoices, entry, is_name, is_same_format, operand_field};
use super::possible::{TriedName, TriedOperand, make};
use config::did_you_mean;
use config::{Key, Problem};
use format::{FieldValue, Format, FormatEntry};
use passes::transform::quantize::{Operand, is_field, is_na};
use random::Draws;
use random::Random;
use std::collections::BTreeSet;

/// Random combinations that are tried of each choice, where there are too many to try them all.
const SAMPLES: u64 = 64;

/// Everything that is wrong with the choices of a rule, whose formats were tried out.
pub(super) fn problems(choices: &Choices, tried: &[TriedOperand]) -> Vec<Problem> {
    let names = choices.keys.iter().filter(|own| is_name(&own.key.name));
    let mut problems: Vec<Problem> = names.flat_map(unknown_formats).collect();
    problems.extend(unknown_tables(choices));
    if !problems.is_empty() {
        return problems;
    }
    let keys = choices.keys.iter();
    problems.extend(keys.filter_map(|own| misplaced(own).or_else(|| unknown_key(choices, own))));
    problems.extend(choices.keys.iter().flat_map(wrong_flags));
    for problem in tried.iter().flat_map(impossible) {
        // A name that no operand can have is told once.
        if problems.iter().all(|known| known.span != problem.span) {
            problems.push(problem);
        }
    }
    problems.extend(given_to_nothing(choices));
    problems
}

fn unknown_formats(own: &KeyChoices) -> Vec<Problem> {
    let problem = |choice: &Choice| {
        let message = match &choice.value {
            value if is_na(value) => return None,
            FieldValue::Text(name) if entry(&choice.value).is_none() => {
                Format::from_fields(name, &[]).err()?.to_string()
            }
            FieldValue::Text(_) => return None,
            other => format!("{other} is not a word"),
        };
        let message = format!("{}: {message}", own.key.name);
        let span = choice.span.clone();
        Some(Problem { span, message })
    };
    own.choices.iter().filter_map(problem).collect()
}

/// Choices of `bypass` and `floor` that are neither true nor false.
fn wrong_flags(own: &KeyChoices) -> Vec<Problem> {
    let name = own.key.name.as_str();
    let is_flag = ["bypass", "floor"].contains(&name)
        || operand_field(name).is_some_and(|(_, field)| field == "floor");
    let is_wrong = |choice: &&Choice| {
        is_flag && !is_na(&choice.value) && !matches!(choice.value, FieldValue::Bool(_))
    };
    let problem = |choice: &Choice| Problem {
        span: choice.span.clone(),
        message: format!("{name}: {} is not true or false", choice.value),
    };
    own.choices.iter().filter(is_wrong).map(problem).collect()
}

/// Tables for formats that no key names.
fn unknown_tables(choices: &Choices) -> Vec<Problem> {
    let names = choices.keys.iter().filter(|own| is_name(&own.key.name));
    let names: Vec<&FieldValue> = names
        .flat_map(|own| own.choices.iter().map(|choice| &choice.value))
        .collect();
    let mut problems: Vec<Problem> = Vec::new();
    for format in choices.keys.iter().filter_map(|own| own.format.as_ref()) {
        let is_named = names.iter().any(|name| is_same_format(format, name));
        let is_told = problems.iter().any(|known| known.span == format.span);
        if is_named || is_told {
            continue;
        }
        let words: Vec<String> = names.iter().map(ToString::to_string).collect();
        let (name, words_shown) = (&format.name, words.join(", "));
        let close = did_you_mean(name, words.iter().map(String::as_str));
        let message =
            format!("a table for '{name}', but the formats named here are {words_shown}{close}");
        let span = format.span.clone();
        problems.push(Problem { span, message });
    }
    problems
}

/// A key for one format that does not speak of a field of an operand.
fn misplaced(own: &KeyChoices) -> Option<Problem> {
    let format = own.format.as_ref()?;
    let is_general = is_name(&own.key.name) || ["bypass", "floor"].contains(&own.key.name.as_str());
    is_general.then(|| Problem {
        span: own.key.span.clone(),
        message: format!(
            "{} does not belong to one format; it stands outside of the table '{}'",
            own.key.name, format.name
        ),
    })
}

/// A key that is no field of any format it could speak of.
fn unknown_key(choices: &Choices, own: &KeyChoices) -> Option<Problem> {
    let key = &own.key;
    if ["bypass", "floor"].contains(&key.name.as_str()) || is_name(&key.name) {
        return None;
    }
    let names = choices.deciding(&key.name).iter().map(|name| &name.value);
    let is_spoken_of = |name: &&FieldValue| {
        let format = own.format.as_ref();
        format.is_none_or(|format| is_same_format(format, name))
    };
    let entries: Vec<_> = names.filter(is_spoken_of).filter_map(entry).collect();
    let message = match (operand_field(&key.name), &own.format) {
        (None, _) => format!("unknown key '{}'", key.name),
        (Some((word, _)), Some(format)) if entries.is_empty() => {
            format!("{}: {word} is never {}", key.name, format.name)
        }
        (Some(_), None) if entries.is_empty() => return None,
        (Some((_, field)), _) => {
            let has = |entry: &&FormatEntry| entry.fields.iter().any(|known| known.name == field);
            if field == "floor" || entries.iter().any(has) {
                return superfluous(choices, own);
            }
            // A field of other formats: files give one list of keys to formats of every kind.
            if own.format.is_none() && is_field(field) {
                return None;
            }
            let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
            let does_not = if names.len() == 1 {
                "does not have"
            } else {
                "do not have"
            };
            format!("{}: {} {does_not} '{field}'", key.name, names.join(", "))
        }
    };
    let (span, message) = (key.span.clone(), message + &nearest(key, &entries));
    Some(Problem { span, message })
}

/// The key that could have been meant.
fn nearest(key: &Key, entries: &[&FormatEntry]) -> String {
    let fields = || entries.iter().flat_map(|entry| entry.fields);
    let keys: Vec<String> = Operand::WORDS
        .iter()
        .flat_map(|(word, _)| fields().map(move |field| format!("{word}_{}", field.name)))
        .chain(["name", "bypass", "floor"].map(str::to_owned))
        .collect();
    did_you_mean(&key.name, keys.iter().map(String::as_str))
}

/// A general key for formats that all have it in tables of their own.
fn superfluous(choices: &Choices, own: &KeyChoices) -> Option<Problem> {
    let name = &own.key.name;
    (!choices.ever_holds(own)).then(|| Problem {
        span: own.key.span.clone(),
        message: format!("{name}: every format that has it has a {name} in its own table"),
    })
}

/// Choices of an operand that are part of no format that can be made, and names under which none can.
fn impossible(tried: &TriedOperand) -> Vec<Problem> {
    let mut evidence = Evidence::default();
    for name in &tried.names {
        match &name.faults {
            Some(faults) => evidence.add_all(name, faults),
            None => evidence.add_samples(name, &tried.decider),
        }
    }
    let mut problems: Vec<Problem> = Vec::new();
    for fault in &evidence.faults {
        if let Some((key, choice)) = fault.blamed
            && !evidence.is_working(choice)
        {
            add(&mut problems, choice, format!("{key}: {}", fault.message));
        }
    }
    // A choice that works under another name is not to blame: the name is.
    let is_explained = |fault: &&Fault| {
        let blamed = fault.blamed.map(|(_, choice)| choice);
        blamed.is_some_and(|choice| !evidence.is_working(choice))
    };
    for fault in evidence.faults.iter().filter(|fault| !is_explained(fault)) {
        if !evidence.is_working(fault.name) {
            let message = format!("{}: {}", tried.decider, fault.message);
            add(&mut problems, fault.name, message);
            continue;
        }
        // Whatever the message speaks of: what is part of nothing that works would never be tried.
        for (key, choice) in &fault.picked {
            if !evidence.is_working(choice) {
                add(&mut problems, choice, format!("{key}: {}", fault.message));
            }
        }
    }
    problems
}

/// The result of trying combinations.
#[derive(Default)]
struct Evidence<'a> {
    /// Names and choices that are part of a format that can be made, by their places.
    working: BTreeSet<*const Choice>,
    faults: Vec<Fault<'a>>,
}

/// A combination that makes no format.
struct Fault<'a> {
    name: &'a Choice,
    /// The key and the choice that the message speaks of.
    blamed: Option<(&'a str, &'a Choice)>,
    message: String,
    /// All of it, where all combinations were tried.
    picked: Vec<(&'a str, &'a Choice)>,
}

impl<'a> Evidence<'a> {
    fn is_working(&self, choice: &Choice) -> bool {
        self.working.contains(&std::ptr::from_ref(choice))
    }

    /// Takes in all combinations under a name.
    fn add_all(&mut self, tried: &TriedName<'a>, faults: &[Option<String>]) {
        for (index, fault) in faults.iter().enumerate() {
            let picked = tried.combination(index);
            if let Some(mut fault) = self.one(tried, &picked, fault.clone()) {
                let picked = picked.iter();
                fault.picked = picked
                    .map(|(own, choice)| (own.key.name.as_str(), *choice))
                    .collect();
                self.faults.push(fault);
            }
        }
    }

    /// Takes in one combination: what it is made of works, or there is a fault.
    fn one(
        &mut self,
        tried: &TriedName<'a>,
        picked: &[(&'a KeyChoices, &'a Choice)],
        fault: Option<String>,
    ) -> Option<Fault<'a>> {
        if let Some(message) = fault {
            return Some(Fault {
                name: tried.name,
                blamed: blamed(picked, &message),
                message,
                picked: Vec::new(),
            });
        }
        let choices = picked.iter().map(|(_, choice)| *choice);
        self.working
            .extend(choices.chain([tried.name]).map(std::ptr::from_ref));
        None
    }

    /// Tries random combinations of each choice until one works. If none does and the errors that speak of the choice are
    /// all the same, they have nothing to do with the others, and it can never work; if they differ, trials will tell.
    fn add_samples(&mut self, tried: &TriedName<'a>, decider: &str) {
        let choices = tried.keys.iter().enumerate();
        let choices = choices.flat_map(|(at, own)| own.choices.iter().map(move |c| (at, c)));
        for (at, choice) in choices {
            let sampled = (0..SAMPLES).map(|number| {
                let mut picked = sample(&tried.keys, number);
                picked[at].1 = choice;
                let fault = tried.fault(decider, &picked);
                self.one(tried, &picked, fault)
            });
            let faults: Option<Vec<Fault>> = sampled.collect();
            let Some(mut faults) = faults else {
                continue;
            };
            faults.retain(|fault| {
                let blamed = fault.blamed.map(|(_, known)| known);
                blamed.is_none_or(|known| std::ptr::eq(known, choice))
            });
            faults.dedup_by(|a, b| a.message == b.message);
            match faults.pop() {
                Some(fault) if faults.is_empty() => self.faults.push(fault),
                _ => {
                    self.working.insert(std::ptr::from_ref(choice));
                }
            }
        }
    }
}

/// A random combination.
fn sample<'a>(keys: &[&'a KeyChoices], number: u64) -> Vec<(&'a KeyChoices, &'a Choice)> {
    let mut draws = Draws::new(Random::new(0, "choices").at(number));
    let keys = keys.iter();
    keys.map(|own| (*own, &own.choices[draws.below(own.choices.len())]))
        .collect()
}

/// Adds what is wrong with a choice, once.
fn add(problems: &mut Vec<Problem>, choice: &Choice, message: String) {
    let span = choice.span.clone();
    if problems.iter().all(|known| known.span != span) {
        problems.push(Problem { span, message });
    }
}

/// The choice that an error speaks of: the first word in it that is a field.
fn blamed<'a>(
    picked: &[(&'a KeyChoices, &'a Choice)],
    message: &str,
) -> Option<(&'a str, &'a Choice)> {
    let mut words = message.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.find_map(|word| {
        let field = |key: &str| operand_field(key).is_some_and(|(_, field)| field == word);
        let found = picked.iter().find(|(own, _)| field(&own.key.name))?;
        Some((found.0.key.name.as_str(), found.1))
    })
}

/// Formats that no key gives to an operand.
fn given_to_nothing(choices: &Choices) -> Vec<Problem> {
    let has_names = Operand::WORDS
        .iter()
        .any(|(word, _)| choices.get(&format!("{word}_name")).is_some());
    let is_given = |name: &Choice| {
        let mut fields = choices
            .keys
            .iter()
            .filter(|own| operand_field(&own.key.name).is_some());
        fields.any(|own| choices.holds(own, &name.value))
    };
    let names = choices.get("name").unwrap_or_default().iter();
    names
        .filter(|name| !has_names && !is_na(&name.value) && !is_given(name))
        .filter_map(|name| {
            let message = make("name", name, &[]).err()?;
            let span = name.span.clone();
            Some(Problem { span, message })
        })
        .collect()
}
