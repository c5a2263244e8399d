//! The space of formats: for every searched node, choices of `name` and of the `{operand}_{field}` keys.
//!
//! A key with one choice is fixed and no parameter. A key that only some of the named formats have is active only under
//! those names: `weight_exponent_width` under `minifloat_ieee`, not under `integer`.

use crate::{Condition, Coordinate, Distribution, Parameter, Point, SearchError, Space};
use format::{FieldValue, Format};
use ir::{Graph, NodeId, Op, verify};
use passes::PassError;
use passes::config::{Item, Key, Problem, Reader, Value};
use passes::transform::quantize::{self, NodeRule, Operand};
use passes::{By, Rules};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The choices that a config gives for some nodes: every key with a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// In the order of the file.
    pub keys: Vec<(Key, Vec<FieldValue>)>,
}

impl Choices {
    /// Reads `KEY = [choice, …]`; a single value is a list of one.
    pub fn read(reader: &mut Reader) -> Self {
        let mut keys = Vec::new();
        for (key, item) in reader.rest() {
            let items = match &item.value {
                Value::List(items) if !is_block_size(&key.name, items) => items.as_slice(),
                _ => std::slice::from_ref(item),
            };
            let choices: Vec<FieldValue> = items.iter().filter_map(field_value).collect();
            if choices.len() != items.len() {
                let message = format!(
                    "{}: a choice must be a number, a word, true or false, or a list of whole numbers",
                    key.name
                );
                reader.problem(item.span.clone(), message);
            } else if choices.is_empty() {
                reader.problem(
                    item.span.clone(),
                    format!("{}: there are no choices", key.name),
                );
            } else {
                keys.push((key.clone(), choices));
            }
        }
        if keys.iter().all(|(key, _)| key.name != "name") {
            reader.missing(
                "name",
                "list the formats to choose from, for example name = [\"integer\"]",
            );
        }
        Self { keys }
    }

    /// Whether nothing can be chosen but to leave nodes alone.
    fn is_nothing(&self) -> bool {
        let name = self.keys.iter().find(|(key, _)| key.name == "name");
        name.is_some_and(|(_, choices)| choices.iter().all(is_na))
    }
}

/// `block_size = [1, 16]` is one choice, `[[1, 16], [1, 32]]` are two.
fn is_block_size(key: &str, items: &[Item]) -> bool {
    key.ends_with("block_size") && items.iter().all(|item| matches!(item.value, Value::Int(_)))
}

fn is_na(value: &FieldValue) -> bool {
    matches!(value, FieldValue::Text(word) if word == "NA" || word == "None")
}

fn field_value(item: &Item) -> Option<FieldValue> {
    Some(match &item.value {
        Value::Text(text) => FieldValue::Text(text.clone()),
        Value::Int(number) => FieldValue::Int(*number),
        Value::Float(number) => FieldValue::Float(*number),
        Value::Bool(flag) => FieldValue::Bool(*flag),
        Value::List(items) => {
            let whole = |item: &Item| match item.value {
                Value::Int(number) => Some(number),
                _ => None,
            };
            FieldValue::List(items.iter().map(whole).collect::<Option<_>>()?)
        }
        Value::Table(_) => return None,
    })
}

/// What is searched: a space, and what its points mean for the nodes of a graph.
#[derive(Clone, Debug)]
pub struct FormatSpace {
    /// The parameters.
    pub space: Arc<Space>,
    /// The searched nodes, in execution order.
    pub nodes: Vec<SearchedNode>,
}

/// A node whose formats are searched.
#[derive(Clone, Debug)]
pub struct SearchedNode {
    /// The node in the graph.
    pub id: NodeId,
    /// Its name.
    pub name: String,
    keys: Vec<SearchedKey>,
}

#[derive(Clone, Debug)]
struct SearchedKey {
    key: Key,
    choices: Vec<FieldValue>,
    /// The parameter that chooses; none when there is one choice.
    parameter: Option<usize>,
}

/// What a point chooses for one node: for each parameter of the node, in order, the choice, or nothing if inactive.
pub type NodeChoice = Vec<Option<usize>>;

