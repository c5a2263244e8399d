//! Toy problems on which the samplers are measured; `optuna/compare.py` has the same in Python.

use std::sync::Arc;

use search::{
    Coordinate, Direction, Distribution, Next, Outcome, Parameter, Point, Setting, Space, State,
    Study, build_sampler, pareto,
};
use serde_json::{Value, json};

/// A problem with a budget; the score of a run is what is compared, less being better.
pub struct Problem {
    pub name: &'static str,
    pub n_trials: u64,
    pub samplers: &'static [&'static str],
    space: fn() -> Vec<Parameter>,
    values: fn(&Numbers) -> Vec<f64>,
    /// By how much a constraint is exceeded.
    excess: Option<fn(&Numbers) -> f64>,
    /// The reference of the hypervolume, where there are two objectives.
    reference: Option<[f64; 2]>,
}

/// The coordinates of a point as numbers; a choice is its index.
pub struct Numbers(Vec<f64>);

const ORDERED: &[&str] = &["random", "qmc", "tpe", "cmaes", "nsgaii", "nsgaiii"];
const ANY: &[&str] = &["random", "qmc", "tpe", "nsgaii", "nsgaiii"];

/// All problems.
pub const PROBLEMS: &[Problem] = &[
    Problem {
        name: "sphere",
        n_trials: 120,
        samplers: ORDERED,
        space: || floats(5, -5.0, 5.0),
        values: |x| vec![x.0.iter().map(|x| (x - 1.3) * (x - 1.3)).sum()],
        excess: None,
        reference: None,
    },
    Problem {
        name: "rosenbrock",
        n_trials: 120,
        samplers: ORDERED,
        space: || floats(4, -2.0, 2.0),
        values: |x| {
            let valley = |w: &[f64]| 20.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2);
            vec![x.0.windows(2).map(valley).sum()]
        },
        excess: None,
        reference: None,
    },
    Problem {
        name: "integers",
        n_trials: 120,
        samplers: ORDERED,
        space: || {
            let mut space = ints(4, 0, 20);
            space.push(parameter(
                4,
                Distribution::Float {
                    low: 1e-4,
                    high: 1.0,
                    log: true,
                },
            ));
            space
        },
        values: |x| {
            let target = [3.0, 17.0, 10.0, 6.0];
            let grid: f64 = (0..4).map(|k| (x.0[k] - target[k]).powi(2) / 20.0).sum();
            vec![grid + (x.0[4].ln() - 0.02_f64.ln()).powi(2)]
        },
        excess: None,
        reference: None,
    },
    Problem {
        name: "mixed",
        n_trials: 120,
        samplers: ANY,
        space: || {
            let mut space: Vec<Parameter> = (0..3).map(|k| parameter(k, choices(5))).collect();
            space.push(parameter(3, int(1, 10)));
            space.push(parameter(
                4,
                Distribution::Float {
                    low: 1e-4,
                    high: 1.0,
                    log: true,
                },
            ));
            space.push(parameter(
                5,
                Distribution::Float {
                    low: -1.0,
                    high: 1.0,
                    log: false,
                },
            ));
            space
        },
        values: |x| {
            let kinds = (x.0[0] + 2.0 * x.0[1] + 3.0 * x.0[2]) % 5.0;
            let pair = if x.0[0] == x.0[1] { 0.0 } else { 0.7 };
            let count = (x.0[3] - 4.0 - x.0[0]).abs() * 0.2;
            let rate = (x.0[4].log10() + 2.0 + 0.3 * x.0[1]).powi(2);
            vec![0.5 * kinds + pair + count + rate + (x.0[5] - 0.4).powi(2)]
        },
        excess: None,
        reference: None,
    },
    Problem {
        name: "bit_budget",
        n_trials: 120,
        samplers: ANY,
        space: || (0..10).map(|k| parameter(k, choices(4))).collect(),
        values: |x| vec![precision_loss(x)],
        excess: Some(|x| average_bits(x) - 4.0),
        reference: None,
    },
    Problem {
        name: "zdt1",
        n_trials: 250,
        samplers: ANY,
        space: || floats(8, 0.0, 1.0),
        values: |x| {
            let g = 1.0 + 9.0 * x.0[1..].iter().sum::<f64>() / 7.0;
            vec![x.0[0], g * (1.0 - (x.0[0] / g).sqrt())]
        },
        excess: None,
        reference: Some([1.1, 7.0]),
    },
    Problem {
        name: "accuracy_bits",
        n_trials: 250,
        samplers: ANY,
        space: || (0..10).map(|k| parameter(k, choices(4))).collect(),
        values: |x| vec![precision_loss(x), average_bits(x)],
        excess: None,
        reference: Some([2.5, 8.5]),
    },
];

/// Loss of accuracy when layer k has 2, 4, 6 or 8 bits: each layer has its own sensitivity.
fn precision_loss(x: &Numbers) -> f64 {
    let sensitivity = |k: usize| 0.05 + 0.1 * ((7 * k + 3) % 10) as f64;
    x.0.iter()
        .enumerate()
        .map(|(k, choice)| sensitivity(k) * 0.35_f64.powf(*choice))
        .sum()
}

/// Bits of a weight when layer k has so many weights.
fn average_bits(x: &Numbers) -> f64 {
    let size = |k: usize| 1.0 + ((3 * k + 1) % 5) as f64;
    let total: f64 = (0..x.0.len()).map(size).sum();
    let bits = |(k, choice): (usize, &f64)| size(k) * (2.0 + 2.0 * choice);
    x.0.iter().enumerate().map(bits).sum::<f64>() / total
}

impl Problem {
    /// The score of one run: the best loss of a feasible trial (100 if there is none), or minus the hypervolume.
    pub fn score(&self, sampler: &str, seed: u64) -> f64 {
        let study = self.run(sampler, seed);
        let history = study.history();
        let Some(reference) = self.reference else {
            return history
                .best()
                .filter(|trial| trial.is_feasible())
                .map_or(100.0, |trial| trial.values[0]);
        };
        let losses: Vec<Vec<f64>> = history.trials().iter().map(|t| t.values.clone()).collect();
        -pareto::hypervolume(&losses, &reference)
    }

    /// A whole study, one trial at a time.
    pub fn run(&self, sampler: &str, seed: u64) -> Study {
        let space = Arc::new(Space::new((self.space)()).expect("the space is valid"));
        let objectives = if self.reference.is_some() { 2 } else { 1 };
        let setting = Setting {
            space: space.clone(),
            objectives,
            seed,
        };
        let sampler =
            build_sampler(sampler, &json!({}), setting).expect("the sampler takes the space");
        let directions = vec![Direction::Minimize; objectives];
        let mut study =
            Study::new(space, sampler, directions, self.n_trials).expect("there are objectives");
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
            None => unreachable!("the problems have no conditions"),
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
    Parameter {
        name: format!("x{index}"),
        distribution,
        condition: None,
    }
}

fn floats(count: usize, low: f64, high: f64) -> Vec<Parameter> {
    (0..count)
        .map(|k| {
            parameter(
                k,
                Distribution::Float {
                    low,
                    high,
                    log: false,
                },
            )
        })
        .collect()
}

fn ints(count: usize, low: i64, high: i64) -> Vec<Parameter> {
    (0..count).map(|k| parameter(k, int(low, high))).collect()
}

fn int(low: i64, high: i64) -> Distribution {
    Distribution::Int {
        low,
        high,
        step: 1,
        log: false,
    }
}

fn choices(count: usize) -> Distribution {
    Distribution::Categorical {
        choices: (0..count).map(Value::from).collect(),
    }
}
