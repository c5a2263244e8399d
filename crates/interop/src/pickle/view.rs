//! Looking at a value of a pickle as what one expects it to be.

use super::{Id, Node, Pickle};
use crate::Budget;
use serde_json::{Map, Number, Value as Json};
use std::borrow::Cow;

/// Bytes of a value of JSON with its place in a list or dict; shared lists in shared lists would be endless.
const JSON_BYTES: usize = 128;
/// Characters of a module or name that a description shows.
const MAX_SHOWN: usize = 80;
/// Nesting of a conversion to JSON; what is deeper could not be read back either.
const MAX_JSON_DEPTH: usize = 100;

/// A value of a pickle.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(super) pickle: &'a Pickle,
    pub(super) id: Id,
}

impl<'a> View<'a> {
    /// The value as the stream describes it.
    pub fn node(self) -> &'a Node {
        &self.pickle.nodes[self.id.0 as usize]
    }

    /// The text.
    pub fn text(self) -> Option<&'a str> {
        match self.node() {
            Node::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes. Before protocol 3 they are text of the first 256 characters, to be encoded as Latin-1.
    pub fn bytes(self) -> Option<Cow<'a, [u8]>> {
        if let Node::Bytes(bytes) = self.node() {
            return Some(Cow::Borrowed(bytes));
        }
        let (callable, args) = self.call()?;
        if callable.global()? != ("_codecs", "encode") || args.element(1)?.text()? != "latin1" {
            return None;
        }
        let bytes = args
            .element(0)?
            .text()?
            .chars()
            .map(|c| u8::try_from(c).ok());
        bytes.collect::<Option<Vec<u8>>>().map(Cow::Owned)
    }

    /// The integer.
    pub fn int(self) -> Option<i128> {
        match self.node() {
            Node::Int(int) => Some(*int),
            Node::Bool(bool) => Some(i128::from(*bool)),
            _ => None,
        }
    }

    /// The number, integer or not.
    pub fn float(self) -> Option<f64> {
        match self.node() {
            Node::Float(float) => Some(*float),
            _ => self.int().map(|int| int as f64),
        }
    }

    /// The elements of a list or tuple.
    pub fn elements(self) -> Option<impl ExactSizeIterator<Item = View<'a>>> {
        let Node::Sequence(ids) = self.node() else {
            return None;
        };
        Some(ids.iter().map(move |&id| self.at(id)))
    }

    /// An element of a list or tuple.
    pub fn element(self, index: usize) -> Option<View<'a>> {
        self.elements()?.nth(index)
    }

    /// The entries of a dict, or of an object that is one.
    pub fn entries(self) -> Option<impl DoubleEndedIterator<Item = (View<'a>, View<'a>)>> {
        let pairs = match self.node() {
            Node::Dict(pairs) => pairs,
            Node::Object(object) if !object.pairs.is_empty() || self.is_empty_dict() => {
                &object.pairs
            }
            _ => return None,
        };
        Some(
            pairs
                .iter()
                .map(move |&(key, value)| (self.at(key), self.at(value))),
        )
    }

    /// The value under a key; the last one, as in Python, when there are several.
    pub fn get(self, key: &str) -> Option<View<'a>> {
        let found = self.entries()?.rev().find(|(k, _)| k.text() == Some(key));
        found.map(|(_, value)| value)
    }

    /// The module and name of a global.
    pub fn global(self) -> Option<(&'a str, &'a str)> {
        match self.node() {
            Node::Global(module, name) => Some((module, name)),
            _ => None,
        }
    }

    /// The call that was not made: the global and its arguments.
    pub fn call(self) -> Option<(View<'a>, View<'a>)> {
        match self.node() {
            Node::Object(object) => Some((self.at(object.callable), self.at(object.args))),
            _ => None,
        }
    }

    /// The reference that the container resolves.
    pub fn persistent(self) -> Option<View<'a>> {
        match self.node() {
            Node::Persistent(id) => Some(self.at(*id)),
            _ => None,
        }
    }

    /// The place of the value in its pickle: the same for the same value, however it was reached.
    pub fn place(self) -> u32 {
        self.id.0
    }

    /// A word for what the value is.
    pub fn describe(self) -> String {
        let callable = self.call().and_then(|(callable, _)| callable.global());
        match (self.node(), callable.or(self.global())) {
            (_, Some((module, name))) => format!("{}.{}", start(module), start(name)),
            (Node::None, _) => "None".to_owned(),
            (Node::Bool(_), _) => "a bool".to_owned(),
            (Node::Int(_) | Node::HugeInt | Node::Float(_), _) => "a number".to_owned(),
            (Node::Str(_), _) => "text".to_owned(),
            (Node::Bytes(_), _) => "bytes".to_owned(),
            (Node::Sequence(_), _) => "a list".to_owned(),
            (Node::Dict(_), _) => "a dict".to_owned(),
            _ => "an object".to_owned(),
        }
    }

    /// The value as JSON; classes become their name in angle brackets. `None` when it is too large or too deep.
    pub fn to_json(self, budget: &Budget) -> Option<Json> {
        self.json(budget, MAX_JSON_DEPTH)
    }

    fn json(self, budget: &Budget, depth: usize) -> Option<Json> {
        let text = self.text().map_or(0, str::len);
        budget.take((JSON_BYTES + text) as u64).ok()?;
        let depth = depth.checked_sub(1)?;
        if let Some(entries) = self.entries() {
            let entry = |(key, value): (View, View)| {
                budget.take(key.text().map_or(0, str::len) as u64).ok()?;
                Some((key.json_key(), value.json(budget, depth)?))
            };
            return entries
                .map(entry)
                .collect::<Option<Map<_, _>>>()
                .map(Json::Object);
        }
        Some(match self.node() {
            Node::None => Json::Null,
            Node::Bool(bool) => Json::Bool(*bool),
            Node::Int(int) => json_int(*int),
            Node::Float(float) => json_float(*float),
            Node::Str(text) => Json::String(text.clone()),
            Node::Sequence(ids) => {
                let items = ids.iter().map(|&id| self.at(id).json(budget, depth));
                Json::Array(items.collect::<Option<_>>()?)
            }
            _ => Json::String(format!("<{}>", self.describe())),
        })
    }

    fn json_key(self) -> String {
        match self.node() {
            Node::Str(text) => text.clone(),
            Node::Int(int) => int.to_string(),
            _ => format!("<{}>", self.describe()),
        }
    }

    fn is_empty_dict(self) -> bool {
        let callable = self.call().and_then(|(callable, _)| callable.global());
        matches!(
            callable,
            Some(("collections", "OrderedDict" | "defaultdict"))
        )
    }

    fn at(self, id: Id) -> View<'a> {
        self.pickle.view(id)
    }
}

