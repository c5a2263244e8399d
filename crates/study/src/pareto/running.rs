//! The front of the first trials of a history, kept up as the history grows.

use super::dominates;
use crate::{History, State};
use std::sync::Arc;

/// The trials below a horizon that no other below it dominates; complete and feasible ones only.
#[derive(Clone, Debug, Default)]
pub struct RunningFront {
    horizon: u64,
    members: Vec<(u64, Vec<f64>)>,
}

impl RunningFront {
    /// Takes in the trials up to `horizon`, which is not before the last one; whether the front changed.
    pub fn reach(&mut self, horizon: u64, history: &History) -> bool {
        let mut has_changed = false;
        for trial in history.before(horizon).iter().skip(self.horizon as usize) {
            if trial.outcome.state != State::Complete || !trial.is_feasible() {
                continue;
            }
            let losses = history.losses(trial);
            if !self
                .members
                .iter()
                .any(|(_, other)| dominates(other, &losses))
            {
                self.members.retain(|(_, other)| !dominates(&losses, other));
                self.members.push((trial.number, losses));
                has_changed = true;
            }
        }
        self.horizon = self.horizon.max(horizon);
        has_changed
    }

    /// Numbers and losses of the front, oldest first.
    pub fn members(&self) -> &[(u64, Vec<f64>)] {
        &self.members
    }
}

/// Losses of fronts, by horizon.
#[derive(Debug, Default)]
pub struct Fronts {
    running: RunningFront,
    losses: Arc<Vec<Vec<f64>>>,
}

impl Fronts {
    /// The losses of the front of all trials below a horizon, oldest first. Horizons mostly grow; the front of an earlier
    /// one, of a trial that was taken over from another worker, is made anew.
    pub fn below(&mut self, horizon: u64, history: &History) -> Arc<Vec<Vec<f64>>> {
        if horizon < self.running.horizon {
            return Self::default().below(horizon, history);
        }
        if self.running.reach(horizon, history) {
            let members = self.running.members.iter();
            self.losses = Arc::new(members.map(|(_, losses)| losses.clone()).collect());
        }
        Arc::clone(&self.losses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Outcome, Point, Trial};

    #[test]
    fn a_front_is_that_of_the_trials_below_its_horizon() {
        let mut history = History::new(vec![Direction::Minimize; 2]);
        for number in 0..40_u32 {
            let value = f64::from(number * 7 % 11) - f64::from(number) / 10.0;
            let outcome = Outcome::complete(vec![value, f64::from(number * 5 % 13)]);
            history.push(Trial::new(number.into(), Point::new(Vec::new()), outcome));
        }
        let mut fronts = Fronts::default();
        for horizon in [0, 3, 20, 4, 40, 3, 20] {
            let mut anew = RunningFront::default();
            anew.reach(horizon, &history);
            let members = anew.members().iter();
            let expected: Vec<Vec<f64>> = members.map(|(_, losses)| losses.clone()).collect();
            assert_eq!(*fronts.below(horizon, &history), expected, "{horizon}");
        }
    }
}
