//! Results for people and other programs: tables as text, CSV, Markdown and JSON, charts as SVG, drawings
//! of graphs in layers, traces for the viewers of Chrome's format.
//!
//! ```
//! let mut table = report::Table::new(&["Node name", "FLOPs"]);
//! table.push(["fc", "640"]);
//! assert_eq!(table.to_csv(), "Node name,FLOPs\nfc,640\n");
//! assert_eq!(table.to_text(), "Node name  FLOPs\n---------  -----\nfc           640\n");
//! ```
#![forbid(unsafe_code)]

mod chart;
mod column;
mod escape;
pub mod layered;
mod layout;
pub mod page;
mod table;
mod trace;

pub use chart::{Chart, Heatmap, Mark, Scale, Series};
pub use column::{Align, Column};
pub use escape::{escape, escape_line, is_command};
pub use layout::Layout;
pub use table::Table;
pub use trace::{Slice, Trace};
