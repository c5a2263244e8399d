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

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
        AttributeProto {
            name: Some(name.to_owned()),
            r#type: Some(kind as i32),
            ..AttributeProto::default()
        }
    }

    /// One attribute of every type.
    fn all() -> Vec<AttributeProto> {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|word| word.as_bytes().to_vec().into())
                .collect()
        };
        vec![
            AttributeProto {
                i: Some(-3),
                ..attribute("int", AttributeType::Int)
            },
            AttributeProto {
                i: Some(1),
                ..attribute("flag", AttributeType::Int)
            },
            AttributeProto {
                f: Some(0.5),
                ..attribute("float", AttributeType::Float)
            },
            AttributeProto {
                s: Some(b"word".to_vec().into()),
                ..attribute("text", AttributeType::String)
            },
            AttributeProto {
                ints: vec![1, 2],
                ..attribute("ints", AttributeType::Ints)
            },
            AttributeProto {
                floats: vec![0.5, 1.5],
                ..attribute("floats", AttributeType::Floats)
            },
            AttributeProto {
                strings: words(&["a", "b"]),
                ..attribute("texts", AttributeType::Strings)
            },
            AttributeProto {
                t: Some(TensorProto::default()),
                ..attribute("tensor", AttributeType::Tensor)
            },
            AttributeProto {
                g: Some(GraphProto::default()),
                ..attribute("graph", AttributeType::Graph)
            },
        ]
    }

    #[test]
    fn attributes_are_read_by_name_and_type() {
        let list = all();
        let attributes = Attributes::new(&list);
        assert_eq!(attributes.int("int"), Ok(Some(-3)));
        assert_eq!(attributes.int_or("int", 7), Ok(-3));
        assert_eq!(attributes.flag_or("flag", false), Ok(true));
        assert_eq!(attributes.float("float"), Ok(Some(0.5)));
        assert_eq!(attributes.float_or("float", 7.0), Ok(0.5));
        assert_eq!(attributes.text_or("text", "other"), Ok("word".to_owned()));
        assert_eq!(attributes.ints("ints"), Ok(Some(vec![1, 2])));
        assert_eq!(attributes.floats("floats"), Ok(Some(vec![0.5, 1.5])));
        assert_eq!(attributes.unread(), Some("texts"));
        assert_eq!(
            attributes.texts("texts"),
            Ok(Some(vec!["a".to_owned(), "b".to_owned()]))
        );
        assert!(
            attributes
                .tensor("tensor")
                .is_ok_and(|found| found.is_some())
        );
        assert_eq!(attributes.unread(), Some("graph"));
        assert!(attributes.graph("graph").is_ok_and(|found| found.is_some()));
        assert_eq!(attributes.unread(), None);
        assert!(attributes.has("int") && !attributes.has("none"));
    }

    #[test]
    fn attributes_that_are_left_out_have_their_default() {
        let attributes = Attributes::new(&[]);
        assert_eq!(
            (attributes.int("a"), attributes.int_or("a", 7)),
            (Ok(None), Ok(7))
        );
        assert_eq!(
            (
                attributes.flag_or("a", true),
                attributes.flag_or("a", false)
            ),
            (Ok(true), Ok(false))
        );
        assert_eq!(
            (attributes.float("a"), attributes.float_or("a", 7.0)),
            (Ok(None), Ok(7.0))
        );
        assert_eq!(attributes.text_or("a", "word"), Ok("word".to_owned()));
        assert_eq!(
            (attributes.ints("a"), attributes.floats("a")),
            (Ok(None), Ok(None))
        );
        assert_eq!(attributes.texts("a"), Ok(None));
        assert_eq!(
            (attributes.tensor("a"), attributes.graph("a")),
            (Ok(None), Ok(None))
        );
        assert!(!attributes.has("a") && attributes.unread().is_none());
    }

    fn said<T: std::fmt::Debug>(result: Result<T, Refusal>) -> String {
        result.unwrap_err().0
    }

    #[test]
    fn attributes_of_another_kind_are_refused() {
        let list = [
            AttributeProto {
                i: Some(2),
                ..attribute("two", AttributeType::Int)
            },
            AttributeProto {
                i: Some(0),
                ..attribute("off", AttributeType::Int)
            },
            AttributeProto {
                ref_attr_name: Some("outer".to_owned()),
                ..attribute("inner", AttributeType::Int)
            },
            AttributeProto {
                ref_attr_name: Some(String::new()),
                i: Some(5),
                ..attribute("own", AttributeType::Int)
            },
            AttributeProto {
                i: Some(6),
                r#type: None,
                ..attribute("old", AttributeType::Int)
            },
            AttributeProto {
                i: Some(7),
                ..attribute("any", AttributeType::Undefined)
            },
        ];
        let attributes = Attributes::new(&list);
        assert_eq!(
            said(attributes.float("two")),
            "attribute two has another type than expected"
        );
        assert_eq!(
            said(attributes.flag_or("two", false)),
            "attribute two = 2 is neither 0 nor 1"
        );
        assert_eq!(attributes.flag_or("off", true), Ok(false));
        assert_eq!(
            said(attributes.int("inner")),
            "attribute inner refers to one of a function"
        );
        assert_eq!(attributes.int("own"), Ok(Some(5)));
        // Files of the first version state no types.
        assert_eq!(
            (attributes.int("old"), attributes.int("any")),
            (Ok(Some(6)), Ok(Some(7)))
        );
    }

    #[test]
    fn attributes_are_shown_as_people_read_them() {
        let texts: Vec<String> = all().iter().map(shown).collect();
        let expected = [
            "int = -3",
            "flag = 1",
            "float = 0.5",
            "text = 'word'",
            "ints = [1, 2]",
            "floats = [0.5, 1.5]",
            "texts = strings",
            "tensor = tensor",
            "graph = graph",
        ];
        assert_eq!(texts, expected);
        let many = |n: usize| {
            let floats = AttributeProto {
                floats: vec![0.5; n],
                ..attribute("f", AttributeType::Floats)
            };
            let ints = AttributeProto {
                ints: vec![1; n],
                ..attribute("i", AttributeType::Ints)
            };
            [shown(&floats).len() > 20, shown(&ints).len() > 20]
        };
        assert_eq!((many(16), many(17)), ([true; 2], [false; 2]));
        assert_eq!(shown(&AttributeProto::default()), " = undefined");
    }
}
