//! An additive model of the readings of trials, learned from those that differ from a base in one unit.
//!
//! The model of a reading is that of the base plus a change for each unit. An option that was not measured lies between
//! two that were, or does what its numbers do one at a time; one that fails is not part of the model. What the sums miss
//! of later trials is spread over their options.

use super::evidence::{Evidence, Seen, reading};
use super::scale::{Scale, recent};
use super::units::{Choice, Unit};
use crate::{History, Trial};
use std::collections::{HashMap, HashSet};

/// Sweeps over all corrections.
const SWEEPS: usize = 6;

/// The changes of all units. Of all readings, the last is the violation.
pub(super) struct Model {
    /// The reading of the base.
    pub start: Vec<f64>,
    /// By unit, the option of the base.
    pub base: Vec<Choice>,
    scales: Vec<Scale>,
    units: Vec<Known>,
}

/// The knowledge of one unit.
#[derive(Default)]
struct Known {
    measured: Vec<(Choice, Vec<f64>)>,
    places: HashMap<Choice, usize>,
    failing: HashSet<Choice>,
    corrections: HashMap<Choice, Vec<f64>>,
}

impl Model {
    /// The model of the evidence; none while no trial has worked.
    pub fn new(units: &[Unit], evidence: &Evidence) -> Option<Self> {
        let base = evidence.base.as_ref()?;
        let scales: Vec<Scale> = (0..base.reading.len())
            .map(|index| Scale::of(evidence, base, index))
            .collect();
        let start = turned(&scales, &base.reading);
        let mut known: Vec<Known> = units.iter().map(|_| Known::default()).collect();
        for (known, choice) in known.iter_mut().zip(&base.choices) {
            known.learn(choice, vec![0.0; start.len()]);
        }
        for (unit, seen) in &evidence.single {
            let reading = turned(&scales, &seen.reading);
            let change = reading.iter().zip(&start).map(|(now, before)| now - before);
            known[*unit].learn(&seen.choices[*unit], change.collect());
        }
        for (unit, choice) in evidence.failing() {
            known[unit].failing.insert(choice.clone());
        }
        let mut model = Self {
            start,
            base: base.choices.clone(),
            scales,
            units: known,
        };
        model.correct(units, recent(&evidence.joint));
        Some(model)
    }

    /// The reading of a trial.
    pub fn reading(&self, history: &History, trial: &Trial) -> Vec<f64> {
        turned(&self.scales, &reading(history, trial))
    }

    /// The change that an option of a unit makes to the readings of the base; none when nothing is known of it, or that it fails.
    pub fn change(&self, units: &[Unit], unit: usize, choice: &Choice) -> Option<Vec<f64>> {
        let mut change = self.uncorrected(&units[unit], unit, choice)?;
        if let Some(correction) = self.units[unit].corrections.get(choice) {
            add(&mut change, correction);
        }
        Some(change)
    }

    /// True when trials with this option fail.
    pub fn is_failing(&self, unit: usize, choice: &Choice) -> bool {
        self.units[unit].failing.contains(choice)
    }

    /// True when nothing is left to learn from changing the base to this option.
    pub fn is_settled(&self, unit: usize, choice: &Choice) -> bool {
        self.units[unit].places.contains_key(choice) || self.is_failing(unit, choice)
    }

    /// The range over which options change a reading.
    pub fn range(&self, index: usize) -> f64 {
        let changes = || {
            let all = self.units.iter().flat_map(|known| &known.measured);
            all.map(|(_, change)| change[index])
        };
        let range = changes().fold(0.0, f64::max) - changes().fold(0.0, f64::min);
        range.max(f64::MIN_POSITIVE)
    }

    /// An option that was measured, or lies between two that were, or does what its numbers do one at a time.
    fn uncorrected(&self, unit: &Unit, index: usize, choice: &Choice) -> Option<Vec<f64>> {
        let known = &self.units[index];
        if known.failing.contains(choice) {
            return None;
        }
        let along = |choice: &Choice| self.along_one(unit, known, choice);
        along(choice).or_else(|| {
            let anchor = unit.anchor(choice)?;
            let start = along(anchor)?;
            let mut change = start.clone();
            for parameter in (0..choice.len()).filter(|&k| choice[k] != anchor[k]) {
                let mut single = anchor.clone();
                single[parameter] = choice[parameter];
                add(&mut change, &along(&single)?);
                change
                    .iter_mut()
                    .zip(&start)
                    .for_each(|(c, start)| *c -= start);
            }
            Some(change)
        })
    }

