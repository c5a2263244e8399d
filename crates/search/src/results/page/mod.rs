//! The chapter on a search in the offline page: the trials and their front, the history, the importances, the best.
//!
//! Its markup, looks and program stand beside this file and use what the page of a network ([`report::page`]) has; what they
//! show is [`data`], the entry `search` of the page's data.

mod data;

pub use data::data;

use report::page::{Chapter, Place, table};
use serde_json::Value as Json;

/// The chapter.
pub const CHAPTER: Chapter = Chapter {
    entry: "search",
    place: Place::First,
    markup: include_str!("chapter.html"),
    looks: include_str!("chapter.css"),
    program: concat!(
        include_str!("study.js"),
        include_str!("trials.js"),
        include_str!("chapter.js")
    ),
    plain,
};

/// The best trials as a table, for browsers without JavaScript.
fn plain(data: &Json) -> String {
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let columns = list(&data["columns"]);
    let names = columns.iter().filter_map(|column| column["name"].as_str());
    let heads: Vec<&str> = std::iter::once("trial").chain(names).collect();
    // A column of one entry holds it for all trials.
    let entry = |values: &Json, trial: usize| match values.get(trial).unwrap_or(&values[0]) {
        Json::Null => String::new(),
        value => value.to_string(),
    };
    let best = list(&data["best"]).into_iter().filter_map(|at| at.as_u64());
    let rows = best.map(|at| {
        let trial = at as usize;
        let values = columns.iter().map(|column| entry(&column["values"], trial));
        std::iter::once(data["numbers"][trial].to_string())
            .chain(values)
            .collect()
    });
    let about = "<p>The best trials; trials.csv in the folder of the search has all of them.</p>\n";
    about.to_owned() + &table(&heads, rows)
}
