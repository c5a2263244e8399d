//! The sensitivity strategy where options fail, nodes have thousands of combinations, and budgets bind.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixtures;

use fixtures::{network, run, search, strategy};
use search::SearchSpace;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;
use study::{
    Condition, Direction, Distribution, Next, Outcome, Parameter, SamplerContext, Space, State,
    Study, build_sampler, pareto,
};

const NODES: usize = 6;

/// Six nodes with a format each: `words` are its names, widths go with all of them but `NA`.
fn space(words: &[&str], widths: std::ops::RangeInclusive<i64>) -> Arc<Space> {
    let mut parameters = Vec::new();
    for node in 0..NODES {
        let name = format!("n{node}/config/name");
        let group = format!("n{node}");
        if words.len() > 1 {
            let choices = words.iter().map(|&word| word.into()).collect();
            let bits = |word: &&str| if *word == "NA" { 32.0 } else { 0.0 };
            let parameter = Parameter::new(name.clone(), Distribution::Categorical { choices });
            parameters.push(Parameter {
                cost: Some(words.iter().map(bits).collect()),
                ..parameter.in_group(group.clone())
            });
        }
        let other = words.iter().filter(|&&word| word != "NA");
        let choices = widths.clone().map(Value::from).collect();
        let width = Parameter::new(
            format!("n{node}/config/weight_width"),
            Distribution::Categorical { choices },
        );
        parameters.push(Parameter {
            condition: words.contains(&"NA").then(|| Condition {
                parameter: name,
                choices: other.map(|&word| word.into()).collect(),
            }),
            ..width.in_group(group)
        });
    }
    Arc::new(Space::new(parameters).unwrap())
}

/// The word and the width of every node.
fn formats(named: &Map<String, Value>) -> Vec<(String, f64)> {
    let one = |node: usize| {
        let key = |key: &str| named.get(&format!("n{node}/config/{key}"));
        let word = key("name").and_then(Value::as_str).unwrap_or("integer");
        let width = key("weight_width").and_then(Value::as_f64).unwrap_or(32.0);
        (word.to_owned(), width)
    };
    (0..NODES).map(one).collect()
}

/// Errors of nodes act together: what is lost grows faster than the sum of them.
fn loss(formats: &[(String, f64)]) -> f64 {
    let sensitivity = [0.3, 2.0, 0.1, 1.0, 0.5, 3.0];
    let error = |(node, (word, width)): (usize, &(String, f64))| {
        let better = if word == "minifloat_ieee" { 0.7 } else { 1.0 };
        better * sensitivity[node] * (1.0 - width).exp2()
    };
    let errors: f64 = formats.iter().enumerate().map(error).sum();
    1.0 - (-errors - errors * errors).exp()
}

fn bits(formats: &[(String, f64)]) -> f64 {
    let sizes = [10.0, 40.0, 20.0, 15.0, 25.0, 5.0];
    let sum: f64 = formats
        .iter()
        .zip(sizes)
        .map(|((_, width), size)| width * size)
        .sum();
    sum / sizes.iter().sum::<f64>()
}

fn is_buildable((word, width): &(String, f64)) -> bool {
    word != "minifloat_ieee" || *width > 5.0
}

/// A whole study.
fn study(
    space: &Arc<Space>,
    sampler: (&str, u64),
    extent: (&[Direction], u64),
    outcome: impl Fn(&[(String, f64)]) -> Outcome,
) -> Study {
    let mut study = empty_study(space, sampler, extent);
    while let Next::Trial { number, point } = study.ask() {
        let formats = formats(&space.named(&point));
        study.tell(number, outcome(&formats)).unwrap();
    }
    study
}

fn empty_study(
    space: &Arc<Space>,
    (sampler, seed): (&str, u64),
    (directions, n_trials): (&[Direction], u64),
) -> Study {
    let context = SamplerContext {
        space: Arc::clone(space),
        objectives: directions.len(),
        seed,
    };
    let sampler = build_sampler(sampler, context).unwrap();
    Study::new(Arc::clone(space), sampler, directions.to_vec(), n_trials).unwrap()
}

/// What the front of loss and bits dominates.
fn area(study: &Study) -> f64 {
    let front = pareto::front(study.history());
    let losses: Vec<Vec<f64>> = front
        .iter()
        .map(|trial| trial.outcome.values.clone())
        .collect();
    pareto::hypervolume(&losses, &[1.0, 8.0])
}

const TWO: &[Direction] = &[Direction::Minimize, Direction::Minimize];
const ONE: &[Direction] = &[Direction::Minimize];

