//! What people and programs look at after a search: rows of trials, the best of them, importances, charts, a page.

mod importance;
mod page;

pub use importance::importances;
pub use page::page;

use crate::config::{Budget, Side};
use crate::metrics::{METRICS, Source};
use crate::runner::{Results, Search, TrialRecord, metrics};
use crate::{Direction, State, Trial, pareto};
use report::{Chart, Mark, Series, Table};
use serde_json::{Value as Json, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// The results of a search in all their forms.
pub struct Report<'a> {
    /// What was searched.
    pub search: &'a Search,
    /// What came of it.
    pub results: &'a Results,
}

impl Report<'_> {
    /// The best trial, or the front when there are several objectives, among those that keep the budget; by number.
    pub fn best(&self) -> Vec<&TrialRecord> {
        let history = &self.results.history;
        let trials: Vec<&Trial> = if self.search.directions().len() == 1 {
            let best = history.best().filter(|trial| trial.is_feasible());
            best.into_iter().collect()
        } else {
            pareto::front(history)
        };
        let is_best =
            |record: &&TrialRecord| trials.iter().any(|trial| trial.number == record.number);
        self.results.records.iter().filter(is_best).collect()
    }

    /// At most `most` of the best trials, spread evenly over them from the best value of the first objective on.
    pub fn best_spread(&self, most: usize) -> Vec<&TrialRecord> {
        let direction = self.search.directions()[0];
        let loss = |record: &TrialRecord| direction.loss(record.outcome.values[0]);
        let mut best = self.best();
        best.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
        let (count, kept) = (best.len(), best.len().min(most));
        let last = kept.saturating_sub(1).max(1);
        (0..kept).map(|k| best[k * (count - 1) / last]).collect()
    }

    /// The complete trial that violates the budget least, when none keeps it.
    pub fn nearest(&self) -> Option<&TrialRecord> {
        let history = &self.results.history;
        let nearest = history.best().filter(|trial| !trial.is_feasible())?;
        let mut records = self.results.records.iter();
        records.find(|record| record.number == nearest.number)
    }

    /// What the nearest trial has where it exceeds the budget: `average_bitwidth 2.5 (at most 2)`.
    pub fn excess(&self, record: &TrialRecord) -> String {
        let shown = |budget: &Budget| {
            let value = record.scores?.0[budget.metric];
            let side = match budget.side {
                Side::AtMost => "at most",
                Side::AtLeast => "at least",
            };
            let (name, limit) = (METRICS[budget.metric].name, budget.limit);
            (budget.excess(value) > 0.0)
                .then(|| format!("{name} {} ({side} {})", short(value), short(limit)))
        };
        let budgets = self.search.config.budgets.iter();
        budgets.filter_map(shown).collect::<Vec<_>>().join(", ")
    }

    /// `log.json`: a row for every trial.
    pub fn log(&self) -> Json {
        self.results
            .records
            .iter()
            .map(|record| self.row(record))
            .collect()
    }

    /// `best.json`: the rows of the best trials.
    pub fn best_json(&self) -> Json {
        self.best()
            .into_iter()
            .map(|record| self.row(record))
            .collect()
    }

    /// The row of one trial, as `log.json` has it.
    pub fn row(&self, record: &TrialRecord) -> Json {
        let part = |source: Source| record.scores.as_ref().map(|scores| metrics(scores, source));
        let seconds = record
            .finished
            .duration_since(record.started)
            .map_or(0.0, |time| time.as_secs_f64());
        json!({
            "number": record.number,
            "values": (record.outcome.state != State::Pruned).then_some(&record.outcome.values),
            "software_metrics": part(Source::Software),
            "hardware_metrics": part(Source::Hardware),
            "scaled_metrics": record.scores.as_ref().map(|scores| self.search.scaled(scores)),
            "violation": record.outcome.violation,
            "sampled_config": self.search.task.formats.sampled_config(&record.point),
            "state": state(record.outcome.state),
            "note": record.note,
            "time_begin": unix(record.started),
            "time_end": unix(record.finished),
            "duration": seconds,
        })
    }

    /// `trials.csv`: numbers, metrics and choices in columns.
    pub fn table(&self) -> Table {
        let space = &self.search.task.formats.space;
        let parameters = space.parameters();
        let names = ["number", "state"]
            .into_iter()
            .chain(METRICS.iter().map(|entry| entry.name));
        let mut table = Table::new(
            &names
                .chain(parameters.iter().map(|p| p.name.as_str()))
                .collect::<Vec<_>>(),
        );
        for record in &self.results.records {
            let mut cells = vec![
                record.number.to_string(),
                state(record.outcome.state).to_owned(),
            ];
            match &record.scores {
                Some(scores) => cells.extend(scores.0.into_iter().map(measured)),
                None => cells.extend(METRICS.iter().map(|_| String::new())),
            }
            cells.extend(
                (0..parameters.len()).map(|index| match record.point.get(index) {
                    Some(coordinate) => match space.value(index, coordinate) {
                        Json::String(text) => text,
                        other => other.to_string(),
                    },
                    None => String::new(),
                }),
            );
            table.push(cells);
        }
        table
    }

    /// The best trials as the original prints them.
    pub fn best_table(&self) -> Table {
        let mut table = Table::new(&[
            "number",
            "software_metrics",
            "hardware_metrics",
            "scaled_metrics",
        ]);
        for record in self.best() {
            let Some(scores) = &record.scores else {
                continue;
            };
            let shown = |pairs: Vec<(String, f64)>| {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(name, value)| format!("'{name}': {}", short(*value)))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            };
            let part = |source| {
                shown(
                    scores
                        .of(source)
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect(),
                )
            };
            let scaled = self
                .search
                .scaled(scores)
                .into_iter()
                .map(|(name, value)| (name, value.as_f64().unwrap_or(f64::NAN)));
            table.push([
                record.number.to_string(),
                part(Source::Software),
                part(Source::Hardware),
                shown(scaled.collect()),
            ]);
        }
        table
    }

    /// What a complete trial has of an objective, as its metric counts it: without the scale.
    pub fn objective(&self, record: &TrialRecord, index: usize) -> Option<f64> {
        let scale = match self.search.config.sum {
            Some(_) => 1.0,
            None => self.search.config.objectives[index].scale,
        };
        let is_complete = record.outcome.state == State::Complete;
        is_complete.then(|| record.outcome.values[index] / scale)
    }

    /// Which values of [`Report::objective`] are better.
    fn direction(&self, index: usize) -> Direction {
        let own = || self.search.config.objectives[index].metric_direction();
        self.search.config.sum.unwrap_or_else(own)
    }

    /// The first two objectives of all trials with the front, in steps if there are no others; of a single objective, its
    /// best value so far.
    pub fn chart(&self) -> Chart {
        let names = self.search.objective_names();
        if names.len() < 2 {
            return self.history_chart(&names[0]);
        }
        let place =
            |record: &TrialRecord| Some((self.objective(record, 1)?, self.objective(record, 0)?));
        let loss = |x: f64| self.direction(1).loss(x);
        let records = &self.results.records;
        let mut front: Vec<(f64, f64)> = self.best().into_iter().filter_map(place).collect();
        front.sort_by(|a, b| loss(a.0).total_cmp(&loss(b.0)));
        let mark = if names.len() == 2 {
            Mark::Steps
        } else {
            Mark::Points
        };
        Chart {
            title: format!("{} of {} trials on the front", front.len(), records.len()),
            x_label: names[1].clone(),
            y_label: names[0].clone(),
            log_x: false,
            series: vec![
                series(
                    "trials",
                    Mark::Dots,
                    records.iter().filter_map(place).collect(),
                ),
                series("front", mark, front),
            ],
        }
    }

    fn history_chart(&self, name: &str) -> Chart {
        let loss = |value: f64| self.direction(0).loss(value);
        let mut all: Vec<(f64, f64)> = Vec::new();
        let mut best: Vec<(f64, f64)> = Vec::new();
        for record in &self.results.records {
            let Some(value) = self.objective(record, 0) else {
                continue;
            };
            let place = (record.number as f64, value);
            all.push(place);
            let is_better = best.last().is_none_or(|last| loss(value) < loss(last.1));
            if is_better && record.outcome.violation.is_none_or(|by| by <= 0.0) {
                best.push(place);
            }
        }
        // The last value holds until the last trial.
        best.extend(
            best.last()
                .zip(all.last())
                .map(|(best, last)| (last.0, best.1)),
        );
        Chart {
            title: format!("{name} of {} trials", self.results.records.len()),
            x_label: "trial".to_owned(),
            y_label: name.to_owned(),
            log_x: false,
            series: vec![
                series("trials", Mark::Dots, all),
                series("best so far", Mark::Steps, best),
            ],
        }
    }
}

fn series(name: &str, mark: Mark, points: Vec<(f64, f64)>) -> Series {
    Series {
        name: name.to_owned(),
        mark,
        points,
    }
}

/// How a trial ended, as Optuna says it.
pub fn state(state: State) -> &'static str {
    match state {
        State::Complete => "COMPLETE",
        State::Pruned => "PRUNED",
        State::Failed => "FAIL",
    }
}

/// A metric as it stands in a column: nothing when there is no number.
fn measured(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        String::new()
    }
}

fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn unix(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}
