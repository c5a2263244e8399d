//! Searches over a space such as that of number formats: nodes with words, widths, lists and conditions, costs that add up, errors
//! that nearly do, options that fail, budgets.

use std::sync::Arc;
use study::{
    Condition, Coordinate, Direction, Distribution, Next, Outcome, Parameter, Point, SAMPLERS,
    SamplerContext, SamplerEntry, Space, State, Study,
};

/// Bits of a weight at most, on the average over the nodes.
const BUDGET: f64 = 5.0;
/// How much an error of a node matters, and its share of the weights.
const NODES: [(f64, f64); 3] = [(0.2, 0.5), (1.0, 0.3), (0.05, 0.2)];

/// Three nodes: a word that decides, a width with costs, fractional bits, and the size of a block where the word asks for it.
pub fn space() -> Space {
    let parameters = (0..NODES.len()).flat_map(|node| {
        let name = |key: &str| format!("n{node}.{key}");
        let when = |word: &str| Condition {
            parameter: name("name"),
            choices: vec![word.into()],
        };
        let width = Parameter {
            cost: Some(vec![2.0, 3.0, 4.0, 6.0, 8.0]),
            ..Parameter::new(name("width"), Distribution::categorical([2, 3, 4, 6, 8]))
        };
        let words = Distribution::categorical(["integer", "block_fp", "log"]);
        let parameters = [
            Parameter::new(name("name"), words),
            width,
            Parameter::new(name("frac_width"), Distribution::int(0, 5)).when(when("integer")),
            Parameter::new(name("block"), Distribution::categorical([8, 16]))
                .when(when("block_fp")),
        ];
        parameters.map(|parameter| parameter.in_group(format!("n{node}")))
    });
    Space::new(parameters.collect()).unwrap()
}

fn choice(point: &Point, index: usize) -> Option<usize> {
    match point.get(index)? {
        Coordinate::Choice(choice) => Some(choice),
        Coordinate::Int(value) => Some(value as usize),
        Coordinate::Float(_) => None,
    }
}

/// The loss and the bits of a point; none where it fails: logarithms of two bits have no codes.
fn measured(point: &Point) -> Option<(f64, f64)> {
    let (mut kept, mut bits) = (1.0, 0.0);
    for (node, (sensitivity, share)) in NODES.into_iter().enumerate() {
        let of = |k: usize| choice(point, 4 * node + k);
        let (word, width) = (of(0)?, [2.0, 3.0, 4.0, 6.0, 8.0][of(1)?]);
        let error = match word {
            0 => (-width + 1.0f64).exp2() * (1.0 + (of(2)? as f64 - 0.5 * width).abs()),
            1 => 1.5 * (-width + 1.0f64).exp2() * (1.0 + of(3)? as f64 / 4.0),
            _ if width < 3.0 => return None,
            _ => 0.2 + (-width).exp2(),
        };
        kept *= 1.0 - 0.3 * sensitivity * error.min(1.0);
        bits += share * (width + if word == 1 { 0.5 } else { 0.0 });
    }
    Some((1.0 - kept, bits))
}

/// What a study is asked for: both objectives, or the loss within a budget.
#[derive(Clone, Copy)]
enum Goal {
    Both,
    Budget,
    /// The budget as a density, which is largest where bits are fewest.
    Density,
}

impl Goal {
    fn directions(self) -> Vec<Direction> {
        match self {
            Self::Both => vec![Direction::Minimize, Direction::Minimize],
            Self::Budget => vec![Direction::Minimize],
            Self::Density => vec![Direction::Minimize, Direction::Maximize],
        }
    }

    fn outcome(self, point: &Point) -> Outcome {
        let Some((loss, bits)) = measured(point) else {
            return Outcome::failed();
        };
        let (values, violation) = match self {
            Self::Both => (vec![loss, bits], None),
            Self::Budget => (vec![loss], Some((bits - BUDGET).max(0.0))),
            Self::Density => (vec![loss, 32.0 / bits], None),
        };
        Outcome {
            values,
            violation,
            state: State::Complete,
        }
    }
}

fn study(entry: &SamplerEntry, goal: Goal, trials: u64) -> Option<Study> {
    let (space, directions) = (Arc::new(space()), goal.directions());
    let context = SamplerContext {
        space: Arc::clone(&space),
        objectives: directions.len(),
        seed: 11,
    };
    let sampler = (entry.defaults)().build(context).ok()?;
    Study::new(space, sampler, directions, trials).ok()
}