    /// A measured change, or one between two measured options that differ in one number.
    fn along_one(&self, unit: &Unit, known: &Known, choice: &Choice) -> Option<Vec<f64>> {
        if let Some(&place) = known.places.get(choice) {
            return Some(known.measured[place].1.clone());
        }
        (0..choice.len()).find_map(|parameter| {
            let axis = unit.axes[parameter].as_ref()?;
            let at = axis.number(choice[parameter]?);
            let differs_there_alone = |other: &Choice| {
                (0..choice.len()).all(|k| (k == parameter) != (other[k] == choice[k]))
            };
            let (mut below, mut above) = (None, None);
            for (other, change) in known.measured.iter().filter(|m| differs_there_alone(&m.0)) {
                let number = axis.number(other[parameter]?);
                if number < at && below.is_none_or(|(known, _)| number > known) {
                    below = Some((number, change));
                }
                if number > at && above.is_none_or(|(known, _)| number < known) {
                    above = Some((number, change));
                }
            }
            Some(self.between(below?, above?, at))
        })
    }

    fn between(&self, below: (f64, &Vec<f64>), above: (f64, &Vec<f64>), at: f64) -> Vec<f64> {
        let straight = (at - below.0) / (above.0 - below.0);
        // An error halves with every bit.
        let (here, there) = ((below.0 - at).exp2(), (below.0 - above.0).exp2());
        let bent = (1.0 - here) / (1.0 - there);
        let one = |(scale, (low, high)): (&Scale, (&f64, &f64))| {
            let is_loss = matches!(scale, Scale::Loss { .. });
            low + if is_loss { bent } else { straight } * (high - low)
        };
        let ends = below.1.iter().zip(above.1);
        self.scales.iter().zip(ends).map(one).collect()
    }

    /// Spreads what the sums miss over the options of the trials that show it: least squares, drawn to zero as if one more
    /// trial had shown nothing.
    fn correct(&mut self, units: &[Unit], joint: &[Seen]) {
        let missed = joint
            .iter()
            .filter_map(|seen| Some((seen, self.missed(units, seen)?)));
        let (seen, mut rest): (Vec<&Seen>, Vec<Vec<f64>>) = missed.unzip();
        let mut shares = shares(&seen, self.start.len());
        for _ in 0..SWEEPS {
            for share in &mut shares {
                share.settle(&mut rest);
            }
        }
        for share in shares {
            let corrections = &mut self.units[share.unit].corrections;
            corrections.insert(share.choice.clone(), share.correction);
        }
    }

    /// The reading of a trial beyond the sum of its changes.
    fn missed(&self, units: &[Unit], seen: &Seen) -> Option<Vec<f64>> {
        let mut missed = turned(&self.scales, &seen.reading);
        missed
            .iter_mut()
            .zip(&self.start)
            .for_each(|(m, start)| *m -= start);
        for (index, unit) in units.iter().enumerate() {
            let change = self.uncorrected(unit, index, &seen.choices[index])?;
            missed
                .iter_mut()
                .zip(change)
                .for_each(|(m, change)| *m -= change);
        }
        // A violation of 0 says only that there is none.
        let last = missed.len() - 1;
        if seen.reading[last] == 0.0 {
            missed[last] = missed[last].min(0.0);
        }
        Some(missed)
    }
}

impl Known {
    fn learn(&mut self, choice: &Choice, change: Vec<f64>) {
        if !self.places.contains_key(choice) {
            self.places.insert(choice.clone(), self.measured.len());
            self.measured.push((choice.clone(), change));
        }
    }
}

/// The part of what was missed that an option answers for.
struct Share<'a> {
    unit: usize,
    choice: &'a Choice,
    trials: Vec<usize>,
    correction: Vec<f64>,
}

impl Share<'_> {
    /// Takes over as much as it can of what is left of the trials.
    fn settle(&mut self, rest: &mut [Vec<f64>]) {
        let count = self.trials.len() as f64;
        for (index, correction) in self.correction.iter_mut().enumerate() {
            let left: f64 = self.trials.iter().map(|&trial| rest[trial][index]).sum();
            let better = (left + *correction * count) / (count + 1.0);
            for &trial in &self.trials {
                rest[trial][index] += *correction - better;
            }
            *correction = better;
        }
    }
}

/// One share for each option of the trials, in the order in which they come up.
fn shares<'a>(seen: &[&'a Seen], readings: usize) -> Vec<Share<'a>> {
    let mut places: HashMap<(usize, &Choice), usize> = HashMap::new();
    let mut shares: Vec<Share> = Vec::new();
    for (trial, seen) in seen.iter().enumerate() {
        for (unit, choice) in seen.choices.iter().enumerate() {
            let place = *places.entry((unit, choice)).or_insert_with(|| {
                shares.push(Share {
                    unit,
                    choice,
                    trials: Vec::new(),
                    correction: vec![0.0; readings],
                });
                shares.len() - 1
            });
            shares[place].trials.push(trial);
        }
    }
    shares
}

fn turned(scales: &[Scale], reading: &[f64]) -> Vec<f64> {
    let pairs = scales.iter().zip(reading);
    pairs.map(|(scale, value)| scale.turn(*value)).collect()
}

fn add(sum: &mut [f64], other: &[f64]) {
    sum.iter_mut()
        .zip(other)
        .for_each(|(sum, other)| *sum += other);
}

#[cfg(test)]
mod tests {
    use super::super::units::units;
    use super::*;
    use crate::{Coordinate, Distribution, Parameter, Space};
    use random::Random;

