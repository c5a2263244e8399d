//! Statistics against NumPy, and laws over their table.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod configs;
mod golden;
mod laws;

use config::{Reader, Table};
use passes::statistics::Statistic;

/// A statistic from its config in TOML, or the first problem.
fn read(name: &str, text: &str) -> Result<Statistic, String> {
    let table = Table::parse(text).map_err(|problem| problem.message)?;
    let mut reader = Reader::new(&table, 0..text.len());
    let statistic = Statistic::read(name, &mut reader, &table);
    match reader.finish().into_iter().next() {
        Some(problem) => Err(problem.message),
        None => statistic.ok_or_else(|| format!("unknown statistic '{name}'")),
    }
}
