//! Results for people and other programs: tables as CSV and Markdown, charts as SVG.
#![forbid(unsafe_code)]

mod chart;
mod column;
mod table;

pub use chart::{Chart, Mark, Series};
pub use column::{Align, Column};
pub use table::Table;
