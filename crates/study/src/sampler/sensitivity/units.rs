//! Parameters that are chosen together, and the options of them that are measured.

use super::listing::Listing;
use crate::{Coordinate, Distribution, Parameter, Point, Space};
use random::Draws;
use random::Random;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The coordinates of a unit's parameters.
pub(super) type Choice = Vec<Option<Coordinate>>;

/// Parameters that are chosen together.
pub(super) struct Unit {
    /// Their places in the whole space.
    pub parameters: Vec<usize>,
    /// They alone.
    pub space: Space,
    /// By parameter, its values in order if they are numbers and no condition hangs on them.
    pub axes: Vec<Option<Axis>>,
    /// Of every family of options with the same words, the widest.
    anchors: Vec<Choice>,
    /// Options to measure, in the order in which they are worth knowing; the widest is the first.
    pub options: Vec<Choice>,
}

/// The values of a parameter that are numbers, from small to large.
pub(super) struct Axis {
    values: Vec<(f64, Coordinate)>,
    is_width: bool,
}

/// Options of a unit, besides the widest, that are measured before anything is selected, at least and at most.
const OPENING: RangeInclusive<usize> = 2..=6;
/// Values of an axis at most that are told apart.
const MAX_VALUES: u64 = 256;

impl Unit {
    /// The choice of a point of the whole space.
    pub fn choice(&self, point: &Point) -> Choice {
        self.parameters.iter().map(|&p| point.get(p)).collect()
    }

    /// The widest option with the same words, if it is listed.
    pub fn anchor(&self, choice: &Choice) -> Option<&Choice> {
        let is_alike = |anchor: &&Choice| {
            (0..choice.len()).all(|k| match &self.axes[k] {
                Some(_) => anchor[k].is_some() == choice[k].is_some(),
                None => anchor[k] == choice[k],
            })
        };
        self.anchors.iter().find(is_alike)
    }

    /// Number of options besides the widest that are measured before anything is selected: the cheapest, and one for each number.
    pub fn opening(&self) -> usize {
        let numbers = self.axes.iter().flatten().count();
        (1 + numbers).clamp(*OPENING.start(), *OPENING.end())
    }

    /// The option of this rank by width, the widest first.
    pub fn by_width(&self, rank: usize) -> &Choice {
        let mut ranked: Vec<&Choice> = self.options.iter().collect();
        let width = |choice: &Choice| cost(&self.space, choice);
        ranked.sort_by(|a, b| width(b).total_cmp(&width(a)));
        ranked[rank]
    }

    /// The choice with one parameter a step up or down, if it is a number and the step leads somewhere.
    pub fn stepped(&self, choice: &Choice, parameter: usize, is_up: bool) -> Option<Choice> {
        let axis = self.axes[parameter].as_ref()?;
        let rank = axis.rank(choice[parameter]?)?;
        let next = if is_up {
            rank + 1
        } else {
            rank.checked_sub(1)?
        };
        let mut stepped = choice.clone();
        stepped[parameter] = Some(axis.values.get(next)?.1);
        Some(stepped)
    }
}

impl Axis {
    fn of(parameter: &Parameter) -> Option<Self> {
        let mut values: Vec<(f64, Coordinate)> = match &parameter.distribution {
            Distribution::Categorical { choices } => choices
                .iter()
                .enumerate()
                .map(|(index, choice)| Some((choice.as_f64()?, Coordinate::Choice(index))))
                .collect::<Option<_>>()?,
            distribution @ Distribution::Int { .. } => {
                let count = distribution.count()?;
                let shown = count.min(MAX_VALUES);
                let index = |k: u64| k * (count - 1) / (shown - 1).max(1);
                let value = |k: u64| match distribution.nth(index(k)) {
                    Coordinate::Int(value) => (value as f64, Coordinate::Int(value)),
                    other => (0.0, other),
                };
                (0..shown).map(value).collect()
            }
            Distribution::Float { .. } => return None,
        };
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(Self {
            is_width: is_width(parameter, &values),
            values,
        })
    }

