//! Rules for nodes, which the configs of several passes consist of: `[passes.PASS.KEY.config]`.

use crate::{By, NodeSelector};
use config::{Item, Key, Problem, Reader, did_you_mean};
use ir::{Graph, Node, Op};

/// A value for the nodes that a selector matches.
#[derive(Clone, Debug)]
pub struct Rule<T> {
    /// The key it stands under.
    pub key: Key,
    /// The nodes it is for.
    pub selector: NodeSelector,
    /// The value.
    pub value: T,
}

/// Rules in the order of the file, and the one for all other nodes.
#[derive(Clone, Debug)]
pub struct Rules<T> {
    /// The kind of all selectors.
    pub by: By,
    /// In the order of the file.
    pub rules: Vec<Rule<T>>,
    /// For nodes that no rule matches.
    pub default: Option<Rule<T>>,
}

impl<T> Rule<T> {
    fn new(by: By, key: Key, value: T) -> Result<Self, Problem> {
        let selector = NodeSelector::new(by, &key)?;
        Ok(Self {
            key,
            selector,
            value,
        })
    }

    /// True for nodes that the rule is for.
    pub fn matches(&self, node: &Node) -> bool {
        self.selector.matches(node)
    }
}

impl Rules<()> {
    /// A list of nodes: every word is a rule without a value.
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
        let by = By::read(reader).unwrap_or_default();
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

    /// The rule for a node: the first that matches, else the default.
    pub fn find(&self, node: &Node) -> Option<&Rule<T>> {
        let chosen = self.rules.iter().find(|rule| rule.matches(node));
        chosen.or(self.default.as_ref())
    }

    /// A problem for every rule that matches no node of the graph and could match none, or none that earlier rules leave.
    pub fn unused(&self, graph: &Graph) -> Vec<Problem> {
        let idle = self.idle(graph);
        let problem = |rule: &Rule<T>| {
            let message = if is_used(rule, graph) {
                self.hidden_message(rule, graph)?
            } else if idle.contains(&rule.key.name.as_str()) {
                return None;
            } else {
                self.unused_message(&rule.key.name, graph)
            };
            let span = rule.key.span.clone();
            Some(Problem { span, message })
        };
        self.rules.iter().filter_map(problem).collect()
    }

    /// Notes on rules for what this graph does not have and another one may: one file serves many networks.
    pub fn unused_notes(&self, graph: &Graph) -> Vec<String> {
        let note = |key: &str| self.unused_message(key, graph) + "; it has no effect";
        self.idle(graph).into_iter().map(note).collect()
    }

    /// The keys of rules that choose nothing in this graph without being wrong: operators that do not occur in it, and,
    /// beside rules that choose something, operators and nodes of the other sort of selection.
    fn idle(&self, graph: &Graph) -> Vec<&str> {
        let any_used = self.rules.iter().any(|rule| is_used(rule, graph));
        let is_idle = |key: &str| match self.by {
            By::Type => is_operator(key) || (any_used && graph.find(key).is_some()),
            By::Name | By::RegexName => any_used && is_operator(key),
        };
        self.rules
            .iter()
            .filter(|rule| !is_used(rule, graph))
            .map(|rule| rule.key.name.as_str())
            .filter(|key| is_idle(key))
            .collect()
    }

