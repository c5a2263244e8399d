//! Sensitivities measured once, exact selection under a budget, refinement on the real objectives.
//!
//! The parameters are taken in units, one for each searched node: those whose names begin alike up to the first `/`. The
//! first trials change one unit at a time from the widest configuration, which measures what every option of every unit
//! does to every objective. From there on the sum of these changes is the model; half of the trials are the best points of
//! the model under budgets that sweep the second objective, found by dynamic programming over the units, and half are
//! neighbors of the front that the real objectives have given so far.

mod select;
mod units;

use super::fresh::Tried;
use super::{Method, Sampler, Setting};
use crate::draws::Draws;
use crate::pareto::RunningFront;
use crate::{Coordinate, History, Point, SearchError};
use ir::Random;
use select::{Limit, select};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};
use units::{Unit, units};

/// Settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Options of a unit that are measured at most.
    pub max_options: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { max_options: 48 }
    }
}

/// Trials that run beside each other.
const WINDOW: u64 = 8;

/// Probe, select, refine.
pub struct Sensitivity {
    setting: Setting,
    stream: Random,
    units: Vec<Unit>,
    /// Every option of every unit but the base: what trials 1, 2, … change.
    probes: Vec<(usize, usize)>,
    memory: Mutex<Memory>,
}

/// What follows from the history up to a horizon.
#[derive(Default)]
struct Memory {
    horizon: u64,
    model: Option<Model>,
    front: RunningFront,
    tried: Tried,
    /// The points of the window behind the horizon, as far as they are known.
    window: Vec<Point>,
}

/// By unit and option: what it changes of each loss, and of the violation, from the base.
#[derive(Clone)]
struct Model {
    changes: Vec<Vec<Change>>,
    violation: f64,
}

#[derive(Clone)]
struct Change {
    losses: Vec<f64>,
    violation: f64,
}

impl Method for Sensitivity {
    const NAME: &'static str = "sensitivity";
    const ABOUT: &'static str =
        "measures every node once, selects exactly under a budget, then refines";
    const DOC: &'static str = "\
For spaces of formats. Trial 0 is the widest configuration; each of the next changes one node to one of its other options,
which measures how sensitive every objective is to it (at most `max_options` options a node, default 48). Then the sum of
these changes is a model of all configurations. Every second trial is the exact best of the model under a limit on the
second objective (or on the budget, when there is one objective), found by dynamic programming; the limits sweep the whole
range. The others are neighbors of the best trials so far, which corrects what the model does not see: that errors of
several nodes act together. Needs a discrete space.";
    type Config = Config;

    fn new(config: Config, setting: Setting) -> Result<Self, SearchError> {
        if config.max_options < 2 {
            return Err(Self::refuse("max_options is below 2"));
        }
        if let Some(parameter) = setting.space.find(|p| p.distribution.count().is_none()) {
            return Err(Self::unsuitable(format!(
                "{} is continuous",
                parameter.name
            )));
        }
        let stream = Random::new(setting.seed, Self::NAME);
        let units = units(&setting.space, config.max_options, stream);
        let probes = units.iter().enumerate().flat_map(|(index, unit)| {
            let others = (0..unit.options.len()).filter(|&option| option != unit.base);
            others
                .map(move |option| (index, option))
                .collect::<Vec<_>>()
        });
        Ok(Self {
            probes: probes.collect(),
            units,
            stream,
            setting,
            memory: Mutex::default(),
        })
    }
}

impl Sampler for Sensitivity {
    fn horizon(&self, number: u64) -> u64 {
        let measured = self.probes.len() as u64 + 1;
        match number.checked_sub(measured) {
            None => 0,
            Some(later) => measured + later - later % WINDOW,
        }
    }

    fn sample(&self, history: &History, number: u64) -> Point {
        let base: Vec<usize> = self.units.iter().map(|unit| unit.base).collect();
        let Some(later) = number.checked_sub(self.probes.len() as u64 + 1) else {
            return self.point(&self.probed(base, number));
        };
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        self.advance(&mut memory, history, self.horizon(number));
        // The points of a window differ, so that each follows from those before it.
        while memory.window.len() as u64 <= later % WINDOW {
            let place = later - later % WINDOW + memory.window.len() as u64;
            let point = self.proposed(&memory, history, place);
            memory.window.push(point);
        }
        memory.window[(later % WINDOW) as usize].clone()
    }
}

impl Sensitivity {
    /// The choices of trial `number`, which measures one option.
    fn probed(&self, mut choices: Vec<usize>, number: u64) -> Vec<usize> {
        if let Some(probe) = number.checked_sub(1) {
            let (unit, option) = self.probes[probe as usize];
            choices[unit] = option;
        }
        choices
    }

    fn point(&self, choices: &[usize]) -> Point {
        let mut coordinates = vec![None; self.setting.space.len()];
        for (unit, &option) in self.units.iter().zip(choices) {
            for (&parameter, &coordinate) in unit.parameters.iter().zip(&unit.options[option]) {
                coordinates[parameter] = coordinate;
            }
        }
        Point::new(coordinates)
    }

