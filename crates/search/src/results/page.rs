//! One HTML file that shows a search without a network: the front, the history, the importances, the best trials.

use super::{Report, importances, state};
use crate::State;
use crate::metrics::METRICS;
use serde_json::{Value as Json, json};

/// The page's own program and looks.
const TEMPLATE: &str = include_str!("page.html");

/// The page of a search.
pub fn page(report: &Report, title: &str) -> String {
    let data = data(report, title).to_string();
    // Inside a script element only `</` could end it.
    let data = data.replace("</", "<\\/");
    TEMPLATE
        .replace("\"%DATA%\"", &data)
        .replace("%TITLE%", &escaped(title))
}

fn data(report: &Report, title: &str) -> Json {
    let best: Vec<u64> = report.best().iter().map(|record| record.number).collect();
    let trials: Vec<Json> = report
        .results
        .records
        .iter()
        .filter(|record| record.outcome.state != State::Failed)
        .map(|record| {
            json!({
                "number": record.number,
                "state": state(record.outcome.state),
                "scores": record.scores.map(|scores| scores.0.to_vec()),
                "values": record.outcome.values,
                "config": report.search.task.formats.space.named(&record.point),
            })
        })
        .collect();
    let objectives = report.search.config.objectives.iter();
    json!({
        "title": title,
        "metrics": METRICS.iter().map(|entry| json!({ "name": entry.name, "about": entry.about })).collect::<Vec<_>>(),
        "objectives": objectives.map(|objective| objective.metric).collect::<Vec<_>>(),
        "objective_names": report.search.objective_names(),
        "larger_is_better": report.search.directions().iter().map(|d| *d == crate::Direction::Maximize).collect::<Vec<_>>(),
        "best": best,
        "trials": trials,
        "importances": importances(report.search, report.results),
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
