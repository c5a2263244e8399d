//! One trial: a point and what came of it.

use crate::Point;
use std::time::{SystemTime, UNIX_EPOCH};

/// A finished trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its place in the study, from 0.
    pub number: u64,
    /// The point that was tried.
    pub point: Point,
    /// The values of the objectives, and the end it took.
    pub outcome: Outcome,
    /// Everything that was measured, objectives or not, in an order that the caller fixes; empty when nothing was.
    pub metrics: Vec<f64>,
    /// The reason of a failure.
    pub note: Option<String>,
    /// Time of its beginning.
    pub started: SystemTime,
    /// Time of its end.
    pub finished: SystemTime,
}

/// The result of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One value for each objective; a trial that is not complete may have none.
    pub values: Vec<f64>,
    /// Distance from satisfying the constraints: the sum of what exceeds them; at most 0, or nothing, if it does.
    pub violation: Option<f64>,
    /// The end it took.
    pub state: State,
}

/// The end of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It was evaluated.
    Complete,
    /// It was given up early; its values, if it has any, are those of the last report.
    Pruned,
    /// It has no result.
    Failed,
}

impl State {
    /// Optuna's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "COMPLETE",
            Self::Pruned => "PRUNED",
            Self::Failed => "FAIL",
        }
    }
}

impl Outcome {
    /// A trial that was evaluated and has no constraints.
    pub fn complete(values: Vec<f64>) -> Self {
        Self {
            values,
            violation: None,
            state: State::Complete,
        }
    }

    /// A trial without a result.
    pub fn failed() -> Self {
        Self {
            values: Vec::new(),
            violation: None,
            state: State::Failed,
        }
    }

    /// True when the number of values is one that a study with so many objectives takes.
    pub(crate) fn fits(&self, objectives: usize) -> bool {
        let may_be_empty = self.state != State::Complete;
        self.values.len() == objectives || (may_be_empty && self.values.is_empty())
    }
}

impl Trial {
    /// A trial of which nothing is known but its result.
    pub fn new(number: u64, point: Point, outcome: Outcome) -> Self {
        Self {
            number,
            point,
            outcome,
            metrics: Vec::new(),
            note: None,
            started: UNIX_EPOCH,
            finished: UNIX_EPOCH,
        }
    }

    /// True when all constraints are satisfied.
    pub fn is_feasible(&self) -> bool {
        self.excess() <= 0.0
    }

    /// The violation, 0 if there is none; what is not a number is the worst.
    pub(crate) fn excess(&self) -> f64 {
        match self.outcome.violation {
            Some(violation) if violation.is_nan() => f64::INFINITY,
            Some(violation) => violation.max(0.0),
            None => 0.0,
        }
    }

    /// Marks the trial as failed, for a reason.
    pub fn mark_failed(&mut self, note: String) {
        self.outcome = Outcome::failed();
        self.note = Some(note);
    }

    /// Marks a trial of another program as failed when its result does not count here: values are missing, because what is
    /// not a number is stored as nothing, or the number of values is another one.
    pub fn normalize(&mut self, objectives: usize) {
        let count = self.outcome.values.len();
        if !self.outcome.fits(objectives) {
            self.mark_failed(format!(
                "it is stored with {count} values for {objectives} objectives"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(values: &[f64], state: State) -> Trial {
        let outcome = Outcome {
            values: values.to_vec(),
            violation: Some(0.5),
            state,
        };
        Trial::new(3, Point::new(Vec::new()), outcome)
    }

    #[test]
    fn a_result_with_another_number_of_values_is_a_failure() {
        for (values, state) in [
            (&[0.1][..], State::Complete),
            (&[], State::Complete),
            (&[0.1], State::Pruned),
            (&[0.1, 0.2, 0.3], State::Pruned),
            (&[0.1], State::Failed),
        ] {
            let mut failed = trial(values, state);
            failed.normalize(2);
            assert_eq!(failed.outcome, Outcome::failed(), "{values:?} {state:?}");
            let count = values.len();
            let note = format!("it is stored with {count} values for 2 objectives");
            assert_eq!(failed.note, Some(note));
        }
        for (values, state) in [
            (&[0.1, 0.2][..], State::Complete),
            (&[0.1, 0.2], State::Pruned),
            (&[], State::Pruned),
            (&[], State::Failed),
        ] {
            let mut kept = trial(values, state);
            kept.normalize(2);
            assert_eq!(kept, trial(values, state));
        }
    }

    #[test]
    fn a_violation_that_is_no_number_is_the_worst() {
        for (violation, excess) in [
            (None, 0.0),
            (Some(-2.0), 0.0),
            (Some(0.0), 0.0),
            (Some(0.25), 0.25),
            (Some(f64::NAN), f64::INFINITY),
        ] {
            let mut trial = trial(&[1.0], State::Complete);
            trial.outcome.violation = violation;
            assert_eq!(trial.excess(), excess);
            assert_eq!(trial.is_feasible(), excess == 0.0, "{violation:?}");
        }
    }
}
