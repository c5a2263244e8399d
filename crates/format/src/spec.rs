//! The text form of a format, `name(value, …, field = value, …)`: parsing and printing.

use std::fmt;

use crate::Format;
use crate::catalog::FormatEntry;
use crate::error::{FormatError, Problem, nearest};
use crate::field::{FieldValue, Fields};

impl Format {
    /// Reads `integer(8, 4)` or `mxint(width = 8, block_size = [1, 16])`: positional values first, then named ones.
    pub fn parse(spec: &str) -> Result<Self, FormatError> {
        let mut text = Text { spec, at: 0 };
        let (name_at, name) = text.word("the name of a format")?;
        let index = find(name).map_err(|error| at(error, name_at))?;
        let fields = text.fields(&Self::TABLE[index])?;
        let values: Vec<(String, FieldValue)> = fields
            .iter()
            .map(|field| (field.name.clone(), field.value.clone()))
            .collect();
        from_fields(index, &values).map_err(|error| {
            // The last of a repeated field is the one too many.
            let about = |field: &&Field| Some(field.name.as_str()) == error.field();
            let offset = fields.iter().rfind(about).map_or(name_at, |field| field.at);
            at(error, offset)
        })
    }

    /// The format of this name with fields by name, as configs give them.
    pub fn from_fields(name: &str, fields: &[(String, FieldValue)]) -> Result<Self, FormatError> {
        from_fields(find(name)?, fields)
    }
}

impl std::str::FromStr for Format {
    type Err = FormatError;

    fn from_str(spec: &str) -> Result<Self, FormatError> {
        Self::parse(spec)
    }
}

/// Prints what [`Format::parse`] reads back as the same format, without the fields that are at their default.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = self.entry();
        let mut shown: Vec<(String, FieldValue)> = self
            .fields()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        for field in entry
            .fields
            .iter()
            .rev()
            .filter(|field| !field.always_shown)
        {
            let mut fewer = shown.clone();
            fewer.retain(|(name, _)| name != field.name);
            let same = Self::from_fields(entry.name, &fewer);
            // By fields: the text does not have the values of stored ones.
            if same.is_ok_and(|same| same.fields() == self.fields()) {
                shown = fewer;
            }
        }
        write!(f, "{}(", entry.name)?;
        for (index, (name, value)) in shown.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            // A value whose position tells its name needs no name.
            if entry.fields[index].name == name {
                write!(f, "{comma}{value}")?;
            } else {
                write!(f, "{comma}{name} = {value}")?;
            }
        }
        write!(f, ")")
    }
}

fn at(error: FormatError, offset: usize) -> FormatError {
    FormatError {
        offset: Some(error.offset.unwrap_or(offset)),
        ..error
    }
}

/// The position in the table of a format's name or alias.
fn find(name: &str) -> Result<usize, FormatError> {
    let is_named = |entry: &FormatEntry| entry.name == name || entry.aliases.contains(&name);
    Format::TABLE.iter().position(is_named).ok_or_else(|| {
        let names = |entry: &'static FormatEntry| {
            std::iter::once(entry.name).chain(entry.aliases.iter().copied())
        };
        let problem = Problem::UnknownFormat {
            name: name.to_owned(),
            candidates: nearest(name, Format::TABLE.iter().flat_map(names)),
        };
        problem.into()
    })
}

fn from_fields(index: usize, values: &[(String, FieldValue)]) -> Result<Format, FormatError> {
    let entry = &Format::TABLE[index];
    for (position, (name, _)) in values.iter().enumerate() {
        check_field(entry, name)?;
        if values[..position]
            .iter()
            .any(|(earlier, _)| earlier == name)
        {
            let problem = Problem::RepeatedField {
                format: entry.name,
                field: name.clone(),
            };
            return Err(problem.into());
        }
    }
    let format = entry.name;
    Format::read(index, &Fields { format, values })
}

fn check_field(entry: &'static FormatEntry, name: &str) -> Result<(), FormatError> {
    let names = || entry.fields.iter().map(|field| field.name);
    if names().any(|known| known == name) {
        return Ok(());
    }
    let close = nearest(name, names());
    let problem = Problem::UnknownField {
        format: entry.name,
        field: name.to_owned(),
        candidates: if close.is_empty() {
            names().collect()
        } else {
            close
        },
    };
    Err(problem.into())
}

/// A field as it stands in the text.
struct Field {
    at: usize,
    name: String,
    value: FieldValue,
}

