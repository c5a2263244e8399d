//! Selection of nodes by operator, by name or by a pattern of names.

use config::{Key, Problem, Reader, Value, is_same_name};
use ir::Node;
use regex_lite::Regex;

/// The property of a node that the keys of rules are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// The operator, `linear`.
    #[default]
    Type,
    /// The node's name or target.
    Name,
    /// The whole name, which must match a pattern; the first rule wins.
    RegexName,
}

impl By {
    /// The words of configs.
    const WORDS: &'static [(&'static str, Self)] = &[
        ("type", Self::Type),
        ("name", Self::Name),
        ("regex_name", Self::RegexName),
    ];

    /// Words of forks of the original; they are taken as one of [`Self::WORDS`], with a note.
    const FORKED: &'static [(&'static str, &'static str)] = &[("type_revised", "type")];

    /// Reads the key `by`, if it is there.
    pub fn read(reader: &mut Reader) -> Option<Self> {
        let forked = match reader.peek("by") {
            Some(Value::Text(given)) => Self::FORKED
                .iter()
                .find(|(word, _)| is_same_name(word, given)),
            _ => None,
        };
        let Some((word, meant)) = forked else {
            return reader.choice("by", Self::WORDS);
        };
        reader.item("by");
        let table = reader.name().to_owned();
        reader.note(format!(
            "by = \"{word}\" in [{table}] is taken as \"{meant}\""
        ));
        let mut words = Self::WORDS.iter();
        words.find(|(known, _)| known == meant).map(|(_, by)| *by)
    }
}

/// A condition on nodes.
#[derive(Clone, Debug)]
pub enum NodeSelector {
    /// The operator has this name.
    Type(String),
    /// The node has this name or target.
    Name(String),
    /// The whole name matches.
    Pattern(Regex),
}

impl NodeSelector {
    /// The selector that a key of a config stands for. A key that is not a pattern is a problem where one is asked for.
    pub fn new(by: By, key: &Key) -> Result<Self, Problem> {
        let name = key.name.clone();
        Ok(match by {
            By::Type => Self::Type(name),
            By::Name => Self::Name(name),
            By::RegexName => Self::Pattern(pattern(key)?),
        })
    }

    /// True for nodes that fulfil the condition.
    pub fn matches(&self, node: &Node) -> bool {
        match self {
            Self::Type(op) => node.op.name() == op,
            Self::Name(name) => {
                node.name == *name || (!node.target.is_empty() && node.target == *name)
            }
            Self::Pattern(pattern) => pattern.is_match(&node.name),
        }
    }
}

fn pattern(key: &Key) -> Result<Regex, Problem> {
    Regex::new(&format!("^(?:{})$", key.name)).map_err(|error| Problem {
        span: key.span.clone(),
        message: format!("'{}' is not a pattern: {error}", key.name),
    })
}
