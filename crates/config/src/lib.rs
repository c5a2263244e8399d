//! Config files: TOML with places, read key by key, with every problem at once.
//!
//! A [`Table`] keeps the order and the spans of the file. A [`Reader`] hands out its keys one by one and collects what is
//! wrong; keys that nobody asked for are unknown. `"NA"` means that a key is not given. [`describe`] shows problems at
//! their places, and [`did_you_mean`] finds the nearest names for a misspelled one. What is accepted and changes nothing
//! becomes a note. [`MISSING`] lists what the original has and this program does not.
//!
//! ```
//! let text = "batch_size = 0\nlerning_rate = 0.1\n";
//! let table = config::Table::parse(text).unwrap();
//! let mut reader = config::Reader::new(&table, 0..0);
//! let batch_size = reader.count("batch_size");
//! let learning_rate = reader.number("learning_rate", 0.0..=1.0);
//! assert_eq!((batch_size, learning_rate), (None, None));
//! let shown = config::describe("a.toml", text, &reader.finish());
//! assert!(shown.contains("a.toml:1:14: batch_size: 0 is below 1"));
//! assert!(shown.contains("a.toml:2:1: unknown key 'lerning_rate'; did you mean 'learning_rate'?"));
//! ```
#![forbid(unsafe_code)]

mod names;
mod nearest;
mod original;
mod problem;
mod reader;
mod table;

pub use names::{is_same_name, plain_name};
pub use nearest::{did_you_mean, hint, nearest};
pub use original::{MISSING, Missing, Sort, not_here};
pub use problem::{Problem, Span, describe};
pub use reader::Reader;
pub use table::{Item, Key, Table, Value};
