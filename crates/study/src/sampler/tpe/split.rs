//! The split of trials into good ones and the rest.

use crate::{History, State, Trial, pareto};

/// The most good trials of a single objective.
const MAX_GOOD: usize = 25;

/// Indices into the history, ascending.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) good: Vec<usize>,
    pub(super) rest: Vec<usize>,
}

/// Splits the trials before `horizon`, without the failed ones.
pub(super) fn split(history: &History, horizon: u64) -> Split {
    let trials = history.before(horizon);
    let with = |state| -> Vec<usize> {
        let wanted = move |n: &usize| trials[*n].outcome.state == state && trials[*n].is_feasible();
        (0..trials.len()).filter(wanted).collect()
    };
    let infeasible =
        |n: &usize| trials[*n].outcome.state != State::Failed && !trials[*n].is_feasible();
    let (complete, pruned) = (with(State::Complete), with(State::Pruned));
    let violating: Vec<usize> = (0..trials.len()).filter(infeasible).collect();

    let usable = complete.len() + pruned.len() + violating.len();
    let several = history.directions().len() > 1;
    let tenth = usable.div_ceil(10);
    let wanted = if several { tenth } else { tenth.min(MAX_GOOD) };
    let mut good = best_complete(history, complete, wanted);
    good.extend(smallest(pruned, wanted - good.len(), |n| {
        first_loss(history, &trials[n])
    }));
    good.extend(smallest(violating, wanted - good.len(), |n| {
        trials[n].excess()
    }));
    good.sort_unstable();
    let is_rest =
        |n: &usize| trials[*n].outcome.state != State::Failed && good.binary_search(n).is_err();
    let rest = (0..trials.len()).filter(is_rest).collect();
    Split { good, rest }
}

/// The first loss; infinite for a trial that was pruned before its first report.
fn first_loss(history: &History, trial: &Trial) -> f64 {
    let value = trial.outcome.values.first();
    value.map_or(f64::INFINITY, |value| history.directions()[0].loss(*value))
}

/// The `count` items with the least keys; of equal ones, the earlier.
fn smallest(mut items: Vec<usize>, count: usize, key: impl Fn(usize) -> f64) -> Vec<usize> {
    items.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
    items.truncate(count);
    items
}

fn best_complete(history: &History, complete: Vec<usize>, count: usize) -> Vec<usize> {
    if complete.len() <= count {
        return complete;
    }
    if history.directions().len() == 1 {
        return smallest(complete, count, |n| {
            first_loss(history, &history.trials()[n])
        });
    }
    best_fronts(history, &complete, count)
}

/// Whole fronts while they fit, then those of the next with the largest common hypervolume.
fn best_fronts(history: &History, complete: &[usize], count: usize) -> Vec<usize> {
    let losses: Vec<Vec<f64>> = complete
        .iter()
        .map(|&n| history.losses(&history.trials()[n]))
        .collect();
    let ranks = pareto::ranks(&losses);
    let mut good = Vec::new();
    for rank in 0.. {
        let front: Vec<usize> = (0..complete.len())
            .filter(|&at| ranks[at] == rank)
            .collect();
        let room = count - good.len();
        if front.len() >= room {
            let of_front: Vec<Vec<f64>> = front.iter().map(|&at| losses[at].clone()).collect();
            let chosen = pareto::largest_subset(&of_front, room, &reference(&of_front));
            good.extend(chosen.into_iter().map(|at| complete[front[at]]));
            break;
        }
        good.extend(front.into_iter().map(|at| complete[at]));
    }
    good
}

/// A point a tenth worse than the worst of each objective.
fn reference(front: &[Vec<f64>]) -> Vec<f64> {
    let worst = |axis: usize| {
        front
            .iter()
            .map(|item| item[axis])
            .fold(f64::NEG_INFINITY, f64::max)
    };
    (0..front[0].len())
        .map(|axis| match worst(axis) {
            0.0 => 1e-12,
            worst => (1.1 * worst).max(0.9 * worst),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Outcome, Point};

    #[test]
    fn complete_before_pruned_before_violating() {
        let mut history = History::new(vec![Direction::Maximize]);
        let mut add = |value: f64, violation: Option<f64>, state: State| {
            let outcome = Outcome {
                values: vec![value],
                violation,
                state,
            };
            let number = history.len() as u64;
            history.push(Trial::new(number, Point::new(Vec::new()), outcome));
        };
        for k in 0..26 {
            add(f64::from(k), Some(1.0 + f64::from(k)), State::Complete);
        }
        add(1.0, None, State::Failed);
        add(1.0, None, State::Pruned);
        add(2.0, None, State::Complete);
        // 28 usable trials, of which 3 are good: the complete one, the pruned one, the least violation.
        let Split { good, rest } = split(&history, 29);
        assert_eq!(good, [0, 27, 28]);
        assert_eq!(rest.len(), 25);
        assert_eq!(split(&history, 26).good, [0, 1, 2]);
    }

    #[test]
    fn of_many_trials_a_tenth_is_good_and_of_one_objective_a_few() {
        let good = |objectives: usize| {
            let mut history = History::new(vec![Direction::Minimize; objectives]);
            for k in 0..300 {
                let outcome = Outcome::complete(vec![f64::from(300 - k); objectives]);
                history.push(Trial::new(k as u64, Point::new(Vec::new()), outcome));
            }
            split(&history, 300).good
        };
        assert_eq!(good(1), (275..300).collect::<Vec<_>>());
        assert_eq!(good(2), (270..300).collect::<Vec<_>>());
    }

    #[test]
    fn fronts_are_thinned_by_hypervolume() {
        let mut history = History::new(vec![Direction::Minimize; 2]);
        for k in 0..30_i32 {
            let outcome = Outcome::complete(vec![f64::from(k), f64::from(29 - k)]);
            history.push(Trial::new(k as u64, Point::new(Vec::new()), outcome));
        }
        let good = split(&history, 30).good;
        assert_eq!(good.len(), 3);
        assert!(good[0] < 12 && good[1] > 8 && good[2] > 17, "{good:?}");
    }
}
