//! The front of the first trials.

use crate::{History, State, pareto};
use std::sync::Arc;

/// The front of the first trials, kept up as the horizon moves.
#[derive(Default)]
pub(super) struct Front {
    horizon: u64,
    losses: Arc<Vec<Vec<f64>>>,
}

impl Front {
    /// Losses of the front of all trials below `horizon`, which never moves back.
    pub fn reach(&mut self, horizon: u64, history: &History) -> Arc<Vec<Vec<f64>>> {
        let known = self.horizon as usize;
        for trial in history.before(horizon).iter().skip(known) {
            if trial.state != State::Complete || !trial.is_feasible() {
                continue;
            }
            let losses = history.losses(trial);
            if !self
                .losses
                .iter()
                .any(|other| pareto::dominates(other, &losses))
            {
                let front = Arc::make_mut(&mut self.losses);
                front.retain(|other| !pareto::dominates(&losses, other));
                front.push(losses);
            }
        }
        self.horizon = self.horizon.max(horizon);
        Arc::clone(&self.losses)
    }
}
