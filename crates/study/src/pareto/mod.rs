//! Several objectives at once: who dominates whom, how crowded a front is, how much it dominates.
//!
//! Everything here works on losses: less is better. What is not a number has no place here; a study makes such trials
//! failed ones.

mod crowding;
mod hypervolume;
mod running;
mod sort;
mod subset;

use std::collections::HashSet;

pub use crowding::crowding;
pub use hypervolume::hypervolume;
pub use running::{Fronts, RunningFront};
pub use sort::{constrained_ranks, ranks};
pub use subset::largest_subset;

use crate::{History, State, Trial};

/// True when `a` is nowhere worse than `b` and somewhere better.
pub fn dominates(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b) && a != b
}

/// The trials that no other dominates, among those that are complete and feasible, in the order of their numbers.
///
/// Different points with the same values are all in the front; a point that was tried twice is there once, with its
/// first number.
pub fn front(history: &History) -> Vec<&Trial> {
    let candidates: Vec<&Trial> = history
        .trials()
        .iter()
        .filter(|trial| trial.outcome.state == State::Complete && trial.is_feasible())
        .collect();
    let losses: Vec<Vec<f64>> = candidates.iter().map(|t| history.losses(t)).collect();
    let mut seen = HashSet::new();
    let ranked = candidates.into_iter().zip(ranks(&losses));
    ranked
        .filter(|(trial, rank)| *rank == 0 && seen.insert(&trial.point))
        .map(|(trial, _)| trial)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coordinate, Direction, Outcome, Point};

    #[test]
    fn the_front_keeps_ties_and_drops_repetitions() {
        let mut history = History::new(vec![Direction::Minimize, Direction::Maximize]);
        let trials = [
            (0, [1.0, 1.0], None, State::Complete),
            (1, [2.0, 2.0], None, State::Complete),
            (2, [2.0, 2.0], None, State::Complete),
            (1, [2.0, 2.0], None, State::Complete),
            (3, [2.0, 1.5], None, State::Complete),
            (4, [0.0, 9.0], Some(0.1), State::Complete),
            (5, [0.0, 9.0], None, State::Pruned),
            (6, [0.5, 0.5], Some(-1.0), State::Complete),
        ];
        for (number, (choice, values, violation, state)) in trials.into_iter().enumerate() {
            let outcome = Outcome {
                values: values.to_vec(),
                violation,
                state,
            };
            let point = Point::new(vec![Some(Coordinate::Choice(choice))]);
            history.push(Trial::new(number as u64, point, outcome));
        }
        let numbers: Vec<u64> = front(&history).iter().map(|trial| trial.number).collect();
        assert_eq!(numbers, [0, 1, 2, 7]);
    }
}
