//! `KEY = [choice, …]` as a config gives it, and which of the keys decides over another.
//!
//! A table named after a format holds keys for that format alone, instead of the general ones.

use config::{Item, Key, Reader, Span, Value};
use format::{FieldValue, Format, FormatEntry};
use passes::transform::quantize::{Operand, field_value, is_flag, is_na, is_of_original};
use std::collections::BTreeSet;

/// The choices that a config gives for some nodes: every key with a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// In the order of the file.
    pub keys: Vec<KeyChoices>,
}

/// A key with its list.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyChoices {
    /// The key.
    pub key: Key,
    /// The format for which alone it holds, when it stands in that format's table.
    pub format: Option<Key>,
    /// Its choices, in the order of the file.
    pub choices: Vec<Choice>,
    /// True when its only choice is a block of several numbers, written as `[8, 16]`.
    pub is_flat_block: bool,
}

/// One thing that a key may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The value.
    pub value: FieldValue,
    /// Its place in the file.
    pub span: Span,
}

/// Keys of other search spaces of the original, which may stand beside formats.
const OF_OTHER_SPACES: &[&str] = &[
    // channels
    "channel_multiplier",
    "input_multiplier",
    "output_multiplier",
    "input_channel_multiplier",
    "output_channel_multiplier",
    "name_redefine",
    "parent",
    "parent_block_name",
    "prev_link",
    "in_features",
    "out_features",
    // TensorRT, fusion, hardware
    "precision",
    "calibrators",
    "percentile",
    "fusion_strategy",
    "implementation",
];

impl Choices {
    /// Reads `KEY = [choice, …]`, where a single value is a list of one, and tables of such keys for one format.
    pub fn read(reader: &mut Reader) -> Self {
        let mut keys = Vec::new();
        for (key, item) in reader.rest() {
            if is_of_original(&key.name) || OF_OTHER_SPACES.contains(&key.name.as_str()) {
                reader.note_without_effect(&[&key.name], "");
            } else if matches!(item.value, Value::Table(_)) {
                let own = reader.inner(&key.name, item, |table| read_table(table, key));
                keys.extend(own.unwrap_or_default());
            } else {
                keys.extend(read_key(reader, key, item, None));
            }
        }
        keys.retain(|own: &KeyChoices| {
            let is_drawn = own.is_stochastic();
            if is_drawn {
                let reason = ": the same value always gets the same code";
                reader.note_without_effect(&[&own.key.name], reason);
            }
            !is_drawn
        });
        if keys.iter().all(|own| !own.is("name")) {
            reader.missing(
                "name",
                "list the formats to choose from, for example name = [\"integer\"]",
            );
        }
        Self { keys }
    }

    /// The choices without those at some places, of every key that keeps another; nothing when a place is that of none.
    pub(super) fn without(&self, places: &[Span]) -> Option<Self> {
        let is_kept = |choice: &Choice| !places.contains(&choice.span);
        let mut choices = self.clone();
        for own in &mut choices.keys {
            let has_others = own.choices.iter().any(is_kept);
            if has_others && !is_name(&own.key.name) {
                let is_number = |choice: &Choice| {
                    matches!(choice.value, FieldValue::Int(_) | FieldValue::List(_))
                };
                own.choices
                    .retain(|choice| is_kept(choice) || !is_number(choice));
            }
        }
        (choices != *self).then_some(choices)
    }

    /// The choices of a key that holds for all formats.
    pub fn get(&self, name: &str) -> Option<&[Choice]> {
        let found = self.keys.iter().find(|own| own.is(name));
        found.map(|own| own.choices.as_slice())
    }

    /// The names of formats that decide over a key.
    pub(super) fn deciding(&self, key: &str) -> &[Choice] {
        self.get(&self.decider(key)).unwrap_or_default()
    }

    /// True when a key of these has a meaning under the name `name`.
    pub(super) fn holds(&self, own: &KeyChoices, name: &FieldValue) -> bool {
        if !applies(&own.key.name, name) {
            return false;
        }
        let is_of = |format: &Key| is_same_format(format, name);
        match &own.format {
            Some(format) => is_of(format),
            None => !self.keys.iter().any(|other| {
                other.key.name == own.key.name && other.format.as_ref().is_some_and(is_of)
            }),
        }
    }

    /// True when a key has a meaning under some name.
    pub(super) fn ever_holds(&self, own: &KeyChoices) -> bool {
        let mut names = self.deciding(&own.key.name).iter();
        names.any(|name| self.holds(own, &name.value))
    }

    /// The keys of one operand, `weight_width` and so on, but for the one that names its format.
    pub(super) fn of_operand(&self, word: &str) -> impl Iterator<Item = &KeyChoices> {
        let is_own = move |key: &str| {
            operand_field(key).is_some_and(|(own, field)| own == word && field != "name")
        };
        self.keys.iter().filter(move |own| is_own(&own.key.name))
    }

    /// The operands that keys speak of.
    pub(super) fn operands(&self) -> impl Iterator<Item = Operand> {
        let keys = self.keys.iter();
        keys.filter_map(|own| operand(&own.key.name))
    }

    /// True when a key speaks of an operand's format.
    pub(super) fn speaks_of_operands(&self) -> bool {
        self.operands().next().is_some()
    }

