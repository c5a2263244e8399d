//! Statistics of weights and activations, written to the nodes' metadata.

use crate::statistics::{STATISTICS, Statistic, Summary};
use crate::{By, Context, Pass, PassError, PassReport, Rules};
use config::did_you_mean;
use config::{Problem, Reader};
use data::SplitName;
use engine::Port;
use interop::npy;
use ir::{Graph, Node, NodeId, Verified, verify};
use serde_json::{Map, Value as Json};

mod activations;
mod values;
mod weights;

/// `[passes.profile_statistics]`: see [`Pass::DOC`].
pub struct ProfileStatistics {
    weights: Targets,
    activations: Targets,
    num_samples: usize,
    split: SplitName,
    profile_output_activation: bool,
}

/// Nodes, and what is wanted of each.
struct Targets {
    nodes: Rules<()>,
    statistics: Vec<Statistic>,
}

/// The result of a statistic at a port.
struct Found {
    port: Port,
    statistic: &'static str,
    fields: Map<String, Json>,
    /// The recorded values, as a file.
    npy: Option<Vec<u8>>,
}

/// Keys of the original that name objects of a Python program.
const IGNORED: &[&str] = &["input_generator"];

impl Pass for ProfileStatistics {
    const NAME: &'static str = "profile_statistics";
    const ABOUT: &'static str = "statistics of weights and activations, kept in the metadata";
    const DOC: &'static str = "\
What it does: collects statistics of parameters and of the values that data ports read, and writes them to the software
metadata of the nodes: args.<port>.stat.<statistic>. Activations are those of rows of the dataset in evaluation mode, before
a format rounds them. The numbers do not depend on batches or threads, not in the last bit.

Example:
  [passes.profile_statistics]
  by = \"type\"
  target_weight_nodes = [\"linear\"]
  target_activation_nodes = [\"linear\"]
  num_samples = 512
  [passes.profile_statistics.weight_statistics]
  variance_precise = { dims = \"all\" }
  [passes.profile_statistics.activation_statistics]
  range_quantile = { dims = \"all\", quantile = 0.97 }

Config: by, type, name or regex_name; target_weight_nodes, target_activation_nodes, lists of operators or names;
weight_statistics, activation_statistics, a table for each statistic (ch list statistics); num_samples, rows to run, default
32; split, train, val or test, default train; profile_output_activation, whether results are profiled as well, default false.

Reads: parameters and buffers; rows of the dataset. Writes: statistics, nothing else of the graph; the values that record
keeps go to KEY/<node>.<port>.npy, with KEY the pass's key in the file.

Limits: a value that does not have the rows of the batch outermost is refused.";

    fn read(reader: &mut Reader) -> Self {
        reader.ignore(IGNORED);
        let by = By::read(reader).unwrap_or_default();
        let weights = Targets::read(reader, by, "target_weight_nodes", "weight_statistics");
        let activations = Targets::read(
            reader,
            by,
            "target_activation_nodes",
            "activation_statistics",
        );
        if weights.nodes.rules.is_empty() && activations.nodes.rules.is_empty() {
            let hint =
                "give target_weight_nodes with [….weight_statistics], or the same of activations";
            reader.missing("what to profile", hint);
        }
        Self {
            weights,
            activations,
            num_samples: reader.count("num_samples").unwrap_or(32),
            split: reader.choice("split", SplitName::WORDS).unwrap_or_default(),
            profile_output_activation: reader.flag("profile_output_activation").unwrap_or(false),
        }
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let mut report = PassReport::default();
        let mut all = Vec::new();
        let verified = verify(graph)?;
        let (weights, activations) = self.ports(&verified)?;
        for targets in [&self.weights, &self.activations] {
            context.notes.extend(targets.nodes.unused_notes(graph));
        }
        if !weights.is_empty() {
            let statistics = &self.weights.statistics;
            all = weights::profile(graph, &weights, statistics, context.threads)?;
        }
        if !activations.is_empty() {
            let rows = context.rows(self.split, self.num_samples)?;
            report = report.with_fact("num_samples", rows.len());
            let statistics = &self.activations.statistics;
            all.extend(activations::profile(
                &verified,
                &activations,
                statistics,
                &rows,
                context,
            )?);
        }
        all.sort_by_key(|found| found.port.node);
        for found in &mut all {
            write_record(graph, context, found);
        }
        report = report.with_table("statistics", values::table(graph, &all));
        for found in all {
            let statistics = &mut graph.node_mut(found.port.node).statistics;
            let of_port = statistics.entry(found.port.port).or_default();
            of_port.insert(found.statistic.to_owned(), found.fields.into());
        }
        Ok(report)
    }
}

impl ProfileStatistics {
    /// The ports of weights and those of activations, or what the config has wrong.
    fn ports(&self, verified: &Verified) -> Result<(Vec<Port>, Vec<Port>), PassError> {
        let graph = verified.graph();
        let (weights, mut problems) = self.weights.ports(graph, |_, node| weights::ports(node));
        let (activations, more) = self.activations.ports(graph, |id, _| {
            activations::ports(verified, id, self.profile_output_activation)
        });
        problems.extend(more);
        if problems.is_empty() {
            Ok((weights, activations))
        } else {
            Err(PassError::Config(problems))
        }
    }
}

impl Targets {
    fn read(
        reader: &mut Reader,
        by: By,
        nodes_key: &'static str,
        statistics_key: &'static str,
    ) -> Self {
        let words = reader.words(nodes_key);
        let statistics = reader.table(statistics_key, read_statistics);
        let is_wanted = words.as_ref().is_some_and(|words| !words.is_empty());
        if is_wanted && statistics.is_none() {
            let hint = format!("say what to collect of {nodes_key}");
            reader.missing(statistics_key, &hint);
        }
        if words.is_none() && statistics.is_some() {
            let hint = format!("say of which nodes to collect {statistics_key}");
            reader.missing(nodes_key, &hint);
        }
        Self {
            nodes: Rules::of_words(reader, by, words.unwrap_or_default()),
            statistics: statistics.unwrap_or_default(),
        }
    }

    /// The ports of all nodes that are named, and a problem for every word that names none.
    fn ports(
        &self,
        graph: &Graph,
        of_node: impl Fn(NodeId, &Node) -> Vec<String>,
    ) -> (Vec<Port>, Vec<Problem>) {
        let mut problems = self.nodes.unused(graph);
        for rule in &self.nodes.rules {
            let chosen = graph.iter().filter(|(_, node)| rule.matches(node));
            let counts: Vec<usize> = chosen.map(|(id, node)| of_node(id, node).len()).collect();
            if !counts.is_empty() && counts.iter().all(|&count| count == 0) {
                let message = format!("'{}' has no port that can be profiled", rule.key.name);
                let span = rule.key.span.clone();
                problems.push(Problem { span, message });
            }
        }
        let chosen = graph
            .iter()
            .filter(|(_, node)| self.nodes.find(node).is_some());
        let ports = chosen.flat_map(|(id, node)| {
            let ports = of_node(id, node).into_iter();
            ports.map(move |port| Port { node: id, port })
        });
        (ports.collect(), problems)
    }
}

fn read_statistics(reader: &mut Reader) -> Vec<Statistic> {
    let mut statistics = Vec::new();
    let entries = reader.rest();
    if entries.is_empty() {
        reader.missing("a statistic", "`ch list statistics` names all");
    }
    for (key, item) in entries {
        let read = |inner: &mut Reader| {
            let table = item.as_table().expect("inner readers are on tables");
            Statistic::read(&key.name, inner, table)
        };
        if STATISTICS.iter().all(|entry| entry.name != key.name) {
            let close = did_you_mean(&key.name, STATISTICS.iter().map(|entry| entry.name));
            let message = format!("unknown statistic '{}'{close}", key.name);
            reader.problem(key.span.clone(), message);
        } else if let Some(statistic) = reader.inner(&key.name, item, read).flatten() {
            statistics.push(statistic);
        }
    }
    statistics
}

/// Writes recorded values to a file, and its name into the fields.
fn write_record(graph: &Graph, context: &mut Context, found: &mut Found) {
    if let Some(bytes) = found.npy.take() {
        let node = &graph.node(found.port.node).name;
        let path = format!("{}/{node}.{}.npy", context.key, found.port.port);
        context.write(&path, bytes);
        found.fields.shift_insert(0, "data".to_owned(), path.into());
    }
}

impl Found {
    /// The result of each statistic at a port.
    fn of(port: &Port, statistics: &[Statistic], summaries: Vec<Summary>) -> Vec<Self> {
        let found = |(statistic, summary): (&Statistic, Summary)| Self {
            port: port.clone(),
            statistic: statistic.entry().name,
            fields: summary.fields,
            npy: summary
                .data
                .map(|(shape, values)| npy::encode(&shape, &values)),
        };
        statistics.iter().zip(summaries).map(found).collect()
    }
}

/// The error of a port, with the node it belongs to.
fn at_port(graph: &Graph, port: &Port, error: impl std::fmt::Display) -> PassError {
    let message = format!("{}: {error}", port.port);
    PassError::node(graph.node(port.node), message)
}
