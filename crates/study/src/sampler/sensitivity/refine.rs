//! Neighbors of good trials: one unit changed, or two against each other, the most promising of a few by the model.

use super::evidence::choices;
use super::model::Model;
use super::units::{Choice, Unit};
use crate::{History, Point, Space, Trial};
use random::Draws;

/// Numbers of neighbors that are compared: few to look around, many to follow the model.
const COMPARED: [usize; 3] = [2, 12, 48];
/// Difference of violations that means nothing.
const SLACK: f64 = 1e-9;

/// The context in which neighbors are compared.
pub(super) struct Neighborhood<'a> {
    pub space: &'a Space,
    pub units: &'a [Unit],
    pub model: &'a Model,
    pub history: &'a History,
    /// The trials whose neighbors are looked at, the best first.
    pub parents: &'a [usize],
}

impl Neighborhood<'_> {
    /// A neighbor for which `is_new` holds, if a few tries find one.
    pub fn draw(
        &self,
        draws: &mut Draws,
        is_new: impl Fn(&[Choice]) -> bool,
    ) -> Option<Vec<Choice>> {
        let compared = COMPARED[draws.below(COMPARED.len())];
        let weights = self.weights(draws);
        let mut best: Option<(f64, Vec<Choice>)> = None;
        for _ in 0..compared {
            let parent = self.parent(draws)?;
            let before = choices(self.units, &parent.point);
            let moved = self.moved(&before, draws);
            let moved = point(self.units, &moved, self.space.len());
            let after = choices(self.units, &self.space.possible(moved));
            if after == before || !is_new(&after) {
                continue;
            }
            let score = self.score(parent, &before, &after, &weights);
            if best.as_ref().is_none_or(|(known, _)| score < *known) {
                best = Some((score, after));
            }
        }
        best.map(|(_, choices)| choices)
    }

    /// One of the parents; of one objective, rather a good one.
    fn parent(&self, draws: &mut Draws) -> Option<&Trial> {
        let share = draws.uniform();
        let is_ranked = self.history.directions().len() == 1;
        let share = if is_ranked { share * share } else { share };
        let place = (share * self.parents.len() as f64) as usize;
        self.history.trials().get(*self.parents.get(place)?)
    }

    /// Weights of the objectives: random shares of their ranges.
    fn weights(&self, draws: &mut Draws) -> Vec<f64> {
        let share = |index| -(1.0 - draws.uniform()).ln() / self.model.range(index);
        (0..self.history.directions().len()).map(share).collect()
    }

    fn moved(&self, before: &[Choice], draws: &mut Draws) -> Vec<Choice> {
        let mut after = before.to_vec();
        let is_up = draws.below(2) == 1;
        let first = draws.below(self.units.len());
        after[first] = self.changed(first, &before[first], is_up, draws);
        let is_swap = self.units.len() > 1 && draws.below(2) == 1;
        if is_swap {
            let second = (first + 1 + draws.below(self.units.len() - 1)) % self.units.len();
            after[second] = self.changed(second, &before[second], !is_up, draws);
        }
        after
    }

    /// Another option of a unit, or a step of one of its numbers.
    fn changed(&self, unit: usize, choice: &Choice, is_up: bool, draws: &mut Draws) -> Choice {
        let own = &self.units[unit];
        let is_step = draws.below(2) == 1;
        let parameter = draws.below(choice.len());
        let stepped = is_step
            .then(|| own.stepped(choice, parameter, is_up))
            .flatten();
        let changed =
            stepped.unwrap_or_else(|| own.options[draws.below(own.options.len())].clone());
        if self.model.is_failing(unit, &changed) {
            return choice.clone();
        }
        changed
    }

    /// The expectation of the model, less being better: anything that keeps the budgets before anything that does not, and what
    /// nothing is known of in between.
    fn score(&self, parent: &Trial, before: &[Choice], after: &[Choice], weights: &[f64]) -> f64 {
        let mut change = vec![0.0; self.model.start.len()];
        for unit in (0..self.units.len()).filter(|&unit| before[unit] != after[unit]) {
            let of = |choice| self.model.change(self.units, unit, choice);
            let (Some(old), Some(new)) = (of(&before[unit]), of(&after[unit])) else {
                return 1e100;
            };
            for ((change, new), old) in change.iter_mut().zip(new).zip(old) {
                *change += new - old;
            }
        }
        let reading = self.model.reading(self.history, parent);
        let violation = self.burden(&reading, before) + change[change.len() - 1];
        if violation > SLACK {
            return 1e200 * (1.0 + violation);
        }
        let losses = weights.iter().zip(&change).zip(&reading);
        losses
            .map(|((weight, change), loss)| weight * (change + loss))
            .sum()
    }

    /// The violation of a parent; below zero by as much as the model says where there is none.
    fn burden(&self, reading: &[f64], choices: &[Choice]) -> f64 {
        let last = reading.len() - 1;
        if reading[last] != 0.0 {
            return reading[last];
        }
        let mut burden = self.model.start[last];
        for (unit, choice) in choices.iter().enumerate() {
            match self.model.change(self.units, unit, choice) {
                Some(change) => burden += change[last],
                None => return 0.0,
            }
        }
        burden.min(0.0)
    }
}

/// The point with these choices.
pub(super) fn point(units: &[Unit], choices: &[Choice], parameters: usize) -> Point {
    let mut coordinates = vec![None; parameters];
    for (unit, choice) in units.iter().zip(choices) {
        for (&parameter, &coordinate) in unit.parameters.iter().zip(choice) {
            coordinates[parameter] = coordinate;
        }
    }
    Point::new(coordinates)
}
