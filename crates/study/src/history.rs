//! Finished trials in the order of their numbers: all that a sampler may look at.

use crate::{State, Trial};

/// The better side of an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Small ones.
    Minimize,
    /// Large ones.
    Maximize,
}

impl Direction {
    /// The value turned so that less is better.
    pub fn loss(self, value: f64) -> f64 {
        match self {
            Self::Minimize => value,
            Self::Maximize => -value,
        }
    }
}

/// The finished trials 0, 1, 2, … without a gap.
#[derive(Clone, Debug)]
pub struct History {
    directions: Vec<Direction>,
    trials: Vec<Trial>,
}

impl History {
    /// No trials yet.
    pub fn new(directions: Vec<Direction>) -> Self {
        Self {
            directions,
            trials: Vec::new(),
        }
    }

    /// One direction for each objective.
    pub fn directions(&self) -> &[Direction] {
        &self.directions
    }

    /// All trials; number `n` is at index `n`.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The trials with numbers below `horizon`, or all when there are fewer.
    pub fn before(&self, horizon: u64) -> &[Trial] {
        &self.trials[..self.trials.len().min(horizon as usize)]
    }

    /// The number of trials.
    pub fn len(&self) -> usize {
        self.trials.len()
    }

    /// True before the first trial has finished.
    pub fn is_empty(&self) -> bool {
        self.trials.is_empty()
    }

    /// The values of a trial turned so that less is better.
    pub fn losses(&self, trial: &Trial) -> Vec<f64> {
        let pairs = self.directions.iter().zip(&trial.outcome.values);
        pairs
            .map(|(direction, value)| direction.loss(*value))
            .collect()
    }

    /// The best complete trial of a single objective: feasible before infeasible, then by value, then by number.
    pub fn best(&self) -> Option<&Trial> {
        let complete = self
            .trials
            .iter()
            .filter(|trial| trial.outcome.state == State::Complete);
        let key = |trial: &&Trial| {
            (
                trial.excess(),
                self.directions[0].loss(trial.outcome.values[0]),
            )
        };
        complete.min_by(|a, b| {
            let ((excess_a, loss_a), (excess_b, loss_b)) = (key(a), key(b));
            excess_a
                .total_cmp(&excess_b)
                .then(loss_a.total_cmp(&loss_b))
        })
    }

    /// Adds the next trial; its number is the number of trials so far.
    pub(crate) fn push(&mut self, trial: Trial) {
        debug_assert_eq!(trial.number, self.trials.len() as u64);
        self.trials.push(trial);
    }
}
