//! The attributes stored beside a trial: its metrics, scaled ones, and the sampled configuration.

use crate::Search;
use crate::objectives::{OBJECTIVES, ObjectiveEntry, Scores, Source};
use serde_json::{Value as Json, json};
use study::Trial;
use study::storage::Attributes;

/// The attribute with the metrics of a source.
fn group(source: Source) -> &'static str {
    match source {
        Source::Software => "software_metrics",
        Source::Hardware | Source::Netlist => "hardware_metrics",
    }
}

impl Search {
    /// The attributes of a trial.
    pub(crate) fn attributes(&self, trial: &Trial) -> Attributes {
        let mut attributes = Attributes::new();
        if let Some(scores) = Scores::of(trial) {
            for source in [Source::Software, Source::Hardware] {
                attributes.insert(group(source).to_owned(), metrics(&scores, source));
            }
            let scaled = Json::Object(self.config.goals.scaled(&scores));
            attributes.insert("scaled_metrics".to_owned(), scaled);
        }
        let sampled = self.space.sampled_config(&trial.point);
        attributes.insert("sampled_config".to_owned(), Json::Object(sampled));
        attributes
    }
}

/// The metrics that attributes hold; empty when one is missing.
pub(crate) fn stored_metrics(attributes: &Attributes) -> Vec<f64> {
    let metric = |entry: &ObjectiveEntry| {
        let attribute = attributes.get(group(entry.source))?;
        if entry.source == Source::Netlist && attribute.get(entry.name).is_none() {
            return Some(f64::NAN);
        }
        // What is not a number has no other form in JSON than null.
        let value = attribute.get(entry.name)?;
        Some(value.as_f64().unwrap_or(f64::NAN))
    };
    let all: Option<Vec<f64>> = OBJECTIVES.iter().map(metric).collect();
    all.unwrap_or_default()
}

/// The metrics of one source as JSON.
pub(crate) fn metrics(scores: &Scores, source: Source) -> Json {
    let more = (source == Source::Hardware && scores.has_netlist()).then_some(Source::Netlist);
    let pairs = scores
        .of_source(source)
        .chain(more.into_iter().flat_map(|more| scores.of_source(more)))
        .map(|(name, value)| (name.to_owned(), json!(value)));
    Json::Object(pairs.collect())
}
