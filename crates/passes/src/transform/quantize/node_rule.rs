//! The rule of a node: `name` and `{operand}_{field}` keys become formats of ports.

use config::{Item, Reader, Sort, Span, Value, did_you_mean, not_here};
use format::{FieldValue, Format, FormatEntry};
use ir::{DType, Node, NodeId, Op, ParamRole, Verified};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The decision for the nodes of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeRule {
    /// `name = "NA"`.
    LeaveAlone,
    /// `bypass = true`.
    Bypass,
    /// Formats by operand.
    Formats(BTreeMap<Operand, OperandFormat>),
}

/// The operands that keys of a rule name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operand {
    /// Values that flow in.
    DataIn,
    /// The weight, or what stands on the right of a product.
    Weight,
    /// The bias.
    Bias,
    /// The result.
    DataOut,
}

impl Operand {
    /// All, with the words that keys begin with.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("data_in", Self::DataIn),
        ("weight", Self::Weight),
        ("bias", Self::Bias),
        ("data_out", Self::DataOut),
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// The format of one operand, for parameters and for values that flow.
#[derive(Clone, Debug, PartialEq)]
pub struct OperandFormat {
    /// For parameters.
    stored: Format,
    /// For values that flow: blocks keep the rows of a batch apart unless told otherwise.
    flowing: Format,
    /// For the data input of relu: unsigned unless told otherwise.
    rectified: Format,
    /// The fields that were given.
    fields: Vec<(String, FieldValue)>,
}

/// The subject of one value of a rule: the node's format, a flag of the node, or a field of an operand's format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// `name`: the format of all operands that have none of their own.
    Name,
    /// `bypass`: leaves the node as it is.
    Bypass,
    /// `floor`: rounds down instead of to nearest.
    Floor,
    /// `{operand}_{field}`; the field `name` is a format of the operand's own.
    Field(Operand, String),
}

/// A slot of a rule with its value.
pub type Entry = (Slot, FieldValue);

/// A problem of a rule: the entry it concerns, none for the rule as a whole, and a message.
pub type RuleProblem = (Option<usize>, String);

impl Slot {
    /// The slot of a key, if it is one.
    pub fn parse(key: &str) -> Option<Self> {
        let field = |(word, operand): &(&str, Operand)| {
            let field = key.strip_prefix(word)?.strip_prefix('_')?;
            Some(Self::Field(*operand, field.to_owned()))
        };
        match key {
            "name" => Some(Self::Name),
            "bypass" => Some(Self::Bypass),
            "floor" => Some(Self::Floor),
            _ => Operand::WORDS.iter().find_map(field),
        }
    }

    /// True when the slot holds the name of a format.
    pub fn is_name(&self) -> bool {
        match self {
            Self::Name => true,
            Self::Field(_, field) => field == "name",
            Self::Bypass | Self::Floor => false,
        }
    }

    fn is_field_of(&self, operand: Operand) -> bool {
        matches!(self, Self::Field(own, _) if *own == operand)
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Name => f.write_str("name"),
            Self::Bypass => f.write_str("bypass"),
            Self::Floor => f.write_str("floor"),
            Self::Field(operand, field) => write!(f, "{}_{field}", operand.name()),
        }
    }
}

