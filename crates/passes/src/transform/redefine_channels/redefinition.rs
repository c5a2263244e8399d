//! `[….NODE.config]` of the fourth lab: which side of a layer changes, and by what.

use crate::transform::quantize::{Slot, is_of_original};
use config::{Item, Reader, Value};

/// The side of a layer that a rule speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Its outputs are multiplied; its inputs follow from the layers before.
    Outputs,
    /// Its inputs follow from the layers before, its outputs stay.
    Inputs,
    /// The rule asks for nothing.
    Neither,
}

impl Side {
    /// The words of the lab. As inputs always follow, `both` means what `output_only` does.
    const WORDS: &'static [(&'static str, Self)] = &[
        ("output_only", Self::Outputs),
        ("both", Self::Outputs),
        ("input_only", Self::Inputs),
        ("NA", Self::Neither),
    ];

    /// The side that a word names.
    fn of_word(word: &str) -> Option<Self> {
        let mut words = Self::WORDS.iter();
        let found = words.find(|(known, _)| config::is_same_name(known, word));
        found.map(|(_, side)| *side)
    }
}

/// The choices of a rule; a pass has one of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Redefinition {
    /// The word and its meaning, in the order of the file.
    pub names: Vec<(String, Side)>,
    /// In the order of the file, without repetitions.
    pub multipliers: Vec<f64>,
}

/// Keys that say which layer comes before: that follows from the graph.
const FOLLOWING: &[&str] = &[
    "parent",
    "parent_block_name",
    "prev_link",
    "input_multiplier",
    "input_channel_multiplier",
    "in_features",
    "out_features",
];

/// The multiplier, and other words for it.
const MULTIPLIERS: &[&str] = &[
    "channel_multiplier",
    "output_multiplier",
    "output_channel_multiplier",
];

/// The largest multiplier: a network beyond it would not fit any machine.
const MAX_MULTIPLIER: f64 = 1024.0;

impl Redefinition {
    /// Reads `name` and `channel_multiplier`; a single value is a list of one.
    pub fn read(reader: &mut Reader) -> Self {
        for &key in FOLLOWING {
            reader.item(key);
        }
        reader.ignore_where(is_of_format, ": channels are searched here");
        let mut redefinition = Self::default();
        let names = reader.item("name");
        let names = reader.item("name_redefine").or(names);
        for item in names.map(items).unwrap_or_default() {
            redefinition.read_name(reader, item);
        }
        let given: Vec<(&str, &Item)> = MULTIPLIERS
            .iter()
            .filter_map(|&key| Some((key, reader.item(key)?)))
            .collect();
        for (key, item) in given.iter().flat_map(|(key, list)| {
            let choices = items(list).iter();
            choices.map(|item| (*key, item))
        }) {
            redefinition.read_multiplier(reader, key, item);
        }
        if redefinition.multiplies() && given.is_empty() {
            let key = format!("channel_multiplier in [{}]", reader.name());
            reader.missing(&key, "say by what the outputs are multiplied");
        }
        redefinition
    }

    /// True when outputs may be multiplied.
    pub fn multiplies(&self) -> bool {
        self.names.iter().any(|(_, side)| *side == Side::Outputs)
    }

    fn read_name(&mut self, reader: &mut Reader, item: &Item) {
        let word = match &item.value {
            Value::Text(word) => word.clone(),
            other => other.to_string(),
        };
        let mut words = Side::WORDS.iter();
        if let Some(&(known, side)) = words.find(|(known, _)| config::is_same_name(known, &word)) {
            self.names.push((known.to_owned(), side));
            return;
        }
        let known: Vec<&str> = Side::WORDS.iter().map(|(known, _)| *known).collect();
        let close = config::did_you_mean(&word, known.iter().copied());
        let (place, known) = (reader.name(), known.join(", "));
        let message = format!("name in [{place}]: '{word}' is not one of {known}{close}");
        reader.problem(item.span.clone(), message);
    }

    fn read_multiplier(&mut self, reader: &mut Reader, key: &str, item: &Item) {
        let multiplier = match item.value {
            Value::Int(number) => number as f64,
            Value::Float(number) => number,
            ref other => {
                let message = format!("{key} in [{}]: {other} is not a number", reader.name());
                return reader.problem(item.span.clone(), message);
            }
        };
        if !(multiplier > 0.0 && multiplier <= MAX_MULTIPLIER) {
            let message = format!(
                "{key} in [{}]: {multiplier} must be more than 0 and at most {MAX_MULTIPLIER}",
                reader.name()
            );
            reader.problem(item.span.clone(), message);
        } else if !self.multipliers.contains(&multiplier) {
            self.multipliers.push(multiplier);
        }
    }
}

/// True when a rule somewhere in a table of rules names the side of a layer, as a space of channels does.
pub fn names_sides(rules: &Value) -> bool {
    let is_side = |value: &Value| match value {
        Value::Text(word) => Side::of_word(word).is_some_and(|side| side != Side::Neither),
        _ => false,
    };
    let Value::Table(table) = rules else {
        return false;
    };
    table.0.iter().any(|(key, item)| match &item.value {
        Value::List(items) if key.name == "name" => items.iter().any(|item| is_side(&item.value)),
        value if key.name == "name" => is_side(value),
        value => names_sides(value),
    })
}

/// True for a key of a number format, which files that searched formats before still have.
fn is_of_format(key: &str) -> bool {
    key != "name" && (Slot::parse(key).is_some() || is_of_original(key))
}

fn items(item: &Item) -> &[Item] {
    match &item.value {
        Value::List(items) => items,
        _ => std::slice::from_ref(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_of_channels_is_known_by_the_sides_it_names() {
        let names = |text: &str| {
            let table = config::Table::parse(text).unwrap_or_else(|problem| panic!("{problem:?}"));
            names_sides(&Value::Table(table))
        };
        assert!(names("[a.config]\nname = \"output_only\""));
        assert!(names("[a.config]\nname = [\"NA\", \"input_only\"]"));
        assert!(!names("[a.config]\nname = \"NA\""));
        assert!(!names("[a.config]\nname = [\"integer\", \"NA\"]"));
        assert!(!names("[a.config]\nword = \"both\""));
        assert!(!names("[a.config]\nword = [\"both\"]"));
    }
}
