//! Field values as configs give them, and the typed reading of a format's fields from a list of them.

use std::fmt;
use std::ops::RangeInclusive;

use crate::block::{BlockSize, Reach};
use crate::error::{FormatError, Problem};

/// One value of a format's field, as a config or a specification gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue {
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A word; `NA` stands for "not given".
    Text(String),
    /// A list of whole numbers.
    List(Vec<i64>),
}

impl FieldValue {
    /// The word for "not given".
    pub(crate) fn not_given() -> Self {
        Self::Text("NA".to_owned())
    }

    fn is_given(&self) -> bool {
        !matches!(self, Self::Text(word) if word.eq_ignore_ascii_case("NA") || word.eq_ignore_ascii_case("none"))
    }
}

impl From<u32> for FieldValue {
    fn from(value: u32) -> Self {
        Self::Int(value.into())
    }
}

impl From<i32> for FieldValue {
    fn from(value: i32) -> Self {
        Self::Int(value.into())
    }
}

impl From<bool> for FieldValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for FieldValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<Option<f64>> for FieldValue {
    fn from(value: Option<f64>) -> Self {
        value.map_or_else(Self::not_given, Self::Float)
    }
}

impl From<&Reach> for FieldValue {
    fn from(reach: &Reach) -> Self {
        match reach {
            Reach::Last(size) => Self::Int(*size),
            Reach::Axes(sizes) => Self::List(sizes.clone()),
        }
    }
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            // Debug keeps the `.0` and every digit, so that a float reads back as the same float.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Bool(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
            Self::List(values) => write!(f, "{values:?}"),
        }
    }
}

/// The given fields of one format, read by name and type. Names have been checked before.
pub(crate) struct Fields<'a> {
    pub format: &'static str,
    pub values: &'a [(String, FieldValue)],
}