impl NodeRule {
    /// Reads a rule from a table of a config file.
    pub fn read(reader: &mut Reader) -> Self {
        let (mut entries, mut spans): (Vec<Entry>, Vec<Span>) = (Vec::new(), Vec::new());
        let mut is_sound = true;
        for (key, item) in reader.rest() {
            if is_of_original(&key.name) {
                reader.note_without_effect(&[&key.name], "");
                continue;
            }
            match (Slot::parse(&key.name), field_value(item)) {
                (_, None) => {
                    let message = format!(
                        "{}: {} is not a value of a format's field",
                        key.name, item.value
                    );
                    reader.problem(item.span.clone(), message);
                }
                (None, _) => {
                    let message = format!("unknown key '{}'{}", key.name, nearest_slot(&key.name));
                    reader.problem(key.span.clone(), message);
                    is_sound = false;
                }
                (Some(slot), Some(value)) => {
                    let value = match (&slot, value) {
                        (Slot::Bypass | Slot::Floor, FieldValue::Int(flag @ (0 | 1))) => {
                            FieldValue::Bool(flag == 1)
                        }
                        (_, value) => value,
                    };
                    entries.push((slot, value));
                    spans.push(key.span.clone());
                }
            }
        }
        for (at, note) in set_aside(&entries).into_iter().rev() {
            let (slot, _) = entries.remove(at);
            spans.remove(at);
            if let Some(reason) = note {
                reader.note_without_effect(&[&slot.to_string()], &reason);
            }
        }
        match Self::of(&entries) {
            Ok(rule) => rule,
            // A key that is unknown may be the one that is missing.
            Err(problems) if is_sound || problems.iter().all(|(entry, _)| entry.is_some()) => {
                for (entry, message) in problems {
                    let span = entry.map_or_else(|| reader.span(), |entry| spans[entry].clone());
                    reader.problem(span, message);
                }
                Self::LeaveAlone
            }
            Err(_) => Self::LeaveAlone,
        }
    }

    /// The rule that some entries make.
    pub fn of(entries: &[Entry]) -> Result<Self, Vec<RuleProblem>> {
        let mut problems = wrong_kinds(entries);
        if get(entries, &Slot::Bypass) == Some(&FieldValue::Bool(true)) {
            return if problems.is_empty() {
                Ok(Self::Bypass)
            } else {
                Err(problems)
            };
        }
        let Some(name_at) = entries.iter().position(|(slot, _)| *slot == Slot::Name) else {
            let message = "name is missing; give a format of `ch list formats`, or \"NA\" to leave nodes alone";
            return Err(vec![(None, message.to_owned())]);
        };
        let FieldValue::Text(name) = &entries[name_at].1 else {
            return Err(problems);
        };
        problems.extend(unknown_formats(entries));
        let mut operands = BTreeMap::new();
        for (_, operand) in Operand::WORDS {
            match operand_format(entries, operand, name) {
                Some(Ok(format)) => drop(operands.insert(operand, format)),
                Some(Err(problem)) => problems.push(problem),
                None => {}
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        if is_na_word(name) && operands.is_empty() {
            return Ok(Self::LeaveAlone);
        }
        if operands.is_empty() {
            return Err(vec![(Some(name_at), without_operand(name))]);
        }
        Ok(Self::Formats(operands))
    }
}

/// Keys that files of the original have beside `{operand}_{field}` and that change nothing here.
const OF_ORIGINAL: &[&str] = &[
    "binary_training",
    "additional_layers_inputs",
    "additional_layers_outputs",
];

/// Fields of formats of the original that are not here.
const FIELDS_OF_ORIGINAL: &[&str] = &[
    "levels",
    "residual_sign",
    "k",
    "input_expanded",
    "binarization_level",
    "in_dim",
    "dim",
    "threshold",
];

/// True for a key of the original that changes nothing here: one of its own, or a field that speaks of no operand.
pub fn is_of_original(key: &str) -> bool {
    OF_ORIGINAL.contains(&key) || (Slot::parse(key).is_none() && is_field(key))
}

/// True for a field of some format, here or in the original.
pub fn is_field(field: &str) -> bool {
    let mut fields = Format::TABLE.iter().flat_map(|entry| entry.fields);
    fields.any(|known| known.name == field) || FIELDS_OF_ORIGINAL.contains(&field)
}

/// True for a key that is true or false: a flag of the node, or a field that is one in a format.
pub fn is_flag(key: &str) -> bool {
    let is_flag_field = |field: &str| {
        let mut fields = Format::TABLE.iter().flat_map(|entry| entry.fields);
        fields.any(|known| known.name == field && matches!(known.default, Some("true" | "false")))
    };
    match Slot::parse(key) {
        Some(Slot::Bypass | Slot::Floor) => true,
        Some(Slot::Field(_, field)) => is_flag_field(&field),
        Some(Slot::Name) | None => false,
    }
}

/// The entries that a format is made without, each with the reason for a note, in their order. Files of the original give
/// one list of keys to formats of every kind.
fn set_aside(entries: &[Entry]) -> Vec<(usize, Option<String>)> {
    let of_entry = |(at, (slot, value)): (usize, &Entry)| {
        let Slot::Field(operand, field) = slot else {
            return None;
        };
        let own = get(entries, &Slot::Field(*operand, "name".to_owned()));
        let name = own.or_else(|| get(entries, &Slot::Name));
        let Some(FieldValue::Text(name)) = name else {
            return None;
        };
        let format = entry(name)?;
        let has_field = format.fields.iter().any(|known| known.name == field);
        if !has_field && is_field(field) {
            let name = format.name;
            let note = (!is_na(value)).then(|| format!(": {name} has no {field}"));
            return Some((at, note));
        }
        let is_true = matches!(value, FieldValue::Bool(true) | FieldValue::Int(1));
        if field == "stochastic" && is_true {
            let reason = ": the same value always gets the same code";
            return Some((at, Some(reason.to_owned())));
        }
        let is_negative = match value {
            FieldValue::Float(number) => *number < 0.0,
            FieldValue::Int(number) => *number < 0,
            _ => false,
        };
        let is_statistic = ["mean", "median", "max"].contains(&field.as_str());
        (is_statistic && is_negative).then(|| (at, Some(format!(": {value} is not a magnitude"))))
    };
    let found = entries.iter().enumerate().filter_map(of_entry);
    found.collect()
}

fn get<'a>(entries: &'a [Entry], slot: &Slot) -> Option<&'a FieldValue> {
    let found = entries.iter().find(|(own, _)| own == slot);
    found.map(|(_, value)| value)
}

