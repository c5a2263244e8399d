//! `KEY = [choice, …]` as a config gives it, and which of the keys decides over another.

use format::{FieldValue, Format, FormatEntry};
use passes::config::{Item, Key, Reader, Span, Value};
use passes::transform::quantize::{Operand, field_value, is_na};
use std::collections::BTreeSet;

/// The choices that a config gives for some nodes: every key with a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// In the order of the file.
    pub keys: Vec<(Key, Vec<Choice>)>,
}

/// One thing that a key may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What it is.
    pub value: FieldValue,
    /// Where it stands.
    pub span: Span,
}

impl Choices {
    /// Reads `KEY = [choice, …]`; a single value is a list of one.
    pub fn read(reader: &mut Reader) -> Self {
        let mut keys = Vec::new();
        for (key, item) in reader.rest() {
            let choices = read_key(reader, key, item);
            if !choices.is_empty() {
                keys.push((key.clone(), choices));
            }
        }
        if keys.iter().all(|(key, _)| key.name != "name") {
            reader.missing(
                "name",
                "list the formats to choose from, for example name = [\"integer\"]",
            );
        }
        Self { keys }
    }

    /// The choices of a key.
    pub fn get(&self, name: &str) -> Option<&[Choice]> {
        let found = self.keys.iter().find(|(key, _)| key.name == name);
        found.map(|(_, choices)| choices.as_slice())
    }

    /// The keys of one operand, `weight_width` and so on, but for the one that names its format.
    pub(super) fn of_operand(&self, word: &str) -> Vec<&(Key, Vec<Choice>)> {
        let is_own = |key: &str| {
            let field = key
                .strip_prefix(word)
                .and_then(|rest| rest.strip_prefix('_'));
            field.is_some_and(|field| field != "name")
        };
        self.keys
            .iter()
            .filter(|(key, _)| is_own(&key.name))
            .collect()
    }

    /// The operands that keys speak of.
    pub(super) fn operands(&self) -> impl Iterator<Item = Operand> {
        let keys = self.keys.iter();
        keys.filter_map(|(key, _)| operand(&key.name))
    }

    /// Whether a key speaks of an operand's format.
    pub(super) fn speaks_of_operands(&self) -> bool {
        self.operands().next().is_some()
    }

    /// The choices without those for other operands.
    pub(super) fn only(&self, operands: &BTreeSet<Operand>) -> Self {
        let is_had = |key: &str| operand(key).is_none_or(|operand| operands.contains(&operand));
        let keys = self.keys.iter().filter(|(key, _)| is_had(&key.name));
        Self {
            keys: keys.cloned().collect(),
        }
    }

    /// The key whose value says which format a key speaks of: that of its operand if there is one, else `name`.
    pub(super) fn decider(&self, key: &str) -> String {
        let own = operand_field(key).map(|(word, _)| format!("{word}_name"));
        own.filter(|own| self.get(own).is_some())
            .unwrap_or_else(|| "name".to_owned())
    }

    /// Whether nothing can be chosen but to leave nodes alone.
    pub(super) fn is_nothing(&self) -> bool {
        let names = self.keys.iter().filter(|(key, _)| is_name(&key.name));
        names
            .flat_map(|(_, choices)| choices)
            .all(|choice| is_na(&choice.value))
    }
}

fn read_key(reader: &mut Reader, key: &Key, item: &Item) -> Vec<Choice> {
    let name = &key.name;
    let items = match &item.value {
        Value::List(items) if !is_block_size(name, items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    if items.is_empty() {
        reader.problem(item.span.clone(), format!("{name}: there are no choices"));
    }
    let mut choices: Vec<Choice> = Vec::new();
    for item in items {
        let Some(value) = field_value(item) else {
            let message = format!(
                "{name}: a choice must be a number, a word, true or false, or a list of whole numbers"
            );
            reader.problem(item.span.clone(), message);
            continue;
        };
        if choices.iter().any(|choice| choice.value == value) {
            let message = format!("{name}: choice {value} is there twice");
            reader.problem(item.span.clone(), message);
            continue;
        }
        let span = item.span.clone();
        choices.push(Choice { value, span });
    }
    choices
}

/// `block_size = [1, 16]` is one choice, `[[1, 16], [1, 32]]` are two.
fn is_block_size(key: &str, items: &[Item]) -> bool {
    let is_whole = |item: &Item| matches!(item.value, Value::Int(_));
    key.ends_with("block_size") && !items.is_empty() && items.iter().all(is_whole)
}

/// Whether a key names a format: `name`, or that of an operand.
pub(super) fn is_name(key: &str) -> bool {
    key == "name" || operand_field(key).is_some_and(|(_, field)| field == "name")
}

/// The operand that a key speaks of.
fn operand(key: &str) -> Option<Operand> {
    let (own, _) = operand_field(key)?;
    Operand::WORDS
        .iter()
        .find_map(|(word, operand)| (*word == own).then_some(*operand))
}

/// The operand's word and the field that a key speaks of.
pub(super) fn operand_field(key: &str) -> Option<(&'static str, &str)> {
    Operand::WORDS.iter().find_map(|(word, _)| {
        let field = key.strip_prefix(word)?.strip_prefix('_')?;
        Some((*word, field))
    })
}

/// The format that a value names.
pub(super) fn entry(name: &FieldValue) -> Option<&'static FormatEntry> {
    let FieldValue::Text(name) = name else {
        return None;
    };
    Format::TABLE
        .iter()
        .find(|entry| entry.name == name || entry.aliases.contains(&name.as_str()))
}

/// Whether a key has a meaning when its decider is `name`.
pub(super) fn applies(key: &str, name: Option<&FieldValue>) -> bool {
    if key == "bypass" || is_name(key) {
        return true;
    }
    let Some(name) = name else {
        return true;
    };
    let Some(entry) = entry(name) else {
        return !is_na(name);
    };
    operand_field(key).is_none_or(|(_, field)| {
        field == "floor" || entry.fields.iter().any(|known| known.name == field)
    })
}
