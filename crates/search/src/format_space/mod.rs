//! The space of formats: for every searched node, choices of `name` and of the `{operand}_{field}` keys.
//!
//! A key with one choice is fixed and no parameter. A key that only some of the named formats have is active only under
//! those names: `weight_exponent_width` under `minifloat_ieee`, not under `integer`.

mod check;
mod choices;

pub use choices::{Choice, Choices};

use crate::{Condition, Coordinate, Distribution, Parameter, Point, SearchError, Space};
use choices::{applies, operand_field};
use format::{FieldValue, Format};
use ir::{Graph, Node, NodeId, Op, verify};
use passes::PassError;
use passes::config::{Key, Problem};
use passes::transform::quantize::{self, NodeRule, Operand};
use passes::{By, Rule, Rules};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is searched: a space, and what its points mean for the nodes of a graph.
#[derive(Clone, Debug)]
pub struct FormatSpace {
    /// The parameters.
    pub space: Arc<Space>,
    /// The searched nodes, in execution order.
    pub nodes: Vec<SearchedNode>,
    /// What to tell of rules with keys that do nothing.
    pub notes: Vec<String>,
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
        let chosen = chosen(graph, rules);
        let mut problems = unknown(graph, rules);
        problems.extend(impossible(&chosen));
        if !problems.is_empty() {
            return Err(FormatSpaceError::Config(problems));
        }
        let verified = verify(graph).map_err(PassError::from)?;
        let mut parameters = Vec::new();
        let mut nodes = Vec::new();
        // By rule, what its nodes have; a rule is known by its place.
        let mut had: Vec<(&Rule<Choices>, BTreeSet<Operand>)> = Vec::new();
        for (id, rule) in chosen {
            let node = graph.node(id);
            let ports = quantize::ports(node, &verified, id);
            let operands: BTreeSet<Operand> = ports.into_iter().map(|(_, o)| o).collect();
            let choices = rule.value.only(&operands);
            if choices.speaks_of_operands() {
                nodes.push(searched_node(id, &node.name, &choices, &mut parameters));
            }
            match had.iter_mut().find(|(known, _)| std::ptr::eq(*known, rule)) {
                Some((_, had)) => had.extend(operands),
                None => had.push((rule, operands)),
            }
        }
        if nodes.is_empty() {
            return Err(FormatSpaceError::Nothing);
        }
        let note = |(rule, had): &(&Rule<Choices>, BTreeSet<Operand>)| {
            quantize::idle_keys(&rule.key.name, rule.value.operands(), had)
        };
        Ok(Self {
            space: Arc::new(Space::new(parameters)?),
            nodes,
            notes: had.iter().filter_map(note).collect(),
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
        // A fixed key of another format than the chosen one is as inactive as a parameter would be.
        let names: Vec<(Key, FieldValue)> = entries
            .iter()
            .filter(|(key, _)| choices::is_name(&key.name))
            .cloned()
            .collect();
        let get = |wanted: &str| names.iter().find(|(key, _)| key.name == wanted);
        entries.retain(|(key, _)| {
            let own = operand_field(&key.name).and_then(|(word, _)| get(&format!("{word}_name")));
            let decider = own.or_else(|| get("name"));
            applies(&key.name, decider.map(|(_, value)| value))
        });
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

    /// Every searched node with its keys and what each may be: spaces with other facts have other trials.
    pub fn facts(&self) -> Json {
        let keys = |node: &SearchedNode| {
            let choices = |key: &SearchedKey| key.choices.iter().map(json).collect::<Vec<_>>();
            let keys = node.keys.iter();
            let keys: Map<String, Json> = keys
                .map(|key| (key.key.name.clone(), choices(key).into()))
                .collect();
            (node.name.clone(), Json::Object(keys))
        };
        Json::Object(self.nodes.iter().map(keys).collect())
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
    /// The graph makes no sense.
    #[error(transparent)]
    Graph(#[from] PassError),
}

/// The nodes whose formats are searched, each with its rule.
fn chosen<'a>(graph: &Graph, rules: &'a Rules<Choices>) -> Vec<(NodeId, &'a Rule<Choices>)> {
    let is_default = |rule: &Rule<Choices>| {
        let default = rules.default.as_ref();
        default.is_some_and(|default| std::ptr::eq(default, rule))
    };
    let searched = |(id, node): (NodeId, &Node)| {
        let rule = rules.find(node)?;
        // As quantising does: the default leaves alone what only moves its elements.
        let is_left_alone = quantize::has_nothing_to_round(&node.op)
            || (is_default(rule) && quantize::moves_only(node));
        (!is_left_alone && !rule.value.is_nothing()).then_some((id, rule))
    };
    graph.iter().filter_map(searched).collect()
}

/// Problems of choices that can never be made, once for each rule.
fn impossible(chosen: &[(NodeId, &Rule<Choices>)]) -> Vec<Problem> {
    let mut checked: Vec<&Rule<Choices>> = Vec::new();
    for (_, rule) in chosen {
        if !checked.iter().any(|known| std::ptr::eq(*known, *rule)) {
            checked.push(rule);
        }
    }
    let rules = checked.into_iter();
    rules
        .flat_map(|rule| check::problems(&rule.value))
        .collect()
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
    let parameter_name = |key: &str| format!("{name}/config/{key}");
    let mut keys = Vec::new();
    // Names come first: conditions refer to them.
    let (names, others): (Vec<_>, Vec<_>) = choices
        .keys
        .iter()
        .partition(|(key, _)| choices::is_name(&key.name));
    for (key, values) in names.into_iter().chain(others) {
        let deciding = choices.get(&choices.decider(&key.name)).unwrap_or_default();
        if !deciding
            .iter()
            .any(|name| applies(&key.name, Some(&name.value)))
        {
            continue;
        }
        let parameter = (values.len() > 1).then(|| {
            parameters.push(Parameter {
                name: parameter_name(&key.name),
                distribution: Distribution::Categorical {
                    choices: values.iter().map(|choice| json(&choice.value)).collect(),
                },
                condition: condition(choices, &key.name, parameter_name),
            });
            parameters.len() - 1
        });
        keys.push(SearchedKey {
            key: key.clone(),
            choices: values.iter().map(|choice| choice.value.clone()).collect(),
            parameter,
        });
    }
    SearchedNode {
        id,
        name: name.to_owned(),
        keys,
    }
}

/// When a key is active: under the names of formats that have it, if not under all.
fn condition(
    choices: &Choices,
    key: &str,
    parameter_name: impl Fn(&str) -> String,
) -> Option<Condition> {
    let decider = choices.decider(key);
    let names = choices.get(&decider).unwrap_or_default();
    let active: Vec<Json> = names
        .iter()
        .filter(|name| applies(key, Some(&name.value)))
        .map(|name| json(&name.value))
        .collect();
    let is_gated = names.len() > 1 && active.len() < names.len();
    is_gated.then(|| Condition {
        parameter: parameter_name(&decider),
        choices: active,
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
