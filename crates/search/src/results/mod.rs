//! Results of a search: rows of trials, the best of them, importances, charts, a page, files.

mod best;
mod files;
mod importance;
mod page;

pub use best::BestTable;
pub use files::{BestGraph, MAX_GRAPHS};
pub use importance::importances;
pub use page::{CHAPTER, data as page_data};

use crate::attributes::metrics;
use crate::{Budget, Objective, Results, Scores, Search, Side, Source, TrialError};
use report::{Chart, Mark, Series, Table};
use serde_json::{Value as Json, json};
use std::time::{SystemTime, UNIX_EPOCH};
use study::{Direction, State, Trial};

/// The name of the level that the float network reaches.
const FLOAT: &str = "float network";

/// The results of a search in all their forms.
pub struct Report<'a> {
    /// The search.
    pub search: &'a Search,
    /// Its outcome.
    pub results: &'a Results,
    /// The scores of the float network, to compare trials with.
    pub float_scores: Option<Scores>,
}

impl<'a> Report<'a> {
    /// The report of a search that has ended.
    pub fn new(search: &'a Search, results: &'a Results) -> Self {
        Self {
            search,
            results,
            float_scores: None,
        }
    }

    /// The same beside the float network, if the trials change one.
    pub fn beside_float(search: &'a Search, results: &'a Results) -> Result<Self, TrialError> {
        Ok(Self {
            float_scores: search.float_scores()?,
            ..Self::new(search, results)
        })
    }
}