/// Narrow minifloats with a wide exponent cannot be built. The front is as good as without them, and better than random.
#[test]
fn options_that_fail_are_left_out() {
    let failing = space(&["integer", "minifloat_ieee"], 2..=8);
    let outcome = |formats: &[(String, f64)]| {
        if formats.iter().all(is_buildable) {
            Outcome::complete(vec![loss(formats), bits(formats)])
        } else {
            Outcome::failed()
        }
    };
    for seed in 0..6 {
        let own = study(&failing, ("sensitivity", seed), (TWO, 100), outcome);
        let random = study(&failing, ("random", seed), (TWO, 400), outcome);
        let alone = study(
            &space(&["integer"], 2..=8),
            ("sensitivity", seed),
            (TWO, 100),
            outcome,
        );
        let (own, random, alone) = (area(&own), area(&random), area(&alone));
        assert!(own > random, "seed {seed}: {own}, random {random}");
        assert!(
            own > 0.95 * alone,
            "seed {seed}: {own}, integers alone {alone}"
        );
    }
}

/// Floats fail everywhere, or in one node: changes are measured from the next widest configuration that works.
#[test]
fn a_base_that_fails_is_replaced() {
    let with_floats = space(&["NA", "integer"], 2..=8);
    for bad in [0..NODES, 2..3] {
        let outcome = |formats: &[(String, f64)]| {
            if bad.clone().any(|node| formats[node].0 == "NA") {
                Outcome::failed()
            } else {
                Outcome::complete(vec![loss(formats), bits(formats)])
            }
        };
        let run = study(&with_floats, ("sensitivity", 1), (TWO, 100), outcome);
        let trials = run.history().trials();
        let base = trials
            .iter()
            .find(|trial| trial.outcome.state == State::Complete)
            .unwrap();
        assert_eq!(base.number, 1);
        let widest = formats(&with_floats.named(&base.point));
        assert!(widest.iter().all(|(_, width)| *width == 8.0), "{widest:?}");
        let alone = study(
            &space(&["integer"], 2..=8),
            ("sensitivity", 1),
            (TWO, 100),
            outcome,
        );
        assert!(
            area(&run) > 0.95 * area(&alone),
            "{} {}",
            area(&run),
            area(&alone)
        );
    }
}

#[test]
fn a_study_in_which_everything_fails_goes_on() {
    let space = space(&["NA", "integer"], 2..=8);
    let run = study(&space, ("sensitivity", 1), (TWO, 60), |_| Outcome::failed());
    let points: Vec<_> = run
        .history()
        .trials()
        .iter()
        .map(|trial| &trial.point)
        .collect();
    let different: std::collections::HashSet<_> = points.iter().collect();
    assert_eq!((points.len(), different.len()), (60, 60));
}

/// 29791 combinations for a node: the first trial is the widest of all, and every operand takes small, middle and large
/// widths; the cheapest of each node is among them.
#[test]
fn a_node_with_many_combinations_is_seen_everywhere() {
    let widths: Vec<i64> = (2..=32).collect();
    let text = strategy(
        "accuracy = {}\naverage_bitwidth = {}",
        "[strategy.setup]\nn_trials = 50\n",
    )
    .replace("random", "sensitivity")
    .replace(
        "data_in_width = [2, 3, 4, 8]",
        &format!("data_in_width = {widths:?}"),
    )
    .replace(
        "\nweight_width = [2, 3, 4, 8]",
        &format!("\nweight_width = {widths:?}"),
    )
    .replace("bias_width = [4, 8]", &format!("bias_width = {widths:?}"));
    let search = search(&text, network(), 200);
    let results = run(&search, None);
    let space = search.space.study_space().clone();
    let trials: Vec<Map<String, Value>> = results
        .history
        .trials()
        .iter()
        .map(|trial| space.named(&trial.point))
        .collect();
    assert!(
        trials[0].values().all(|width| *width == 32),
        "{:?}",
        trials[0]
    );
    for parameter in space.parameters() {
        let seen: BTreeSet<i64> = trials
            .iter()
            .map(|trial| trial[&parameter.name].as_i64().unwrap())
            .collect();
        for part in [2..=2, 3..=12, 13..=22, 23..=32] {
            assert!(
                seen.iter().any(|width| part.contains(width)),
                "{}: {seen:?}",
                parameter.name
            );
        }
    }
    let cheapest = |node: &str| {
        let own = format!("{node}/");
        trials.iter().any(|trial| {
            let mut own = trial.iter().filter(|(name, _)| name.starts_with(&own));
            own.all(|(_, width)| *width == 2)
        })
    };
    let SearchSpace::Formats(formats) = &search.space else {
        panic!("formats are searched");
    };
    let mut nodes = formats.nodes.iter();
    assert!(nodes.all(|node| cheapest(&node.name)));
}

#[test]
fn a_float_is_wider_than_any_integer() {
    let text = strategy("accuracy = {}", "")
        .replace("random", "sensitivity")
        .replace("[\"integer\"]", "[\"NA\", \"integer\"]");
    let search = search(&text, network(), 50);
    let mut study = search.study().unwrap();
    let Next::Trial { point, .. } = study.ask() else {
        panic!("the first trial needs nothing");
    };
    let named = search.space.study_space().named(&point);
    assert!(named.values().all(|value| *value == "NA"), "{named:?}");
}

