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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coordinate;

    /// A trial of three units: which of them are changed, and the reading of the first objective and the violation.
    fn seen(options: [usize; 3], objective: f64, violation: f64) -> Seen {
        Seen {
            choices: options.map(|k| vec![Some(Coordinate::Choice(k))]).to_vec(),
            reading: vec![objective, violation],
        }
    }

    /// Two units changed alone, then together.
    fn evidence(objectives: [f64; 4], violations: [f64; 4]) -> Evidence {
        let [base, first, second, both] = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]];
        let single = vec![
            (0, seen(first, objectives[1], violations[1])),
            (1, seen(second, objectives[2], violations[2])),
        ];
        let joint = vec![seen(both, objectives[3], violations[3])];
        let base = seen(base, objectives[0], violations[0]);
        Evidence::of(base, single, joint, vec![8.0, 8.0])
    }

    fn scales(objectives: [f64; 4], violations: [f64; 4]) -> [Scale; 2] {
        let evidence = evidence(objectives, violations);
        let base = evidence.base.as_ref().unwrap();
        [0, 1].map(|index| Scale::of(&evidence, base, index))
    }

    #[test]
    fn what_adds_up_is_a_sum_or_a_density() {
        let none = [0.0; 4];
        assert_eq!(scales([1.0, 3.0, 2.0, 4.0], none)[0], Scale::Sum);
        // -1/x adds up: 1, 2, 4 and 5 are the sums, and a density is maximized, so that its loss is below zero.
        let density = [-1.0, -0.5, -0.25, -0.2];
        assert_eq!(scales(density, none)[0], Scale::Density);
        // Above zero it is none, whatever adds up.
        let loss = scales([1.0, 0.5, 0.25, 0.2], none)[0];
        let room = 1.1 * (8.0 - 1.0);
        assert_eq!(loss, Scale::Loss { start: 1.0, room });
        // A violation of a density is 1 - d, of which 1 / d is a sum: 2, 4, 8, 10.
        let violations = [0.5, 0.75, 0.875, 0.9];
        assert_eq!(scales([0.0; 4], violations)[1], Scale::DensityLimit);
        assert_eq!(scales([0.0; 4], [0.0, 2.0, 3.0, 5.0])[1], Scale::Sum);
        // Both would do: the density says 0, and of a sum below zero 0 is all there is to see, so that it goes first.
        assert_eq!(scales([0.0; 4], [-1.0, 0.2, -3.0, 0.0])[1], Scale::Sum);
        // No violation where one was expected says nothing; where none was expected it agrees.
        assert_eq!(scales([0.0; 4], [-1.0, -2.0, -3.0, 0.0])[1], Scale::Sum);
    }

    #[test]
    fn before_anything_was_seen_together_the_first_objective_is_a_loss() {
        let mut evidence = evidence([1.0, 3.0, 2.0, 4.0], [0.0; 4]);
        evidence.joint.clear();
        let base = evidence.base.as_ref().unwrap();
        let is_loss = |index| matches!(Scale::of(&evidence, base, index), Scale::Loss { .. });
        assert!(is_loss(0) && !is_loss(1));
    }

    #[test]
    fn scales_turn_and_are_defined_where_they_say() {
        assert_eq!(Scale::Sum.turn(3.0), 3.0);
        assert_eq!(Scale::Density.turn(-4.0), 0.25);
        assert_eq!(Scale::DensityLimit.turn(0.75), 3.0);
        let loss = Scale::loss(2.0, 12.0);
        let half = 2.0 + 11.0 * 0.5;
        assert!((loss.turn(half) - 2f64.ln()).abs() < 1e-12);
        assert_eq!(loss.turn(2.0), 0.0);
        assert_eq!(
            Scale::loss(2.0, 2.0),
            Scale::Loss {
                start: 2.0,
                room: 1.0
            }
        );
        let defined = |scale: Scale| [-1.0, 0.0, 0.5, 1.0, 2.0].map(|v| scale.is_defined(v));
        assert_eq!(defined(Scale::Sum), [true; 5]);
        assert_eq!(defined(loss), [true; 5]);
        assert_eq!(defined(Scale::Density), [true, false, false, false, false]);
        assert_eq!(
            defined(Scale::DensityLimit),
            [true, true, true, false, false]
        );
    }

    #[test]
    fn only_the_last_of_many_trials_count() {
        let joint: Vec<Seen> = (0..300).map(|k| seen([0; 3], f64::from(k), 0.0)).collect();
        let last = recent(&joint);
        assert_eq!((last.len(), last[0].reading[0]), (256, 44.0));
        assert_eq!(recent(&joint[..7]).len(), 7);
    }
}
