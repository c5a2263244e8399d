//! Sensitivities measured one unit at a time, exact selection under a budget, refinement on the real objectives.
//!
//! The parameters are taken in units, one for each group of the space: for formats, one for each searched node. Trials
//! that change one unit of the widest configuration that works measure what its options do to every objective and to the
//! budgets; the sum of these changes is the model. Later trials are the best points of the model, found by dynamic
//! programming over the units, neighbors of the best trials so far, and further measurements, in turn.

mod evidence;
mod listing;
mod model;
mod refine;
mod scale;
mod select;
mod units;

use super::fresh::Tried;
use super::{Sampler, SamplerContext, SamplerSpec};
use crate::pareto::RunningFront;
use crate::{History, Point, StudyError, Trial};
use config::Reader;
use evidence::{Evidence, is_usable};
use model::Model;
use random::Draws;
use random::Random;
use refine::{Neighborhood, point};
use select::{Item, Selection, select};
use std::cell::OnceCell;
use std::sync::{Mutex, PoisonError};
use units::{Choice, Unit, units};

/// Settings.
#[derive(Clone, Debug)]
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
/// Trials whose neighbors are looked at when there is one objective.
const PARENTS: usize = 4;
/// Multiples of it lie evenly, modulo 1.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// The turns of the trials of a window.
const TURNS: [Turn; WINDOW as usize] = {
    use Turn::{Measure, Refine, Select};
    [
        Select, Refine, Select, Refine, Select, Refine, Select, Measure,
    ]
};

#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Select,
    Refine,
    Measure,
}

/// Measure, select, refine.
pub struct Sensitivity {
    context: SamplerContext,
    stream: Random,
    units: Vec<Unit>,
    memory: Mutex<Memory>,
}

/// State that follows from the history up to a horizon.
#[derive(Default)]
struct Memory {
    horizon: u64,
    evidence: Evidence,
    model: Option<Model>,
    selected: OnceCell<Selected>,
    front: RunningFront,
    /// The numbers of the trials whose neighbors are looked at.
    parents: Vec<usize>,
    tried: Tried,
    /// The points of the window behind the horizon, as far as they are known.
    window: Vec<Point>,
}

/// The best of the model, cheapest first.
struct Selected {
    /// By unit, the options that were there to select from.
    options: Vec<Vec<(Choice, Vec<f64>)>>,
    selections: Vec<Selection>,
}

impl Memory {
    fn is_new(&self, point: &Point) -> bool {
        !self.tried.contains(&self.window, point)
    }
}

impl SamplerSpec for Sensitivity {
    const NAME: &'static str = "sensitivity";
    const ABOUT: &'static str =
        "measures every node once, selects exactly under a budget, then refines";
    const DOC: &'static str = "\
For spaces of formats. Trial 0 is the widest configuration (if it fails, the next widest is tried); each of the next changes
one node to another of its options, which measures how sensitive every objective and the budget are to it. Of a node with many
combinations, at most `max_options` (default 48) are listed: the widest and the cheapest, those in which one number varies
while the others are wide, and an even spread over the rest. The sum of the changes is a model of all configurations; an
option between two that were measured lies between them in it, and one that fails is left out. After a few options of every
node, every second trial is the best of the model within the budgets, found by dynamic programming under limits that sweep
the second objective. Of the others, one in four measures a further option, and three are neighbors of the best trials so
far, one node changed or two against each other. All of them correct the model, which does not see that errors of several
nodes act together. Costs that add up over the nodes, or whose inverse does, are predicted exactly where they were measured,
and so are budgets on them. Needs a discrete space.";
    type Config = Config;

    fn read(reader: &mut Reader) -> Config {
        let options = reader.whole("max_options", 2..=i64::from(u32::MAX));
        options.map_or_else(Config::default, |n| Config {
            max_options: n as usize,
        })
    }

    fn new(config: Config, context: SamplerContext) -> Result<Self, StudyError> {
        if let Some(parameter) = context.space.find(|p| p.distribution.count().is_none()) {
            return Err(Self::unsuitable(format!(
                "{} is continuous",
                parameter.name
            )));
        }
        let stream = Random::new(context.seed, Self::NAME);
        Ok(Self {
            units: units(&context.space, config.max_options, stream),
            stream,
            context,
            memory: Mutex::default(),
        })
    }
}

impl Sampler for Sensitivity {
    fn horizon(&self, number: u64) -> u64 {
        let Some(later) = number.checked_sub(1) else {
            return 0;
        };
        1 + later - later % WINDOW
    }

