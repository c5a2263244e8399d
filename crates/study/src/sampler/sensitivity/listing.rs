//! The options of a unit that are measured, in order.

use super::units::{Axis, Choice, Unit, cost};
use crate::{Coordinate, Parameter, Point, Space};
use random::Draws;
use std::collections::HashSet;

/// Families of options, one for each combination of what is not a number, of which the widest and the cheapest are listed.
const MAX_FAMILIES: u128 = 16;

/// Options in order, each once and possible, up to a number.
pub(super) struct Listing<'a> {
    whole: &'a Space,
    unit: &'a Unit,
    max: usize,
    options: Vec<Choice>,
    seen: HashSet<Choice>,
}

impl<'a> Listing<'a> {
    /// No options yet; `whole` is the space that the unit is a part of.
    pub fn new(whole: &'a Space, unit: &'a Unit, max: usize) -> Self {
        Self {
            whole,
            unit,
            max,
            options: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// First the widest of all and the cheapest of all, then the same of every family, then one number changed while the
    /// others are wide, then whatever lies evenly between. The first result is the widest of every family.
    pub fn fill(mut self, mut draws: Draws) -> (Vec<Choice>, Vec<Choice>) {
        let families = families(self.unit);
        let all_of = |number: fn(&Axis) -> Coordinate| -> Vec<Choice> {
            let choices = families.iter().map(|f| filled(self.unit, f, number));
            choices.map(|choice| self.possible(choice)).collect()
        };
        let (wide, narrow) = (all_of(Axis::widest), all_of(Axis::cheapest));
        let max = self.max;
        let size = self.unit.space.size().unwrap_or(u128::MAX);
        if size > max as u128 {
            // Some room is for what lies between.
            self.max = max - max / 4;
        }
        self.add_by_width(&wide, &narrow);
        for share in [0.0, 0.5, 0.25, 0.75] {
            let varied = wide
                .iter()
                .flat_map(|choice| varied(self.unit, choice, share));
            for choice in varied {
                self.add(choice);
            }
        }
        self.max = max;
        if size <= max as u128 {
            self.add_all(size as u64);
        } else {
            self.spread(&mut draws);
        }
        (wide, self.options)
    }

    fn add(&mut self, choice: Choice) {
        let choice = self.possible(choice);
        if self.options.len() < self.max && self.seen.insert(choice.clone()) {
            self.options.push(choice);
        }
    }

    /// The choice itself, or the nearest that the whole space has.
    fn possible(&self, choice: Choice) -> Choice {
        let mut coordinates = vec![None; self.whole.len()];
        for (&parameter, coordinate) in self.unit.parameters.iter().zip(&choice) {
            coordinates[parameter] = *coordinate;
        }
        let parameters = &self.unit.parameters;
        if self.whole.is_possible_for(parameters, &coordinates) {
            return choice;
        }
        let nearest = self.whole.possible(Point::new(coordinates));
        self.unit.choice(&nearest)
    }

    /// Adds the widest of all, the cheapest of all, then the others.
    fn add_by_width(&mut self, wide: &[Choice], narrow: &[Choice]) {
        let width = |choice: &Choice| cost(&self.unit.space, choice);
        let mut by_width: Vec<&Choice> = wide.iter().chain(narrow).collect();
        by_width.sort_by(|a, b| width(b).total_cmp(&width(a)));
        let ends = [by_width[0], by_width[by_width.len() - 1]];
        for choice in ends.into_iter().chain(by_width) {
            self.add(choice.clone());
        }
    }

    fn add_all(&mut self, size: u64) {
        let mut indices: Vec<u64> = (0..size).collect();
        indices.sort_by(|a, b| radical_inverse(*a).total_cmp(&radical_inverse(*b)));
        for index in indices {
            if let Some(point) = self.unit.space.nth(index.into()) {
                self.add(point.coordinates().to_vec());
            }
        }
    }

    /// Adds options that lie evenly in all parameters at once: multiples of powers of a number that is far from any
    /// fraction, modulo 1.
    fn spread(&mut self, draws: &mut Draws) {
        let count = self.unit.parameters.len();
        let steps = spread_steps(count);
        let starts: Vec<f64> = (0..count).map(|_| draws.uniform()).collect();
        for index in 1..=16 * self.max {
            let place = |k: usize| (starts[k] + index as f64 * steps[k]).fract();
            let space = &self.unit.space;
            let point = space.build(|k, distribution| distribution.at(place(k)));
            self.add(point.coordinates().to_vec());
        }
    }
}

/// The inverse powers of the number g with g^(count + 1) = g + 1.
fn spread_steps(count: usize) -> Vec<f64> {
    let mut root = 1.5_f64;
    for _ in 0..64 {
        root = (1.0 + root).powf(1.0 / (count as f64 + 1.0));
    }
    (1..=count).map(|k| root.powf(-(k as f64))).collect()
}

/// Every combination of what is not a number, or some of them evenly.
fn families(unit: &Unit) -> Vec<Vec<(String, Coordinate)>> {
    let words: Vec<Parameter> = unit
        .space
        .parameters()
        .iter()
        .zip(&unit.axes)
        .filter(|(_, axis)| axis.is_none())
        .map(|(parameter, _)| parameter.clone())
        .collect();
    let space = Space::new(words).expect("what conditions hang on is not a number");
    let size = space.size().unwrap_or(1);
    let shown = size.min(MAX_FAMILIES);
    (0..shown)
        .filter_map(|k| space.nth(k * (size / shown)))
        .map(|point| {
            let pairs = space.parameters().iter().zip(point.coordinates());
            pairs
                .filter_map(|(parameter, c)| Some((parameter.name.clone(), (*c)?)))
                .collect()
        })
        .collect()
}

/// The option with the words of a family and numbers of this kind.
fn filled(unit: &Unit, family: &[(String, Coordinate)], number: fn(&Axis) -> Coordinate) -> Choice {
    let point = unit.space.build(|k, distribution| {
        let name = &unit.space.parameters()[k].name;
        match (
            &unit.axes[k],
            family.iter().find(|(known, _)| known == name),
        ) {
            (Some(axis), _) => number(axis),
            (None, Some((_, coordinate))) => *coordinate,
            (None, None) => distribution.nth(0),
        }
    });
    point.coordinates().to_vec()
}

/// The option with each of its numbers changed alone.
fn varied(unit: &Unit, choice: &Choice, share: f64) -> Vec<Choice> {
    let one = |(k, axis): (usize, &Option<Axis>)| {
        let (axis, _) = (axis.as_ref()?, choice[k]?);
        let mut varied = choice.clone();
        varied[k] = Some(axis.part(share));
        Some(varied)
    };
    unit.axes.iter().enumerate().filter_map(one).collect()
}

/// The digits of a number behind the binary point, in reverse: 0, 1/2, 1/4, 3/4, 1/8, …
fn radical_inverse(index: u64) -> f64 {
    index.reverse_bits() as f64 / 18_446_744_073_709_551_616.0
}
