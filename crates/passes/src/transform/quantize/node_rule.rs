//! The rule of a node: `name` and `{operand}_{field}` keys become formats of ports.

use config::{Item, Key, Reader, Span, Value};
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
}

/// A key of a rule with its value.
pub type Entry = (Key, FieldValue);

impl NodeRule {
    /// Reads a rule from a table of a config file.
    pub fn read(reader: &mut Reader) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for (key, item) in reader.rest() {
            match field_value(item) {
                Some(value) => entries.push((key.clone(), value)),
                None => reader.problem(
                    item.span.clone(),
                    format!(
                        "{}: {} is not a value of a format's field",
                        key.name, item.value
                    ),
                ),
            }
        }
        let span = reader.span();
        match Self::of(&entries, &span) {
            Ok(rule) => rule,
            Err(problems) => {
                for (span, message) in problems {
                    reader.problem(span, message);
                }
                Self::LeaveAlone
            }
        }
    }

    /// The rule that keys and values are; `span` is where they stand as a whole.
    pub fn of(entries: &[Entry], span: &Span) -> Result<Self, Vec<(Span, String)>> {
        let get = |name: &str| entries.iter().find(|(key, _)| key.name == name);
        let mut problems = wrong_kinds(entries);
        if let Some((_, FieldValue::Bool(true))) = get("bypass") {
            problems.extend(unknown_keys(entries));
            return if problems.is_empty() {
                Ok(Self::Bypass)
            } else {
                Err(problems)
            };
        }
        let Some((name_key, name)) = get("name") else {
            return Err(vec![(span.clone(), "name is missing; give a format of `ch list formats`, or \"NA\" to leave nodes alone".to_owned())]);
        };
        problems.extend(unknown_keys(entries));
        let FieldValue::Text(name) = name else {
            return Err(problems);
        };
        let named = entries.iter().filter(|(key, _)| is_name(&key.name));
        for (key, value) in named {
            if let FieldValue::Text(word) = value
                && !is_na_word(word)
                && entry(word).is_none()
            {
                let names = Format::TABLE.iter().map(|entry| entry.name.to_owned());
                let close = super::nearest_key(word, &names.collect::<Vec<_>>());
                let message = format!("{}: unknown format '{word}'{close}", key.name);
                problems.push((key.span.clone(), message));
            }
        }
        let mut operands = BTreeMap::new();
        for (word, operand) in Operand::WORDS {
            let own: Vec<&Entry> = entries
                .iter()
                .filter(|(key, _)| key.name.starts_with(&format!("{word}_")))
                .collect();
            let own_name = get(&format!("{word}_name"));
            let name = match own_name {
                Some((_, FieldValue::Text(own))) => own,
                _ => name,
            };
            let all_na = own.iter().all(|(_, value)| is_na(value));
            // A name that is no format has been reported where it stands.
            if is_na_word(name) || entry(name).is_none() || own.is_empty() || all_na {
                continue;
            }
            match OperandFormat::of(word, name, &own, get("floor").map(|(_, value)| value)) {
                Ok(format) => drop(operands.insert(operand, format)),
                Err(message) => problems.push((own[0].0.span.clone(), message)),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        if is_na_word(name) && operands.is_empty() {
            return Ok(Self::LeaveAlone);
        }
        if operands.is_empty() {
            // The name alone is enough for a format whose fields all have defaults.
            Format::from_fields(name, &[]).map_err(|error| {
                vec![(
                    name_key.span.clone(),
                    format!("name: {error}; give keys such as data_in_width"),
                )]
            })?;
            return Err(vec![(
                name_key.span.clone(),
                format!(
                    "name: '{name}' is given to no operand; give a key such as weight_{}",
                    first_field(name)
                ),
            )]);
        }
        Ok(Self::Formats(operands))
    }
}

/// True for keys that hold the name of a format.
fn is_name(key: &str) -> bool {
    let of_operand = |(word, _): &(&str, Operand)| key.strip_prefix(word) == Some("_name");
    key == "name" || Operand::WORDS.iter().any(of_operand)
}

/// Keys of a rule whose values are of another kind than theirs.
fn wrong_kinds(entries: &[Entry]) -> Vec<(Span, String)> {
    let problem = |(key, value): &Entry| {
        let is_flag = ["bypass", "floor"].contains(&key.name.as_str());
        let wanted = match value {
            _ if is_na(value) => return None,
            FieldValue::Bool(_) if is_flag => return None,
            FieldValue::Text(_) if is_name(&key.name) => return None,
            _ if is_flag => "true or false",
            _ if is_name(&key.name) => "a word",
            _ => return None,
        };
        let message = format!("{}: {value} is not {wanted}", key.name);
        Some((key.span.clone(), message))
    };
    entries.iter().filter_map(problem).collect()
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

/// Keys that no operand has: each with the nearest that it could be.
fn unknown_keys(entries: &[Entry]) -> Vec<(Span, String)> {
    let is_known = |key: &str| {
        ["name", "bypass", "floor"].contains(&key)
            || Operand::WORDS.iter().any(|(word, _)| {
                key.strip_prefix(word)
                    .is_some_and(|rest| rest.starts_with('_'))
            })
    };
    let names: Vec<String> = Operand::WORDS
        .iter()
        .flat_map(|(word, _)| {
            ["width", "frac_width", "exponent_width", "block_size"]
                .map(|field| format!("{word}_{field}"))
        })
        .chain(["name", "bypass", "floor"].map(str::to_owned))
        .collect();
    entries
        .iter()
        .filter(|(key, _)| !is_known(&key.name))
        .map(|(key, _)| {
            (
                key.span.clone(),
                format!(
                    "unknown key '{}'{}",
                    key.name,
                    super::nearest_key(&key.name, &names)
                ),
            )
        })
        .collect()
}

impl OperandFormat {
    fn of(
        word: &str,
        name: &str,
        own: &[&Entry],
        floor: Option<&FieldValue>,
    ) -> Result<Self, String> {
        let mut fields: Vec<(String, FieldValue)> = Vec::new();
        for (key, value) in own {
            match &key.name[word.len() + 1..] {
                "name" => {}
                "floor" => {
                    if *value == FieldValue::Bool(true) {
                        fields.push(("rounding".to_owned(), "floor".into()));
                    }
                }
                field => fields.push((field.to_owned(), value.clone())),
            }
        }
        let has = |fields: &[(String, FieldValue)], field: &str| {
            fields.iter().any(|(known, _)| known == field)
        };
        let knows = |field: &str| {
            entry(name).is_some_and(|entry| entry.fields.iter().any(|known| known.name == field))
        };
        if floor == Some(&FieldValue::Bool(true)) && !has(&fields, "rounding") && knows("rounding")
        {
            fields.push(("rounding".to_owned(), "floor".into()));
        }
        let make = |extra: Option<(&str, bool)>| {
            let mut fields = fields.clone();
            if let Some((field, value)) =
                extra.filter(|(field, _)| knows(field) && !has(&fields, field))
            {
                fields.push((field.to_owned(), value.into()));
            }
            Format::from_fields(name, &fields).map_err(|error| format!("{word}: {error}"))
        };
        Ok(Self {
            stored: make(None)?,
            flowing: make(Some(("skip_first_dim", true)))?,
            rectified: make(Some(if knows("skip_first_dim") {
                ("skip_first_dim", true)
            } else {
                ("signed", false)
            }))?,
        })
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