impl Pickle {
    /// Every reference that the container resolves.
    pub fn persistents(&self) -> impl Iterator<Item = View<'_>> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Persistent(id) => Some(self.view(*id)),
            _ => None,
        })
    }
}

/// The start of a text that may be long.
fn start(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_SHOWN);
    end.map_or(text, |(end, _)| &text[..end])
}

fn json_int(int: i128) -> Json {
    let number = i64::try_from(int)
        .map(Number::from)
        .or(u64::try_from(int).map(Number::from));
    number.map_or_else(|_| Json::String(int.to_string()), Json::Number)
}

/// JSON has no word for these, and null would mean that nothing was there.
fn json_float(float: f64) -> Json {
    Number::from_f64(float).map_or_else(|| Json::String(float.to_string()), Json::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pickle::parse;

    fn parsed(opcodes: &[u8]) -> Pickle {
        let budget = Budget::of_size(0);
        let (pickle, _) = parse(&[opcodes, b"."].concat(), &budget).unwrap();
        pickle
    }

    /// Streams as Python writes them, a word for each, and its JSON.
    #[test]
    fn values_are_described_and_written_as_json() {
        let cases: [(&[u8], &str, Json); 15] = [
            (b"N", "None", Json::Null),
            (b"\x88", "a bool", true.into()),
            (b"\x89", "a bool", false.into()),
            (b"K\x05", "a number", 5.into()),
            (b"I-3\n", "a number", (-3).into()),
            (b"G\x3f\xe0\0\0\0\0\0\0", "a number", 0.5.into()),
            (b"G\x7f\xf0\0\0\0\0\0\0", "a number", "inf".into()),
            (b"X\x01\0\0\0a", "text", "a".into()),
            (b"C\x01a", "bytes", "<bytes>".into()),
            (b"]", "a list", Json::Array(Vec::new())),
            (b"K\x01K\x02\x86", "a list", vec![1, 2].into()),
            (b"}", "a dict", Json::Object(Map::new())),
            (b"cmod\nname\n", "mod.name", "<mod.name>".into()),
            (b"cmod\nname\n)R", "mod.name", "<mod.name>".into()),
            (b"K\x01Q", "an object", "<an object>".into()),
        ];
        for (opcodes, word, json) in cases {
            let pickle = parsed(opcodes);
            assert_eq!(pickle.root().describe(), word, "{opcodes:?}");
            let found = pickle.root().to_json(&Budget::of_size(0));
            assert_eq!(found, Some(json), "{opcodes:?}");
        }
    }

    #[test]
    fn keys_of_a_dict_become_texts() {
        let pickle = parsed(b"}(X\x01\0\0\0aK\x01K\x07K\x02u");
        let json = pickle.root().to_json(&Budget::of_size(0)).unwrap();
        assert_eq!(json, serde_json::json!({ "a": 1, "7": 2 }));
        assert_eq!(pickle.root().get("a").and_then(View::int), Some(1));
        assert!(pickle.root().get("b").is_none());
    }
}
