//! Selection of nodes by operator, by name or by a pattern of names.

use config::{Key, Problem};
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
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("type", Self::Type),
        ("name", Self::Name),
        ("regex_name", Self::RegexName),
    ];
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
