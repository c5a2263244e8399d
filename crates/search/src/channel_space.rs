//! The space of channels: for every group of layers that change together, choices of a multiplier.
//!
//! A name that leaves outputs alone, `input_only` or `NA` beside others, is the multiplier 1. Weights do not fit other
//! numbers of channels, so that the networks of all points start from new ones: none has an advantage.

use crate::space::SpaceError;
use config::Problem;
use ir::{Graph, NodeId, verify};
use passes::transform::redefine_channels::{ChannelGroups, Redefinition, Side, no_layer, stays};
use passes::{By, PassError, Rule, Rules};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;
use study::{Coordinate, Distribution, Parameter, Point, Space};

/// A space, and what its points mean for the layers of a graph.
#[derive(Clone, Debug)]
pub struct ChannelSpace {
    /// The parameters.
    pub space: Arc<Space>,
    /// Notes on rules, and on weights.
    pub notes: Vec<String>,
    channels: ChannelGroups,
    searched: Vec<SearchedGroup>,
}

/// A group of layers with its choices.
#[derive(Clone, Debug)]
struct SearchedGroup {
    /// Its place among all groups.
    index: usize,
    /// The layers that rules speak of.
    layers: Vec<SearchedLayer>,
    multipliers: Vec<f64>,
    /// The parameter that chooses; none when there is one choice.
    parameter: Option<usize>,
}

#[derive(Clone, Debug)]
struct SearchedLayer {
    name: String,
    /// The words for multiplied and for unchanged outputs.
    words: [String; 2],
}

impl ChannelSpace {
    /// The space of the layers of a graph that the rules choose.
    pub fn new(graph: &Graph, rules: &Rules<Redefinition>) -> Result<Self, SpaceError> {
        let problems = rules.unused(graph);
        if !problems.is_empty() {
            return Err(SpaceError::Config(problems));
        }
        let verified = verify(graph).map_err(PassError::from)?;
        let mut maker = Maker {
            graph,
            channels: ChannelGroups::new(&verified),
            searched: Vec::new(),
            notes: rules.unused_notes(graph),
        };
        for (id, node) in graph.iter() {
            if let Some(rule) = rules.find(node).filter(|rule| rule.value.multiplies()) {
                let is_own = rules.by == By::Name && rule.key.name != "default";
                maker.add_layer(id, rule, is_own)?;
            }
        }
        maker.finish()
    }

    /// The multiplier of each searched group.
    fn multipliers<'a>(
        &'a self,
        point: &'a Point,
    ) -> impl Iterator<Item = (&'a SearchedGroup, f64)> {
        self.searched.iter().map(|group| {
            let choice = match group.parameter.and_then(|index| point.get(index)) {
                Some(Coordinate::Choice(choice)) => choice,
                _ => 0,
            };
            (group, group.multipliers[choice])
        })
    }

    /// The network of a point with new weights.
    pub fn graph(&self, graph: &Graph, point: &Point, seed: u64) -> Result<Graph, PassError> {
        let mut all = vec![1.0; self.channels.groups.len()];
        for (group, multiplier) in self.multipliers(point) {
            all[group.index] = multiplier;
        }
        let mut resized = self.channels.resized(&graph.without_params(), &all)?;
        resized.initialize(seed);
        Ok(resized)
    }

    /// Every searched layer with what its multiplier may be.
    pub fn facts(&self) -> Json {
        let layers = self.searched.iter().flat_map(|group| {
            let choices: Vec<Json> = group.multipliers.iter().map(|&m| number(m)).collect();
            let layers = group.layers.iter();
            layers.map(move |layer| (layer.name.clone(), json!({ MULTIPLIER: choices.clone() })))
        });
        Json::Object(layers.collect())
    }

    /// The configuration of a point as `log.json` shows it.
    pub fn sampled_config(&self, point: &Point) -> Map<String, Json> {
        let layers = self.multipliers(point).flat_map(|(group, multiplier)| {
            let layers = group.layers.iter();
            layers.map(move |layer| {
                let name = layer.word(multiplier);
                let keys = json!({ "name": name, MULTIPLIER: number(multiplier) });
                (layer.name.clone(), json!({ "config": keys }))
            })
        });
        layers.collect()
    }

    /// The configuration of a point as `[passes.redefine_channels]` of a file.
    pub fn to_toml(&self, point: &Point) -> String {
        let head = ["[passes.redefine_channels]", "by = \"name\""].map(str::to_owned);
        let mut lines = head.to_vec();
        for (group, multiplier) in self.multipliers(point) {
            for layer in &group.layers {
                lines.push(format!("[passes.redefine_channels.{}.config]", layer.name));
                lines.push(format!("name = \"{}\"", layer.word(multiplier)));
                lines.push(format!("{MULTIPLIER} = {}", number(multiplier)));
            }
        }
        lines.join("\n") + "\n"
    }
}

impl SearchedLayer {
    fn word(&self, multiplier: f64) -> &str {
        &self.words[usize::from(multiplier == 1.0)]
    }
}