/// A loss, and how far bits are over a limit as a search says it: nothing below.
fn limited(formats: &[(String, f64)], limit: f64) -> Outcome {
    Outcome {
        values: vec![loss(formats)],
        violation: Some((bits(formats) - limit).max(0.0) / limit),
        state: State::Complete,
    }
}

fn best(space: &Arc<Space>, sampler: (&str, u64), limit: f64) -> f64 {
    let run = study(space, sampler, (ONE, 40), |formats| limited(formats, limit));
    let best = run.history().best().unwrap();
    if best.is_feasible() {
        best.outcome.values[0]
    } else {
        1.0
    }
}

/// One objective and a budget: not worse than tpe for most seeds with as many trials, whether there are fewer options than
/// trials or more.
#[test]
fn a_budget_is_used_as_well_as_by_tpe() {
    for (widest, limit) in [(8, 3.0), (8, 4.0), (12, 3.0), (12, 4.0)] {
        let space = space(&["integer"], 2..=widest);
        let is_as_good = |seed: &u64| {
            let (own, tpe) = (("sensitivity", *seed), ("tpe", *seed));
            best(&space, own, limit) <= best(&space, tpe, limit)
        };
        let count = (0..10).filter(is_as_good).count();
        assert!(
            count >= 8,
            "up to {widest} bits, limit {limit}: {count} of 10"
        );
    }
}

/// 117649 configurations, of which 40 are tried.
#[test]
fn what_a_budget_leaves_is_nearly_found() {
    let space = space(&["integer"], 2..=8);
    let limit = 3.0;
    let all = (0..space.size().unwrap()).map(|index| {
        let point = space.nth(index).unwrap();
        limited(&formats(&space.named(&point)), limit)
    });
    let allowed = all.filter(|outcome| outcome.violation == Some(0.0));
    let optimum = allowed.map(|outcome| outcome.values[0]).fold(1.0, f64::min);
    for seed in 0..10 {
        let own = best(&space, ("sensitivity", seed), limit);
        assert!(own < 1.05 * optimum, "seed {seed}: {own}, best {optimum}");
    }
}

/// Two objectives and a budget on what adds up, or on its inverse: what is proposed after measuring keeps it.
#[test]
fn a_budget_holds_for_several_objectives_too() {
    let space = space(&["integer"], 2..=8);
    let sum = |bits: f64| (bits - 4.0).max(0.0) / 4.0;
    let inverse = |bits: f64| (8.0 - 32.0 / bits).max(0.0) / 8.0;
    let budgets: [fn(f64) -> f64; 2] = [sum, inverse];
    for (budget, violation) in budgets.iter().enumerate() {
        let outcome = |formats: &[(String, f64)]| {
            let memory: f64 = formats.iter().map(|(_, width)| width).sum();
            Outcome {
                values: vec![loss(formats), memory],
                violation: Some(violation(bits(formats))),
                state: State::Complete,
            }
        };
        let run = study(&space, ("sensitivity", 3), (TWO, 100), outcome);
        let trials = run.history().trials();
        let widest = trials[0].point.coordinates();
        let is_proposed = |trial: &&study::Trial| {
            let pairs = trial.point.coordinates().iter().zip(widest);
            pairs.filter(|(own, base)| own != base).count() > 1
        };
        let proposed: Vec<_> = trials.iter().filter(is_proposed).collect();
        let feasible = proposed.iter().filter(|trial| trial.is_feasible()).count();
        assert!(proposed.len() > 50, "{}", proposed.len());
        assert!(
            10 * feasible > 9 * proposed.len(),
            "budget {budget}: {feasible} of {}",
            proposed.len()
        );
    }
}

/// Two objectives, a budget and failures: the points are the same however the results come in.
#[test]
fn points_follow_from_the_results_alone() {
    let space = space(&["integer", "minifloat_ieee"], 2..=8);
    let outcome = |formats: &[(String, f64)]| {
        if !formats.iter().all(is_buildable) {
            return Outcome::failed();
        }
        Outcome {
            values: vec![loss(formats), bits(formats)],
            ..limited(formats, 5.0)
        }
    };
    let alone = study(&space, ("sensitivity", 4), (TWO, 90), outcome);
    let mut together = empty_study(&space, ("sensitivity", 4), (TWO, 90));
    let mut running = Vec::new();
    loop {
        while let Next::Trial { number, point } = together.ask() {
            running.push((number, formats(&space.named(&point))));
        }
        let Some((number, formats)) = running.pop() else {
            break;
        };
        together.tell(number, outcome(&formats)).unwrap();
    }
    assert_eq!(together.history().trials(), alone.history().trials());
}
