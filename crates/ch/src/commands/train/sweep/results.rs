//! The results of a sweep: one table for people, CSV, Markdown and JSON, and one chart.

use super::chart::chart;
use super::summary::{Spread, Summary};
use super::{Axis, Row, SEED};
use crate::commands::train::fit::ending;
use crate::output::{Console, Role, Stream, fit};
use anyhow::{Context, Result};
use report::{Column, Table};
use serde_json::{Map, Value as Json, json};
use std::path::Path;

/// The measured columns, right of the settings that were varied.
pub const COLUMNS: &[Column] = &[
    Column::numbers(
        "train_loss",
        "the mean loss over the training batches of the last epoch",
    ),
    Column::numbers(
        "val_loss_epoch",
        "the lowest mean loss on the validation rows, over the epochs",
    ),
    Column::numbers(
        "test_loss_epoch",
        "the mean loss of the best checkpoint on the test rows",
    ),
    Column::numbers(
        "test_acc_epoch",
        "the share of test rows that the best checkpoint gets right",
    ),
    Column::numbers("Steps", "updates of the weights"),
    Column::numbers("Seconds", "how long the training took"),
    Column::words("Ending", "done, stopped by Ctrl-C, or diverged"),
];

/// The column of a table of means, right of those that are means.
pub const SUMMARY_COLUMNS: &[Column] = &[Column::numbers(
    "Runs",
    "runs that differ in their seed alone",
)];

/// Columns that a narrow terminal goes without first.
const SPARE: &[&str] = &[
    "Ending",
    "Seconds",
    "Steps",
    "train_loss",
    "test_loss_epoch",
];

/// Every run of a sweep.
pub struct Results<'a> {
    pub axes: &'a [Axis],
    pub rows: &'a [Row],
}

impl Row {
    /// The line that is printed when this run is done.
    pub fn line(&self) -> String {
        let values = self.values.join(", ");
        let loss = decimals(self.val_loss);
        format!("{values}: val_loss_epoch {loss}, {}", ending(self.ending))
    }

    fn cells(&self) -> Vec<String> {
        let measured = [
            decimals(self.train_loss),
            decimals(self.val_loss),
            decimals(self.test.map(|test| test.0)),
            decimals(self.test.map(|test| test.1)),
            self.steps.to_string(),
            format!("{:.2}", self.seconds),
            ending(self.ending).to_owned(),
        ];
        self.values.iter().cloned().chain(measured).collect()
    }
}

fn decimals(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"))
}