/// Entries whose values are of another kind than theirs.
fn wrong_kinds(entries: &[Entry]) -> Vec<RuleProblem> {
    let problem = |(at, (slot, value)): (usize, &Entry)| {
        let is_flag = matches!(slot, Slot::Bypass | Slot::Floor);
        let wanted = match value {
            _ if is_na(value) => return None,
            FieldValue::Bool(_) if is_flag => return None,
            FieldValue::Text(_) if slot.is_name() => return None,
            _ if is_flag => "true or false",
            _ if slot.is_name() => "a word",
            _ => return None,
        };
        Some((Some(at), format!("{slot}: {value} is not {wanted}")))
    };
    entries.iter().enumerate().filter_map(problem).collect()
}

/// Entries that name a format that does not exist.
fn unknown_formats(entries: &[Entry]) -> Vec<RuleProblem> {
    let problem = |(at, (slot, value)): (usize, &Entry)| {
        let FieldValue::Text(word) = value else {
            return None;
        };
        let is_known = !slot.is_name() || is_na_word(word) || entry(word).is_some();
        (!is_known).then(|| {
            let message = not_here(Sort::Format, word).unwrap_or_else(|| {
                let close = did_you_mean(word, Format::TABLE.iter().map(|entry| entry.name));
                format!("unknown format '{word}'{close}")
            });
            (Some(at), format!("{slot}: {message}"))
        })
    };
    entries.iter().enumerate().filter_map(problem).collect()
}

/// The format of an operand; none when nothing speaks of it, or its format is no format: that was reported by itself.
fn operand_format(
    entries: &[Entry],
    operand: Operand,
    name: &str,
) -> Option<Result<OperandFormat, RuleProblem>> {
    let mut own = entries.iter().filter(|(slot, _)| slot.is_field_of(operand));
    let first = entries
        .iter()
        .position(|(slot, _)| slot.is_field_of(operand))?;
    let name = match get(entries, &Slot::Field(operand, "name".to_owned())) {
        Some(FieldValue::Text(own)) => own,
        _ => name,
    };
    if is_na_word(name) || entry(name).is_none() || own.all(|(_, value)| is_na(value)) {
        return None;
    }
    let format = OperandFormat::of(entries, operand, name);
    Some(format.map_err(|message| (Some(first), message)))
}

