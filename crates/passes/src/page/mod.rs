//! The data of the page that shows a network: its graph and costs, where its numbers lie in their formats, and what has
//! changed against another network. `docs/report-json.md` describes what comes out.

mod drawing;
mod matching;
mod modules;
mod nodes;
mod numbers;
mod ports;
mod sketch;
mod spread;
mod summary;
mod times;
mod union;

use crate::PassError;
use crate::compare::Compare;
use data::Split;
use drawing::{Drawings, drawings};
use ir::{Graph, NodeId, Verified, verify};
use nodes::Cost;
use serde_json::{Map, Value as Json, json};
pub use sketch::{SketchNode, sketch};
use union::{Shown, earlier_places, edges, inputs};

/// The version of the data.
pub const VERSION: u32 = 1;

/// Nodes of a network whose nodes have their attributes apart from their text, and whose ports have histograms over powers of
/// two; the page of a larger one would be too large.
const MAX_DETAILED: usize = 2000;
/// Values of a parameter that the data may have.
pub const MAX_WEIGHTS: usize = 10_000;

/// A line of the summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its name.
    pub name: String,
    /// The value in the other network; null where there is none.
    pub before: Json,
    /// The value in the network.
    pub after: Json,
    /// A sentence that explains it.
    pub about: String,
}

/// The networks to show, and all that is known of them.
pub struct Page<'a> {
    /// The heading.
    pub title: &'a str,
    /// The network, and what to call it.
    pub network: (&'a str, &'a Graph),
    /// The network that it is compared with.
    pub against: Option<(&'a str, &'a Graph)>,
    /// Rows to run on; without them only parameters are looked at.
    pub rows: Option<&'a Split>,
    /// The labels of the rows are those of classes.
    pub is_labelled: bool,
    /// Lines of the summary before those that are counted.
    pub facts: Vec<Fact>,
    /// Explanations of words.
    pub terms: Map<String, Json>,
    /// The chapter on training.
    pub training: Option<Json>,
    /// The chapter on a search.
    pub search: Option<Json>,
    /// Measures the time of every node, which no two runs have the same.
    pub is_timed: bool,
    /// Writes values of the parameters into the data, up to [`MAX_WEIGHTS`] of each.
    pub with_weights: bool,
    /// Threads that may be used.
    pub threads: usize,
}

/// The graph of the page of a network, for a drawing alone.
pub fn drawing_of(name: &str, graph: &Graph) -> Result<Json, PassError> {
    let page = Page {
        title: name,
        network: (name, graph),
        against: None,
        rows: None,
        is_labelled: false,
        facts: Vec::new(),
        terms: Map::new(),
        training: None,
        search: None,
        is_timed: false,
        with_weights: false,
        threads: 1,
    };
    page.graph(&verify(graph)?, None)
}