impl FormatSpace {
    /// The space of the nodes of a graph that the rules choose.
    pub fn new(graph: &Graph, rules: &Rules<Choices>) -> Result<Self, FormatSpaceError> {
        let problems = unknown(graph, rules);
        if !problems.is_empty() {
            return Err(FormatSpaceError::Config(problems));
        }
        let mut parameters = Vec::new();
        let mut nodes = Vec::new();
        for (id, node) in graph.iter() {
            let Some(rule) = rules.find(node) else {
                continue;
            };
            let is_edge = matches!(
                node.op,
                Op::Placeholder(_) | Op::Output(_) | Op::Constant(_)
            );
            if is_edge || rule.value.is_nothing() {
                continue;
            }
            nodes.push(searched_node(id, &node.name, &rule.value, &mut parameters));
        }
        if nodes.is_empty() {
            return Err(FormatSpaceError::Nothing);
        }
        Ok(Self {
            space: Arc::new(Space::new(parameters)?),
            nodes,
        })
    }

    /// What a point chooses for a node.
    pub fn choice(&self, point: &Point, node: usize) -> NodeChoice {
        let parameters = self.nodes[node].keys.iter().filter_map(|key| key.parameter);
        parameters
            .map(|parameter| match point.get(parameter) {
                Some(Coordinate::Choice(index)) => Some(index),
                _ => None,
            })
            .collect()
    }

    /// The keys and values of a node under a choice; keys that are not active are left out.
    pub fn config(&self, node: usize, choice: &NodeChoice) -> Vec<(Key, FieldValue)> {
        let mut chosen = choice.iter();
        let mut entries = Vec::new();
        for key in &self.nodes[node].keys {
            let value = match key.parameter {
                None => Some(&key.choices[0]),
                Some(_) => chosen
                    .next()
                    .copied()
                    .flatten()
                    .map(|index| &key.choices[index]),
            };
            if let Some(value) = value {
                entries.push((key.key.clone(), value.clone()));
            }
        }
        let name = entries
            .iter()
            .find(|(key, _)| key.name == "name")
            .map(|(_, value)| value.clone());
        // A fixed key of another format than the chosen one is as inactive as a parameter would be.
        entries.retain(|(key, _)| applies(&key.name, name.as_ref()));
        entries
    }

    /// The formats of a node's ports under a choice.
    pub fn formats(
        &self,
        graph: &Graph,
        node: usize,
        choice: &NodeChoice,
    ) -> Result<BTreeMap<String, Format>, PassError> {
        let entries = self.config(node, choice);
        let searched = &self.nodes[node];
        let target = graph.node(searched.id);
        let rule = NodeRule::of(&entries, &(0..0)).map_err(|problems| {
            let message: Vec<String> = problems.into_iter().map(|(_, message)| message).collect();
            PassError::node(target, message.join("; "))
        })?;
        Ok(match &rule {
            NodeRule::LeaveAlone | NodeRule::Bypass => target.formats.clone(),
            NodeRule::Formats(operands) => {
                quantize::formats(operands, target, &verify(graph)?, searched.id)
            }
        })
    }

    /// The graph that a point stands for.
    pub fn graph(&self, graph: &Graph, point: &Point) -> Result<Graph, PassError> {
        let mut changed = graph.clone();
        for (index, node) in self.nodes.iter().enumerate() {
            let formats = self.formats(graph, index, &self.choice(point, index))?;
            changed.node_mut(node.id).formats = formats;
        }
        Ok(changed)
    }

    /// The configuration of a point as `log.json` shows it: by node, its keys and values.
    pub fn sampled_config(&self, point: &Point) -> Map<String, Json> {
        let one = |(index, node): (usize, &SearchedNode)| {
            let entries = self.config(index, &self.choice(point, index));
            let keys: Map<String, Json> = entries
                .into_iter()
                .map(|(key, value)| (key.name, json(&value)))
                .collect();
            let mut config = Map::new();
            config.insert("config".to_owned(), Json::Object(keys));
            (node.name.clone(), Json::Object(config))
        };
        self.nodes.iter().enumerate().map(one).collect()
    }

    /// The configuration of a point as `[passes.quantize]` of a file.
    pub fn to_toml(&self, point: &Point) -> String {
        let mut lines = vec![
            "[passes.quantize]".to_owned(),
            "by = \"name\"".to_owned(),
            "[passes.quantize.default.config]".to_owned(),
            "name = \"NA\"".to_owned(),
        ];
        for (index, node) in self.nodes.iter().enumerate() {
            lines.push(format!("[passes.quantize.{}.config]", node.name));
            let entries = self.config(index, &self.choice(point, index));
            let line = |(key, value): (Key, FieldValue)| format!("{} = {}", key.name, json(&value));
            lines.extend(entries.into_iter().map(line));
        }
        lines.join("\n") + "\n"
    }
}