/// The text and how far it has been read.
struct Text<'a> {
    spec: &'a str,
    at: usize,
}

impl<'a> Text<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = &self.spec[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn take(&mut self, symbol: char) -> bool {
        let found = self.rest().starts_with(symbol);
        self.at += if found { symbol.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, symbol: char, expected: &'static str) -> Result<(), FormatError> {
        if self.take(symbol) {
            return Ok(());
        }
        Err(self.unexpected(expected))
    }

    fn unexpected(&mut self, expected: &'static str) -> FormatError {
        let found = match self.rest().chars().next() {
            Some(symbol) => format!("'{symbol}'"),
            None => "the end".to_owned(),
        };
        FormatError {
            problem: Problem::Syntax { expected, found },
            offset: Some(self.at),
        }
    }

    /// A run of letters, digits and what numbers are made of, with its offset.
    fn word(&mut self, expected: &'static str) -> Result<(usize, &'a str), FormatError> {
        let rest = self.rest();
        let is_part = |symbol: char| symbol.is_alphanumeric() || "_+-.".contains(symbol);
        let len = rest.find(|symbol| !is_part(symbol)).unwrap_or(rest.len());
        if len == 0 {
            return Err(self.unexpected(expected));
        }
        let at = self.at;
        self.at += len;
        Ok((at, &rest[..len]))
    }

    /// The bracketed fields, if any, up to the end of the text.
    fn fields(&mut self, entry: &'static FormatEntry) -> Result<Vec<Field>, FormatError> {
        let mut fields = Vec::new();
        if self.take('(') {
            let mut named = false;
            while !self.take(')') {
                let field = self.field(entry, &mut named, fields.len())?;
                fields.push(field);
                if !self.take(',') {
                    self.expect(')', "',' or ')'")?;
                    break;
                }
            }
        }
        if self.rest().is_empty() {
            return Ok(fields);
        }
        Err(self.unexpected("the end"))
    }

    fn field(
        &mut self,
        entry: &'static FormatEntry,
        named: &mut bool,
        position: usize,
    ) -> Result<Field, FormatError> {
        self.rest();
        let start = self.at;
        if let Ok((at, word)) = self.word("a field")
            && self.take('=')
        {
            *named = true;
            let (name, value) = (word.to_owned(), self.value()?);
            return Ok(Field { at, name, value });
        }
        self.at = start;
        if *named {
            return Err(self.unexpected("field = value, as before"));
        }
        let value = self.value()?;
        let max = entry.fields.len();
        let Some(field) = entry.fields.get(position) else {
            let problem = Problem::TooManyValues {
                format: entry.name,
                max,
            };
            return Err(at(problem.into(), start));
        };
        Ok(Field {
            at: start,
            name: field.name.to_owned(),
            value,
        })
    }

    fn value(&mut self) -> Result<FieldValue, FormatError> {
        if self.take('[') {
            return self.list();
        }
        for quote in ['"', '\''] {
            if self.take(quote) {
                return self.quoted(quote);
            }
        }
        let (_, word) = self.word("a value")?;
        Ok(scalar(word))
    }

    fn list(&mut self) -> Result<FieldValue, FormatError> {
        let mut list = Vec::new();
        while !self.take(']') {
            let (at, word) = self.word("a whole number or ']'")?;
            let Ok(number) = word.parse() else {
                self.at = at;
                return Err(self.unexpected("a whole number"));
            };
            list.push(number);
            if !self.take(',') {
                self.expect(']', "',' or ']'")?;
                break;
            }
        }
        Ok(FieldValue::List(list))
    }

    fn quoted(&mut self, quote: char) -> Result<FieldValue, FormatError> {
        let rest = &self.spec[self.at..];
        let Some(len) = rest.find(quote) else {
            self.at = self.spec.len();
            return Err(self.unexpected("a closing quote"));
        };
        self.at += len + 1;
        Ok(FieldValue::Text(rest[..len].to_owned()))
    }
}

/// The value of a bare word.
fn scalar(word: &str) -> FieldValue {
    let is_number = word.starts_with(|symbol: char| "+-.0123456789".contains(symbol));
    match word {
        "true" | "True" => FieldValue::Bool(true),
        "false" | "False" => FieldValue::Bool(false),
        _ => {
            let int = word.parse().ok().map(FieldValue::Int);
            let float = || word.parse().ok().map(FieldValue::Float);
            let number = int.or_else(float).filter(|_| is_number);
            number.unwrap_or_else(|| FieldValue::Text(word.to_owned()))
        }
    }
}
