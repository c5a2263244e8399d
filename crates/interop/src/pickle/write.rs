//! Writing pickles of protocol 2, the one that PyTorch writes.

use super::opcode as op;
use serde_json::Value as Json;

/// A value to write.
#[derive(Clone, Debug)]
pub enum Out {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// Text.
    Str(String),
    /// A list.
    List(Vec<Out>),
    /// A tuple.
    Tuple(Vec<Out>),
    /// A dict.
    Dict(Vec<(Out, Out)>),
    /// `collections.OrderedDict`.
    OrderedDict(Vec<(Out, Out)>),
    /// A class or function.
    Global(&'static str, &'static str),
    /// A call with these arguments.
    Call(Box<Out>, Vec<Out>),
    /// A reference that the container resolves.
    Persistent(Box<Out>),
}

impl Out {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Str(text.into())
    }

    /// A dict with text as keys.
    pub fn dict<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Dict(entries.map(|(key, value)| (Self::text(key), value)).into())
    }

    /// Plain types for what JSON holds.
    pub fn json(json: &Json) -> Self {
        match json {
            Json::Null => Self::None,
            Json::Bool(bool) => Self::Bool(*bool),
            Json::Number(number) => match number.as_i128() {
                Some(int) => Self::Int(int),
                None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Self::text(text),
            Json::Array(items) => Self::List(items.iter().map(Self::json).collect()),
            Json::Object(map) => {
                let entries = map
                    .iter()
                    .map(|(key, value)| (Self::text(key), Self::json(value)));
                Self::Dict(entries.collect())
            }
        }
    }
}

/// The stream that makes this value.
pub fn encode(value: &Out) -> Vec<u8> {
    let mut bytes = vec![op::PROTO, 2];
    write(value, &mut bytes);
    bytes.push(op::STOP);
    bytes
}

fn write(value: &Out, bytes: &mut Vec<u8>) {
    match value {
        Out::None => bytes.push(op::NONE),
        Out::Bool(true) => bytes.push(op::NEWTRUE),
        Out::Bool(false) => bytes.push(op::NEWFALSE),
        Out::Int(int) => write_int(*int, bytes),
        Out::Float(float) => {
            bytes.push(op::BINFLOAT);
            bytes.extend(float.to_be_bytes());
        }
        Out::Str(text) => {
            bytes.push(op::BINUNICODE);
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        Out::List(items) => {
            bytes.extend([op::EMPTY_LIST, op::MARK]);
            write_all(items, bytes);
            bytes.push(op::APPENDS);
        }
        Out::Tuple(items) => write_tuple(items, bytes),
        Out::Dict(entries) => {
            bytes.push(op::EMPTY_DICT);
            write_entries(entries, bytes);
        }
        Out::OrderedDict(entries) => {
            write(
                &Out::Call(
                    Box::new(Out::Global("collections", "OrderedDict")),
                    Vec::new(),
                ),
                bytes,
            );
            write_entries(entries, bytes);
        }
        Out::Global(module, name) => {
            bytes.push(op::GLOBAL);
            bytes.extend(format!("{module}\n{name}\n").as_bytes());
        }
        Out::Call(callable, args) => {
            write(callable, bytes);
            write_tuple(args, bytes);
            bytes.push(op::REDUCE);
        }
        Out::Persistent(reference) => {
            write(reference, bytes);
            bytes.push(op::BINPERSID);
        }
    }
}

fn write_tuple(items: &[Out], bytes: &mut Vec<u8>) {
    bytes.push(op::MARK);
    write_all(items, bytes);
    bytes.push(op::TUPLE);
}

fn write_all(items: &[Out], bytes: &mut Vec<u8>) {
    for item in items {
        write(item, bytes);
    }
}

fn write_entries(entries: &[(Out, Out)], bytes: &mut Vec<u8>) {
    bytes.push(op::MARK);
    for (key, value) in entries {
        write(key, bytes);
        write(value, bytes);
    }
    bytes.push(op::SETITEMS);
}

fn write_int(int: i128, bytes: &mut Vec<u8>) {
    if let Ok(small) = i32::try_from(int) {
        bytes.push(op::BININT);
        bytes.extend(small.to_le_bytes());
    } else {
        bytes.extend([op::LONG1, 16]);
        bytes.extend(int.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pickle::parse;
    use serde_json::json;

    #[test]
    fn what_is_written_reads_back() {
        let value = json!({
            "none": null, "yes": true, "no": false, "small": -5, "large": u64::MAX, "least": i64::MIN,
            "float": 0.1, "text": "é\n", "list": [1, [2.5], {}], "empty": [],
        });
        let bytes = encode(&Out::json(&value));
        let budget = &crate::Budget::of_size(0);
        let (pickle, length) = parse(&bytes, budget).expect("our own stream");
        assert_eq!(pickle.root().to_json(budget), Some(value));
        assert_eq!(length, bytes.len());
    }
}