/// The message for a format that no operand gets.
fn without_operand(name: &str) -> String {
    // The name alone is enough for a format whose fields all have defaults.
    match Format::from_fields(name, &[]) {
        Err(error) => format!("name: {error}; give keys such as data_in_width"),
        Ok(_) => format!(
            "name: '{name}' is given to no operand; give a key such as weight_{}",
            first_field(name)
        ),
    }
}

fn first_field(name: &str) -> &'static str {
    entry(name)
        .and_then(|entry| entry.fields.first())
        .map_or("width", |field| field.name)
}

fn entry(name: &str) -> Option<&'static FormatEntry> {
    Format::TABLE
        .iter()
        .find(|entry| entry.name == name || entry.aliases.contains(&name))
}

/// True when a format has a field.
fn knows(name: &str, field: &str) -> bool {
    entry(name).is_some_and(|entry| entry.fields.iter().any(|known| known.name == field))
}

fn has_field(fields: &[(String, FieldValue)], field: &str) -> bool {
    fields.iter().any(|(known, _)| known == field)
}

/// The nearest keys to one that is unknown.
fn nearest_slot(key: &str) -> String {
    let fields = ["width", "frac_width", "exponent_width", "block_size"];
    let names: Vec<String> = Operand::WORDS
        .iter()
        .flat_map(|(word, _)| fields.map(|field| format!("{word}_{field}")))
        .chain(["name", "bypass", "floor"].map(str::to_owned))
        .collect();
    did_you_mean(key, names.iter().map(String::as_str))
}

impl OperandFormat {
    fn of(entries: &[Entry], operand: Operand, name: &str) -> Result<Self, String> {
        let mut fields: Vec<(String, FieldValue)> = Vec::new();
        for (slot, value) in entries {
            match slot {
                Slot::Field(own, field) if *own == operand => match field.as_str() {
                    "name" => {}
                    "floor" => {
                        if *value == FieldValue::Bool(true) {
                            fields.push(("rounding".to_owned(), "floor".into()));
                        }
                    }
                    field => fields.push((field.to_owned(), value.clone())),
                },
                _ => {}
            }
        }
        let is_floor = get(entries, &Slot::Floor) == Some(&FieldValue::Bool(true));
        if is_floor && !has_field(&fields, "rounding") && knows(name, "rounding") {
            fields.push(("rounding".to_owned(), "floor".into()));
        }
        Self::from_fields(name, fields).map_err(|error| format!("{}: {error}", operand.name()))
    }

    fn from_fields(name: &str, fields: Vec<(String, FieldValue)>) -> Result<Self, String> {
        let make = |extra: Option<(&str, bool)>| {
            let mut fields = fields.clone();
            if let Some((field, value)) =
                extra.filter(|(field, _)| knows(name, field) && !has_field(&fields, field))
            {
                fields.push((field.to_owned(), value.into()));
            }
            Format::from_fields(name, &fields).map_err(|error| error.to_string())
        };
        Ok(Self {
            stored: make(None)?,
            flowing: make(Some(("skip_first_dim", true)))?,
            rectified: make(Some(if knows(name, "skip_first_dim") {
                ("skip_first_dim", true)
            } else {
                ("signed", false)
            }))?,
            fields,
        })
    }

    /// The same as if this width had been given; as it is where the format has none.
    pub fn with_width(&self, width: i64) -> Result<Self, String> {
        let name = self.stored.name();
        if !knows(name, "width") {
            return Ok(self.clone());
        }
        let mut fields = self.fields.clone();
        fields.retain(|(field, _)| field != "width");
        fields.push(("width".to_owned(), FieldValue::Int(width)));
        Self::from_fields(name, fields)
    }

    /// The format of parameters.
    pub fn stored(&self) -> &Format {
        &self.stored
    }
}

/// The operand that a port belongs to; `None` for ports that hold no numbers to round.
fn operand_of(node: &Node, port: &str) -> Option<Operand> {
    if let Some(index) = port.strip_prefix("data_in_") {
        let is_right = index != "0"
            && matches!(
                node.op,
                Op::Matmul(_) | Op::Bmm(_) | Op::ScaledDotProductAttention(_)
            );
        return Some(if is_right {
            Operand::Weight
        } else {
            Operand::DataIn
        });
    }
    if port.starts_with("data_out_") {
        return Some(Operand::DataOut);
    }
    let specs = node.param_specs();
    let (.., role) = specs.iter().find(|(name, ..)| *name == port)?;
    match (role, port) {
        (ParamRole::Buffer, _) => None,
        (_, "bias") => Some(Operand::Bias),
        _ => Some(Operand::Weight),
    }
}