/// The key of configs.
const MULTIPLIER: &str = "channel_multiplier";

/// Whole multipliers are whole numbers, so that samplers see their order.
fn number(multiplier: f64) -> Json {
    if multiplier.fract() == 0.0 {
        json!(multiplier as i64)
    } else {
        json!(multiplier)
    }
}

struct Maker<'a> {
    graph: &'a Graph,
    channels: ChannelGroups,
    searched: Vec<SearchedGroup>,
    notes: Vec<String>,
}

impl Maker<'_> {
    fn add_layer(
        &mut self,
        id: NodeId,
        rule: &Rule<Redefinition>,
        is_own: bool,
    ) -> Result<(), SpaceError> {
        let node = self.graph.node(id);
        let Some(index) = self.channels.of(id) else {
            self.notes.extend(is_own.then(|| no_layer(node)));
            return Ok(());
        };
        let choices = choices(&rule.value);
        let refused = |message: String| {
            let (span, name) = (rule.key.span.clone(), &node.name);
            let message = format!("{name} ({}): {message}", node.op.name());
            SpaceError::Config(vec![Problem { span, message }])
        };
        if let Some(reason) = &self.channels.groups[index].fixed {
            if is_own && !choices.contains(&1.0) {
                let message = format!(
                    "every {MULTIPLIER} would change its output channels, but {reason}; use name = [\"input_only\"]"
                );
                return Err(refused(message));
            }
            let is_silent = choices == [1.0];
            self.notes.extend((!is_silent).then(|| stays(node, reason)));
            return Ok(());
        }
        let layer = SearchedLayer {
            name: node.name.clone(),
            words: words(&rule.value),
        };
        let mut known = self.searched.iter_mut();
        let Some(group) = known.find(|group| group.index == index) else {
            self.searched.push(SearchedGroup {
                index,
                layers: vec![layer],
                multipliers: choices,
                parameter: None,
            });
            return Ok(());
        };
        group.multipliers.retain(|m| choices.contains(m));
        if group.multipliers.is_empty() {
            let joined = self.channels.groups[index].joined_by.join(", ");
            let message = format!(
                "it has no {MULTIPLIER} in common with {}, but their channels are joined by {joined}",
                group.layers[0].name
            );
            return Err(refused(message));
        }
        group.layers.push(layer);
        Ok(())
    }

    /// Tries every choice by itself, and makes the parameters.
    fn finish(mut self) -> Result<ChannelSpace, SpaceError> {
        let mut parameters = Vec::new();
        for group in &mut self.searched {
            for &multiplier in &group.multipliers {
                let mut all = vec![1.0; self.channels.groups.len()];
                all[group.index] = multiplier;
                self.channels.resized(self.graph, &all)?;
            }
            if group.multipliers.len() > 1 {
                let name = &group.layers[0].name;
                let choices = group.multipliers.iter().map(|&m| number(m));
                let distribution = Distribution::categorical(choices);
                group.parameter = Some(parameters.len());
                parameters.push(Parameter::new(
                    format!("{name}/config/{MULTIPLIER}"),
                    distribution,
                ));
            }
            if let [first, others @ ..] = group.layers.as_slice()
                && !others.is_empty()
            {
                let others: Vec<&str> = others.iter().map(|layer| layer.name.as_str()).collect();
                let joined = self.channels.groups[group.index].joined_by.join(", ");
                let (first, others) = (&first.name, others.join(", "));
                self.notes.push(format!(
                    "the channels of {first} and {others} are one choice, joined by {joined}"
                ));
            }
        }
        if self.searched.is_empty() {
            return Err(SpaceError::Nothing("channel multipliers"));
        }
        self.notes.push(
            "weights do not fit other numbers of channels: every trial starts from new ones"
                .to_owned(),
        );
        Ok(ChannelSpace {
            space: Arc::new(Space::new(parameters)?),
            notes: self.notes,
            channels: self.channels,
            searched: self.searched,
        })
    }
}

/// The multipliers of a rule, with 1 where it may leave outputs alone.
fn choices(rule: &Redefinition) -> Vec<f64> {
    let may_stay = rule.names.iter().any(|(_, side)| *side != Side::Outputs);
    let stays = may_stay.then_some(1.0);
    let others = rule.multipliers.iter().copied();
    let others = others.filter(|&multiplier| !(may_stay && multiplier == 1.0));
    stays.into_iter().chain(others).collect()
}

/// The words of a rule for multiplied and for unchanged outputs.
fn words(rule: &Redefinition) -> [String; 2] {
    let word = |is_wanted: fn(Side) -> bool| {
        let mut names = rule.names.iter();
        names
            .find(|(_, side)| is_wanted(*side))
            .map(|(word, _)| word.clone())
    };
    let multiplied = word(|side| side == Side::Outputs).unwrap_or_default();
    let unchanged = word(|side| side != Side::Outputs);
    [multiplied.clone(), unchanged.unwrap_or(multiplied)]
}