    const WIDTHS: [i64; 4] = [2, 4, 6, 8];

    /// Two nodes of a width and an even number each.
    fn nodes() -> Vec<Unit> {
        let parameters = ["a", "b"].iter().flat_map(|node| {
            let width = Parameter::new(format!("{node}.width"), Distribution::categorical(WIDTHS));
            let even = Distribution::Int {
                low: 0,
                high: 8,
                step: 2,
                log: false,
            };
            let even = Parameter::new(format!("{node}.even"), even);
            [width.in_group(*node), even.in_group(*node)]
        });
        let space = Space::new(parameters.collect()).expect("a space");
        units(&space, 64, Random::new(1, "model"))
    }

    fn option(width: i64, even: i64) -> Choice {
        let width = WIDTHS.iter().position(|w| *w == width);
        vec![width.map(Coordinate::Choice), Some(Coordinate::Int(even))]
    }

    /// A trial with this loss and cost; no budget.
    fn seen(choices: [(i64, i64); 2], loss: f64, cost: f64) -> Seen {
        Seen {
            choices: choices.map(|(width, even)| option(width, even)).to_vec(),
            reading: vec![loss, cost, 0.0],
        }
    }

    const BASE: (i64, i64) = (8, 8);

    fn model(units: &[Unit], single: Vec<(usize, Seen)>, joint: Vec<Seen>) -> Model {
        let base = seen([BASE, BASE], 1.0, 10.0);
        let evidence = Evidence::of(base, single, joint, vec![3.0, 10.0, 0.0]);
        Model::new(units, &evidence).expect("a base")
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    /// A loss is turned to -ln(1 - (loss - 1) / 2.2), of which an option between two has as much as errors that halve with every
    /// bit; costs lie on a line.
    #[test]
    fn options_between_two_measured_ones() {
        let units = nodes();
        let single = vec![(0, seen([(2, 8), BASE], 2.0, 4.0))];
        let model = model(&units, single, Vec::new());
        let turned = -(1.0f64 - 1.0 / 2.2).ln();
        let change = |width| model.change(&units, 0, &option(width, 8)).expect("known");
        assert_near(change(2)[0], turned);
        assert_near(change(2)[1], -6.0);
        assert_eq!(change(8), [0.0; 3]);
        // Of 2^-2 to 2^-8, 2^-4 is 15/63 … what is left of the error from 8 bits down.
        let left = |width: i32| (1.0 - f64::from(2 - width).exp2()) / (1.0 - (-6f64).exp2());
        assert_near(change(4)[0], turned * (1.0 - left(4)));
        assert_near(change(6)[0], turned * (1.0 - left(6)));
        assert_near(change(4)[1], -4.0);
        assert_near(change(6)[1], -2.0);
        assert_eq!(model.change(&units, 1, &option(4, 8)), None, "one end");
        assert_near(model.range(0), turned);
        assert_near(model.range(1), 6.0);
        assert_eq!(model.range(2), f64::MIN_POSITIVE);
    }

    /// The numbers of an option act one at a time, where each was measured beside the widest.
    #[test]
    fn numbers_act_one_at_a_time() {
        let units = nodes();
        let single = vec![
            (0, seen([(4, 8), BASE], 1.0, 7.0)),
            (0, seen([(8, 2), BASE], 1.0, 9.0)),
        ];
        let model = model(&units, single, Vec::new());
        let both = model.change(&units, 0, &option(4, 2)).expect("known");
        assert_near(both[1], -4.0);
        let between = model.change(&units, 0, &option(4, 4)).expect("known");
        assert_near(between[1], -3.0 - 1.0 * (8.0 - 4.0) / (8.0 - 2.0));
        assert!(model.is_settled(0, &option(4, 8)) && !model.is_settled(0, &option(4, 2)));
    }

    /// The part of a joint trial that sums miss is spread over its options, drawn to zero as if one more trial had shown nothing.
    #[test]
    fn what_sums_miss_is_spread_over_the_options() {
        let units = nodes();
        let single = vec![
            (0, seen([(4, 8), BASE], 1.4, 10.0)),
            (1, seen([BASE, (4, 8)], 1.6, 10.0)),
        ];
        let joint = vec![seen([(4, 8), (4, 8)], 2.9, 10.0)];
        let model = model(&units, single, joint);
        let turned = |loss: f64| -(1.0 - (loss - 1.0) / 2.2).ln();
        let sum = turned(1.4) + turned(1.6);
        let missed = turned(2.9) - sum;
        let corrected: f64 = [0, 1]
            .map(|unit| model.change(&units, unit, &option(4, 8)).expect("known")[0])
            .iter()
            .sum();
        // Each answers for half of what the other leaves: a third of what was missed in the end, and so does what is left of it.
        let expected = sum + missed * 2.0 / 3.0;
        assert!(
            (corrected - expected).abs() < 1e-3,
            "{corrected}, not {expected}"
        );
    }
}
