//! Toy problems on which the samplers are measured; `optuna/problems.py` has the same in Python.

mod conditional;
mod constrained;
mod flat;
mod large;
mod long;

use std::sync::Arc;

use serde_json::Value;
use study::{
    Condition, Coordinate, Direction, Distribution, Next, Outcome, Parameter, Point,
    SamplerContext, Space, State, Study, Trial, build_sampler, pareto,
};

/// A problem with budgets; the score of a run is what is compared, less being better.
pub struct Problem {
    pub name: &'static str,
    /// Numbers of trials after which a run is scored, ascending.
    pub budgets: &'static [usize],
    pub samplers: &'static [&'static str],
    space: fn() -> Vec<Parameter>,
    values: fn(&Numbers) -> Vec<f64>,
    /// By how much a constraint is exceeded.
    excess: Option<fn(&Numbers) -> f64>,
    /// The reference of the hypervolume; empty where there is one objective.
    reference: &'static [f64],
}

/// The coordinates of a point as numbers; a choice is its index, and what is inactive is not a number.
pub struct Numbers(Vec<f64>);

/// The problems that a test can afford.
pub fn short() -> impl Iterator<Item = &'static Problem> {
    [
        flat::PROBLEMS,
        conditional::PROBLEMS,
        constrained::PROBLEMS,
        large::PROBLEMS,
    ]
    .into_iter()
    .flatten()
}

/// The others.
pub fn long() -> impl Iterator<Item = &'static Problem> {
    long::PROBLEMS.iter()
}

impl Problem {
    const fn new(
        name: &'static str,
        budgets: &'static [usize],
        samplers: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            budgets,
            samplers,
            space: Vec::new,
            values: |_| Vec::new(),
            excess: None,
            reference: &[],
        }
    }

    const fn over(self, space: fn() -> Vec<Parameter>, values: fn(&Numbers) -> Vec<f64>) -> Self {
        Self {
            space,
            values,
            ..self
        }
    }

    const fn within(mut self, excess: fn(&Numbers) -> f64) -> Self {
        self.excess = Some(excess);
        self
    }

    const fn beyond(mut self, reference: &'static [f64]) -> Self {
        self.reference = reference;
        self
    }

    /// The score of one run after each budget: the best loss of a feasible trial (100 if there is none), or minus the
    /// hypervolume of the feasible ones.
    pub fn scores(&self, sampler: &str, seed: u64) -> Vec<f64> {
        let study = self.run(sampler, seed);
        let trials = study.history().trials();
        let score = |budget: &usize| self.score(&trials[..*budget]);
        self.budgets.iter().map(score).collect()
    }

    fn score(&self, trials: &[Trial]) -> f64 {
        let feasible = trials.iter().filter(|trial| trial.is_feasible());
        if self.reference.is_empty() {
            let losses = feasible.map(|trial| trial.outcome.values[0]);
            return losses.fold(100.0, f64::min);
        }
        let losses: Vec<Vec<f64>> = feasible.map(|trial| trial.outcome.values.clone()).collect();
        -pareto::hypervolume(&losses, self.reference)
    }

    /// A whole study, one trial at a time.
    fn run(&self, sampler: &str, seed: u64) -> Study {
        let space = Arc::new(Space::new((self.space)()).expect("the space is valid"));
        let objectives = self.reference.len().max(1);
        let context = SamplerContext {
            space: space.clone(),
            objectives,
            seed,
        };
        let sampler = build_sampler(sampler, context).expect("the sampler takes the space");
        let directions = vec![Direction::Minimize; objectives];
        let n_trials = self.budgets[self.budgets.len() - 1] as u64;
        let mut study =
            Study::new(space, sampler, directions, n_trials).expect("there are objectives");
        while let Next::Trial { number, point } = study.ask() {
            study
                .tell(number, self.outcome(&point))
                .expect("the trial runs");
        }
        study
    }

    fn outcome(&self, point: &Point) -> Outcome {
        let number = |coordinate: &Option<Coordinate>| match coordinate {
            Some(Coordinate::Choice(choice)) => *choice as f64,
            Some(Coordinate::Int(value)) => *value as f64,
            Some(Coordinate::Float(value)) => *value,
            None => f64::NAN,
        };
        let numbers = Numbers(point.coordinates().iter().map(number).collect());
        Outcome {
            values: (self.values)(&numbers),
            violation: self.excess.map(|excess| excess(&numbers)),
            state: State::Complete,
        }
    }
}

fn parameter(index: usize, distribution: Distribution) -> Parameter {
    Parameter::new(format!("x{index}"), distribution)
}

fn floats(count: usize, low: f64, high: f64) -> Vec<Parameter> {
    (0..count).map(|k| parameter(k, float(low, high))).collect()
}

fn ints(count: usize, low: i64, high: i64) -> Vec<Parameter> {
    (0..count).map(|k| parameter(k, int(low, high))).collect()
}

fn int(low: i64, high: i64) -> Distribution {
    Distribution::int(low, high)
}

fn choices(count: usize) -> Distribution {
    Distribution::categorical(0..count)
}

fn float(low: f64, high: f64) -> Distribution {
    Distribution::float(low, high)
}

/// The parameter is active when the one at `parent` has this choice.
fn when(parent: usize, choice: usize, parameter: Parameter) -> Parameter {
    parameter.when(Condition {
        parameter: format!("x{parent}"),
        choices: vec![Value::from(choice)],
    })
}
