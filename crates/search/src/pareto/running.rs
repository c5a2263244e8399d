//! The front of the first trials of a history, kept up as the history grows.

use super::dominates;
use crate::{History, State};

/// The trials below a horizon that no other below it dominates; complete and feasible ones only.
#[derive(Clone, Debug, Default)]
pub struct RunningFront {
    horizon: u64,
    members: Vec<(u64, Vec<f64>)>,
}

impl RunningFront {
    /// Takes in the trials up to `horizon`; whether the front changed. The horizon never moves back.
    pub fn reach(&mut self, horizon: u64, history: &History) -> bool {
        let mut has_changed = false;
        for trial in history.before(horizon).iter().skip(self.horizon as usize) {
            if trial.state != State::Complete || !trial.is_feasible() {
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
