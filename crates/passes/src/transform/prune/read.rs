//! Reading a rule: the keys of today, and those of older files.

use super::candidate::Side;
use super::rule::{Granularity, Method, PruneRule, Scope, Sparsity};
use config::{Item, Key, Reader, Value};

/// Scopes; those of older files stand behind those of today.
const SCOPES: &[(&str, Scope)] = &[
    ("local", Scope::Local),
    ("global", Scope::Global),
    ("tensor", Scope::Local),
    ("layer", Scope::Local),
    ("global-naive", Scope::Global),
];

const GRANULARITIES: &[(&str, Granularity)] = &[
    ("elementwise", Granularity::Elementwise),
    ("channel", Granularity::Channel),
    ("channelwise", Granularity::Channel),
];

/// Orders, and true for a pruner of older files that prunes channels; its order is the criterion.
const METHODS: &[(&str, (Method, bool))] = &[
    ("l1-norm", (Method::L1Norm, false)),
    ("l2-norm", (Method::L2Norm, false)),
    ("random", (Method::Random, false)),
    ("level-pruner", (Method::L1Norm, false)),
    ("channel-pruner", (Method::L1Norm, true)),
];

const CRITERIA: &[(&str, Method)] = &[
    ("l1", Method::L1Norm),
    ("l1-norm", Method::L1Norm),
    ("l2", Method::L2Norm),
    ("l2-norm", Method::L2Norm),
    ("random", Method::Random),
    ("neuron_wise_fan_in_random", Method::Random),
];

/// The names that the entries of a `config_list` have for a sparsity.
const LISTED: [&str; 3] = ["sparsity", "sparsity_per_layer", "total_sparsity"];

/// Reads a table; `None` without a usable sparsity, which is a problem of the reader's.
pub fn rule(reader: &mut Reader, side: Side) -> Option<PruneRule> {
    let scope = reader.choice("scope", SCOPES).unwrap_or_default();
    let granularity = reader.choice("granularity", GRANULARITIES);
    let (method, is_by_channel) = reader.choice("method", METHODS).unwrap_or_default();
    let method = reader.choice("criterion", CRITERIA).unwrap_or(method);
    let by_channel = is_by_channel.then_some(Granularity::Channel);
    let mut granularity = granularity.or(by_channel).unwrap_or_default();
    let sparsity = read_sparsity(reader, side);
    reader.ignore(&["fused"]);
    if reader.text("strategy").is_some() {
        let reason = ": masks are chosen once and stay as they are";
        reader.note_without_effect(&["strategy"], reason);
    }
    let sparsity = sparsity?;
    match sparsity {
        Sparsity::PerNode(_) if scope == Scope::Global => {
            let span = reader.span();
            reader.problem(
                span,
                "sparsity: a table per node and scope = \"global\" contradict each other; \
                 give one number, or scope = \"local\"",
            );
        }
        Sparsity::FanIn(_) => {
            let idle = |key: &&str| reader.peek(key).is_some();
            let given: Vec<&str> = ["sparsity", "scope", "granularity"]
                .into_iter()
                .filter(idle)
                .collect();
            let reason = ": with fan_in each output keeps so many single inputs";
            reader.note_without_effect(&given, reason);
            granularity = Granularity::Elementwise;
        }
        _ => {}
    }
    Some(PruneRule {
        sparsity,
        scope,
        granularity,
        method,
    })
}

/// The share: `fan_in` of a weight, `sparsity`, or what older files have in its place.
fn read_sparsity(reader: &mut Reader, side: Side) -> Option<Sparsity> {
    let fan_in = match side {
        Side::Weight => reader.count("fan_in"),
        Side::Activation => {
            reader.ignore(&["fan_in"]);
            None
        }
    };
    let given = reader.item("sparsity");
    let [target, list] = ["target", "config_list"].map(|key| reader.item(key));
    let listed = list.and_then(listed_sparsity);
    let older = target.map(|item| ("target", item));
    let older = older.or(listed.map(|item| ("config_list", item)));
    if given.or(older.map(|(_, item)| item)).is_none() && fan_in.is_none() {
        reader.missing("sparsity", "give a number, or a table of numbers by node");
        return None;
    }
    let keys = ["target", "config_list"].into_iter();
    let idle: Vec<&str> = keys.filter(|key| reader.peek(key).is_some()).collect();
    match (fan_in, given, older) {
        (Some(kept), ..) => {
            reader.note_without_effect(&idle, ": fan_in says how much is pruned");
            Some(Sparsity::FanIn(kept))
        }
        (None, Some(item), _) => {
            reader.note_without_effect(&idle, ": sparsity says how much is pruned");
            number_or_table(reader, item)
        }
        (None, None, Some((key, item))) => {
            let share = number(reader, key, item)?;
            let name = reader.name().to_owned();
            reader.note(format!(
                "[{name}]: there is no sparsity; {key} is taken for it, {share} of every layer"
            ));
            Some(Sparsity::All(share))
        }
        (None, None, None) => None,
    }
}

/// The first sparsity of a list of tables.
fn listed_sparsity(list: &Item) -> Option<&Item> {
    let Value::List(entries) = &list.value else {
        return None;
    };
    let tables = entries.iter().filter_map(Item::as_table);
    let mut shares = tables.flat_map(|table| LISTED.iter().filter_map(|key| table.get(key)));
    shares.next().map(|(_, item)| item)
}

fn number_or_table(reader: &mut Reader, item: &Item) -> Option<Sparsity> {
    let Some(table) = item.as_table() else {
        return number(reader, "sparsity", item).map(Sparsity::All);
    };
    let of_node = |(key, item): &(Key, Item)| {
        let share = number(reader, &format!("sparsity of {}", key.name), item)?;
        Some((key.clone(), share))
    };
    let nodes = table.0.iter().filter_map(of_node).collect();
    Some(Sparsity::PerNode(nodes))
}

/// A share: at least 0, below 1.
fn number(reader: &mut Reader, what: &str, item: &Item) -> Option<f64> {
    let share = match item.value {
        Value::Int(number) => number as f64,
        Value::Float(number) => number,
        ref other => {
            reader.problem(
                item.span.clone(),
                format!("{what}: {other} is not a number"),
            );
            return None;
        }
    };
    if !(0.0..1.0).contains(&share) {
        let message = format!("{what}: {share} is not at least 0 and below 1");
        reader.problem(item.span.clone(), message);
        return None;
    }
    Some(share)
}
