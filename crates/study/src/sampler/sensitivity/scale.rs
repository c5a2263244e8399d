//! Transformations of readings under which the changes of units add up.

use super::evidence::{Evidence, Seen, changed};
use super::units::Choice;
use std::collections::HashMap;

/// The transformation of one reading. Order and, of a violation, sign stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// Not at all: it is a sum over the nodes.
    Sum,
    /// 1 / x is a sum: a density.
    Density,
    /// As above, of the violation of a least density.
    DensityLimit,
    /// Errors act together, and nothing is worse than guessing: the logarithm of what is left until then is nearly a sum.
    Loss {
        /// That of the base.
        start: f64,
        /// The distance that is left there until the worst.
        room: f64,
    },
}

/// Difference of sums, as a share, that means nothing.
const TOLERANCE: f64 = 1e-6;

impl Scale {
    /// The scale of a reading that the evidence speaks for.
    pub fn of(evidence: &Evidence, base: &Seen, index: usize) -> Self {
        let is_violation = index + 1 == base.reading.len();
        let density = if is_violation {
            Self::DensityLimit
        } else {
            Self::Density
        };
        // Before anything was seen together, the first objective is what suffers from errors.
        let is_guess = index == 0 && evidence.joint.is_empty();
        let mut sums = [Self::Sum, density].into_iter();
        let found = sums.find(|scale| scale.adds_up(evidence, base, index, is_violation));
        if is_violation {
            return found.unwrap_or(Self::Sum);
        }
        let loss = Self::loss(base.reading[index], evidence.worst[index]);
        found.filter(|_| !is_guess).unwrap_or(loss)
    }

    /// A reading, turned.
    pub fn turn(&self, value: f64) -> f64 {
        match self {
            Self::Sum => value,
            Self::Density => -1.0 / value,
            Self::DensityLimit => 1.0 / (1.0 - value) - 1.0,
            Self::Loss { start, room } => -(1.0 - (value - start) / room).ln(),
        }
    }

    fn loss(start: f64, worst: f64) -> Self {
        let width = worst - start;
        let room = if width > 0.0 { 1.1 * width } else { 1.0 };
        Self::Loss { start, room }
    }

    fn is_defined(&self, value: f64) -> bool {
        match self {
            Self::Density => value < 0.0,
            Self::DensityLimit => value < 1.0,
            Self::Sum | Self::Loss { .. } => true,
        }
    }

    /// True when trials that change several units give the sum of what changing each alone does.
    fn adds_up(&self, evidence: &Evidence, base: &Seen, index: usize, is_violation: bool) -> bool {
        let (single, joint) = (&evidence.single, recent(&evidence.joint));
        let seen = single
            .iter()
            .map(|(_, seen)| seen)
            .chain(joint)
            .chain([base]);
        if !seen
            .into_iter()
            .all(|seen| self.is_defined(seen.reading[index]))
        {
            return false;
        }
        let at = |seen: &Seen| self.turn(seen.reading[index]);
        let start = at(base);
        let mut changes: Vec<HashMap<&Choice, f64>> = vec![HashMap::new(); base.choices.len()];
        for (unit, seen) in single {
            changes[*unit].insert(&seen.choices[*unit], at(seen) - start);
        }
        joint.iter().all(|seen| {
            let units = changed(&base.choices, &seen.choices).into_iter();
            let change = |unit: usize| changes[unit].get(&seen.choices[unit]).copied();
            let Some(sum) = units.map(change).sum::<Option<f64>>() else {
                return true;
            };
            let (expected, got) = (start + sum, at(seen));
            // What keeps a budget may do so by far.
            let is_hidden = is_violation && got == 0.0 && expected <= 0.0;
            is_hidden || (expected - got).abs() <= TOLERANCE * (start.abs() + got.abs())
        })
    }
}

/// The last trials of many.
pub(super) fn recent(joint: &[Seen]) -> &[Seen] {
    const RECENT: usize = 256;
    &joint[joint.len().saturating_sub(RECENT)..]
}
