//! The space of formats: for every searched node, choices of `name` and of the `{operand}_{field}` keys.
//!
//! A key with one choice is fixed and no parameter. A key that only some of the named formats have is active only under
//! those names: `weight_exponent_width` under `minifloat_ieee`, not under `integer`. Combinations that make no format are
//! no points of the space.

mod bits;
mod check;
mod choices;
mod maker;
mod possible;

pub use choices::{Choice, Choices, KeyChoices};

use crate::space::SpaceError;
use config::{Problem, Span};
use format::{FieldValue, Format};
use ir::{Graph, Node, NodeId, Op, field_json, verify};
use maker::{Maker, OperandRows};
use passes::PassError;
use passes::transform::quantize::{self, NodeRule, Operand, RuleProblem, Slot, is_na};
use passes::{By, Rule, Rules};
use possible::TriedOperand;
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use study::{Coordinate, Point, Space};

/// A space, and what its points mean for the nodes of a graph.
#[derive(Clone, Debug)]
pub struct FormatSpace {
    /// The parameters.
    pub space: Arc<Space>,
    /// The searched nodes, in execution order.
    pub nodes: Vec<SearchedNode>,
    /// Notes on rules: keys that do nothing, and lists that are one choice.
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
    /// The slot that the key fills.
    slot: Slot,
    /// The key behind `FORMAT/` if it holds for one format: no two of a node are the same.
    label: String,
    choices: Vec<FieldValue>,
    /// The parameter that chooses; none when there is one choice.
    parameter: Option<usize>,
    /// The slot that names the format it speaks of.
    decider: Slot,
    /// The names under which it is active.
    names: Vec<FieldValue>,
}

/// The choices of a point for one node: for each parameter of the node, in order, the choice, or nothing if inactive.
pub type NodeChoice = Vec<Option<usize>>;

impl FormatSpace {
    /// The space of the nodes of a graph that the rules choose.
    pub fn new(graph: &Graph, rules: &Rules<Choices>) -> Result<Self, SpaceError> {
        let chosen = chosen(graph, rules);
        let mut rules_used = rules_used(&chosen);
        let mut problems = unknown(graph, rules);
        let checked = rules_used.iter();
        problems.extend(checked.flat_map(|used| check::problems(&used.rule.value, &used.tried)));
        if !problems.is_empty() {
            return Self::without(graph, rules, problems);
        }
        let verified = verify(graph).map_err(PassError::from)?;
        let mut maker = Maker::default();
        for (id, rule) in chosen {
            let Some(used) = rules_used.iter_mut().find(|used| used.is(rule)) else {
                continue;
            };
            let node = graph.node(id);
            let ports = quantize::ports(node, &verified, id);
            let operands: BTreeSet<Operand> = ports.into_iter().map(|(_, o)| o).collect();
            let choices = rule.value.only(&operands);
            if choices.speaks_of_operands() {
                maker.add_node(id, &node.name, &choices, &used.rows);
            }
            used.had.extend(operands);
        }
        let Maker {
            nodes,
            parameters,
            ties,
        } = maker;
        if nodes.is_empty() {
            return Err(SpaceError::Nothing("formats"));
        }
        let mut notes: Vec<String> = rules_used.iter().flat_map(RuleUsed::notes).collect();
        notes.extend(rules.unused_notes(graph));
        Ok(Self {
            space: Arc::new(Space::with_ties(parameters, ties)?),
            nodes,
            notes,
        })
    }

    /// The space without choices that are part of no format, where each of their keys has others.
    fn without(
        graph: &Graph,
        rules: &Rules<Choices>,
        problems: Vec<Problem>,
    ) -> Result<Self, SpaceError> {
        let places: Vec<Span> = problems
            .iter()
            .map(|problem| problem.span.clone())
            .collect();
        let mut left = rules.clone();
        let mut left_out = 0;
        let count =
            |choices: &Choices| -> usize { choices.keys.iter().map(|own| own.choices.len()).sum() };
        for rule in left.rules.iter_mut().chain(&mut left.default) {
            if let Some(choices) = rule.value.without(&places) {
                left_out += count(&rule.value) - count(&choices);
                rule.value = choices;
            }
        }
        if left_out < problems.len() {
            return Err(SpaceError::Config(problems));
        }
        let mut space = Self::new(graph, &left)?;
        let note = |problem: &Problem| format!("{}; this choice is left out", problem.message);
        space.notes.splice(0..0, problems.iter().map(note));
        Ok(space)
    }

    /// The choices of a point for a node.
    pub fn choice(&self, point: &Point, node: usize) -> NodeChoice {
        let parameters = self.nodes[node].keys.iter().filter_map(|key| key.parameter);
        parameters
            .map(|parameter| match point.get(parameter) {
                Some(Coordinate::Choice(index)) => Some(index),
                _ => None,
            })
            .collect()
    }

    /// The slots and values of a node under a choice; those that are not active are left out.
    pub fn entries(&self, node: usize, choice: &NodeChoice) -> Vec<quantize::Entry> {
        let mut chosen = choice.iter();
        let keys = &self.nodes[node].keys;
        let mut entries = active_entries(keys, |at| match keys[at].parameter {
            None => Some(0),
            Some(_) => chosen.next().copied().flatten(),
        });
        leave_alone_without_values(&mut entries);
        entries
    }