impl Report<'_> {
    /// The complete trial that violates the budget least, when none keeps it.
    pub fn nearest(&self) -> Option<&Trial> {
        let best = self.results.history.best();
        best.filter(|trial| !trial.is_feasible())
    }

    /// The objectives in which a trial exceeds the budget: `average_bitwidth 2.5 (at most 2)`.
    pub fn excess(&self, trial: &Trial) -> String {
        let shown = |budget: &Budget| {
            let value = Scores::of(trial)?[budget.objective];
            let side = match budget.side {
                Side::AtMost => "at most",
                Side::AtLeast => "at least",
            };
            let (name, limit) = (budget.objective.name(), budget.limit);
            (budget.excess(value) > 0.0)
                .then(|| format!("{name} {} ({side} {})", short(value), short(limit)))
        };
        let budgets = self.search.config.goals.budgets.iter();
        budgets.filter_map(shown).collect::<Vec<_>>().join(", ")
    }

    /// `log.json`: a row for every trial.
    pub fn log(&self) -> Json {
        let trials = self.results.history.trials().iter();
        trials.map(|trial| self.row(trial)).collect()
    }

    /// `best.json`: the rows of the best trials.
    pub fn best_json(&self) -> Json {
        self.best()
            .into_iter()
            .map(|trial| self.row(trial))
            .collect()
    }

    /// The row of one trial, as `log.json` has it.
    pub fn row(&self, trial: &Trial) -> Json {
        let scores = Scores::of(trial);
        let part = |source: Source| scores.as_ref().map(|scores| metrics(scores, source));
        let seconds = trial
            .finished
            .duration_since(trial.started)
            .map_or(0.0, |time| time.as_secs_f64());
        json!({
            "number": trial.number,
            "values": (trial.outcome.state != State::Pruned).then_some(&trial.outcome.values),
            "software_metrics": part(Source::Software),
            "hardware_metrics": part(Source::Hardware),
            "scaled_metrics": scores.as_ref().map(|scores| self.search.config.goals.scaled(scores)),
            "violation": trial.outcome.violation,
            "sampled_config": self.search.space.sampled_config(&trial.point),
            "state": trial.outcome.state.name(),
            "note": trial.note,
            "time_begin": unix(trial.started),
            "time_end": unix(trial.finished),
            "duration": seconds,
        })
    }

    /// `trials.csv`: numbers, metrics and choices in columns.
    pub fn table(&self) -> Table {
        let space = &self.search.space.study_space();
        let parameters = space.parameters();
        let columns = || self.search.config.goals.measured();
        let names = ["number", "state"]
            .into_iter()
            .chain(self.search.config.goals.measured().map(|entry| entry.name));
        let mut table = Table::new(
            &names
                .chain(parameters.iter().map(|p| p.name.as_str()))
                .collect::<Vec<_>>(),
        );
        for trial in self.results.history.trials() {
            let mut cells = vec![
                trial.number.to_string(),
                trial.outcome.state.name().to_owned(),
            ];
            match Scores::of(trial) {
                Some(scores) => {
                    cells.extend(columns().map(|entry| measured(scores[entry.objective])));
                }
                None => cells.extend(columns().map(|_| String::new())),
            }
            cells.extend(
                (0..parameters.len()).map(|index| match trial.point.get(index) {
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

    /// The value of an objective of a complete trial, without its scale.
    pub fn objective(&self, trial: &Trial, index: usize) -> Option<f64> {
        let scale = match self.search.config.goals.sum {
            Some(_) => 1.0,
            None => self.search.config.goals.objectives[index].scale,
        };
        let is_complete = trial.outcome.state == State::Complete;
        is_complete.then(|| trial.outcome.values[index] / scale)
    }

    /// The better side of [`Report::objective`].
    fn direction(&self, index: usize) -> Direction {
        let own = || self.search.config.goals.objectives[index].unscaled_direction();
        self.search.config.goals.sum.unwrap_or_else(own)
    }

    /// The first two objectives of all trials with the front, in steps if there are no others; of a single objective, its
    /// best value so far.
    pub fn chart(&self) -> Chart {
        let names = self.search.config.goals.names();
        if names.len() < 2 {
            return self.history_chart(&names[0]);
        }
        let place = |trial: &Trial| Some((self.objective(trial, 1)?, self.objective(trial, 0)?));
        let loss = |x: f64| self.direction(1).loss(x);
        let trials = self.results.history.trials();
        let mut front: Vec<(f64, f64)> = self.best().into_iter().filter_map(place).collect();
        front.sort_by(|a, b| loss(a.0).total_cmp(&loss(b.0)));
        let mark = if names.len() == 2 {
            Mark::Steps
        } else {
            Mark::Points
        };
        Chart {
            title: format!("{} of {} trials on the front", front.len(), trials.len()),
            x_label: names[1].clone(),
            y_label: names[0].clone(),
            series: vec![
                series(
                    "trials",
                    Mark::Dots,
                    trials.iter().filter_map(place).collect(),
                ),
                series("front", mark, front),
            ],
            levels: self.levels(),
            ..Chart::default()
        }
    }

    /// The float network's answers, where the vertical axis shows them. Its costs would lie far above all others.
    fn levels(&self) -> Vec<(String, f64)> {
        let goals = &self.search.config.goals;
        let first = goals.objectives.first().map(|goal| goal.objective);
        let answers = |objective: &Objective| objective.entry().source == Source::Software;
        let first = first.filter(|objective| goals.sum.is_none() && answers(objective));
        let level = first.zip(self.float_scores.as_ref());
        let level = level.map(|(objective, scores)| (FLOAT.to_owned(), scores[objective]));
        level.into_iter().collect()
    }

    fn history_chart(&self, name: &str) -> Chart {
        let loss = |value: f64| self.direction(0).loss(value);
        let mut all: Vec<(f64, f64)> = Vec::new();
        let mut best: Vec<(f64, f64)> = Vec::new();
        for trial in self.results.history.trials() {
            let Some(value) = self.objective(trial, 0) else {
                continue;
            };
            let place = (trial.number as f64, value);
            all.push(place);
            let is_better = best.last().is_none_or(|last| loss(value) < loss(last.1));
            if is_better && trial.outcome.violation.is_none_or(|by| by <= 0.0) {
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
            title: format!("{name} of {} trials", self.results.history.trials().len()),
            x_label: "trial".to_owned(),
            y_label: name.to_owned(),
            series: vec![
                series("trials", Mark::Dots, all),
                series("best so far", Mark::Steps, best),
            ],
            levels: self.levels(),
            ..Chart::default()
        }
    }
}

fn series(name: &str, mark: Mark, points: Vec<(f64, f64)>) -> Series {
    Series {
        name: name.to_owned(),
        mark,
        points,
        ..Series::default()
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn numbers_are_shown_with_up_to_three_decimals() {
        for (value, shown) in [
            (2.0, "2"),
            (100.0, "100"),
            (2.5, "2.5"),
            (1.23456, "1.235"),
            (-0.25, "-0.25"),
            (0.0, "0"),
        ] {
            assert_eq!(short(value), shown);
        }
        assert_eq!(measured(0.1234567), "0.1234567");
        assert_eq!(measured(f64::NAN) + &measured(f64::INFINITY), "");
    }

    #[test]
    fn times_are_seconds_of_the_epoch() {
        let half = Duration::from_millis(500);
        assert_eq!(unix(UNIX_EPOCH + half), 0.5);
        assert_eq!(unix(UNIX_EPOCH - half), 0.0);
    }
}
