//! Trials as the model sees them: the base, what changes one unit of it, what changes several, what failed.

use super::units::{Choice, Unit};
use crate::{History, Point, State, Trial};
use std::collections::HashSet;

/// The trials before a horizon, sorted.
#[derive(Default)]
pub(super) struct Evidence {
    horizon: u64,
    /// The first that worked.
    pub base: Option<Seen>,
    /// Those that differ from the base in one unit, with the unit.
    pub single: Vec<(usize, Seen)>,
    /// Those that differ in several.
    pub joint: Vec<Seen>,
    /// By reading, the worst.
    pub worst: Vec<f64>,
    failed: Vec<Vec<Choice>>,
    /// By unit, the options of trials that worked.
    working: Vec<HashSet<Choice>>,
}

/// A trial that worked.
pub(super) struct Seen {
    /// By unit, its option.
    pub choices: Vec<Choice>,
    /// Its losses and, if there are budgets, by how much it violates them.
    pub reading: Vec<f64>,
}

impl Evidence {
    /// Evidence as it would be after trials of these kinds.
    #[cfg(test)]
    pub fn of(base: Seen, single: Vec<(usize, Seen)>, joint: Vec<Seen>, worst: Vec<f64>) -> Self {
        Self {
            base: Some(base),
            single,
            joint,
            worst,
            ..Self::default()
        }
    }

    /// Takes in the trials up to `horizon`, which is not before the last one.
    pub fn reach(&mut self, units: &[Unit], history: &History, horizon: u64) {
        self.working.resize_with(units.len(), HashSet::new);
        for trial in history.before(horizon).iter().skip(self.horizon as usize) {
            let choices = choices(units, &trial.point);
            if is_usable(trial) {
                self.take(choices, reading(history, trial));
            } else if trial.outcome.state == State::Failed {
                self.failed.push(choices);
            }
        }
        self.horizon = horizon;
    }

    /// Options that fail: each the only one of a failed trial that was never part of one that worked.
    pub fn failing(&self) -> impl Iterator<Item = (usize, &Choice)> {
        self.failed.iter().filter_map(|choices| {
            let is_new = |unit: &usize| !self.working[*unit].contains(&choices[*unit]);
            let mut new = (0..choices.len()).filter(is_new);
            let unit = new.next()?;
            new.next().is_none().then(|| (unit, &choices[unit]))
        })
    }

    fn take(&mut self, choices: Vec<Choice>, reading: Vec<f64>) {
        for (working, choice) in self.working.iter_mut().zip(&choices) {
            working.insert(choice.clone());
        }
        self.worst.resize(reading.len(), f64::NEG_INFINITY);
        for (worst, value) in self.worst.iter_mut().zip(&reading) {
            *worst = worst.max(*value);
        }
        let seen = Seen { choices, reading };
        let Some(base) = &self.base else {
            self.base = Some(seen);
            return;
        };
        match changed(&base.choices, &seen.choices)[..] {
            [] => {}
            [unit] => self.single.push((unit, seen)),
            _ => self.joint.push(seen),
        }
    }
}

/// True when a trial measures its point.
pub(super) fn is_usable(trial: &Trial) -> bool {
    trial.outcome.state == State::Complete
        && trial.outcome.values.iter().all(|value| value.is_finite())
}

/// The reading of a trial: its losses, then its violation; none where there is no budget is the same as none.
pub(super) fn reading(history: &History, trial: &Trial) -> Vec<f64> {
    let mut reading = history.losses(trial);
    let violation = trial.outcome.violation.unwrap_or(0.0);
    reading.push(if violation.is_finite() {
        violation
    } else {
        1e9
    });
    reading
}

/// By unit, what a point chooses.
pub(super) fn choices(units: &[Unit], point: &Point) -> Vec<Choice> {
    units.iter().map(|unit| unit.choice(point)).collect()
}

/// The units in which choices differ.
pub(super) fn changed(before: &[Choice], after: &[Choice]) -> Vec<usize> {
    let differs = |unit: &usize| before[*unit] != after[*unit];
    (0..before.len()).filter(differs).collect()
}