    /// The number that a coordinate stands for.
    pub fn number(&self, coordinate: Coordinate) -> f64 {
        match (coordinate, self.rank(coordinate)) {
            (Coordinate::Int(value), _) => value as f64,
            (_, rank) => rank.map_or(0.0, |rank| self.values[rank].0),
        }
    }

    fn rank(&self, coordinate: Coordinate) -> Option<usize> {
        if let Coordinate::Int(value) = coordinate {
            let above = self.values.partition_point(|known| known.0 < value as f64);
            return Some(above.min(self.values.len() - 1));
        }
        self.values.iter().position(|known| known.1 == coordinate)
    }

    /// The most bits; of a number that is no width, the middle.
    pub fn widest(&self) -> Coordinate {
        self.at(1.0)
    }

    pub fn cheapest(&self) -> Coordinate {
        self.at(0.0)
    }

    fn at(&self, share: f64) -> Coordinate {
        let share = if self.is_width { share } else { 0.5 };
        self.part(share)
    }

    pub fn part(&self, share: f64) -> Coordinate {
        let last = (self.values.len() - 1) as f64;
        self.values[(last * share).round() as usize].1
    }
}

/// True when larger values cost more. What costs less than a whole bit, as a shared exponent does, is no width.
fn is_width(parameter: &Parameter, values: &[(f64, Coordinate)]) -> bool {
    let cost = |at: Option<&(f64, Coordinate)>| at.map_or(0.0, |(_, c)| parameter.cost_of(*c));
    parameter.cost.is_none() || cost(values.last()) - cost(values.first()) >= 1.0
}

/// Units in the order of their first parameters.
pub(super) fn units(space: &Space, max_options: usize, stream: Random) -> Vec<Unit> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for index in 0..space.len() {
        groups.entry(group(space, index)).or_default().push(index);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.sort_unstable();
    groups
        .into_iter()
        .map(|parameters| {
            let draws = Draws::new(stream.at(parameters[0] as u64));
            unit(space, parameters, max_options, draws)
        })
        .collect()
}

/// The group of a parameter; of one with a condition, that of the parameter that decides.
fn group(space: &Space, index: usize) -> &str {
    match space.gate(index) {
        Some(gate) => group(space, gate.parent),
        None => &space.parameters()[index].group,
    }
}

/// The cost of an option: the sum over its active parameters.
pub(super) fn cost(space: &Space, option: &[Option<Coordinate>]) -> f64 {
    let chosen = space.parameters().iter().zip(option);
    chosen
        .filter_map(|(parameter, coordinate)| Some(parameter.cost_of((*coordinate)?)))
        .sum()
}

