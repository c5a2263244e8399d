//! The summary on top of the page: lines with what was and what is, and sentences on what has changed most.

use super::Page;
use super::nodes::Cost;
use super::numbers::{count, number};
use crate::PassError;
use crate::observe::observe;
use engine::Port;
use ir::{Graph, Op, Verified};
use serde_json::{Value as Json, json};

/// A total of the summary: its name, its measure, and its explanation.
type Measure = (&'static str, fn(&Cost) -> u128, &'static str);

impl Page<'_> {
    /// The lines of the summary: those given, then accuracy and costs.
    pub(super) fn facts(
        &self,
        verified: &Verified,
        other: Option<&Verified>,
    ) -> Result<Vec<Json>, PassError> {
        let line = |name: &str, before: Json, after: Json, about: &str| json!({ "name": name, "before": before, "after": after, "about": about });
        let given = self.facts.iter();
        let mut facts: Vec<Json> = given
            .map(|fact| {
                line(
                    &fact.name,
                    fact.before.clone(),
                    fact.after.clone(),
                    &fact.about,
                )
            })
            .collect();
        if let Some(after) = self.accuracy(self.network.1)? {
            let before = self
                .against
                .map(|(_, graph)| self.accuracy(graph))
                .transpose()?;
            let before = before.flatten().map_or(Json::Null, number);
            let about = "share of the rows whose largest output is that of their class";
            facts.push(line("accuracy", before, number(after), about));
        }
        let total = |verified: &Verified| {
            let mut total = Cost::default();
            for (id, _) in verified.graph().iter() {
                total.counted += Cost::of(verified, id).counted;
            }
            total
        };
        let (after, before) = (total(verified), other.map(total));
        if after.counted.unknown > 0 {
            let about = "operators of another program, whose operations are not counted";
            let before = before.as_ref();
            let before = before.map_or(Json::Null, |cost| cost.counted.unknown.into());
            facts.push(line(
                "unknown nodes",
                before,
                after.counted.unknown.into(),
                about,
            ));
        }
        let measures: [Measure; 4] = [
            (
                "parameters",
                |c| c.counted.parameters.into(),
                "trained numbers",
            ),
            (
                "bytes",
                Cost::bytes,
                "bytes of all parameters and buffers in their formats",
            ),
            (
                "MACs",
                |c| c.counted.macs.into(),
                "multiply-accumulates of one row",
            ),
            (
                "BitOPs",
                |c| c.counted.bit_ops,
                "operations times bits, of one row",
            ),
        ];
        for (name, measure, about) in measures {
            let before = before
                .as_ref()
                .map_or(Json::Null, |cost| count(measure(cost)));
            facts.push(line(name, before, count(measure(&after)), about));
        }
        Ok(facts)
    }

    /// The share of rows that a network classifies right.
    fn accuracy(&self, graph: &Graph) -> Result<Option<f64>, PassError> {
        let Some(rows) = self.rows.filter(|_| self.is_labelled) else {
            return Ok(None);
        };
        let output = graph
            .iter()
            .find(|(_, node)| matches!(node.op, Op::Output(_)));
        let Some((node, _)) = output else {
            return Ok(None);
        };
        let port = Port {
            node,
            port: "data_in_0".to_owned(),
        };
        let mut outputs = Vec::new();
        observe(graph, &[port], rows, self.threads, |_, _, values| {
            outputs.extend_from_slice(values);
        })?;
        let labels = rows.labels_of(rows.indices());
        let width = outputs.len() / labels.len().max(1);
        if width == 0 || outputs.len() != width * labels.len() {
            return Ok(None);
        }
        let is_right = |(row, label): &(&[f32], &u32)| {
            let largest = row
                .iter()
                .enumerate()
                .max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
            largest.is_some_and(|(at, _)| at == **label as usize)
        };
        let right = outputs
            .chunks(width)
            .zip(labels.iter())
            .filter(is_right)
            .count();
        Ok(Some(right as f64 / labels.len().max(1) as f64))
    }
}

/// Up to three sentences on what has changed most.
pub(super) fn sentences(graph: &Json) -> Vec<String> {
    if graph["is_diff"] != json!(true) {
        return Vec::new();
    }
    let nodes: Vec<&Json> = graph["nodes"].as_array().into_iter().flatten().collect();
    let in_state = |state: &str| nodes.iter().filter(|node| node["state"] == state).count();
    let [changed, added, removed] = ["changed", "added", "removed"].map(in_state);
    let mut sentences = vec![format!(
        "{changed} of {} nodes changed, {added} added, {removed} removed.",
        nodes.len()
    )];
    let loud = nodes
        .iter()
        .filter_map(|node| Some((node["sqnr"].as_f64()?, node)));
    if let Some((sqnr, node)) = loud.min_by(|a, b| a.0.total_cmp(&b.0)) {
        let name = node["name"].as_str().unwrap_or_default();
        sentences.push(format!(
            "The result of {name} differs most: {sqnr} dB of signal over noise."
        ));
    }
    let saved = nodes.iter().filter_map(|node| {
        let (before, after) = (node["before"]["bitops"].as_f64()?, node["bitops"].as_f64()?);
        (before > after).then_some((before - after, before, after, node))
    });
    if let Some((_, before, after, node)) = saved.max_by(|a, b| a.0.total_cmp(&b.0)) {
        let name = node["name"].as_str().unwrap_or_default();
        let share = 100.0 * (before - after) / before;
        sentences.push(format!(
            "Most bit operations are saved in {name}: {share:.0} % of its own."
        ));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, state: &str, sqnr: Option<f64>, bitops: [u64; 2]) -> Json {
        json!({
            "name": name, "state": state, "sqnr": sqnr,
            "bitops": bitops[1], "before": { "bitops": bitops[0] },
        })
    }

    fn said(is_diff: bool, nodes: &[Json]) -> Vec<String> {
        sentences(&json!({ "is_diff": is_diff, "nodes": nodes }))
    }

    #[test]
    fn sentences_name_the_largest_error_and_the_largest_saving() {
        let nodes = [
            node("a", "changed", Some(31.5), [1000, 900]),
            node("b", "changed", Some(12.25), [400, 100]),
            node("c", "same", Some(40.0), [7, 9000]),
            node("d", "added", None, [0, 0]),
        ];
        let wanted = [
            "2 of 4 nodes changed, 1 added, 0 removed.",
            "The result of b differs most: 12.25 dB of signal over noise.",
            "Most bit operations are saved in b: 75 % of its own.",
        ];
        assert_eq!(said(true, &nodes), wanted);
        assert!(said(false, &nodes).is_empty());
    }

    #[test]
    fn nothing_is_said_of_errors_and_savings_that_are_not_there() {
        let nodes = [
            node("a", "removed", None, [64, 64]),
            node("b", "same", None, [64, 65]),
        ];
        let wanted = ["0 of 2 nodes changed, 0 added, 1 removed."];
        assert_eq!(said(true, &nodes), wanted);
    }
}
