//! The attributes of a node. An attribute that no reader asked for is one that is not understood.

use crate::constant::Refusal;
use interop::onnx::proto::attribute_proto::AttributeType;
use interop::onnx::proto::{AttributeProto, GraphProto, TensorProto};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The attributes of a node, and the names of those that were read.
pub struct Attributes<'a> {
    list: &'a [AttributeProto],
    read: RefCell<BTreeSet<&'a str>>,
}

impl<'a> Attributes<'a> {
    /// The attributes of a node, none of them read yet.
    pub fn new(list: &'a [AttributeProto]) -> Self {
        Self {
            list,
            read: RefCell::default(),
        }
    }

    /// The name of an attribute that nobody read.
    pub fn unread(&self) -> Option<&'a str> {
        let read = self.read.borrow();
        let mut names = self.list.iter().map(AttributeProto::name);
        names.find(|name| !read.contains(name))
    }

    /// The attribute, if the node has it with this type.
    fn find(&self, name: &str, kind: AttributeType) -> Result<Option<&'a AttributeProto>, Refusal> {
        let Some(found) = self.list.iter().find(|attribute| attribute.name() == name) else {
            return Ok(None);
        };
        self.read.borrow_mut().insert(found.name());
        if found
            .ref_attr_name
            .as_ref()
            .is_some_and(|name| !name.is_empty())
        {
            return Err(Refusal::new(format!(
                "attribute {name} refers to one of a function"
            )));
        }
        // Files of the first version have no types; then it follows from the field that is set.
        let stated = found.r#type.unwrap_or(kind as i32);
        if stated != kind as i32 && stated != AttributeType::Undefined as i32 {
            return Err(Refusal::new(format!(
                "attribute {name} has another type than expected"
            )));
        }
        Ok(Some(found))
    }

    /// True when the node has the attribute.
    pub fn has(&self, name: &str) -> bool {
        self.list.iter().any(|attribute| attribute.name() == name)
    }

    /// An integer.
    pub fn int(&self, name: &str) -> Result<Option<i64>, Refusal> {
        Ok(self.find(name, AttributeType::Int)?.map(AttributeProto::i))
    }

    /// An integer, or the value it has when it is not given.
    pub fn int_or(&self, name: &str, default: i64) -> Result<i64, Refusal> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    /// A truth value, or the value it has when it is not given.
    pub fn flag_or(&self, name: &str, default: bool) -> Result<bool, Refusal> {
        match self.int(name)? {
            None => Ok(default),
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            Some(other) => Err(Refusal::new(format!(
                "attribute {name} = {other} is neither 0 nor 1"
            ))),
        }
    }

    /// A float, or the value it has when it is not given.
    pub fn float_or(&self, name: &str, default: f32) -> Result<f32, Refusal> {
        Ok(self
            .find(name, AttributeType::Float)?
            .map_or(default, AttributeProto::f))
    }

    /// A float.
    pub fn float(&self, name: &str) -> Result<Option<f32>, Refusal> {
        Ok(self
            .find(name, AttributeType::Float)?
            .map(AttributeProto::f))
    }

    /// A list of integers.
    pub fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, Refusal> {
        let found = self.find(name, AttributeType::Ints)?;
        Ok(found.map(|attribute| attribute.ints.clone()))
    }

    /// A list of floats.
    pub fn floats(&self, name: &str) -> Result<Option<Vec<f32>>, Refusal> {
        let found = self.find(name, AttributeType::Floats)?;
        Ok(found.map(|attribute| attribute.floats.clone()))
    }

    /// A word, or the one it is when it is not given.
    pub fn text_or(&self, name: &str, default: &str) -> Result<String, Refusal> {
        let found = self.find(name, AttributeType::String)?;
        Ok(found.map_or_else(
            || default.to_owned(),
            |attribute| String::from_utf8_lossy(attribute.s()).into_owned(),
        ))
    }

    /// A list of words.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Refusal> {
        let found = self.find(name, AttributeType::Strings)?;
        Ok(found.map(|attribute| {
            let words = attribute.strings.iter();
            words
                .map(|word| String::from_utf8_lossy(word).into_owned())
                .collect()
        }))
    }

    /// A tensor.
    pub fn tensor(&self, name: &str) -> Result<Option<&'a TensorProto>, Refusal> {
        let found = self.find(name, AttributeType::Tensor)?;
        Ok(found.and_then(|attribute| attribute.t.as_ref()))
    }

    /// A graph.
    pub fn graph(&self, name: &str) -> Result<Option<&'a GraphProto>, Refusal> {
        let found = self.find(name, AttributeType::Graph)?;
        Ok(found.and_then(|attribute| attribute.g.as_ref()))
    }
}

/// An attribute as people read it: `axis = 1`.
pub fn shown(attribute: &AttributeProto) -> String {
    let kind = attribute
        .r#type
        .and_then(|kind| AttributeType::try_from(kind).ok());
    let value = match kind.unwrap_or(AttributeType::Undefined) {
        AttributeType::Float => attribute.f().to_string(),
        AttributeType::Int => attribute.i().to_string(),
        AttributeType::String => format!("'{}'", String::from_utf8_lossy(attribute.s())),
        AttributeType::Ints if attribute.ints.len() <= 16 => format!("{:?}", attribute.ints),
        AttributeType::Floats if attribute.floats.len() <= 16 => format!("{:?}", attribute.floats),
        kind => kind.as_str_name().to_lowercase(),
    };
    format!("{} = {value}", attribute.name())
}
