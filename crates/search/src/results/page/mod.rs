//! One HTML file that shows a search without a network: the trials and their front, the history, the importances, the best.
//!
//! The file is put together from the markup, the looks and the program beside this one, and the data of [`data`]. A
//! content policy in the markup forbids the browser to load anything else.

mod data;

use super::Report;
use report::page::{escaped, fill};

const MARKUP: &str = include_str!("page.html");
const LOOKS: &str = include_str!("page.css");
/// The data model, the drawing, and the interaction.
const PROGRAM: &str = concat!(
    include_str!("study.js"),
    include_str!("chart.js"),
    include_str!("page.js")
);

/// The page of a search.
pub fn page(report: &Report, title: &str) -> String {
    // In JSON a `<` stands only in texts, where it may be written as a number; so no text can end the script element.
    let data = data::data(report).to_string().replace('<', "\\u003c");
    let title = escaped(title);
    fill(
        MARKUP,
        &[
            ("{title}", &title),
            ("{looks}", LOOKS),
            ("{data}", &data),
            ("{program}", PROGRAM),
        ],
    )
}