    fn sample(&self, history: &History, number: u64) -> Point {
        let horizon = self.horizon(number);
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        self.advance(&mut memory, history, horizon);
        // The points of a window differ, so that each follows from those before it.
        while memory.window.len() as u64 <= number - horizon {
            let next = horizon + memory.window.len() as u64;
            let point = self.proposed(&memory, history, next);
            memory.window.push(point);
        }
        memory.window[(number - horizon) as usize].clone()
    }
}

impl Sensitivity {
    /// Makes the memory that of a horizon.
    fn advance(&self, memory: &mut Memory, history: &History, horizon: u64) {
        if memory.horizon == horizon {
            return;
        }
        if horizon < memory.horizon {
            *memory = Memory::default();
        }
        memory.evidence.reach(&self.units, history, horizon);
        memory.model = Model::new(&self.units, &memory.evidence);
        memory.selected.take();
        memory.front.reach(horizon, history);
        memory.parents = parents(&memory.front, history, horizon);
        memory.tried.advance(&self.context.space, history, horizon);
        memory.horizon = horizon;
        memory.window.clear();
    }

    /// The point of trial `number`, not tried before.
    fn proposed(&self, memory: &Memory, history: &History, number: u64) -> Point {
        let mut draws = Draws::new(self.stream.at(number));
        let chosen = match &memory.model {
            Some(model) => self.chosen(memory, model, history, number, &mut draws),
            None => self.ranked(memory, number as usize),
        };
        let fallback = || {
            memory.tried.fresh(
                &self.context.space,
                &memory.window,
                &mut draws,
                self.widest(),
            )
        };
        chosen.unwrap_or_else(fallback)
    }

    fn widest(&self) -> Point {
        let widest: Vec<Choice> = self
            .units
            .iter()
            .map(|unit| unit.options[0].clone())
            .collect();
        self.point(&widest)
    }

    fn point(&self, choices: &[Choice]) -> Point {
        point(&self.units, choices, self.context.space.len())
    }

    /// Every unit with its option of this rank, as long as nothing has worked.
    fn ranked(&self, memory: &Memory, rank: usize) -> Option<Point> {
        let option = |unit: &Unit| unit.by_width(rank % unit.options.len()).clone();
        let choices: Vec<Choice> = self.units.iter().map(option).collect();
        Some(self.point(&choices)).filter(|point| memory.is_new(point))
    }

    fn chosen(
        &self,
        memory: &Memory,
        model: &Model,
        history: &History,
        number: u64,
        draws: &mut Draws,
    ) -> Option<Point> {
        let later = number - 1;
        if let Some(point) = self.measured(memory, model, true) {
            return Some(point);
        }
        let turn = TURNS[(later % WINDOW) as usize];
        let point = match turn {
            Turn::Measure => self.measured(memory, model, false),
            Turn::Select => self.selected(memory, model, history, later),
            Turn::Refine => None,
        };
        point.or_else(|| {
            let neighborhood = Neighborhood {
                space: &self.context.space,
                units: &self.units,
                model,
                history,
                parents: &memory.parents,
            };
            let is_new = |choices: &[Choice]| memory.is_new(&self.point(choices));
            let tries = (0..4).find_map(|_| neighborhood.draw(draws, is_new));
            tries.map(|choices| self.point(&choices))
        })
    }

    /// The base with one unit changed to the next option that was not measured; after the cheapest of each unit, all of
    /// them together.
    fn measured(&self, memory: &Memory, model: &Model, is_opening: bool) -> Option<Point> {
        let max = self.units.iter().map(|unit| unit.options.len()).max()?;
        for round in 1..max {
            for (index, unit) in self.units.iter().enumerate() {
                let is_open = !is_opening || round <= unit.opening();
                let Some(option) = unit.options.get(round).filter(|_| is_open) else {
                    continue;
                };
                if model.is_settled(index, option) {
                    continue;
                }
                let mut choices = model.base.clone();
                choices[index].clone_from(option);
                let point = self.point(&choices);
                if memory.is_new(&point) {
                    return Some(point);
                }
            }
            if round == 1 {
                let point = self.cheapest(model);
                if memory.is_new(&point) {
                    return Some(point);
                }
            }
        }
        None
    }

    fn cheapest(&self, model: &Model) -> Point {
        let option = |(index, unit): (usize, &Unit)| {
            let works = |option: &&Choice| !model.is_failing(index, option);
            let cheapest = unit.options.get(1).filter(works);
            cheapest.unwrap_or(&model.base[index]).clone()
        };
        let choices: Vec<Choice> = self.units.iter().enumerate().map(option).collect();
        self.point(&choices)
    }

