//! Mistakes in choices that would show only when a trial makes them.
//!
//! Every key must be a field of a format that its operand can have, and every choice must be part of some format that
//! can be made. Choices that do not go with some others are fine: such trials fail and say so.

use super::choices::{Choice, Choices, applies, entry, is_name, operand_field};
use crate::draws::Draws;
use format::{FieldValue, Format};
use interop::nearest::did_you_mean;
use ir::Random;
use passes::config::{Key, Problem};
use passes::transform::quantize::{NodeRule, Operand, is_na};

/// Combinations of one operand's choices that are all tried.
const MOST_COMBINATIONS: usize = 4096;
/// Where there are more, so many random ones of each choice are.
const SAMPLES: u64 = 64;

/// Everything that is wrong with the choices of a rule.
pub(super) fn problems(choices: &Choices) -> Vec<Problem> {
    let names = choices.keys.iter().filter(|(key, _)| is_name(&key.name));
    let mut problems: Vec<Problem> = names.flat_map(unknown_formats).collect();
    if !problems.is_empty() {
        return problems;
    }
    problems.extend(
        choices
            .keys
            .iter()
            .filter_map(|(key, _)| unknown_key(choices, key)),
    );
    for (word, _) in Operand::WORDS {
        problems.extend(impossible(choices, word));
    }
    problems.extend(given_to_nothing(choices));
    problems
}

fn unknown_formats((key, choices): &(Key, Vec<Choice>)) -> Vec<Problem> {
    let problem = |choice: &Choice| {
        let message = match &choice.value {
            value if is_na(value) => return None,
            FieldValue::Text(name) if entry(&choice.value).is_none() => {
                Format::from_fields(name, &[]).err()?.to_string()
            }
            FieldValue::Text(_) => return None,
            other => format!("{other} is not a word"),
        };
        let message = format!("{}: {message}", key.name);
        let span = choice.span.clone();
        Some(Problem { span, message })
    };
    choices.iter().filter_map(problem).collect()
}

/// A key that is no field of any format it could speak of.
fn unknown_key(choices: &Choices, key: &Key) -> Option<Problem> {
    if ["bypass", "floor"].contains(&key.name.as_str()) || is_name(&key.name) {
        return None;
    }
    let names = choices.get(&choices.decider(&key.name)).unwrap_or_default();
    let entries: Vec<_> = names.iter().filter_map(|name| entry(&name.value)).collect();
    let fields = || entries.iter().flat_map(|entry| entry.fields);
    let message = match operand_field(&key.name) {
        Some((_, field)) => {
            let is_known = field == "floor" || fields().any(|known| known.name == field);
            if is_known || entries.is_empty() {
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
        None => format!("unknown key '{}'", key.name),
    };
    let keys: Vec<String> = Operand::WORDS
        .iter()
        .flat_map(|(word, _)| fields().map(move |field| format!("{word}_{}", field.name)))
        .chain(["name", "bypass", "floor"].map(str::to_owned))
        .collect();
    let close = did_you_mean(&key.name, keys.iter().map(String::as_str));
    let (span, message) = (key.span.clone(), message + &close);
    Some(Problem { span, message })
}

/// The formats of one operand, tried out.
struct Tried<'a> {
    /// Choices that are part of a format that can be made.
    working: Vec<&'a Choice>,
    /// Choices that an error speaks of, with their keys and the error.
    blamed: Vec<Blamed<'a>>,
}

/// A key, one of its choices and what is wrong with it.
type Blamed<'a> = (&'a str, &'a Choice, String);

/// Choices of an operand that are part of no format that can be made.
fn impossible(choices: &Choices, word: &str) -> Vec<Problem> {
    let decider = choices.decider(&format!("{word}_name"));
    let mut tried = Tried {
        working: Vec::new(),
        blamed: Vec::new(),
    };
    for name in choices.get(&decider).unwrap_or_default() {
        tried.name(choices, word, &decider, name);
    }
    let mut problems: Vec<Problem> = Vec::new();
    for (key, choice, message) in tried.blamed {
        let is_working = tried
            .working
            .iter()
            .any(|known| std::ptr::eq(*known, choice));
        let is_known = problems.iter().any(|known| known.span == choice.span);
        if !is_working && !is_known {
            let (span, message) = (choice.span.clone(), format!("{key}: {message}"));
            problems.push(Problem { span, message });
        }
    }
    problems
}

impl<'a> Tried<'a> {
    /// Tries all formats called `name`.
    fn name(&mut self, choices: &'a Choices, word: &str, decider: &'a str, name: &'a Choice) {
        let mut keys = choices.of_operand(word);
        keys.retain(|(key, _)| applies(&key.name, Some(&name.value)));
        let count = keys.iter().try_fold(1_usize, |count, (_, choices)| {
            count.checked_mul(choices.len())
        });
        let has_own_name = decider != "name";
        if is_na(&name.value) || (keys.is_empty() && !has_own_name) {
            self.working.push(name);
            self.working
                .extend(keys.iter().flat_map(|(_, choices)| choices));
            return;
        }
        match count.filter(|count| *count <= MOST_COMBINATIONS) {
            Some(count) => {
                for index in 0..count {
                    let picked = combination(&keys, index);
                    if let Err(error) = self.combination(decider, name, &picked) {
                        self.blamed.push(error);
                    }
                }
            }
            None => self.samples(decider, name, &keys),
        }
    }

    /// Tries one combination: what it is made of works, or a choice is to blame.
    fn combination(
        &mut self,
        decider: &'a str,
        name: &'a Choice,
        picked: &[(&'a Key, &'a Choice)],
    ) -> Result<(), Blamed<'a>> {
        let is_left_alone =
            decider == "name" && picked.iter().all(|(_, choice)| is_na(&choice.value));
        match formats(decider, name, picked) {
            Err(message) if !is_left_alone => {
                let (key, choice) = blamed(picked, &message).unwrap_or((decider, name));
                Err((key, choice, message))
            }
            _ => {
                self.working.push(name);
                self.working
                    .extend(picked.iter().map(|(_, choice)| *choice));
                Ok(())
            }
        }
    }

    /// Tries random combinations of each choice until one works. If none does and the errors that speak of the choice are
    /// all the same, they have nothing to do with the others, and it can never work; if they differ, trials will tell.
    fn samples(&mut self, decider: &'a str, name: &'a Choice, keys: &[&'a (Key, Vec<Choice>)]) {
        for (at, (_, choices)) in keys.iter().enumerate() {
            for choice in choices {
                let sampled = (0..SAMPLES).map(|number| {
                    let mut picked = sample(keys, number);
                    picked[at].1 = choice;
                    self.combination(decider, name, &picked).err()
                });
                let errors: Option<Vec<Blamed>> = sampled.collect();
                let Some(mut errors) = errors else {
                    continue;
                };
                let is_of =
                    |known: &Choice| std::ptr::eq(known, choice) || std::ptr::eq(known, name);
                errors.retain(|(_, known, _)| is_of(known));
                errors.dedup_by(|a, b| a.2 == b.2);
                match errors.pop() {
                    Some(error) if errors.is_empty() => self.blamed.push(error),
                    _ => self.working.push(choice),
                }
            }
        }
    }
}

/// A random combination.
fn sample<'a>(keys: &[&'a (Key, Vec<Choice>)], number: u64) -> Vec<(&'a Key, &'a Choice)> {
    let mut draws = Draws::new(Random::new(0, "choices").at(number));
    let pick =
        |(key, choices): &&'a (Key, Vec<Choice>)| (key, &choices[draws.below(choices.len())]);
    keys.iter().map(pick).collect()
}

