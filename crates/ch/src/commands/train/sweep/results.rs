//! The results of a sweep: one table for people, CSV, Markdown and JSON, and one chart.

use super::{Axis, Row};
use crate::commands::train::fit::ending;
use crate::output::Console;
use anyhow::{Context, Result};
use report::{Chart, Column, Series, Table};
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
    /// The table, the best run, and where the files are.
    pub fn text(&self, n_planned: usize, folder: &Path) -> String {
        let axis = |axis: &Axis| Column::numbers(axis.setting.key, axis.setting.about);
        let columns: Vec<Column> = self.axes.iter().map(axis).chain(COLUMNS.to_vec()).collect();
        let mut table = Table::with_columns(&columns);
        table.rows = self.rows.iter().map(Row::cells).collect();
        let stopped = if self.rows.len() < n_planned {
            format!("\nstopped: {} of {n_planned} runs\n", self.rows.len())
        } else {
            String::new()
        };
        format!(
            "\n{}{stopped}\n{}table and chart: {}/sweep.{{csv,md,svg}}\n",
            table.to_text(),
            self.best(),
            folder.display()
        )
    }

    fn best(&self) -> String {
        let finished = self.rows.iter().enumerate();
        let losses = finished.filter_map(|(i, row)| Some((i, row, row.val_loss?)));
        let Some((i, row, loss)) = losses.min_by(|a, b| a.2.total_cmp(&b.2)) else {
            return String::new();
        };
        let pairs = self.axes.iter().zip(&row.values);
        let names: Vec<String> = pairs
            .map(|(axis, value)| format!("{} {value}", axis.setting.key))
            .collect();
        format!(
            "best: {}: val_loss_epoch {loss:.4}, in run_{}\n",
            names.join(", "),
            i + 1
        )
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
            ("sweep.svg", self.chart().to_svg()),
        ] {
            let path = folder.join(name);
            interop::write_file(&path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
            console.debug(&format!("wrote {}", path.display()));
        }
        Ok(())
    }

    /// Validation loss over the first setting whose values are numbers, a line for every combination of the others.
    fn chart(&self) -> Chart {
        let numbers = |axis: &Axis| -> Option<Vec<f64>> {
            axis.values.iter().map(|value| value.parse().ok()).collect()
        };
        let x = self.axes.iter().position(|axis| numbers(axis).is_some());
        let x = x.unwrap_or(0);
        let values = numbers(&self.axes[x]).unwrap_or_default();
        let largest = values.iter().copied().fold(f64::MIN, f64::max);
        let smallest = values.iter().copied().fold(f64::MAX, f64::min);
        Chart {
            title: "Validation loss".to_owned(),
            x_label: self.axes[x].setting.key.to_owned(),
            y_label: "val_loss_epoch".to_owned(),
            log_x: smallest > 0.0 && largest / smallest > 20.0,
            series: self.series(x),
        }
    }

    fn series(&self, x: usize) -> Vec<Series> {
        let mut all: Vec<Series> = Vec::new();
        for row in self.rows {
            // Words stand side by side, in the order they were given.
            let place = self.axes[x].values.iter().position(|v| *v == row.values[x]);
            let at = row.values[x].parse();
            let at = at.unwrap_or(place.unwrap_or_default() as f64);
            let point = (at, row.val_loss.unwrap_or(f64::NAN));
            let name = self.series_name(x, row);
            match all.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => all.push(Series {
                    name,
                    points: vec![point],
                    ..Series::default()
                }),
            }
        }
        for series in &mut all {
            series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        all
    }

    fn series_name(&self, x: usize, row: &Row) -> String {
        let others = self.axes.iter().zip(&row.values).enumerate();
        let names: Vec<String> = others
            .filter(|(i, _)| *i != x)
            .map(|(_, (axis, value))| format!("{} {value}", axis.setting.key))
            .collect();
        if names.is_empty() {
            "val_loss_epoch".to_owned()
        } else {
            names.join(", ")
        }
    }
}