    /// The choices without those for other operands.
    pub(super) fn only(&self, operands: &BTreeSet<Operand>) -> Self {
        let is_had = |key: &str| operand(key).is_none_or(|operand| operands.contains(&operand));
        let keys = self.keys.iter().filter(|own| is_had(&own.key.name));
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

    /// True when nothing can be chosen but to leave nodes alone.
    pub(super) fn is_nothing(&self) -> bool {
        let names = self.keys.iter().filter(|own| is_name(&own.key.name));
        names
            .flat_map(|own| &own.choices)
            .all(|choice| is_na(&choice.value))
    }
}

impl KeyChoices {
    /// A note on a list that looks like several choices and is one.
    pub(super) fn note(&self) -> Option<String> {
        let FieldValue::List(block) = &self.choices.first()?.value else {
            return None;
        };
        let (name, single) = (&self.key.name, &self.choices[0].value);
        let blocks: Vec<String> = block.iter().map(|size| format!("[{size}]")).collect();
        let sizes: Vec<String> = block.iter().map(ToString::to_string).collect();
        self.is_flat_block.then(|| {
            format!(
                "{name} = {single} is one block of {}; a choice of blocks is a list of lists, such as [{}]",
                sizes.join(" × "),
                blocks.join(", ")
            )
        })
    }

    /// True for a key that wants codes to be drawn.
    fn is_stochastic(&self) -> bool {
        let is_field =
            operand_field(&self.key.name).is_some_and(|(_, field)| field == "stochastic");
        let mut choices = self.choices.iter();
        is_field && choices.any(|choice| choice.value == FieldValue::Bool(true))
    }

    /// True for the key of that name that holds for all formats.
    pub(super) fn is(&self, name: &str) -> bool {
        self.format.is_none() && self.key.name == name
    }
}

/// The keys for one format.
fn read_table(reader: &mut Reader, format: &Key) -> Vec<KeyChoices> {
    let entries = reader.rest();
    if entries.is_empty() {
        let message = format!("{}: there are no keys for this format", format.name);
        reader.problem(format.span.clone(), message);
    }
    let mut keys = Vec::new();
    for (key, item) in entries {
        keys.extend(read_key(reader, key, item, Some(format)));
    }
    keys
}

/// A key with its choices; nothing when it has none.
fn read_key(
    reader: &mut Reader,
    key: &Key,
    item: &Item,
    format: Option<&Key>,
) -> Option<KeyChoices> {
    let choices = read_choices(reader, key, item);
    let is_flat_block = match &item.value {
        Value::List(items) => items.len() > 1 && is_block_size(&key.name, items),
        _ => false,
    };
    (!choices.is_empty()).then(|| KeyChoices {
        key: key.clone(),
        format: format.cloned(),
        choices,
        is_flat_block,
    })
}

fn read_choices(reader: &mut Reader, key: &Key, item: &Item) -> Vec<Choice> {
    let name = &key.name;
    let items = match &item.value {
        Value::List(items) if !is_block_size(name, items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    if items.is_empty() {
        reader.problem(item.span.clone(), format!("{name}: there are no choices"));
    }
    let mut choices: Vec<Choice> = Vec::new();
    let mut repeated: Vec<FieldValue> = Vec::new();
    for item in items {
        let Some(value) = field_value(item) else {
            let message = format!(
                "{name}: a choice must be a number, a word, true or false, or a list of whole numbers"
            );
            reader.problem(item.span.clone(), message);
            continue;
        };
        // As in Python, every number but 0 is true.
        let value = match value {
            FieldValue::Int(number) if is_flag(name) => FieldValue::Bool(number != 0),
            value => value,
        };
        if choices.iter().any(|choice| choice.value == value) {
            if !repeated.contains(&value) {
                repeated.push(value);
            }
            continue;
        }
        let span = item.span.clone();
        choices.push(Choice { value, span });
    }
    for value in repeated {
        let table = reader.name().to_owned();
        reader.note(format!(
            "{name} in [{table}]: choice {value} is there twice and counts once"
        ));
    }
    choices
}

/// The axes of an operand at most.
const MAX_AXES: usize = 4;

/// `block_size = [1, 16]` is one choice, `[[1, 16], [1, 32]]` are two, and so are more numbers than there are axes.
fn is_block_size(key: &str, items: &[Item]) -> bool {
    let is_whole = |item: &Item| matches!(item.value, Value::Int(_));
    let is_block = (1..=MAX_AXES).contains(&items.len()) && items.iter().all(is_whole);
    key.ends_with("block_size") && is_block
}

/// True when a key names a format: `name`, or that of an operand.
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

/// True when a format is called this, in one of its names.
pub(super) fn is_same_format(format: &Key, name: &FieldValue) -> bool {
    let wanted = FieldValue::Text(format.name.clone());
    match (entry(&wanted), entry(name)) {
        (Some(wanted), Some(named)) => wanted.name == named.name,
        _ => false,
    }
}

/// True when a format of this name has a key.
fn applies(key: &str, name: &FieldValue) -> bool {
    if key == "bypass" || is_name(key) {
        return true;
    }
    let Some(entry) = entry(name) else {
        return !is_na(name);
    };
    operand_field(key).is_none_or(|(_, field)| {
        field == "floor" || entry.fields.iter().any(|known| known.name == field)
    })
}