/// The combination of this number, the last key changing fastest.
fn combination<'a>(
    keys: &[&'a (Key, Vec<Choice>)],
    mut index: usize,
) -> Vec<(&'a Key, &'a Choice)> {
    let mut picked: Vec<_> = keys
        .iter()
        .rev()
        .map(|(key, choices)| {
            let choice = &choices[index % choices.len()];
            index /= choices.len();
            (key, choice)
        })
        .collect();
    picked.reverse();
    picked
}

/// Makes the formats that keys and their values stand for.
fn formats(decider: &str, name: &Choice, picked: &[(&Key, &Choice)]) -> Result<(), String> {
    let named = |key: &str| {
        let key = Key {
            name: key.to_owned(),
            span: name.span.clone(),
        };
        (key, name.value.clone())
    };
    let mut entries = vec![named("name")];
    if decider != "name" {
        entries.push(named(decider));
    }
    let others = picked
        .iter()
        .map(|(key, choice)| ((*key).clone(), choice.value.clone()));
    entries.extend(others);
    let made = NodeRule::of(&entries, &name.span);
    made.map(drop).map_err(|problems| {
        let messages: Vec<String> = problems.into_iter().map(|(_, message)| message).collect();
        messages.join("; ")
    })
}

/// The choice that an error speaks of: the first word in it that is a field.
fn blamed<'a>(picked: &[(&'a Key, &'a Choice)], message: &str) -> Option<(&'a str, &'a Choice)> {
    let mut words = message.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.find_map(|word| {
        let field = |key: &str| operand_field(key).is_some_and(|(_, field)| field == word);
        let found = picked.iter().find(|(key, _)| field(&key.name))?;
        Some((found.0.name.as_str(), found.1))
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
            .filter(|(key, _)| operand_field(&key.name).is_some());
        fields.any(|(key, _)| applies(&key.name, Some(&name.value)))
    };
    let names = choices.get("name").unwrap_or_default().iter();
    names
        .filter(|name| !has_names && !is_na(&name.value) && !is_given(name))
        .filter_map(|name| {
            let message = formats("name", name, &[]).err()?;
            let span = name.span.clone();
            Some(Problem { span, message })
        })
        .collect()
}