impl Fields<'_> {
    fn get(&self, field: &str) -> Option<&FieldValue> {
        let found = self.values.iter().find(|(name, _)| name == field);
        found
            .map(|(_, value)| value)
            .filter(|value| value.is_given())
    }

    /// A whole number within `range`, if given.
    pub fn int<T: TryFrom<i64>>(
        &self,
        field: &'static str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<T>, FormatError> {
        let value = match self.get(field) {
            None => return Ok(None),
            Some(&FieldValue::Int(value)) => value,
            Some(other) => return Err(self.wrong_type(field, "a whole number", other)),
        };
        let narrowed = T::try_from(value)
            .ok()
            .filter(|_| range.contains(&value))
            .ok_or_else(|| {
                let rule = format!("is outside {} to {}", range.start(), range.end());
                self.bad_value(field, value, rule)
            })?;
        Ok(Some(narrowed))
    }

    /// A whole number within `range`, which must be given.
    pub fn required<T: TryFrom<i64>>(
        &self,
        field: &'static str,
        range: RangeInclusive<i64>,
    ) -> Result<T, FormatError> {
        self.int(field, range)?.ok_or_else(|| self.missing(field))
    }

    /// True or false, `default` if not given.
    pub fn flag(&self, field: &'static str, default: bool) -> Result<bool, FormatError> {
        match self.get(field) {
            None => Ok(default),
            Some(&FieldValue::Bool(value)) => Ok(value),
            Some(&FieldValue::Int(value @ (0 | 1))) => Ok(value == 1),
            Some(other) => Err(self.wrong_type(field, "true or false", other)),
        }
    }

    /// A number, if given.
    pub fn number(&self, field: &'static str) -> Result<Option<f64>, FormatError> {
        match self.get(field) {
            None => Ok(None),
            Some(&FieldValue::Int(value)) => Ok(Some(value as f64)),
            Some(&FieldValue::Float(value)) => Ok(Some(value)),
            Some(other) => Err(self.wrong_type(field, "a number", other)),
        }
    }

    /// A number, which must be given.
    pub fn required_number(&self, field: &'static str) -> Result<f64, FormatError> {
        self.number(field)?.ok_or_else(|| self.missing(field))
    }

    /// A number of at least zero, if given.
    pub fn magnitude(&self, field: &'static str) -> Result<Option<f64>, FormatError> {
        let value = self.number(field)?;
        match value {
            Some(value) if !(value.is_finite() && value >= 0.0) => {
                Err(self.bad_value(field, value, "is not a finite number of at least 0"))
            }
            _ => Ok(value),
        }
    }

    /// Refuses the fields that say how stored fields lie, where none is stored.
    pub fn no_layout(&self) -> Result<(), FormatError> {
        let axis = self.get("axis").map(|value| ("axis", value));
        let block = self
            .get("block")
            .filter(|value| **value != FieldValue::Int(0));
        match axis.or(block.map(|value| ("block", value))) {
            None => Ok(()),
            Some((field, value)) => {
                let rule = "is for stored fields, and there are none";
                Err(self.bad_value(field, value, rule))
            }
        }
    }

    /// One of `choices`, by its position; the first if not given.
    pub fn choice(&self, field: &'static str, choices: &[&str]) -> Result<usize, FormatError> {
        let word = match self.get(field) {
            None => return Ok(0),
            Some(FieldValue::Text(word)) => word,
            Some(other) => return Err(self.wrong_type(field, "a word", other)),
        };
        let found = choices.iter().position(|choice| choice == word);
        found.ok_or_else(|| {
            self.bad_value(field, word, format!("is not one of {}", choices.join(", ")))
        })
    }

    /// `block_size`, a number for a part of a row or a list for the last axes, and `skip_first_dim`.
    pub fn blocks(&self, default: i64) -> Result<BlockSize, FormatError> {
        let is_size = |size: i64| size == -1 || size > 0;
        let reach = match self.get("block_size") {
            None => Reach::Last(default),
            Some(&FieldValue::Int(size)) if is_size(size) => Reach::Last(size),
            Some(FieldValue::List(sizes))
                if !sizes.is_empty() && sizes.iter().all(|&size| is_size(size)) =>
            {
                Reach::Axes(sizes.clone())
            }
            Some(bad @ FieldValue::Int(_)) => {
                let rule = "must be at least 1, or -1 for the whole last axis";
                return Err(self.bad_value("block_size", bad, rule));
            }
            Some(bad @ FieldValue::List(_)) => {
                let rule = "must list sizes of at least 1, or -1 for a whole axis";
                return Err(self.bad_value("block_size", bad, rule));
            }
            Some(other) => {
                let expected = "a whole number or a list of them";
                return Err(self.wrong_type("block_size", expected, other));
            }
        };
        let skip_first_dim = self.flag("skip_first_dim", false)?;
        Ok(BlockSize {
            reach,
            skip_first_dim,
        })
    }

    /// `exponent_bias` for `n_exponents` exponents from `-bias` up, some of which a float must have.
    pub fn exponent_bias(&self, n_exponents: i32, default: i32) -> Result<i32, FormatError> {
        let bias = self
            .int("exponent_bias", -65536..=65536)?
            .unwrap_or(default);
        let (first, last) = (-bias, n_exponents - 1 - bias);
        if first <= 126 && last >= -126 {
            return Ok(bias);
        }
        let rule = format!("puts the exponents {first} to {last} outside -126 to 126");
        Err(self.bad_value("exponent_bias", bias, rule))
    }

    /// The error for a value that breaks a rule.
    pub fn bad_value(
        &self,
        field: &'static str,
        value: impl fmt::Display,
        rule: impl Into<String>,
    ) -> FormatError {
        let problem = Problem::BadValue {
            format: self.format,
            field,
            value: value.to_string(),
            rule: rule.into(),
        };
        problem.into()
    }

    fn missing(&self, field: &'static str) -> FormatError {
        let problem = Problem::MissingField {
            format: self.format,
            field,
        };
        problem.into()
    }

    fn wrong_type(&self, field: &'static str, expected: &str, found: &FieldValue) -> FormatError {
        let problem = Problem::WrongType {
            format: self.format,
            field,
            expected: expected.to_owned(),
            found: match found {
                FieldValue::Text(text) => format!("the text '{text}'"),
                other => other.to_string(),
            },
        };
        problem.into()
    }
}