    /// Makes the memory that of a horizon.
    fn advance(&self, memory: &mut Memory, history: &History, horizon: u64) {
        if memory.horizon == horizon {
            return;
        }
        if horizon < memory.horizon {
            *memory = Memory::default();
        }
        if memory.model.is_none() {
            memory.model = Some(self.model(history));
        }
        memory.front.reach(horizon, history);
        memory.tried.advance(&self.setting.space, history, horizon);
        memory.horizon = horizon;
        memory.window.clear();
    }

    fn model(&self, history: &History) -> Model {
        let objectives = history.directions().len();
        let none = || Change {
            losses: vec![0.0; objectives],
            violation: 0.0,
        };
        let mut changes: Vec<Vec<Change>> = self
            .units
            .iter()
            .map(|unit| vec![none(); unit.options.len()])
            .collect();
        let trials = history.trials();
        let base = &trials[0];
        let start = if base.values.is_empty() {
            vec![0.0; objectives]
        } else {
            history.losses(base)
        };
        for (trial, &(unit, option)) in trials[1..].iter().zip(&self.probes) {
            // An option that cannot be run is as bad as can be.
            let losses = if trial.values.is_empty() {
                vec![f64::MAX / 1e6; objectives]
            } else {
                history.losses(trial)
            };
            changes[unit][option] = Change {
                losses: losses
                    .iter()
                    .zip(&start)
                    .map(|(loss, start)| loss - start)
                    .collect(),
                violation: trial.violation.unwrap_or(0.0) - base.violation.unwrap_or(0.0),
            };
        }
        Model {
            changes,
            violation: base.violation.unwrap_or(0.0),
        }
    }

    /// Point number `later` behind the measuring ones: selected or refined, and not tried before.
    fn proposed(&self, memory: &Memory, history: &History, later: u64) -> Point {
        let mut draws = Draws::new(self.stream.at(later));
        let selected = later
            .is_multiple_of(2)
            .then(|| self.selected(memory, later / 2, &mut draws))
            .flatten();
        let mut point = selected.unwrap_or_else(|| self.neighbor(memory, history, &mut draws));
        for _ in 0..16 {
            if !memory.tried.contains(&memory.window, &point) {
                return point;
            }
            point = self.neighbor(memory, history, &mut draws);
        }
        memory
            .tried
            .fresh(&self.setting.space, &memory.window, &mut draws, point)
    }

    /// The best of the model under the limit number `index`.
    fn selected(&self, memory: &Memory, index: u64, draws: &mut Draws) -> Option<Point> {
        let model = memory.model.as_ref()?;
        let weights = weights(model, draws);
        let cost = |change: &Change| -> f64 {
            let others = change.losses[1..]
                .iter()
                .zip(&weights)
                .map(|(loss, weight)| loss * weight)
                .sum::<f64>();
            if change.losses.len() > 1 {
                others
            } else {
                change.violation
            }
        };
        let costs: Vec<Vec<f64>> = model
            .changes
            .iter()
            .map(|options| options.iter().map(cost).collect())
            .collect();
        let losses: Vec<Vec<f64>> = model
            .changes
            .iter()
            .map(|options| options.iter().map(|change| change.losses[0]).collect())
            .collect();
        let has_budget = model.changes[0][0].losses.len() == 1;
        let limit = if has_budget {
            Limit::Sum(-model.violation)
        } else {
            Limit::Share(radical_inverse(index + 1))
        };
        Some(self.point(&select(&losses, &costs, limit)?))
    }

    /// A member of the front with one or two units changed.
    fn neighbor(&self, memory: &Memory, history: &History, draws: &mut Draws) -> Point {
        let members = memory.front.members();
        let mut choices: Vec<usize> = if members.is_empty() {
            self.units
                .iter()
                .map(|unit| draws.below(unit.options.len()))
                .collect()
        } else {
            let (number, _) = &members[draws.below(members.len())];
            self.choices(&history.trials()[*number as usize].point)
        };
        for _ in 0..=draws.below(2) {
            let unit = draws.below(self.units.len());
            choices[unit] = draws.below(self.units[unit].options.len());
        }
        self.point(&choices)
    }

    /// The options that a point has; the base where it has one that is not among those measured.
    fn choices(&self, point: &Point) -> Vec<usize> {
        let option = |unit: &Unit| {
            let own: Vec<Option<Coordinate>> =
                unit.parameters.iter().map(|&p| point.get(p)).collect();
            unit.options
                .iter()
                .position(|option| *option == own)
                .unwrap_or(unit.base)
        };
        self.units.iter().map(option).collect()
    }
}

/// Weights of the second and later objectives, each by its range; random shares when there are several.
fn weights(model: &Model, draws: &mut Draws) -> Vec<f64> {
    let objectives = model.changes[0][0].losses.len();
    let range = |objective: usize| {
        let all = || {
            model
                .changes
                .iter()
                .flatten()
                .map(|change| change.losses[objective])
        };
        (all().fold(f64::MIN, f64::max) - all().fold(f64::MAX, f64::min)).max(1e-300)
    };
    (1..objectives)
        .map(|objective| {
            let share = if objectives > 2 {
                -(1.0 - draws.uniform()).ln()
            } else {
                1.0
            };
            share / range(objective)
        })
        .collect()
}

/// The digits of a number behind the binary point, in reverse: 1/2, 1/4, 3/4, 1/8, …
fn radical_inverse(index: u64) -> f64 {
    index.reverse_bits() as f64 / 18_446_744_073_709_551_616.0
}
