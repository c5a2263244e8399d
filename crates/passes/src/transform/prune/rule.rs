//! The rule for the weights, or for the activations.

use super::candidate::Candidate;
use super::select::{Group, smallest};
use config::{Item, Key, Reader, Value, plain_name};
use ir::Tensor;
use random::Random;

/// Share, scope, unit and order of pruning.
#[derive(Clone, Debug)]
pub struct PruneRule {
    /// The share to prune.
    pub sparsity: Sparsity,
    /// Of each tensor, or of all together.
    pub scope: Scope,
    /// Elements or channels.
    pub granularity: Granularity,
    /// The order.
    pub method: Method,
}

/// The share to prune.
#[derive(Clone, Debug)]
pub enum Sparsity {
    /// Of every layer.
    All(f64),
    /// Of the named layers, and of no others.
    PerNode(Vec<(Key, f64)>),
}

/// The set of elements that the share is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// In each tensor.
    #[default]
    Local,
    /// Over all tensors together.
    Global,
}

/// The unit of pruning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// Single elements.
    #[default]
    Elementwise,
    /// All elements of a channel.
    Channel,
}

/// The order of pruning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The smallest magnitudes first.
    #[default]
    L1Norm,
    /// Anything.
    Random,
}

impl PruneRule {
    /// Reads a table; `None` without a usable sparsity, which is a problem of the reader's.
    pub fn read(reader: &mut Reader) -> Option<Self> {
        let sparsity = Sparsity::read(reader);
        // Names of older files stand behind those of today.
        let scope = reader.choice(
            "scope",
            &[
                ("local", Scope::Local),
                ("global", Scope::Global),
                ("tensor", Scope::Local),
                ("layer", Scope::Local),
                ("global-naive", Scope::Global),
            ],
        );
        let granularity = reader.choice(
            "granularity",
            &[
                ("elementwise", Granularity::Elementwise),
                ("channel", Granularity::Channel),
                ("channelwise", Granularity::Channel),
            ],
        );
        let (method, is_by_channel) = read_method(reader);
        let by_channel = is_by_channel.then_some(Granularity::Channel);
        let granularity = granularity.or(by_channel);
        reader.ignore(&["strategy", "target", "fused", "fan_in", "config_list"]);
        let (sparsity, scope) = (sparsity?, scope.unwrap_or_default());
        if scope == Scope::Global && matches!(sparsity, Sparsity::PerNode(_)) {
            let span = reader.span();
            reader.problem(
                span,
                "sparsity: a table per node and scope = \"global\" contradict each other; \
                 give one number, or scope = \"local\"",
            );
        }
        Some(Self {
            sparsity,
            scope,
            granularity: granularity.unwrap_or_default(),
            method,
        })
    }

    /// The mask of every candidate.
    pub fn masks(&self, candidates: &[Candidate], seed: u64) -> Vec<Tensor> {
        let order = |candidate: &Candidate| match self.method {
            Method::L1Norm => candidate.magnitudes(),
            Method::Random => {
                let random = Random::new(seed, &format!("prune {}", candidate.path));
                (0..candidate.units.count as u64)
                    .map(|unit| random.bits(unit))
                    .collect()
            }
        };
        let groups: Vec<Group> = candidates
            .iter()
            .map(|candidate| Group {
                order: order(candidate),
                pruned: candidate.pruned_units(),
            })
            .collect();
        let chosen = match self.scope {
            Scope::Global => {
                let all = candidates.first().map_or(0.0, |first| first.sparsity);
                smallest(&groups, all)
            }
            Scope::Local => {
                let each = groups.iter().zip(candidates);
                each.flat_map(|(group, of)| smallest(std::slice::from_ref(group), of.sparsity))
                    .collect()
            }
        };
        let pairs = candidates.iter().zip(&chosen);
        pairs.map(|(of, units)| of.mask(units)).collect()
    }
}

/// The order of pruning, and true for a method that prunes channels. Older files have the pruner as the method and its
/// order as the criterion.
fn read_method(reader: &mut Reader) -> (Method, bool) {
    let method = reader.choice(
        "method",
        &[
            ("l1-norm", (Method::L1Norm, false)),
            ("random", (Method::Random, false)),
            ("l2-norm", (Method::L1Norm, false)),
            ("level-pruner", (Method::L1Norm, false)),
            ("channel-pruner", (Method::L1Norm, true)),
        ],
    );
    let (method, is_by_channel) = method.unwrap_or_default();
    let criterion = reader.choice(
        "criterion",
        &[
            ("l1", Method::L1Norm),
            ("random", Method::Random),
            ("neuron_wise_fan_in_random", Method::Random),
        ],
    );
    let word = |key| match reader.peek(key) {
        Some(Value::Text(word)) => plain_name(word),
        _ => String::new(),
    };
    let notes = [
        (word("method") == "l2norm")
            .then_some("'l2-norm' is taken as l1-norm, which orders single elements alike"),
        (word("criterion") == "neuronwisefaninrandom")
            .then_some("'neuron_wise_fan_in_random' is taken as random"),
    ];
    for note in notes.into_iter().flatten() {
        let name = reader.name().to_owned();
        reader.note(format!("[{name}]: {note}"));
    }
    (criterion.unwrap_or(method), is_by_channel)
}

impl Sparsity {
    fn read(reader: &mut Reader) -> Option<Self> {
        let Some(item) = reader.item("sparsity") else {
            reader.missing("sparsity", "give a number, or a table of numbers by node");
            return None;
        };
        if item.as_table().is_none() {
            return number(reader, "sparsity", item).map(Self::All);
        }
        let nodes = reader.inner("sparsity", item, |table| {
            let entries = table.rest().into_iter();
            let of_node = |(key, item): &(Key, Item)| {
                let share = number(table, &format!("sparsity of {}", key.name), item)?;
                Some((key.clone(), share))
            };
            entries.filter_map(of_node).collect()
        });
        nodes.map(Self::PerNode)
    }
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
