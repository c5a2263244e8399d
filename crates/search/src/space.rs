//! The spaces that can be searched, and the one place that turns a point into a network.

use crate::channel_space::ChannelSpace;
use crate::format_space::{Choices, FormatSpace};
use config::Problem;
use ir::Graph;
use passes::transform::redefine_channels::Redefinition;
use passes::{PassError, Rules};
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use study::{Point, Space, StudyError};

/// The choices that a config file gives.
#[derive(Clone, Debug)]
pub enum SpaceRules {
    /// Of number formats, by node.
    Formats(Rules<Choices>),
    /// Of channel multipliers, by node.
    Channels(Rules<Redefinition>),
}

/// A space, and what its points mean for a network.
#[derive(Clone, Debug)]
pub enum SearchSpace {
    /// Number formats on the ports of nodes.
    Formats(Arc<FormatSpace>),
    /// Numbers of channels of layers.
    Channels(Arc<ChannelSpace>),
}

/// A space that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SpaceError {
    /// Keys of the config do not fit the graph.
    #[error("{}", .0.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("\n"))]
    Config(Vec<Problem>),
    /// No node has anything to choose.
    #[error(
        "there is nothing to search: no rule of the search space gives a node of the graph a choice of {0}"
    )]
    Nothing(&'static str),
    /// The parameters make no sense.
    #[error(transparent)]
    Space(#[from] StudyError),
    /// The graph makes no sense.
    #[error(transparent)]
    Graph(#[from] PassError),
}

impl SearchSpace {
    /// The space of the nodes of a graph that the rules choose.
    pub fn new(graph: &Graph, rules: &SpaceRules) -> Result<Self, SpaceError> {
        Ok(match rules {
            SpaceRules::Formats(rules) => Self::Formats(Arc::new(FormatSpace::new(graph, rules)?)),
            SpaceRules::Channels(rules) => {
                Self::Channels(Arc::new(ChannelSpace::new(graph, rules)?))
            }
        })
    }

    /// The parameters.
    pub fn study_space(&self) -> &Arc<Space> {
        match self {
            Self::Formats(formats) => &formats.space,
            Self::Channels(channels) => &channels.space,
        }
    }

    /// Notes on rules.
    pub fn notes(&self) -> &[String] {
        match self {
            Self::Formats(formats) => &formats.notes,
            Self::Channels(channels) => &channels.notes,
        }
    }

    /// Every searched node with its keys and what each may be: spaces with other facts have other trials.
    pub fn facts(&self) -> Json {
        match self {
            Self::Formats(formats) => formats.facts(),
            Self::Channels(channels) => channels.facts(),
        }
    }

    /// The configuration of a point as `log.json` shows it: by node, its keys and values.
    pub fn sampled_config(&self, point: &Point) -> Map<String, Json> {
        match self {
            Self::Formats(formats) => formats.sampled_config(point),
            Self::Channels(channels) => channels.sampled_config(point),
        }
    }

    /// The configuration of a point as a pass of a file.
    pub fn to_toml(&self, point: &Point) -> String {
        match self {
            Self::Formats(formats) => formats.to_toml(point),
            Self::Channels(channels) => channels.to_toml(point),
        }
    }

    /// The network that a point stands for; new weights come from the seed.
    pub fn graph(&self, graph: &Graph, point: &Point, seed: u64) -> Result<Graph, PassError> {
        match self {
            Self::Formats(formats) => formats.graph(graph, point),
            Self::Channels(channels) => channels.graph(graph, point, seed),
        }
    }
}