/// Why there is no space.
#[derive(Debug, thiserror::Error)]
pub enum FormatSpaceError {
    /// Keys of the config do not fit the graph.
    #[error("{}", .0.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("\n"))]
    Config(Vec<Problem>),
    /// No node has anything to choose.
    #[error(
        "there is nothing to search: no rule of the search space gives a node of the graph a choice of formats"
    )]
    Nothing,
    /// The parameters make no sense.
    #[error(transparent)]
    Space(#[from] SearchError),
}

/// Problems of rules that choose nothing. A file may hold rules by type and rules by name beside each other, of which
/// `by` picks one sort; the others are not looked at.
fn unknown(graph: &Graph, rules: &Rules<Choices>) -> Vec<Problem> {
    let is_type = |key: &str| Op::TABLE.iter().any(|entry| entry.name == key);
    let is_other_sort = |key: &str| match rules.by {
        By::Type => graph.find(key).is_some(),
        By::Name | By::RegexName => is_type(key),
    };
    let others: Vec<_> = rules
        .rules
        .iter()
        .filter(|rule| is_other_sort(&rule.key.name))
        .map(|rule| rule.key.span.clone())
        .collect();
    let problems = rules.unused(graph).into_iter();
    problems
        .filter(|problem| !others.contains(&problem.span))
        .collect()
}

fn searched_node(
    id: NodeId,
    name: &str,
    choices: &Choices,
    parameters: &mut Vec<Parameter>,
) -> SearchedNode {
    let names = choices.keys.iter().find(|(key, _)| key.name == "name");
    let names: &[FieldValue] = names.map_or(&[], |(_, names)| names);
    let parameter_name = |key: &str| format!("{name}/config/{key}");
    let mut keys = Vec::new();
    // The name comes first: conditions refer to it.
    let ordered = choices
        .keys
        .iter()
        .filter(|(key, _)| key.name == "name")
        .chain(choices.keys.iter().filter(|(key, _)| key.name != "name"));
    for (key, choices) in ordered {
        let parameter = (choices.len() > 1).then(|| {
            let active: Vec<Json> = names
                .iter()
                .filter(|name| applies(&key.name, Some(name)))
                .map(json)
                .collect();
            let is_gated = key.name != "name" && names.len() > 1 && active.len() < names.len();
            parameters.push(Parameter {
                name: parameter_name(&key.name),
                distribution: Distribution::Categorical {
                    choices: choices.iter().map(json).collect(),
                },
                condition: is_gated.then(|| Condition {
                    parameter: parameter_name("name"),
                    choices: active,
                }),
            });
            parameters.len() - 1
        });
        keys.push(SearchedKey {
            key: key.clone(),
            choices: choices.clone(),
            parameter,
        });
    }
    SearchedNode {
        id,
        name: name.to_owned(),
        keys,
    }
}

/// Whether a key has a meaning under the format called `name`.
fn applies(key: &str, name: Option<&FieldValue>) -> bool {
    if ["name", "bypass"].contains(&key) {
        return true;
    }
    let Some(FieldValue::Text(name)) = name else {
        return true;
    };
    let Some(entry) = Format::TABLE
        .iter()
        .find(|entry| entry.name == name || entry.aliases.contains(&name.as_str()))
    else {
        // `NA` has no fields; an unknown name is reported when it is tried.
        return name != "NA" && name != "None";
    };
    let field = Operand::WORDS
        .iter()
        .find_map(|(word, _)| key.strip_prefix(word)?.strip_prefix('_'));
    field.is_none_or(|field| {
        ["name", "floor"].contains(&field) || entry.fields.iter().any(|known| known.name == field)
    })
}

fn json(value: &FieldValue) -> Json {
    match value {
        FieldValue::Int(number) => (*number).into(),
        FieldValue::Float(number) => (*number).into(),
        FieldValue::Bool(flag) => (*flag).into(),
        FieldValue::Text(text) => text.as_str().into(),
        FieldValue::List(items) => items.as_slice().into(),
    }
}
