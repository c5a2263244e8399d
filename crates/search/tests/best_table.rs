//! The table of the best trials: its order, and trials with the same results.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixtures;

use fixtures::{network, run, search, strategy};
use search::results::Report;
use search::{Objective, Scores};
use std::collections::BTreeSet;
use study::State;

const TRIALS: &str = "[strategy.setup]\nn_trials = 600\n";

/// A space in which the bias has two formats that differ only far behind the digits that are shown.
fn with_ties(metrics: &str) -> String {
    let text = strategy(metrics, TRIALS);
    let widths = "data_in_width = [2, 3, 4, 8]\nweight_width = [2, 3, 4, 8]\nbias_width = [4, 8]";
    let few = "data_in_width = [4, 8]\nweight_width = [2, 8]\nbias_width = [32]\nbias_frac_width = [20, 22]";
    assert!(text.contains(widths));
    text.replace(widths, few)
}

#[test]
fn every_result_of_a_front_has_one_line_in_the_order_of_the_first_objective() {
    let metrics = "accuracy = {}\naverage_bitwidth = {}";
    let search = search(&with_ties(metrics), network(), 64);
    let results = run(&search, None);
    let report = Report::new(&search, &results);
    let best = report.best_table();
    assert_eq!(
        best.table.headings[..4],
        ["number", "accuracy", "average_bitwidth", "loss"]
    );
    let lines: BTreeSet<&[String]> = best.table.rows.iter().map(|row| &row[1..]).collect();
    assert_eq!(
        lines.len(),
        best.table.rows.len(),
        "every line is another result"
    );
    let counted: usize = best.ties.iter().map(|more| 1 + more).sum();
    assert_eq!(counted, report.best().len(), "every trial is counted once");
    assert!(best.ties.iter().any(|&more| more > 0), "{:?}", best.ties);
    let accuracy = |row: &Vec<String>| row[1].parse::<f64>().unwrap();
    assert!(
        best.table
            .rows
            .is_sorted_by(|a, b| accuracy(a) >= accuracy(b))
    );
    let first = report.best_spread(1)[0].number.to_string();
    assert_eq!(
        first, best.table.rows[0][0],
        "the graph to use is that of the first line"
    );
}

/// Of all trials with the best value, the one that costs the fewest bit operations, then the fewest bytes.
#[test]
fn equal_values_of_one_objective_are_decided_by_the_costs() {
    let search = search(&with_ties("average_bitwidth = {}"), network(), 64);
    let results = run(&search, None);
    let report = Report::new(&search, &results);
    let best = report.best();
    let costs = |trial: &study::Trial| {
        let scores = Scores::of(trial).unwrap();
        [Objective::Bitops, Objective::ModelSize].map(|metric| scores[metric])
    };
    let trials = results.history.trials().iter();
    let complete = trials.filter(|trial| trial.outcome.state == State::Complete);
    let equal: Vec<_> = complete
        .filter(|trial| trial.outcome.values == best[0].outcome.values)
        .collect();
    assert!(equal.len() > 10, "{} trials are equal", equal.len());
    for trial in equal {
        assert!(costs(best[0]) <= costs(trial), "trial {}", trial.number);
    }
    let table = report.best_table();
    assert_eq!(table.table.rows.len(), 1);
    assert!(table.ties[0] < results.history.trials().len());
}