impl Page<'_> {
    /// The data of the page.
    pub fn data(&self) -> Result<Json, PassError> {
        let verified = verify(self.network.1)?;
        let other = self.against.map(|(_, graph)| verify(graph)).transpose()?;
        let graph = self.graph(&verified, other.as_ref())?;
        let (mut ports, seen) = ports::profiles(&verified, self.rows, self.threads)?;
        if self.with_weights {
            ports::add_weights(&mut ports, self.network.1);
        }
        if let Some(other) = &other {
            let (before, _) = ports::profiles(other, self.rows, self.threads)?;
            add_earlier_profiles(&mut ports, &before, &verified, other);
        }
        for port in &mut ports {
            if !is_detailed(verified.graph()) {
                port["logarithmic"] = Json::Null;
            }
            numbers::drop_unknown(port);
        }
        let mut facts = self.facts(&verified, other.as_ref())?;
        if seen > 0 {
            facts.push(json!({
                "name": "rows", "before": null, "after": seen, "about": "rows that the profiles are of",
            }));
        }
        Ok(json!({
            "version": VERSION,
            "title": self.title,
            "program": concat!("mase ", env!("CARGO_PKG_VERSION")),
            "facts": facts,
            "sentences": summary::sentences(&graph),
            "terms": self.terms,
            "graph": graph,
            "ports": ports,
            "training": self.training,
            "search": self.search,
        }))
    }

    fn graph(&self, verified: &Verified, other: Option<&Verified>) -> Result<Json, PassError> {
        let graph = verified.graph();
        let pairs = match other {
            Some(other) => matching::matched(other.graph(), graph),
            None => vec![None; graph.nodes().len()],
        };
        let errors = self.errors()?;
        let times = times::shares(graph, self.rows.filter(|_| self.is_timed), self.threads)?;
        let mut shown: Vec<Shown> = graph.iter().map(|(id, _)| Shown::Kept(id)).collect();
        let mut nodes = Vec::new();
        for (id, node) in graph.iter() {
            let mut entry = nodes::entry(verified, id, Cost::of(verified, id));
            if let (Some(other), Some(before)) = (other, pairs[id.index()]) {
                let pair = [other.graph().node(before), node];
                nodes::mark_changes(&mut entry, pair, Cost::of(other, before));
                let name = &pair[0].name;
                if let Some(error) = errors.iter().find(|error| error["node"] == name.as_str()) {
                    nodes::mark_error(&mut entry, error);
                }
            } else if other.is_some() {
                entry.insert("state".to_owned(), json!("added"));
            }
            entry.insert("inputs".to_owned(), json!(inputs(graph, id)));
            let time = times.get(&node.name).copied();
            entry.insert("time".to_owned(), numbers::optional(time));
            nodes.push(entry);
        }
        if let Some(other) = other {
            let removed = other.graph().iter().map(|(id, _)| id);
            let removed: Vec<NodeId> = removed.filter(|id| !pairs.contains(&Some(*id))).collect();
            for &id in &removed {
                let mut entry = nodes::entry(other, id, Cost::of(other, id));
                entry.insert("state".to_owned(), json!("removed"));
                nodes.push(entry);
            }
            shown.extend(removed.into_iter().map(Shown::Removed));
            let places = earlier_places(&shown, &pairs, other.graph());
            for (at, entry) in nodes.iter_mut().enumerate() {
                if let Shown::Removed(id) = shown[at] {
                    let inputs = inputs(other.graph(), id);
                    let inputs: Vec<usize> = inputs.iter().filter_map(|&at| places[at]).collect();
                    entry.insert("inputs".to_owned(), json!(inputs));
                }
            }
        }
        let edges = edges(&shown, &pairs, verified, other);
        for entry in &mut nodes {
            if !is_detailed(graph) {
                entry.remove("attributes");
            }
            numbers::drop_unknown_entries(entry);
        }
        Ok(drawn(&graph.name, other.is_some(), nodes, &edges))
    }

    /// The errors of the results of nodes that both networks have, as `ch compare` measures them.
    fn errors(&self) -> Result<Vec<Json>, PassError> {
        let (Some(against), Some(rows)) = (self.against, self.rows) else {
            return Ok(Vec::new());
        };
        let compare = Compare {
            a: against,
            b: self.network,
            rows,
            threads: self.threads,
        };
        let report = compare.report()?;
        let errors = report.facts.get("node_errors");
        Ok(errors.and_then(Json::as_array).cloned().unwrap_or_default())
    }
}

/// True for networks that are small enough to be shown with all details.
fn is_detailed(graph: &Graph) -> bool {
    graph.nodes().len() <= MAX_DETAILED
}

/// Nodes with their groups and drawings.
fn drawn(
    name: &str,
    is_diff: bool,
    mut nodes: Vec<Map<String, Json>>,
    edges: &[(usize, usize)],
) -> Json {
    let size = |entry: &Map<String, Json>| {
        let (width, height) = report::page::box_size(&Json::Object(entry.clone()));
        [width as f32, height as f32]
    };
    let sizes: Vec<[f32; 2]> = nodes.iter().map(size).collect();
    let names = modules::dotted_names(&nodes, edges);
    let Drawings {
        groups,
        group_of,
        views,
        limited,
    } = drawings(&names, &sizes, edges);
    for (entry, group) in nodes.iter_mut().zip(group_of) {
        if let Some(group) = group {
            entry.insert("group".to_owned(), json!(group));
        }
    }
    json!({
        "name": name,
        "is_diff": is_diff,
        "limited": limited,
        "groups": groups,
        "nodes": nodes,
        "views": views,
    })
}

/// Writes into profiles what the same port was rounded to before.
fn add_earlier_profiles(
    ports: &mut [Json],
    before: &[Json],
    verified: &Verified,
    other: &Verified,
) {
    let pairs = matching::matched(other.graph(), verified.graph());
    for profile in ports {
        let node = profile["node"].as_u64().unwrap_or(0) as usize;
        let Some(earlier) = pairs.get(node).copied().flatten() else {
            continue;
        };
        let same = before.iter().find(|known| {
            known["node"] == json!(earlier.index()) && known["port"] == profile["port"]
        });
        let is_rounded = |port: &&Json| !port["format"].is_null() || !profile["format"].is_null();
        if let Some(same) = same.filter(is_rounded) {
            let keys = ["format", "range", "step", "saturated", "zeroed"];
            let kept = keys.map(|key| (key.to_owned(), same[key].clone()));
            profile["before"] = Json::Object(kept.into_iter().collect());
            if profile["before"]["format"].is_null() {
                profile["before"]["format"] = json!("float32");
            }
        }
    }
}

#[cfg(test)]
mod tests;
