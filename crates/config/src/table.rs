//! TOML as a table that keeps the order and the places of the file.

use crate::{Problem, Span};
use serde_json::{Map, Value as Json};
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The value.
    pub value: Value,
    /// Bytes of the text.
    pub span: Span,
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A list.
    List(Vec<Item>),
    /// A table.
    Table(Table),
}

/// A key and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The key.
    pub name: String,
    /// Bytes of the text.
    pub span: Span,
}

/// Keys and values in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table(pub Vec<(Key, Item)>);

impl Item {
    /// The item that a parsed TOML value is.
    pub fn of(value: &Spanned<DeValue>) -> Self {
        Self {
            value: Value::of(value.get_ref()),
            span: value.span(),
        }
    }

    /// The item that a JSON value is, without a place.
    fn of_json(value: &Json) -> Self {
        let value = match value {
            Json::Null => Value::Text("NA".to_owned()),
            Json::Bool(flag) => Value::Bool(*flag),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => Value::Int(whole),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::List(items.iter().map(Self::of_json).collect()),
            Json::Object(entries) => Value::Table(Table::of_json(entries)),
        };
        Self { value, span: 0..0 }
    }

    /// The table, if it is one.
    pub fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The same in JSON.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Text(text) => text.as_str().into(),
            Value::Int(number) => (*number).into(),
            Value::Float(number) => (*number).into(),
            Value::Bool(flag) => (*flag).into(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(table) => {
                let entries = table.0.iter();
                Json::Object(
                    entries
                        .map(|(key, item)| (key.name.clone(), item.to_json()))
                        .collect(),
                )
            }
        }
    }

    /// True for `"NA"`: as if the key were not there.
    pub fn is_none(&self) -> bool {
        matches!(&self.value, Value::Text(word) if word == "NA" || word == "None")
    }
}

impl Value {
    fn of(value: &DeValue) -> Self {
        match value {
            DeValue::Integer(number) => {
                let parsed = i64::from_str_radix(number.as_str(), number.radix());
                parsed.map_or_else(|_| Self::Text(number.as_str().to_owned()), Self::Int)
            }
            DeValue::Float(number) => number
                .as_str()
                .parse()
                .map_or_else(|_| Self::Text(number.as_str().to_owned()), Self::Float),
            DeValue::Boolean(flag) => Self::Bool(*flag),
            DeValue::Array(items) => Self::List(items.iter().map(Item::of).collect()),
            DeValue::Table(table) => Self::Table(Table::of(table)),
            DeValue::String(text) => Self::Text(text.to_string()),
            DeValue::Datetime(date) => Self::Text(date.to_string()),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "'{text}'"),
            Self::Int(number) => number.fmt(f),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Bool(flag) => flag.fmt(f),
            Self::List(_) | Self::Table(_) => f.write_str(self.kind()),
        }
    }
}

impl Table {
    /// The table that a parsed TOML table is.
    pub fn of(table: &DeTable) -> Self {
        let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue>)| {
            let name: &std::borrow::Cow<str> = key.get_ref();
            let (name, span) = (name.to_string(), key.span());
            (Key { name, span }, Item::of(value))
        };
        Self(table.iter().map(entry).collect())
    }

    /// Reads a text of TOML.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let table = DeTable::parse(text).map_err(|error| problem(&error))?;
        Ok(Self::of(table.get_ref()))
    }

    /// Reads as much of a text as is TOML, with every error of syntax. A value that cannot be parsed has the place of its
    /// error.
    pub fn parse_recoverable(text: &str) -> (Self, Vec<Problem>) {
        let (table, errors) = DeTable::parse_recoverable(text);
        let problems = errors.iter().map(problem).collect();
        (Self::of(table.get_ref()), problems)
    }

    /// The table that a JSON object is; without places, and a null is `"NA"`.
    pub fn of_json(entries: &Map<String, Json>) -> Self {
        let entry = |(name, value): (&String, &Json)| {
            let name = name.clone();
            (Key { name, span: 0..0 }, Item::of_json(value))
        };
        Self(entries.iter().map(entry).collect())
    }

    /// The entry with this key.
    pub fn get(&self, key: &str) -> Option<&(Key, Item)> {
        self.0.iter().find(|(known, _)| known.name == key)
    }
}

fn problem(error: &toml::de::Error) -> Problem {
    Problem {
        span: error.span().unwrap_or(0..0),
        message: error.message().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_object_is_the_table_of_the_same_toml() {
        let text = "a = 1\nb = [0.5, \"x\"]\n[c]\nd = true\n";
        let table = Table::parse(text).unwrap();
        let of_text = |table: &Table| Item {
            value: Value::Table(table.clone()),
            span: 0..0,
        };
        let json = of_text(&table).to_json();
        let again = Table::of_json(json.as_object().unwrap());
        assert_eq!(of_text(&again).to_json(), json);
    }

    #[test]
    fn an_error_of_syntax_hides_no_other_key() {
        let (table, problems) = Table::parse_recoverable("a = \nb = 1\nc = [\n");
        let found = table.get("b").map(|(_, item)| item.value.clone());
        assert_eq!(found, Some(Value::Int(1)));
        assert_eq!(problems.len(), 2, "{problems:?}");
        let (table, problems) = Table::parse_recoverable("a = 1\n");
        assert_eq!((table.0.len(), problems), (1, Vec::new()));
    }
}
