//! Choosing nodes by type, by name or by a pattern of names: the shape that several passes' configs have.

use config::did_you_mean;
use config::{Item, Key, Problem, Reader};
use ir::{Graph, Node, Op};
use regex_lite::Regex;

/// How the keys of rules choose nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// By the operator, `linear`.
    #[default]
    Type,
    /// By the node's name or target.
    Name,
    /// By a pattern that the whole name matches; the first rule wins.
    RegexName,
}

impl By {
    /// The words for it in configs.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("type", Self::Type),
        ("name", Self::Name),
        ("regex_name", Self::RegexName),
    ];
}

/// What is said of some nodes.
#[derive(Clone, Debug)]
pub struct Rule<T> {
    /// The key it stands under.
    pub key: Key,
    /// What it says.
    pub value: T,
    pattern: Option<Regex>,
}

/// Rules in the order of the file, and what holds for all other nodes.
#[derive(Clone, Debug)]
pub struct Rules<T> {
    /// How the keys choose.
    pub by: By,
    /// In the order of the file.
    pub rules: Vec<Rule<T>>,
    /// For nodes that no rule chooses.
    pub default: Option<Rule<T>>,
}

impl<T> Rule<T> {
    fn new(by: By, key: Key, value: T) -> Result<Self, Problem> {
        let pattern = match by {
            By::RegexName => Some(pattern(&key)?),
            By::Type | By::Name => None,
        };
        Ok(Self {
            key,
            value,
            pattern,
        })
    }
}

impl Rules<()> {
    /// A list of nodes, each word a rule that says no more than which nodes it chooses.
    pub fn of_words(reader: &mut Reader, by: By, words: Vec<Key>) -> Self {
        let mut rules = Vec::new();
        for word in words {
            match Rule::new(by, word, ()) {
                Ok(rule) => rules.push(rule),
                Err(problem) => reader.problem(problem.span, problem.message),
            }
        }
        Self {
            by,
            rules,
            default: None,
        }
    }
}

impl<T> Rules<T> {
    /// Reads `by`, `default.config` and every `KEY.config`.
    pub fn read<'a>(reader: &mut Reader<'a>, value: impl FnMut(&mut Reader<'a>) -> T) -> Self {
        let by = reader.choice("by", By::WORDS).unwrap_or_default();
        Self::read_by(by, reader, value)
    }

    /// Reads `default.config` and every `KEY.config`.
    pub fn read_by<'a>(
        by: By,
        reader: &mut Reader<'a>,
        mut value: impl FnMut(&mut Reader<'a>) -> T,
    ) -> Self {
        let mut rules = Vec::new();
        let mut default = None;
        for (key, item) in reader.rest() {
            let Some(value) = config(reader, key, item, &mut value) else {
                continue;
            };
            let is_default = key.name == "default";
            let by = if is_default { By::Name } else { by };
            let rule = match Rule::new(by, key.clone(), value) {
                Ok(rule) => rule,
                Err(problem) => {
                    reader.problem(problem.span, problem.message);
                    continue;
                }
            };
            if is_default {
                default = Some(rule);
            } else {
                rules.push(rule);
            }
        }
        Self { by, rules, default }
    }

    /// The rule for a node: the first that chooses it, else the default.
    pub fn find(&self, node: &Node) -> Option<&Rule<T>> {
        let chosen = self.rules.iter().find(|rule| self.chooses(rule, node));
        chosen.or(self.default.as_ref())
    }

    /// Whether a rule chooses a node.
    pub fn chooses(&self, rule: &Rule<T>, node: &Node) -> bool {
        let key = rule.key.name.as_str();
        match self.by {
            By::Type => node.op.name() == key,
            By::Name => node.name == key || (!node.target.is_empty() && node.target == key),
            By::RegexName => rule
                .pattern
                .as_ref()
                .is_some_and(|pattern| pattern.is_match(&node.name)),
        }
    }

    /// A problem for every rule that chooses no node of the graph, or none that earlier rules leave.
    pub fn unused(&self, graph: &Graph) -> Vec<Problem> {
        let is_unused =
            |rule: &&Rule<T>| !graph.nodes().iter().any(|node| self.chooses(rule, node));
        let problem = |rule: &Rule<T>| {
            let message = if is_unused(&rule) {
                self.unused_message(&rule.key.name, graph)
            } else {
                self.hidden_message(rule, graph)?
            };
            let span = rule.key.span.clone();
            Some(Problem { span, message })
        };
        self.rules.iter().filter_map(problem).collect()
    }

    /// What to say of a rule whose nodes are all chosen by earlier rules.
    fn hidden_message(&self, rule: &Rule<T>, graph: &Graph) -> Option<String> {
        let mut chosen = graph
            .nodes()
            .iter()
            .filter(|node| self.chooses(rule, node))
            .filter_map(|node| self.find(node));
        let first = chosen.next()?;
        let is_own = |found: &Rule<T>| found.key.span == rule.key.span;
        if is_own(first) || chosen.any(is_own) {
            return None;
        }
        let (name, first) = (&rule.key.name, &first.key.name);
        Some(format!(
            "rule '{name}' is never used: rule '{first}' comes first"
        ))
    }

    fn unused_message(&self, key: &str, graph: &Graph) -> String {
        let nodes = graph.nodes();
        match self.by {
            By::Type if Op::TABLE.iter().all(|entry| entry.name != key) => {
                let names = Op::TABLE.iter().map(|entry| entry.name);
                let close = did_you_mean(key, names);
                let is_node = nodes.iter().any(|node| node.name == key);
                let hint = if is_node {
                    "; it is the name of a node: use by = \"name\""
                } else {
                    &close
                };
                format!("rule '{key}' matches nothing: there is no such operator{hint}")
            }
            By::Type => format!(
                "rule '{key}' matches nothing: {} has no such node",
                graph.name
            ),
            By::Name => {
                let close = did_you_mean(key, nodes.iter().map(|node| node.name.as_str()));
                let is_type = Op::TABLE.iter().any(|entry| entry.name == key);
                let hint = if is_type {
                    "; it is an operator: use by = \"type\""
                } else {
                    &close
                };
                format!(
                    "rule '{key}' matches nothing: {} has no node of this name{hint}",
                    graph.name
                )
            }
            By::RegexName => format!(
                "rule '{key}' matches nothing: no node's whole name matches the pattern; names are {}",
                names_of(graph)
            ),
        }
    }
}

/// The first names of a graph.
fn names_of(graph: &Graph) -> String {
    const SHOWN: usize = 6;
    let names: Vec<&str> = graph
        .nodes()
        .iter()
        .take(SHOWN)
        .map(|node| node.name.as_str())
        .collect();
    let more = if graph.nodes().len() > SHOWN {
        ", …"
    } else {
        ""
    };
    names.join(", ") + more
}

/// `[….KEY.config]`, or the keys under KEY itself.
fn config<'a, T>(
    reader: &mut Reader<'a>,
    key: &Key,
    item: &'a Item,
    value: &mut impl FnMut(&mut Reader<'a>) -> T,
) -> Option<T> {
    let nested = item.as_table().and_then(|table| table.get("config"));
    if nested.is_some() {
        let config = reader.inner(&key.name, item, |rule| rule.table("config", &mut *value));
        return config.flatten();
    }
    reader.inner(&key.name, item, value)
}

fn pattern(key: &Key) -> Result<Regex, Problem> {
    Regex::new(&format!("^(?:{})$", key.name)).map_err(|error| Problem {
        span: key.span.clone(),
        message: format!("'{}' is not a pattern: {error}", key.name),
    })
}
