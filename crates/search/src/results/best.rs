//! The best trials: their order, and one line for all that have the same results.

use super::{Report, short};
use crate::objectives::TIE_BREAKERS;
use crate::{Objective, Scores, Source};
use report::Table;
use std::cmp::Ordering;
use study::{State, Trial, pareto};

/// Columns that a narrow terminal goes without first: they follow from others, or are rarely asked for.
const SPARE: &[&str] = &["memory_density", "flops"];

/// The best trials as a table.
pub struct BestTable {
    /// A line for every distinct result, the best in the first objective first.
    pub table: Table,
    /// Further trials with the same results, for every line.
    pub ties: Vec<usize>,
}

impl Report<'_> {
    /// The best trial, or the front when there are several objectives, among those that keep the budget; by number.
    pub fn best(&self) -> Vec<&Trial> {
        let history = &self.results.history;
        if self.search.config.goals.directions().len() > 1 {
            return pareto::front(history);
        }
        let best = self.equal_best().into_iter();
        best.min_by(|a, b| tie_order(a, b)).into_iter().collect()
    }

    /// All trials that have the best value of the only objective, among those that keep the budget.
    fn equal_best(&self) -> Vec<&Trial> {
        let best = self.results.history.best();
        let Some(best) = best.filter(|trial| trial.is_feasible()) else {
            return Vec::new();
        };
        let is_equal = |trial: &&Trial| {
            let outcome = &trial.outcome;
            outcome.state == State::Complete
                && trial.is_feasible()
                && outcome.values == best.outcome.values
        };
        let trials = self.results.history.trials().iter();
        trials.filter(is_equal).collect()
    }

    /// The best trials from the best value of the first objective on. Equal objectives are decided by what costs less.
    fn best_in_order(&self) -> Vec<&Trial> {
        let directions = self.search.config.goals.directions();
        let by_objectives = |a: &Trial, b: &Trial| {
            let pairs = a.outcome.values.iter().zip(&b.outcome.values);
            let mut orders = pairs
                .zip(&directions)
                .map(|((a, b), direction)| direction.loss(*a).total_cmp(&direction.loss(*b)));
            orders
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        let mut best = self.best();
        best.sort_by(|a, b| by_objectives(a, b).then_with(|| tie_order(a, b)));
        best
    }

    /// At most `max` of the best trials, spread evenly over them from the best value of the first objective on.
    pub fn best_spread(&self, max: usize) -> Vec<&Trial> {
        let best = self.best_in_order();
        let (count, kept) = (best.len(), best.len().min(max));
        let last = kept.saturating_sub(1).max(1);
        (0..kept).map(|k| best[k * (count - 1) / last]).collect()
    }

    /// The best trials, metrics in columns: the objectives first. Of those that look the same the first stands for all.
    pub fn best_table(&self) -> BestTable {
        let goals = &self.search.config.goals;
        let asked = goals.objectives.iter().map(|goal| goal.objective);
        let mut columns: Vec<Objective> = asked.collect();
        let others = goals.measured().map(|entry| entry.objective);
        let others: Vec<Objective> = others.filter(|own| !columns.contains(own)).collect();
        columns.extend(others);
        let sum = goals.sum.map(|_| goals.names().remove(0));
        let names = columns.iter().map(|objective| objective.name());
        let headings: Vec<&str> = ["number"]
            .into_iter()
            .chain(sum.as_deref())
            .chain(names)
            .collect();
        let cells = |trial: &Trial| -> Option<Vec<String>> {
            let scores = Scores::of(trial)?;
            let sum = sum.as_ref().map(|_| decimals(trial.outcome.values[0]));
            let metrics = columns.iter().map(|&objective| shown(objective, &scores));
            Some(sum.into_iter().chain(metrics).collect())
        };
        let mut table = Table::new(&headings).with_spare(SPARE);
        let mut ties = Vec::new();
        let equal = match goals.directions().len() {
            1 => self.equal_best(),
            _ => Vec::new(),
        };
        for trial in self.best_in_order().into_iter().chain(equal) {
            let Some(cells) = cells(trial) else {
                continue;
            };
            let number = trial.number.to_string();
            let is_known = |row: &Vec<String>| row[1..] == cells;
            match table.rows.iter().position(is_known) {
                Some(row) if table.rows[row][0] == number => {}
                Some(row) => ties[row] += 1,
                // Of a single objective the best stands alone.
                None if goals.directions().len() == 1 && !ties.is_empty() => {}
                None => {
                    table.push([number].into_iter().chain(cells));
                    ties.push(0);
                }
            }
        }
        BestTable { table, ties }
    }
}

/// The order of trials with equal objectives: by what they cost, then by number.
fn tie_order(a: &Trial, b: &Trial) -> Ordering {
    let costs = |trial: &Trial| {
        let scores = Scores::of(trial);
        TIE_BREAKERS.map(|metric| scores.as_ref().map_or(f64::INFINITY, |own| own[metric]))
    };
    let (left, right) = (costs(a), costs(b));
    let mut orders = left.iter().zip(&right).map(|(a, b)| a.total_cmp(b));
    let order = orders.find(|order| order.is_ne());
    order.unwrap_or_else(|| a.number.cmp(&b.number))
}

/// A metric in a column: those of answers with four digits.
fn shown(objective: Objective, scores: &Scores) -> String {
    let value = scores[objective];
    match objective.entry().source {
        _ if !value.is_finite() => "–".to_owned(),
        Source::Software => decimals(value),
        Source::Hardware | Source::Netlist => short(value),
    }
}

fn decimals(value: f64) -> String {
    format!("{value:.4}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Costs;
    use crate::{Measurement, OBJECTIVES};

    /// A network whose answers left the numbers.
    #[test]
    fn what_is_no_number_is_a_dash() {
        let scores = Scores::new(&Measurement {
            accuracy: 0.25,
            loss: f64::INFINITY,
            costs: Costs::default(),
            compare_to: 32.0,
        });
        assert_eq!(shown(Objective::Accuracy, &scores), "0.2500");
        assert_eq!(shown(Objective::Loss, &scores), "–");
        for entry in OBJECTIVES {
            let cell = shown(entry.objective, &scores);
            let is_number = cell.parse::<f64>().is_ok_and(f64::is_finite);
            assert_eq!(is_number, scores[entry.objective].is_finite(), "{cell}");
        }
    }
}