fn unit(space: &Space, parameters: Vec<usize>, max_options: usize, draws: Draws) -> Unit {
    let own = parameters.iter().map(|&p| space.parameters()[p].clone());
    let own = Space::new(own.collect()).expect("a part of a checked space that conditions stay in");
    let decides = |index: usize| {
        (0..space.len()).any(|child| space.gate(child).is_some_and(|gate| gate.parent == index))
    };
    let axis = |&p: &usize| {
        let parameter = (!decides(p)).then(|| &space.parameters()[p]);
        parameter.and_then(Axis::of)
    };
    let mut unit = Unit {
        axes: parameters.iter().map(axis).collect(),
        space: own,
        parameters,
        anchors: Vec::new(),
        options: Vec::new(),
    };
    let listing = Listing::new(space, &unit, max_options);
    (unit.anchors, unit.options) = listing.fill(draws);
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single_unit(choices: Distribution) -> Unit {
        let space = Space::new(vec![Parameter::new("p", choices)]).expect("a space");
        let mut units = units(&space, 64, Random::new(1, "units"));
        assert_eq!(units.len(), 1);
        units.remove(0)
    }

    #[test]
    fn a_step_leads_to_the_next_number_in_order() {
        let unit = single_unit(Distribution::categorical([8_i64, 2, 4]));
        let from = |index: usize, is_up: bool| {
            let choice = vec![Some(Coordinate::Choice(index))];
            let stepped = unit.stepped(&choice, 0, is_up)?;
            stepped[0].map(|coordinate| unit.axes[0].as_ref().map(|axis| axis.number(coordinate)))
        };
        assert_eq!(from(1, true), Some(Some(4.0)), "up from 2");
        assert_eq!(from(2, true), Some(Some(8.0)), "up from 4");
        assert_eq!(from(0, true), None, "8 is the largest");
        assert_eq!(from(0, false), Some(Some(4.0)), "down from 8");
        assert_eq!(from(1, false), None, "2 is the smallest");
    }

    /// A node whose word has families, with a number that is there under one of them only.
    #[test]
    fn an_anchor_has_the_same_words_and_wide_numbers() {
        let when = |word: &str| crate::Condition {
            parameter: "word".into(),
            choices: vec![word.into()],
        };
        let widths = Distribution::categorical([2, 8, 4]);
        let space = Space::new(vec![
            Parameter::new("word", Distribution::categorical(["a", "b"])),
            Parameter::new("width", widths).in_group("word"),
            Parameter::new("under_b", Distribution::int(0, 4)).when(when("b")),
        ]);
        let units = units(&space.expect("a space"), 64, Random::new(1, "units"));
        assert_eq!(units.len(), 1);
        let choice = |word, width, under: Option<i64>| {
            let [word, width] = [word, width].map(|k| Some(Coordinate::Choice(k)));
            vec![word, width, under.map(Coordinate::Int)]
        };
        assert_eq!(
            units[0].anchor(&choice(0, 2, None)),
            Some(&choice(0, 1, None))
        );
        assert_eq!(
            units[0].anchor(&choice(1, 0, Some(1))),
            Some(&choice(1, 1, Some(4)))
        );
        assert_eq!(
            units[0].anchor(&choice(1, 0, None)),
            None,
            "b has its number"
        );
    }

    /// Of what costs less than a bit more at its end, as an exponent that a block shares, the middle is the widest.
    #[test]
    fn a_number_that_costs_little_is_no_width() {
        let widest = |cost: Option<[f64; 3]>| {
            let parameter = Parameter {
                cost: cost.map(|cost| cost.to_vec()),
                ..Parameter::new("p", Distribution::categorical([4, 6, 8]))
            };
            let axis = Axis::of(&parameter).expect("numbers");
            axis.number(axis.widest())
        };
        assert_eq!(widest(None), 8.0);
        assert_eq!(widest(Some([4.0, 4.5, 5.0])), 8.0);
        assert_eq!(widest(Some([0.25, 0.375, 0.5])), 6.0);
        assert_eq!(widest(Some([4.0, 4.0, 4.5])), 6.0);
    }

    #[test]
    fn options_rank_by_their_costs() {
        let words = Distribution::categorical(["none", "integer", "log"]);
        let parameter = Parameter {
            cost: Some(vec![2.0, 32.0, 8.0]),
            ..Parameter::new("p", words)
        };
        let space = Space::new(vec![parameter]).expect("a space");
        let units = units(&space, 64, Random::new(1, "units"));
        let ranked = [0, 1, 2].map(|rank| units[0].by_width(rank)[0]);
        assert_eq!(ranked, [1, 2, 0].map(|k| Some(Coordinate::Choice(k))));
    }

    #[test]
    fn of_many_words_some_are_listed_that_all_differ() {
        let words = (0..40).map(|k| format!("word {k}"));
        let unit = single_unit(Distribution::categorical(words));
        let mut listed: Vec<usize> = unit
            .anchors
            .iter()
            .filter_map(|anchor| match anchor[0] {
                Some(Coordinate::Choice(index)) => Some(index),
                _ => None,
            })
            .collect();
        listed.dedup();
        assert_eq!(listed.len(), 16, "{listed:?}");
        let steps = listed.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.clone().all(|step| step == 2), "{listed:?}");
    }
}