/// The ports of a node that hold numbers to round, with the operands that they belong to.
pub fn ports(node: &Node, verified: &Verified, id: NodeId) -> Vec<(String, Operand)> {
    let inputs = verified.input_types(id);
    let data = (0..inputs.len())
        .filter(|&k| inputs[k].dtype == DType::F32)
        .map(|k| format!("data_in_{k}"));
    let params = node
        .param_specs()
        .into_iter()
        .map(|(name, ..)| name.to_owned());
    let outputs = verified.outputs(id).iter().enumerate();
    let results = outputs
        .filter(|(_, ty)| ty.dtype == DType::F32)
        .map(|(k, _)| format!("data_out_{k}"));
    data.chain(params)
        .chain(results)
        .filter_map(|port| {
            let operand = operand_of(node, &port)?;
            Some((port, operand))
        })
        .collect()
}

/// A note on a rule with keys for operands that none of its nodes has.
pub fn idle_keys(
    rule: &str,
    given: impl Iterator<Item = Operand>,
    had: &BTreeSet<Operand>,
) -> Option<String> {
    let idle: BTreeSet<&str> = given
        .filter(|operand| !had.contains(operand))
        .map(Operand::name)
        .collect();
    let list = |suffix: &str, word: &str| {
        let names: Vec<String> = idle.iter().map(|name| format!("{name}{suffix}")).collect();
        names.join(word)
    };
    (!idle.is_empty() && !had.is_empty()).then(|| {
        format!(
            "rule '{rule}': none of its nodes has a {}, so its keys {} do nothing",
            list("", " or a "),
            list("_…", " and ")
        )
    })
}

/// The formats that the ports of a node get.
pub fn formats(
    operands: &BTreeMap<Operand, OperandFormat>,
    node: &Node,
    verified: &Verified,
    id: NodeId,
) -> BTreeMap<String, Format> {
    let is_relu = matches!(node.op, Op::Relu(_));
    ports(node, verified, id)
        .into_iter()
        .filter_map(|(port, operand)| {
            let format = operands.get(&operand)?;
            let is_data_in = port.starts_with("data_in_");
            let chosen = match (is_data_in, port.starts_with("data_out_")) {
                (true, _) if is_relu => &format.rectified,
                (false, false) => &format.stored,
                _ => &format.flowing,
            };
            Some((port, chosen.clone()))
        })
        .collect()
}

fn is_na_word(word: &str) -> bool {
    word == "NA" || word == "None"
}

/// True for `"NA"`: as if its key were not given.
pub fn is_na(value: &FieldValue) -> bool {
    matches!(value, FieldValue::Text(word) if is_na_word(word))
}

/// The value that an item is; none when no field of a format could have it.
pub fn field_value(item: &Item) -> Option<FieldValue> {
    Some(match &item.value {
        Value::Text(text) => FieldValue::Text(text.clone()),
        Value::Int(number) => FieldValue::Int(*number),
        Value::Float(number) => FieldValue::Float(*number),
        Value::Bool(flag) => FieldValue::Bool(*flag),
        Value::List(items) => {
            let whole = |item: &Item| match item.value {
                Value::Int(number) => Some(number),
                _ => None,
            };
            FieldValue::List(items.iter().map(whole).collect::<Option<_>>()?)
        }
        Value::Table(_) => return None,
    })
}

impl fmt::Display for NodeRule {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::LeaveAlone => f.write_str("NA"),
            Self::Bypass => f.write_str("bypass"),
            Self::Formats(operands) => {
                let parts = operands.iter().map(|(operand, format)| {
                    let format = match operand {
                        Operand::DataIn | Operand::DataOut => &format.flowing,
                        _ => &format.stored,
                    };
                    format!("{} {format}", operand.name())
                });
                f.write_str(&parts.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
