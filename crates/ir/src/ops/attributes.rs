//! From names and JSON values to an operator's attributes, with errors that name the attribute at fault.

use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};
use serde_json::{Map, Value as Json};
use std::cell::RefCell;
use std::fmt::Display;

/// The reason why attributes do not make an operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttributeError {
    /// The operator has no such attribute.
    #[error("unknown attribute '{name}'")]
    Unknown {
        /// The given name.
        name: String,
        /// The names of the operator's attributes.
        known: &'static [&'static str],
    },
    /// The operator needs this one.
    #[error("missing attribute '{0}'")]
    Missing(&'static str),
    /// The value does not fit the attribute.
    #[error("attribute '{name}': {why}")]
    Invalid {
        /// The attribute.
        name: String,
        /// The fault of its value.
        why: String,
    },
}

impl AttributeError {
    /// The attribute as given, unless it is one that was not given.
    pub fn given_name(&self) -> Option<&str> {
        match self {
            Self::Unknown { name, .. } | Self::Invalid { name, .. } => Some(name),
            Self::Missing(_) => None,
        }
    }
}

impl de::Error for AttributeError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Invalid {
            name: String::new(),
            why: message.to_string(),
        }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::Unknown {
            name: field.to_owned(),
            known: expected,
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}

/// Reads the attributes of one operator.
pub fn read<T: DeserializeOwned>(attributes: Map<String, Json>) -> Result<T, AttributeError> {
    let current = RefCell::new(String::new());
    let entries = attributes.into_iter().map(|(name, json)| {
        current.borrow_mut().clone_from(&name);
        let value = Attribute {
            name: name.clone(),
            json,
        };
        (name, value)
    });
    T::deserialize(MapDeserializer::new(entries)).map_err(|error| match error {
        // An attribute's own check does not know its name.
        AttributeError::Invalid { name, why } if name.is_empty() => AttributeError::Invalid {
            name: current.take(),
            why,
        },
        error => error,
    })
}

/// A value that knows whose it is.
struct Attribute {
    name: String,
    json: Json,
}

impl Attribute {
    fn visit<T>(
        self,
        read: impl FnOnce(Json) -> Result<T, serde_json::Error>,
    ) -> Result<T, AttributeError> {
        read(self.json).map_err(|error| AttributeError::Invalid {
            name: self.name,
            why: error.to_string(),
        })
    }
}

impl IntoDeserializer<'_, AttributeError> for Attribute {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> de::Deserializer<'de> for Attribute {
    type Error = AttributeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttributeError> {
        self.visit(|json| json.deserialize_any(visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AttributeError> {
        self.visit(|json| json.deserialize_option(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, AttributeError> {
        self.visit(|json| json.deserialize_newtype_struct(name, visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, AttributeError> {
        self.visit(|json| json.deserialize_enum(name, variants, visitor))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}