    /// The best of the model that was not tried, from the limit number `index` on.
    fn selected(
        &self,
        memory: &Memory,
        model: &Model,
        history: &History,
        index: u64,
    ) -> Option<Point> {
        let selected = memory
            .selected
            .get_or_init(|| self.select(memory, model, history));
        let selections = &selected.selections;
        let order = if history.directions().len() == 1 {
            (0..selections.len()).rev().collect()
        } else {
            around(selections, (index as f64 * GOLDEN).fract())
        };
        let point = |&place: &usize| {
            let pairs = selected.options.iter().zip(&selections[place].options);
            let choices: Vec<Choice> = pairs
                .map(|(options, &option)| options[option].0.clone())
                .collect();
            self.point(&choices)
        };
        let mut points = order.iter().map(point);
        points.find(|point| memory.is_new(point))
    }

    /// For every sum of the second and later objectives the least of the first, within the budgets.
    fn select(&self, memory: &Memory, model: &Model, history: &History) -> Selected {
        let objectives = history.directions().len();
        let weights = self.weights(model, memory.horizon);
        let options = self.known_options(memory, model, history);
        let item = |(_, change): &(Choice, Vec<f64>)| {
            let others = change[1..objectives].iter().zip(&weights);
            let cost = others.map(|(change, weight)| change * weight).sum();
            let burden = change[objectives];
            Item {
                loss: change[0],
                // Of one objective, those that leave more of the budget come after the best.
                cost: if objectives == 1 { burden } else { cost },
                burden,
            }
        };
        let items: Vec<Vec<Item>> = options
            .iter()
            .map(|options| options.iter().map(item).collect())
            .collect();
        let selections = select(&items, -model.start[objectives]);
        Selected {
            options,
            selections,
        }
    }

    /// Weights of the second and later objectives, each by its range; random shares when there are several.
    fn weights(&self, model: &Model, horizon: u64) -> Vec<f64> {
        let objectives = self.context.objectives;
        let mut draws = Draws::new(self.stream.at(horizon).at(0));
        let weight = |index: usize| {
            let share = if objectives > 2 {
                -(1.0 - draws.uniform()).ln()
            } else {
                1.0
            };
            share / model.range(index)
        };
        (1..objectives).map(weight).collect()
    }

    /// By unit, the options of which the model knows something, with their changes.
    fn known_options(
        &self,
        memory: &Memory,
        model: &Model,
        history: &History,
    ) -> Vec<Vec<(Choice, Vec<f64>)>> {
        let of_unit = |(index, unit): (usize, &Unit)| {
            let mut options: Vec<Choice> = unit.options.clone();
            let parents = memory
                .parents
                .iter()
                .map(|&number| &history.trials()[number]);
            for choice in parents.map(|trial| unit.choice(&trial.point)) {
                if !options.contains(&choice) {
                    options.push(choice);
                }
            }
            if !options.contains(&model.base[index]) {
                options.push(model.base[index].clone());
            }
            let known = options.into_iter().filter_map(|choice| {
                let change = model.change(&self.units, index, &choice)?;
                Some((choice, change))
            });
            known.collect()
        };
        self.units.iter().enumerate().map(of_unit).collect()
    }
}

/// The front; of one objective, the best few; while nothing is feasible, what is nearest to it.
fn parents(front: &RunningFront, history: &History, horizon: u64) -> Vec<usize> {
    if history.directions().len() > 1 && !front.members().is_empty() {
        let members = front.members().iter();
        return members.map(|(number, _)| *number as usize).collect();
    }
    let complete = history.before(horizon).iter();
    let mut complete: Vec<&Trial> = complete.filter(|trial| is_usable(trial)).collect();
    complete.sort_by(|a, b| {
        let excess = a.excess().total_cmp(&b.excess());
        excess.then(history.losses(a)[0].total_cmp(&history.losses(b)[0]))
    });
    let best = complete.iter().take(PARENTS);
    best.map(|trial| trial.number as usize).collect()
}

/// The places of selections, cheapest first, from the last within a share of the costs outwards.
fn around(found: &[Selection], share: f64) -> Vec<usize> {
    let (Some(first), Some(last)) = (found.first(), found.last()) else {
        return Vec::new();
    };
    let limit = first.sum.cost + share * (last.sum.cost - first.sum.cost);
    let middle = found.partition_point(|selection| selection.sum.cost <= limit);
    let middle = middle.saturating_sub(1);
    let mut places: Vec<usize> = (0..found.len()).collect();
    places.sort_by_key(|place| place.abs_diff(middle));
    places
}