impl Results<'_> {
    /// The table, the best run, and where the files are. Runs that differ in their seed alone are one line.
    pub fn text(&self, n_planned: usize, folder: &Path) -> String {
        let table = if self.has_seeds() {
            self.summary_table()
        } else {
            self.run_table()
        };
        let stopped = if self.rows.len() < n_planned {
            format!("\nstopped: {} of {n_planned} runs\n", self.rows.len())
        } else {
            String::new()
        };
        let every_run = if self.has_seeds() {
            "every run: "
        } else {
            "table and chart: "
        };
        format!(
            "\n{}{stopped}\n{}{every_run}{}/sweep.{{csv,md,svg}}\n",
            self.painted(&table, &folder.join("sweep.csv")),
            self.best(),
            folder.display()
        )
    }

    /// The table within the width of the terminal, its best row painted.
    fn painted(&self, table: &Table, whole: &Path) -> String {
        let losses = self.summaries().into_iter().enumerate();
        let losses = losses.filter_map(|(row, summary)| Some((row, summary.val_loss?.mean)));
        let best = losses.min_by(|a, b| a.1.total_cmp(&b.1));
        let best = best.filter(|_| table.rows.len() > 1).map(|best| best.0);
        let whole = whole.display().to_string();
        fit::decorated_table(table, Stream::Out, &whole, |row, line| {
            if Some(row) == best {
                Stream::Out.paint(Role::Best, &line)
            } else {
                line
            }
        })
    }

    /// True when several seeds were tried.
    fn has_seeds(&self) -> bool {
        let is_seeds = |axis: &Axis| axis.setting.key == SEED && axis.values.len() > 1;
        self.axes.iter().any(is_seeds)
    }

    fn columns<'a>(&self, measured: impl IntoIterator<Item = &'a Column>) -> Vec<Column> {
        let is_shown = |axis: &&Axis| !self.has_seeds() || axis.setting.key != SEED;
        let axes = self.axes.iter().filter(is_shown);
        let axis = |axis: &Axis| Column::numbers(axis.setting.key, axis.setting.about);
        axes.map(axis)
            .chain(measured.into_iter().copied())
            .collect()
    }

    fn run_table(&self) -> Table {
        let mut table = Table::with_columns(&self.columns(COLUMNS));
        table.rows = self.rows.iter().map(Row::cells).collect();
        table.with_spare(SPARE)
    }

    /// Mean and deviation over the seeds.
    fn summary_table(&self) -> Table {
        let measured = COLUMNS.iter().take(4).chain(SUMMARY_COLUMNS);
        let mut table = Table::with_columns(&self.columns(measured));
        for summary in self.summaries() {
            let values = self.axes.iter().zip(&summary.values);
            let values = values.filter(|(axis, _)| axis.setting.key != SEED);
            let shown = |spread: Option<Spread>| {
                spread.map_or_else(|| "–".to_owned(), |spread| spread.to_string())
            };
            let Summary {
                runs,
                train_loss,
                val_loss,
                test_loss,
                test_acc,
                ..
            } = summary;
            let measured = [train_loss, val_loss, test_loss, test_acc].map(shown);
            let measured = measured.into_iter().chain([runs.to_string()]);
            table.push(values.map(|(_, value)| value.clone()).chain(measured));
        }
        table.with_spare(SPARE)
    }

    /// The combination with the lowest validation loss, over all its seeds.
    fn best(&self) -> String {
        let losses = self
            .summaries()
            .into_iter()
            .filter_map(|summary| Some((summary.val_loss?, summary)));
        let Some((loss, summary)) = losses.min_by(|a, b| a.0.mean.total_cmp(&b.0.mean)) else {
            return String::new();
        };
        let pairs = self.axes.iter().zip(&summary.values);
        let pairs = pairs.filter(|(axis, _)| !self.has_seeds() || axis.setting.key != SEED);
        let names: Vec<String> = pairs
            .map(|(axis, value)| format!("{} {value}", axis.setting.key))
            .collect();
        let run = self
            .rows
            .iter()
            .position(|row| row.values == summary.values);
        let place = if self.has_seeds() {
            format!("over {} seeds", summary.runs)
        } else {
            format!("in run_{}", run.unwrap_or_default() + 1)
        };
        let names = if names.is_empty() {
            String::new()
        } else {
            format!("{}: ", names.join(", "))
        };
        format!("best: {names}val_loss_epoch {loss}, {place}\n")
    }

    /// A row for every run, for tools.
    pub fn facts(&self) -> Json {
        let row = |row: &Row| {
            let mut map = Map::new();
            for (axis, value) in self.axes.iter().zip(&row.values) {
                map.insert(axis.setting.key.to_owned(), json!(value));
            }
            map.insert("train_loss".to_owned(), json!(row.train_loss));
            map.insert("val_loss_epoch".to_owned(), json!(row.val_loss));
            map.insert("test_loss_epoch".to_owned(), json!(row.test.map(|t| t.0)));
            map.insert("test_acc_epoch".to_owned(), json!(row.test.map(|t| t.1)));
            map.insert("steps".to_owned(), json!(row.steps));
            map.insert("seconds".to_owned(), json!(row.seconds));
            map.insert("ending".to_owned(), json!(ending(row.ending)));
            Json::Object(map)
        };
        self.rows.iter().map(row).collect()
    }

    /// Writes `sweep.csv`, `sweep.md` and `sweep.svg`.
    pub fn write(&self, folder: &Path, console: &mut Console) -> Result<()> {
        let keys = self.axes.iter().map(|axis| axis.setting.key.to_owned());
        let measured = COLUMNS.iter().map(|column| column.heading.to_lowercase());
        let headings: Vec<String> = keys.chain(measured).collect();
        let mut table = Table::new(&headings);
        table.rows = self.rows.iter().map(Row::cells).collect();
        for (name, text) in [
            ("sweep.csv", table.to_csv()),
            ("sweep.md", table.to_markdown()),
            ("sweep.svg", chart(self).to_svg()),
        ] {
            let path = folder.join(name);
            interop::write_file(&path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
            console.debug(&format!("wrote {}", path.display()));
        }
        Ok(())
    }
}
