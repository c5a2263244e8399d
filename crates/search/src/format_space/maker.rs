//! From choices to parameters: one for every key with several choices, active where its format has it.

use super::choices::{self, Choice, Choices, KeyChoices};
use super::possible::TriedOperand;
use super::{SearchedKey, SearchedNode, bits};
use ir::{NodeId, field_json};
use passes::transform::quantize::Slot;
use serde_json::Value as Json;
use std::sync::Arc;
use study::{Condition, Distribution, Parameter, Row, Tie};

/// The parts of a space, node by node.
#[derive(Default)]
pub(super) struct Maker {
    pub nodes: Vec<SearchedNode>,
    pub parameters: Vec<Parameter>,
    pub ties: Vec<Tie>,
}

/// The possible combinations of an operand's choices, by its word; see [`TriedOperand::rows`].
pub(super) type OperandRows = (&'static str, Arc<Vec<Vec<Row>>>);

/// The operands of a rule some of whose combinations are impossible.
pub(super) fn rows(choices: &Choices, tried: &[TriedOperand]) -> Vec<OperandRows> {
    let of_operand = |operand: &TriedOperand| {
        let keys = choices.of_operand(operand.word);
        let chosen: Vec<&KeyChoices> = keys.filter(|own| is_chosen(choices, own)).collect();
        let rows = operand.rows(&chosen)?;
        Some((operand.word, Arc::new(rows)))
    };
    tried.iter().filter_map(of_operand).collect()
}

/// True when a key has a parameter.
fn is_chosen(choices: &Choices, own: &KeyChoices) -> bool {
    own.choices.len() > 1 && choices.ever_holds(own)
}

impl Maker {
    /// Adds the parameters of a node.
    pub fn add_node(&mut self, id: NodeId, name: &str, choices: &Choices, rows: &[OperandRows]) {
        // Names come first: conditions refer to them.
        let (names, others): (Vec<_>, Vec<_>) = choices
            .keys
            .iter()
            .filter(|own| choices.ever_holds(own))
            .partition(|own| choices::is_name(&own.key.name));
        let keys: Vec<SearchedKey> = names
            .into_iter()
            .chain(others)
            .map(|own| self.add_key(name, choices, own))
            .collect();
        let ties = rows
            .iter()
            .filter_map(|(word, rows)| tie(&keys, word, rows));
        self.ties.extend(ties);
        for (key, bits) in keys.iter().zip(bits::costs(&keys)) {
            if let Some(parameter) = key.parameter {
                self.parameters[parameter].cost = Some(bits);
            }
        }
        self.nodes.push(SearchedNode {
            id,
            name: name.to_owned(),
            keys,
        });
    }

    fn add_key(&mut self, node: &str, choices: &Choices, own: &KeyChoices) -> SearchedKey {
        let parameter = is_chosen(choices, own).then(|| {
            let name = format!("{node}/config/{}", label(own));
            let distribution = Distribution::Categorical {
                choices: values(own.choices.iter()),
            };
            self.parameters.push(Parameter {
                condition: condition(node, choices, own),
                ..Parameter::new(name, distribution).in_group(node)
            });
            self.parameters.len() - 1
        });
        let names = active(choices, own);
        SearchedKey {
            slot: slot(&own.key.name),
            label: label(own),
            choices: own.choices.iter().map(|c| c.value.clone()).collect(),
            parameter,
            decider: slot(&choices.decider(&own.key.name)),
            names: names.map(|name| name.value.clone()).collect(),
        }
    }
}

/// The slot of a key; unknown keys were reported.
fn slot(key: &str) -> Slot {
    Slot::parse(key).unwrap_or(Slot::Name)
}

/// `KEY`, and `FORMAT/KEY` for a key of one format.
fn label(own: &KeyChoices) -> String {
    let key = &own.key.name;
    match &own.format {
        None => key.clone(),
        Some(format) => format!("{}/{key}", format.name),
    }
}

/// The names of formats under which a key holds.
fn active<'a>(choices: &'a Choices, own: &'a KeyChoices) -> impl Iterator<Item = &'a Choice> {
    let names = choices.deciding(&own.key.name).iter();
    names.filter(|name| choices.holds(own, &name.value))
}

/// The condition under which a key is active: under the names of formats that have it, if not under all.
fn condition(node: &str, choices: &Choices, own: &KeyChoices) -> Option<Condition> {
    let all = choices.deciding(&own.key.name).len();
    let active = values(active(choices, own));
    let is_gated = all > 1 && active.len() < all;
    is_gated.then(|| Condition {
        parameter: format!("{node}/config/{}", choices.decider(&own.key.name)),
        choices: active,
    })
}

fn values<'a>(choices: impl Iterator<Item = &'a Choice>) -> Vec<Json> {
    choices.map(|choice| field_json(&choice.value)).collect()
}

/// The tie of the parameters of one operand, if it has any.
fn tie(keys: &[SearchedKey], word: &str, rows: &Arc<Vec<Vec<Row>>>) -> Option<Tie> {
    let of_operand =
        |own: &&SearchedKey| matches!(own.slot, Slot::Field(operand, _) if operand.name() == word);
    let parameters: Vec<usize> = keys
        .iter()
        .filter(of_operand)
        .filter_map(|own| own.parameter)
        .collect();
    let is_own_name = |own: &SearchedKey| of_operand(&own) && own.slot.is_name();
    let has_own_name = keys.iter().any(is_own_name);
    let name = keys.iter().find(|own| own.slot == Slot::Name);
    let decider = name.filter(|_| !has_own_name).and_then(|own| own.parameter);
    (!parameters.is_empty()).then(|| Tie {
        decider,
        parameters,
        rows: Arc::clone(rows),
    })
}