fn finished(mut study: Study, outcome: impl Fn(&Point) -> Outcome) -> Study {
    while let Next::Trial { number, point } = study.ask() {
        study.tell(number, outcome(&point)).unwrap();
    }
    study
}

fn lines(study: &Study) -> String {
    let space = space();
    let line = |point: &Point| {
        let cells = space.named(point);
        let cells: Vec<String> = cells
            .iter()
            .map(|(name, v)| format!("{name} {v}"))
            .collect();
        cells.join(", ") + "\n"
    };
    let trials = study.history().trials().iter();
    trials.map(|trial| line(&trial.point)).collect()
}

/// A seed stands for the same trials in the next version, for every sampler that looks back. `BLESS=1` rewrites the files.
#[test]
fn searches_over_formats_stay_the_same() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/formats");
    let goals = [
        ("both", Goal::Both),
        ("budget", Goal::Budget),
        ("density", Goal::Density),
    ];
    for (name, goal) in goals {
        for entry in SAMPLERS {
            let study = study(entry, goal, 100).filter(Study::looks_back);
            let Some(study) = study else { continue };
            let found = lines(&finished(study, |point| goal.outcome(point)));
            let path = folder.join(format!("{}_{name}.txt", entry.name));
            if std::env::var_os("BLESS").is_some() {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(&path, &found).unwrap();
            }
            let golden = std::fs::read_to_string(&path).unwrap();
            for (number, (got, expected)) in found.lines().zip(golden.lines()).enumerate() {
                assert_eq!(got, expected, "{} {name}: trial {number}", entry.name);
            }
            assert_eq!(found.len(), golden.len(), "{} {name}", entry.name);
        }
    }
}

/// The best loss within the budget, of all points.
fn best_of_all() -> f64 {
    let space = space();
    let points = (0..space.size().unwrap()).filter_map(|n| space.nth(n));
    let kept = points
        .filter_map(|point| measured(&point))
        .filter(|(_, bits)| *bits <= BUDGET);
    kept.map(|(loss, _)| loss).fold(f64::INFINITY, f64::min)
}

#[test]
fn measuring_every_node_finds_the_best_within_a_budget() {
    let entry = study::find_sampler("sensitivity").unwrap();
    let study = study(entry, Goal::Budget, 400).unwrap();
    let study = finished(study, |point| Goal::Budget.outcome(point));
    let best = study.history().best().unwrap();
    assert_eq!(best.outcome.violation, Some(0.0));
    let (found, best) = (best.outcome.values[0], best_of_all());
    assert!(found <= 1.05 * best, "{found} against {best}");
}

/// The first trials: the widest of all, then each node's cheapest in turn, then all of them together, then each node with one
/// number low.
#[test]
fn sensitivity_opens_with_one_node_at_a_time() {
    let space = Space::new(
        ["a", "b"]
            .map(|node| Parameter::new(node, Distribution::categorical([2, 4, 6, 8])))
            .to_vec(),
    );
    let space = Arc::new(space.unwrap());
    let entry = study::find_sampler("sensitivity").unwrap();
    let start = |objective: &dyn Fn(&Point) -> Outcome, trials| {
        let context = SamplerContext {
            space: Arc::clone(&space),
            objectives: 1,
            seed: 1,
        };
        let sampler = (entry.defaults)().build(context).unwrap();
        let directions = vec![Direction::Minimize];
        let study = Study::new(Arc::clone(&space), sampler, directions, trials).unwrap();
        let study = finished(study, objective);
        let trials = study.history().trials().iter();
        trials
            .map(|trial| [0, 1].map(|k| [2, 4, 6, 8][choice(&trial.point, k).unwrap()]))
            .collect::<Vec<[i32; 2]>>()
    };
    let works = |_: &Point| Outcome::complete(vec![1.0]);
    let opening = start(&works, 6);
    assert_eq!(opening, [[8, 8], [2, 8], [8, 2], [2, 2], [6, 8], [8, 6]]);
    // As long as nothing works, the widest, the next widest and so on, all nodes alike.
    let fails = |_: &Point| Outcome::failed();
    let failing = start(&fails, 4);
    assert_eq!(failing, [[8, 8], [6, 6], [4, 4], [2, 2]]);
}
