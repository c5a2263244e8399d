//! `[search.strategy.metrics]` and the budgets beside it: what is searched for.

use crate::goals::{Budget, Goal, Side};
use crate::objectives::{OBJECTIVES, Objective};
use config::{Key, Reader, Sort, Value, did_you_mean, not_here};
use study::Direction;

pub(super) const DIRECTIONS: &[(&str, Direction)] = &[
    ("maximize", Direction::Maximize),
    ("minimize", Direction::Minimize),
];
/// The objectives, and true when the table says anything.
pub(super) fn read_metrics(reader: &mut Reader) -> (Vec<Goal>, bool) {
    let mut objectives = Vec::new();
    let entries = reader.rest();
    let has_entries = !entries.is_empty();
    for (key, item) in entries {
        let Some(objective) = known_objective(reader, key, &key.name) else {
            continue;
        };
        let goal = reader.inner(&key.name, item, |metric_reader| {
            metric_reader.ignore(&["lower_bound", "upper_bound"]);
            Goal {
                objective,
                scale: metric_reader.number("scale", -1e12..=1e12).unwrap_or(1.0),
                direction: metric_reader
                    .choice("direction", DIRECTIONS)
                    .unwrap_or(objective.entry().direction),
            }
        });
        objectives.extend(goal);
    }
    leave_out_unscaled(reader, &mut objectives);
    (objectives, has_entries)
}

/// Leaves out metrics whose scale is 0, with a note; a search for nothing else is a problem.
fn leave_out_unscaled(reader: &mut Reader, objectives: &mut Vec<Goal>) {
    if objectives.iter().all(|goal| goal.scale == 0.0) {
        if let Some(goal) = objectives.first() {
            let name = goal.objective.name();
            let message = format!("{name}: scale is 0, so nothing would be searched for");
            reader.problem(reader.span(), message);
        }
        return;
    }
    objectives.retain(|goal| {
        let name = goal.objective.name();
        let counts = goal.scale != 0.0;
        if !counts {
            reader.note_without_effect(&[name], ": its scale is 0");
        }
        counts
    });
}

/// `max_average_bitwidth`, `max_bitops`, `min_accuracy` and so on: `max_` or `min_` before any metric.
pub(super) fn read_budgets(reader: &mut Reader) -> Vec<Budget> {
    let mut budgets = Vec::new();
    for (key, item) in reader.rest() {
        let sides = [("max_", Side::AtMost), ("min_", Side::AtLeast)];
        let Some((name, side)) = sides
            .iter()
            .find_map(|(word, side)| Some((key.name.strip_prefix(word)?, *side)))
        else {
            reader.problem(
                key.span.clone(),
                format!(
                    "unknown key '{}'; a budget is max_METRIC or min_METRIC",
                    key.name
                ),
            );
            continue;
        };
        let Some(objective) = known_objective(reader, key, name) else {
            continue;
        };
        match item.value {
            Value::Int(limit) => budgets.push(Budget {
                objective,
                side,
                limit: limit as f64,
            }),
            Value::Float(limit) if limit.is_finite() => budgets.push(Budget {
                objective,
                side,
                limit,
            }),
            ref other => reader.problem(
                item.span.clone(),
                format!("{}: {other} is not a number", key.name),
            ),
        }
    }
    budgets
}

fn known_objective(reader: &mut Reader, key: &Key, name: &str) -> Option<Objective> {
    let found = Objective::find(name);
    if found.is_none() {
        let names = OBJECTIVES.iter().map(|entry| entry.name);
        let close = did_you_mean(name, names.clone());
        let known: Vec<&str> = names.collect();
        let message = not_here(Sort::Metric, name).unwrap_or_else(|| {
            let known = known.join(", ");
            format!("unknown metric '{name}'; known metrics: {known}{close}")
        });
        reader.problem(key.span.clone(), message);
    }
    found
}