    /// The formats of a node's ports under a choice.
    pub fn formats(
        &self,
        graph: &Graph,
        node: usize,
        choice: &NodeChoice,
    ) -> Result<BTreeMap<String, Format>, PassError> {
        let searched = &self.nodes[node];
        let target = graph.node(searched.id);
        let rule = NodeRule::of(&self.entries(node, choice))
            .map_err(|problems| PassError::node(target, joined(problems)))?;
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
            let choices =
                |key: &SearchedKey| key.choices.iter().map(field_json).collect::<Vec<_>>();
            let keys = node.keys.iter();
            let keys: Map<String, Json> = keys
                .map(|key| (key.label.clone(), choices(key).into()))
                .collect();
            (node.name.clone(), Json::Object(keys))
        };
        Json::Object(self.nodes.iter().map(keys).collect())
    }

    /// The configuration of a point as `log.json` shows it: by node, its keys and values.
    pub fn sampled_config(&self, point: &Point) -> Map<String, Json> {
        let one = |(index, node): (usize, &SearchedNode)| {
            let entries = self.entries(index, &self.choice(point, index));
            let keys: Map<String, Json> = entries
                .into_iter()
                .map(|(slot, value)| (slot.to_string(), field_json(&value)))
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
            let entries = self.entries(index, &self.choice(point, index));
            let line = |(slot, value): quantize::Entry| format!("{slot} = {}", field_json(&value));
            lines.extend(entries.into_iter().map(line));
        }
        lines.join("\n") + "\n"
    }
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

/// A rule that chooses nodes.
struct RuleUsed<'a> {
    rule: &'a Rule<Choices>,
    tried: Vec<TriedOperand<'a>>,
    rows: Vec<OperandRows>,
    /// The operands that its nodes have.
    had: BTreeSet<Operand>,
}

impl RuleUsed<'_> {
    /// A rule is known by its place.
    fn is(&self, rule: &Rule<Choices>) -> bool {
        std::ptr::eq(self.rule, rule)
    }

    /// Notes on what users may not have meant.
    fn notes(&self) -> Vec<String> {
        let (name, choices) = (&self.rule.key.name, &self.rule.value);
        let idle = quantize::idle_keys(name, choices.operands(), &self.had);
        let blocks = choices.keys.iter().filter_map(KeyChoices::note);
        let blocks = blocks.map(|note| format!("rule '{name}': {note}"));
        let never: Vec<&str> = choices
            .keys
            .iter()
            .filter(|own| !choices.ever_holds(own))
            .map(|own| own.key.name.as_str())
            .collect();
        let never = (!never.is_empty()).then(|| {
            let keys = never.join("', '");
            format!("rule '{name}': none of its formats has '{keys}', so this changes nothing")
        });
        idle.into_iter().chain(blocks).chain(never).collect()
    }
}

/// The rules that choose nodes, with their formats tried out.
fn rules_used<'a>(chosen: &[(NodeId, &'a Rule<Choices>)]) -> Vec<RuleUsed<'a>> {
    let mut used: Vec<RuleUsed> = Vec::new();
    for (_, rule) in chosen {
        if !used.iter().any(|known| known.is(rule)) {
            let tried = possible::tried(&rule.value);
            used.push(RuleUsed {
                rule,
                rows: maker::rows(&rule.value, &tried),
                tried,
                had: BTreeSet::new(),
            });
        }
    }
    used
}

/// The slots and values of the keys that are active; `choice` is asked for every key in order.
fn active_entries(
    keys: &[SearchedKey],
    mut choice: impl FnMut(usize) -> Option<usize>,
) -> Vec<quantize::Entry> {
    let mut entries: Vec<quantize::Entry> = Vec::new();
    // Names come before the keys that they decide over.
    for (at, own) in keys.iter().enumerate() {
        let index = choice(at);
        let decider = entries.iter().find(|(slot, _)| *slot == own.decider);
        let is_active = decider.is_none_or(|(_, name)| own.names.contains(name));
        if let Some(index) = index.filter(|_| is_active) {
            entries.push((own.slot.clone(), own.choices[index].clone()));
        }
    }
    entries
}

/// All messages in one.
fn joined(problems: Vec<RuleProblem>) -> String {
    let messages: Vec<String> = problems.into_iter().map(|(_, message)| message).collect();
    messages.join("; ")
}

/// A node all of whose operands have no values is left alone, whatever its format is called.
fn leave_alone_without_values(entries: &mut [quantize::Entry]) {
    let speaks = |(slot, value): &quantize::Entry| match slot {
        Slot::Bypass => *value == FieldValue::Bool(true),
        Slot::Field(..) => !is_na(value),
        Slot::Name | Slot::Floor => false,
    };
    if entries.iter().any(speaks) {
        return;
    }
    if let Some((_, name)) = entries.iter_mut().find(|(slot, _)| *slot == Slot::Name) {
        *name = FieldValue::Text("NA".to_owned());
    }
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