    /// The message for a rule whose nodes all have earlier rules.
    fn hidden_message(&self, rule: &Rule<T>, graph: &Graph) -> Option<String> {
        let mut chosen = graph
            .nodes()
            .iter()
            .filter(|node| rule.matches(node))
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
            By::Type if !is_operator(key) => {
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
                let hint = if is_operator(key) {
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

fn is_operator(key: &str) -> bool {
    Op::TABLE.iter().any(|entry| entry.name == key)
}

fn is_used<T>(rule: &Rule<T>, graph: &Graph) -> bool {
    graph.nodes().iter().any(|node| rule.matches(node))
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
    if item.as_table().is_none() {
        let (name, table) = (&key.name, reader.name());
        let close = did_you_mean(name, ["by", "report"]);
        let message =
            format!("unknown key '{name}'{close}; a rule is a table, [{table}.{name}.config]");
        reader.problem(key.span.clone(), message);
        return None;
    }
    let nested = item.as_table().and_then(|table| table.get("config"));
    if nested.is_some() {
        let config = reader.inner(&key.name, item, |rule| rule.table("config", &mut *value));
        return config.flatten();
    }
    reader.inner(&key.name, item, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::Table;
    use std::fmt::Write;

    fn graph(nodes: usize) -> Graph {
        let mut text = "graph \"net\" { x: f32[N, 4] = placeholder\n".to_owned();
        // With the input and the output, so many nodes.
        for k in 2..nodes {
            let _ = writeln!(text, "r{k} = relu(x) {{ target = \"act.{k}\" }}");
        }
        Graph::parse(&(text + "return x }")).unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// The problems of the rules of these keys, and the notes on them.
    fn messages(by: By, keys: &[&str], nodes: usize) -> [Vec<String>; 2] {
        let text: String = keys.iter().flat_map(|key| ["[\"", key, "\"]\n"]).collect();
        let table = Table::parse(&text).unwrap_or_else(|problem| panic!("{problem:?}"));
        let mut reader = Reader::new(&table, 0..text.len());
        let rules = Rules::read_by(by, &mut reader, |_| ());
        assert!(reader.finish().is_empty());
        let graph = graph(nodes);
        let problems = rules.unused(&graph).into_iter();
        [
            problems.map(|problem| problem.message).collect(),
            rules.unused_notes(&graph),
        ]
    }

    fn nothing() -> [Vec<String>; 2] {
        [Vec::new(), Vec::new()]
    }

    #[test]
    fn a_rule_that_chooses_nothing_is_explained() {
        for (by, keys, problem) in [
            (
                By::Type,
                &["linaer"][..],
                "rule 'linaer' matches nothing: there is no such operator; did you mean 'linear'?",
            ),
            (
                By::Type,
                &["r2"],
                "rule 'r2' matches nothing: there is no such operator; it is the name of a node: use by = \"name\"",
            ),
            (
                By::Name,
                &["relu"],
                "rule 'relu' matches nothing: net has no node of this name; it is an operator: use by = \"type\"",
            ),
            (
                By::Name,
                &["r22", "r2"],
                "rule 'r22' matches nothing: net has no node of this name; did you mean 'r2'?",
            ),
            (
                By::RegexName,
                &["q.*"],
                "rule 'q.*' matches nothing: no node's whole name matches the pattern; names are x, r2, output",
            ),
            (
                By::RegexName,
                &["r.*", "r2"],
                "rule 'r2' is never used: rule 'r.*' comes first",
            ),
        ] {
            let [problems, notes] = messages(by, keys, 3);
            assert_eq!(problems, [problem], "{keys:?}");
            assert!(notes.is_empty(), "{notes:?}");
        }
    }

    #[test]
    fn a_rule_for_what_another_network_may_have_is_noted() {
        let other = "rule 'conv2d' matches nothing: net has no such node; it has no effect";
        let node = "rule 'r2' matches nothing: there is no such operator; \
                    it is the name of a node: use by = \"name\"; it has no effect";
        let operator = "rule 'relu' matches nothing: net has no node of this name; \
                        it is an operator: use by = \"type\"; it has no effect";
        for (by, keys, note) in [
            (By::Type, &["conv2d"][..], other),
            (By::Type, &["relu", "r2"], node),
            (By::Name, &["act.2", "relu"], operator),
        ] {
            let [problems, notes] = messages(by, keys, 3);
            assert_eq!(notes, [note], "{keys:?}");
            assert!(problems.is_empty(), "{problems:?}");
        }
        for keys in [&["relu", "placeholder"][..], &["relu"]] {
            assert_eq!(messages(By::Type, keys, 3), nothing(), "{keys:?}");
        }
    }

    #[test]
    fn a_rule_of_which_one_node_is_left_is_used() {
        assert_eq!(messages(By::RegexName, &["r2", "r.*"], 4), nothing());
        assert_eq!(messages(By::RegexName, &["r2", ".*"], 3), nothing());
    }

    #[test]
    fn the_first_names_of_a_network_are_shown() {
        assert_eq!(names_of(&graph(2)), "x, output");
        assert_eq!(names_of(&graph(6)), "x, r2, r3, r4, r5, output");
        assert_eq!(names_of(&graph(7)), "x, r2, r3, r4, r5, r6, …");
    }

    #[test]
    fn the_first_rule_that_matches_is_that_of_a_node_else_the_default() {
        let text = "[default]\n[\"r.*\"]\n[\"r2\"]\n";
        let table = Table::parse(text).unwrap_or_else(|problem| panic!("{problem:?}"));
        let mut reader = Reader::new(&table, 0..text.len());
        let rules = Rules::read_by(By::RegexName, &mut reader, |_| ());
        let graph = graph(3);
        let keys = graph
            .nodes()
            .iter()
            .map(|node| rules.find(node).map(|rule| &*rule.key.name));
        let keys: Vec<Option<&str>> = keys.collect();
        assert_eq!(keys, [Some("default"), Some("r.*"), Some("default")]);
    }

    #[test]
    fn a_rule_is_a_table_with_or_without_a_config() {
        let text = "a = { config = { bits = 3 } }\nb = { bits = 4 }\nbi = 5\n";
        let table = Table::parse(text).unwrap_or_else(|problem| panic!("{problem:?}"));
        let mut reader = Reader::new(&table, 0..text.len()).named("passes.p");
        let rules = Rules::read(&mut reader, |rule| rule.count("bits"));
        let values: Vec<Option<usize>> = rules.rules.iter().map(|rule| rule.value).collect();
        assert_eq!(values, [Some(3), Some(4)]);
        let problems: Vec<String> = reader.finish().into_iter().map(|p| p.message).collect();
        let wanted =
            "unknown key 'bi'; did you mean 'by'?; a rule is a table, [passes.p.bi.config]";
        assert_eq!(problems, [wanted]);
    }
}
