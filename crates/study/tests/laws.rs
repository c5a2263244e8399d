//! Laws over the table of samplers: every entry proposes valid points, purely, whatever the order of the results.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod formats;

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;
use study::{
    Condition, Coordinate, Direction, Distribution, Next, Outcome, Parameter, Point, SAMPLERS,
    SamplerConfig, SamplerContext, SamplerEntry, Space, State, Study, Trial, build_sampler,
};

fn parameter(name: &str, distribution: Distribution) -> Parameter {
    Parameter::new(name, distribution)
}

fn choices(values: &[&str]) -> Distribution {
    Distribution::categorical(values.iter().copied())
}

fn int(low: i64, high: i64) -> Distribution {
    Distribution::int(low, high)
}

/// Everything at once: a condition, steps, logarithms, a continuous parameter.
fn mixed() -> Space {
    let when = |choice: &str| {
        Some(Condition {
            parameter: "kind".into(),
            choices: vec![choice.into()],
        })
    };
    Space::new(vec![
        parameter("kind", choices(&["a", "b"])),
        Parameter {
            condition: when("a"),
            ..parameter("under_a", int(0, 9))
        },
        Parameter {
            condition: when("b"),
            ..parameter("under_b", choices(&["x", "y", "z"]))
        },
        parameter(
            "rate",
            Distribution::Float {
                low: 1e-4,
                high: 1.0,
                log: true,
            },
        ),
        parameter(
            "width",
            Distribution::Int {
                low: 1,
                high: 64,
                step: 1,
                log: true,
            },
        ),
    ])
    .unwrap()
}

fn ordered() -> Space {
    let widths = Distribution::Categorical {
        choices: vec![2.into(), 4.into(), 8.into()],
    };
    let numbers = (0..4).map(|k| parameter(&format!("p{k}"), int(0, 9)));
    Space::new(numbers.chain([parameter("width", widths)]).collect()).unwrap()
}

fn small() -> Space {
    Space::new(
        (0..3)
            .map(|k| parameter(&format!("p{k}"), int(0, 2)))
            .collect(),
    )
    .unwrap()
}

/// As mixed, without what is continuous.
fn discrete() -> Space {
    let parameters = mixed().parameters().to_vec();
    let countable = |p: &Parameter| p.distribution.count().is_some();
    Space::new(parameters.into_iter().filter(countable).collect()).unwrap()
}

/// The richest of the spaces that a sampler takes.
fn suitable(entry: &SamplerEntry) -> Space {
    match entry.name {
        "brute_force" | "cmaes" => ordered(),
        "sensitivity" => discrete(),
        _ => mixed(),
    }
}

/// A config under which generations and windows are short.
fn config(entry: &SamplerEntry) -> Arc<dyn SamplerConfig> {
    let text = match entry.name {
        "nsgaii" | "nsgaiii" => "population_size = 6",
        "tpe" => "n_startup_trials = 5",
        "sensitivity" => "max_options = 4",
        _ => "",
    };
    read(entry, text).unwrap()
}

/// The settings of a text, or what is wrong with them.
fn read(entry: &SamplerEntry, text: &str) -> Result<Arc<dyn SamplerConfig>, String> {
    let table = config::Table::parse(text).unwrap();
    let mut reader = config::Reader::new(&table, 0..0);
    let config = (entry.read)(&mut reader);
    match reader.finish().as_slice() {
        [] => Ok(config),
        problems => Err(config::describe("sampler.toml", text, problems)),
    }
}

fn directions(entry: &SamplerEntry) -> Vec<Direction> {
    match entry.name {
        "nsgaii" | "nsgaiii" => vec![Direction::Minimize, Direction::Maximize],
        _ => vec![Direction::Minimize],
    }
}

fn study(entry: &SamplerEntry, space: Space, seed: u64, n_trials: u64) -> Study {
    study_for(entry, directions(entry), space, seed, n_trials).unwrap()
}

/// A study with these directions; none where the sampler does not take as many objectives.
fn study_for(
    entry: &SamplerEntry,
    directions: Vec<Direction>,
    space: Space,
    seed: u64,
    n_trials: u64,
) -> Option<Study> {
    let space = Arc::new(space);
    let context = SamplerContext {
        space: space.clone(),
        objectives: directions.len(),
        seed,
    };
    let sampler = config(entry).build(context).ok()?;
    Some(Study::new(space, sampler, directions, n_trials).unwrap())
}

/// Some result for a point: mostly values, now and then a failure, a pruned trial or a violated constraint.
fn outcome(point: &Point, objectives: usize) -> Outcome {
    let value = |coordinate: &Option<Coordinate>| match coordinate {
        None => 0.5,
        Some(Coordinate::Choice(choice)) => *choice as f64,
        Some(Coordinate::Int(value)) => *value as f64 / 3.0,
        Some(Coordinate::Float(value)) => *value,
    };
    let sum: f64 = point.coordinates().iter().map(value).sum();
    let kind = (sum * 1000.0) as u64 % 11;
    if kind == 0 {
        return Outcome::failed();
    }
    Outcome {
        values: [sum, (sum * 7.0).sin(), (sum * 3.0).cos()][..objectives].to_vec(),
        violation: (kind == 1).then_some(0.25),
        state: if kind == 2 {
            State::Pruned
        } else {
            State::Complete
        },
    }
}

/// Runs the study with up to `workers` trials at once; `order` decides which of the running ones finishes next.
fn run(mut study: Study, workers: usize, order: &[usize]) -> Vec<Point> {
    let objectives = study.history().directions().len();
    let mut running: Vec<(u64, Point)> = Vec::new();
    let mut order = order.iter().cycle();
    loop {
        while running.len() < workers {
            match study.ask() {
                Next::Trial { number, point } => running.push((number, point)),
                Next::Wait | Next::Finished => break,
            }
        }
        if running.is_empty() {
            break;
        }
        let (number, point) = running.swap_remove(order.next().unwrap() % running.len());
        study.tell(number, outcome(&point, objectives)).unwrap();
    }
    let trials = study.history().trials();
    trials.iter().map(|trial| trial.point.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_interleaving_gives_the_same_points(
        seed in 0..1000_u64,
        workers in 1..40_usize,
        order in proptest::collection::vec(0..1000_usize, 1..50),
    ) {
        for entry in SAMPLERS {
            let alone = run(study(entry, suitable(entry), seed, 40), 1, &[0]);
            let together = run(study(entry, suitable(entry), seed, 40), workers, &order);
            prop_assert_eq!(alone.len(), 40);
            prop_assert_eq!(alone, together, "{}", entry.name);
        }
    }

    #[test]
    fn a_stopped_study_goes_on_as_if_it_had_not(
        seed in 0..1000_u64,
        kept in proptest::collection::vec(any::<bool>(), 40),
    ) {
        for entry in SAMPLERS {
            let whole = run(study(entry, suitable(entry), seed, 40), 1, &[0]);
            let mut again = study(entry, suitable(entry), seed, 40);
            let objectives = again.history().directions().len();
            for (number, point) in whole.iter().enumerate().filter(|(n, _)| kept[*n]) {
                again.restore(Trial::new(number as u64, point.clone(), outcome(point, objectives))).unwrap();
            }
            prop_assert_eq!(whole, run(again, 3, &[1]), "{}", entry.name);
        }
    }

    #[test]
    fn points_are_in_the_space_and_horizons_below_the_number(seed in 0..1000_u64) {
        for entry in SAMPLERS {
            let space = suitable(entry);
            for point in run(study(entry, space.clone(), seed, 40), 1, &[0]) {
                prop_assert_eq!(&space.point(&space.named(&point)).unwrap(), &point);
            }
            let directions = directions(entry);
            let context = SamplerContext { space: Arc::new(space), objectives: directions.len(), seed };
            let sampler = config(entry).build(context).unwrap();
            for number in 0..200 {
                prop_assert!(sampler.horizon(number) <= number);
            }
        }
    }
}

/// A seed stands for the same trials in the next version: the points of every sampler are those in `golden`, and of those that
/// learn from several objectives also with three. `BLESS=1 cargo test -p study --test laws` rewrites them, which a change of a
/// sampler must be worth.
#[test]
fn points_stay_the_same() {
    let three = vec![
        Direction::Minimize,
        Direction::Maximize,
        Direction::Minimize,
    ];
    for entry in SAMPLERS {
        let space = suitable(entry);
        check_golden(entry.name, &space, study(entry, space.clone(), 5, 120));
        let with_three = study_for(entry, three.clone(), space.clone(), 5, 120);
        if let Some(study) = with_three.filter(Study::looks_back) {
            check_golden(&format!("{}_three", entry.name), &space, study);
        }
    }
    let cmaes = study::find_sampler("cmaes").unwrap();
    let space = numbers();
    check_golden("cmaes_numbers", &space, study(cmaes, space.clone(), 5, 120));
}

/// Numbers of every kind; the results that [`outcome`] gives draw them to the ends of their ranges.
fn numbers() -> Space {
    let stepped = |low, high, step, log| Distribution::Int {
        low,
        high,
        step,
        log,
    };
    let rate = Distribution::Float {
        low: 1e-4,
        high: 1.0,
        log: true,
    };
    Space::new(vec![
        parameter("x", Distribution::float(-2.0, 2.0)),
        parameter("rate", rate),
        parameter("size", stepped(1, 64, 1, true)),
        parameter("step", stepped(-6, 15, 3, false)),
    ])
    .unwrap()
}

/// Compares the points of a study with those of its file in `golden`.
fn check_golden(name: &str, space: &Space, study: Study) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let shown = |(name, value): (&String, &Value)| match value.as_f64() {
        Some(number) if !value.is_i64() => format!("{name} {number:.6e}"),
        _ => format!("{name} {value}"),
    };
    let line = |point: &Point| {
        let cells: Vec<String> = space.named(point).iter().map(shown).collect();
        cells.join(", ") + "\n"
    };
    let lines: String = run(study, 1, &[0]).iter().map(line).collect();
    let path = folder.join(format!("{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &lines).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    for (number, (got, expected)) in lines.lines().zip(golden.lines()).enumerate() {
        assert_eq!(got, expected, "{name}: trial {number}");
    }
    assert_eq!(lines.len(), golden.len(), "{name}");
}

/// A cache must not change what a sampler answers when it is asked again for an earlier trial.
#[test]
fn earlier_trials_can_be_asked_for_again() {
    for entry in SAMPLERS {
        let space = Arc::new(suitable(entry));
        let directions = directions(entry);
        let context = SamplerContext {
            space: space.clone(),
            objectives: directions.len(),
            seed: 7,
        };
        let sampler = config(entry).build(context).unwrap();
        let mut study = study(entry, suitable(entry), 7, 60);
        while let Next::Trial { number, point } = study.ask() {
            study
                .tell(number, outcome(&point, directions.len()))
                .unwrap();
        }
        for number in (0..60).rev().chain(0..60) {
            let trial = &study.history().trials()[number as usize];
            assert_eq!(
                sampler.sample(study.history(), number),
                trial.point,
                "{}",
                entry.name
            );
        }
    }
}

#[test]
fn seeds_differ() {
    for entry in SAMPLERS {
        let with = |seed| run(study(entry, suitable(entry), seed, 20), 1, &[0]);
        assert_ne!(with(1), with(2), "{}", entry.name);
    }
}

/// 27 points: the samplers that avoid repetitions try each once and stop.
#[test]
fn a_small_space_is_exhausted_without_repetition() {
    for name in ["random", "brute_force", "tpe", "nsgaii", "nsgaiii"] {
        let entry = SAMPLERS.iter().find(|entry| entry.name == name).unwrap();
        let points = run(study(entry, small(), 3, 1000), 4, &[2, 0]);
        let different: HashSet<&Point> = points.iter().collect();
        assert_eq!((points.len(), different.len()), (27, 27), "{name}");
    }
}

/// As `mixed`, but without what is continuous or logarithmic: 10 points under a, 3 under b.
fn conditional() -> Space {
    let mut parameters = mixed().parameters().to_vec();
    parameters.truncate(3);
    parameters.push(parameter("free", int(0, 4)));
    Space::new(parameters).unwrap()
}

/// Each choice is as likely as another while it has new points, and no point comes twice.
#[test]
fn random_search_of_a_conditional_space_does_not_repeat() {
    let entry = &SAMPLERS[0];
    for space in [conditional(), discrete()] {
        let size = space.size().unwrap() as usize;
        let points = run(study(entry, space, 3, 4000), 4, &[2, 0]);
        let different: HashSet<&Point> = points.iter().collect();
        assert_eq!((points.len(), different.len()), (size, size));
    }
    let is_b = |point: &Point| point.get(0) == Some(Coordinate::Choice(1));
    let count = |seed| {
        let points = run(study(entry, conditional(), seed, 10), 1, &[0]);
        points.into_iter().filter(is_b).count()
    };
    let share = (0..200).map(count).sum::<usize>() as f64 / 2000.0;
    assert!((share - 0.5).abs() < 0.06, "{share}");
}

/// Choices that are numbers in order are searched as the numbers are.
#[test]
fn cmaes_takes_rising_choices_for_numbers() {
    let entry = study::find_sampler("cmaes").unwrap();
    let digits = |k: i64| Distribution::Categorical {
        choices: (0..10).map(|digit| Value::from(digit * k)).collect(),
    };
    let space = |distribution: &dyn Fn(usize) -> Distribution| {
        let parameters = (0..4).map(|k| parameter(&format!("p{k}"), distribution(k)));
        Space::new(parameters.collect()).unwrap()
    };
    let values = |space: Space| -> Vec<Vec<u64>> {
        let mut study = study(entry, space.clone(), 11, 200);
        let mut tried = Vec::new();
        while let Next::Trial { number, point } = study.ask() {
            let values: Vec<u64> = space.named(&point).values().map(digit).collect();
            let loss: u64 = values.iter().map(|value| value.abs_diff(7)).sum();
            let outcome = Outcome::complete(vec![loss as f64]);
            study.tell(number, outcome).unwrap();
            tried.push(values);
        }
        tried
    };
    let as_numbers = values(space(&|_| int(0, 9)));
    assert_eq!(values(space(&|_| digits(1))), as_numbers);
    assert_eq!(as_numbers.last().unwrap(), &[7; 4]);
    let context = SamplerContext {
        space: Arc::new(space(&|k| digits(1 - 2 * k as i64))),
        objectives: 1,
        seed: 0,
    };
    let refused = (entry.defaults)().build(context).err().unwrap().to_string();
    assert!(refused.contains("of `p1` are not"), "{refused}");
}

fn digit(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn defaults_are_accepted_and_unknown_keys_refused() {
    for entry in SAMPLERS {
        let context = SamplerContext {
            space: Arc::new(suitable(entry)),
            objectives: directions(entry).len(),
            seed: 0,
        };
        assert!((entry.defaults)().build(context).is_ok());
        let error = read(entry, "populaton_size = 3").unwrap_err();
        assert!(error.contains("unknown key 'populaton_size'"), "{error}");
        assert!(!entry.about.is_empty() && !entry.doc.is_empty());
    }
}

#[test]
fn refusals_name_what_is_in_the_way() {
    let refusal = |name: &str, space: Space, objectives: usize| {
        let context = SamplerContext {
            space: Arc::new(space),
            objectives,
            seed: 0,
        };
        build_sampler(name, context).err().unwrap().to_string()
    };
    let ten: Vec<String> = (0..10).map(|k| k.to_string()).collect();
    let ten: Vec<&str> = ten.iter().map(String::as_str).collect();
    let huge = Space::new(
        (0..30)
            .map(|k| parameter(&k.to_string(), choices(&ten)))
            .collect(),
    )
    .unwrap();
    assert_eq!(
        refusal("brute_force", huge, 1),
        "sampler `brute_force` cannot search this space: it has 1000000000000000000000000000000 points, \
         more than the limit of 10000000"
    );
    assert_eq!(
        refusal("brute_force", mixed(), 1),
        "sampler `brute_force` cannot search this space: `rate` is continuous"
    );
    assert_eq!(
        refusal("cmaes", mixed(), 1),
        "sampler `cmaes` cannot search this space: the choices of `kind` are not whole numbers in rising order; \
         random, qmc, tpe, nsgaii, nsgaiii can"
    );
    assert_eq!(
        refusal("cmaes", ordered(), 2),
        "sampler `cmaes` cannot search this space: it has 2 objectives, not 1; sum_scaled_metrics makes them one"
    );
    let nsgaii = study::find_sampler("nsgaii").unwrap();
    assert_eq!(
        read(nsgaii, "mutation_prob = 1.5").unwrap_err(),
        "sampler.toml:1:17: mutation_prob: 1.5 is not within 0 and 1\n  mutation_prob = 1.5\n                  ^^^"
    );
    assert_eq!(
        refusal("anneal", ordered(), 1),
        "sampler `anneal` is not one of random, qmc, brute_force, tpe, cmaes, sensitivity, nsgaii, nsgaiii"
    );
}

#[test]
fn what_is_told_is_checked() {
    let entry = &SAMPLERS[0];
    let mut study = study(entry, ordered(), 0, 2);
    assert!(study.history().is_empty());
    let Next::Trial { number, point } = study.ask() else {
        panic!("the first trial needs nothing");
    };
    let told = |study: &mut Study, number, values: &[f64]| {
        study
            .tell(number, Outcome::complete(values.to_vec()))
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        told(&mut study, 5, &[0.0]).unwrap_err(),
        "trial 5 is not running"
    );
    assert_eq!(
        told(&mut study, number, &[0.0, 1.0]).unwrap_err(),
        "trial 0 has 2 values for 1 objectives"
    );
    told(&mut study, number, &[f64::NAN]).unwrap();
    assert!(!study.history().is_empty());
    assert_eq!(study.history().trials()[0].outcome.state, State::Failed);
    let again = study
        .restore(Trial::new(0, point, Outcome::failed()))
        .unwrap_err();
    assert_eq!(again.to_string(), "trial 0 was restored twice");
}

/// In windows of three, trial 5 waits for trials 0 to 2 even where its sampler needs nothing, and no longer.
#[test]
fn a_window_waits_for_the_one_before_it() {
    let mut study = study(&SAMPLERS[0], ordered(), 0, 9);
    study.set_window(3);
    let horizons: Vec<u64> = (0..9).map(|number| study.horizon(number)).collect();
    assert_eq!(horizons, [0, 0, 0, 3, 3, 3, 6, 6, 6]);
    for number in 0..3 {
        assert!(matches!(study.ask(), Next::Trial { number: n, .. } if n == number));
    }
    for number in [1, 2] {
        study.tell(number, Outcome::failed()).unwrap();
        assert_eq!(study.ask(), Next::Wait);
    }
    study.tell(0, Outcome::failed()).unwrap();
    assert!(matches!(study.ask(), Next::Trial { number: 3, .. }));
}

/// CMA-ES narrows its distribution, but not so far that integers are stuck: each of four axes, all of which have come to rest in the
/// middle, is still moved now and then.
#[test]
fn cmaes_goes_on_moving_integers() {
    let entry = study::find_sampler("cmaes").unwrap();
    let numbers = (0..4).map(|k| parameter(&format!("p{k}"), int(0, 20)));
    let space = Space::new(numbers.collect()).unwrap();
    let mut study = study(entry, space, 1, 800);
    while let Next::Trial { number, point } = study.ask() {
        let far = |c: &Option<Coordinate>| match c {
            Some(Coordinate::Int(value)) => (value - 10).abs() as f64,
            _ => 0.0,
        };
        let sum = point.coordinates().iter().map(far).sum();
        study.tell(number, Outcome::complete(vec![sum])).unwrap();
    }
    let last = &study.history().trials()[600..];
    for axis in 0..4 {
        let values: Vec<_> = last.iter().map(|trial| trial.point.get(axis)).collect();
        let rested = values.iter().filter(|v| **v == Some(Coordinate::Int(10)));
        let share = rested.count() as f64 / values.len() as f64;
        assert!(share > 0.5 && share < 1.0, "axis {axis}: {share}");
    }
}

/// A trial that was run at another point than it was handed out at counts for both: then the two points there are have been tried.
#[test]
fn the_point_that_was_run_instead_is_tried_too() {
    let entry = &SAMPLERS[0];
    let two = || Space::new(vec![parameter("p", int(0, 1))]).unwrap();
    let at = |study: &mut Study, is_other: bool| {
        let Next::Trial { number, point } = study.ask() else {
            panic!("nothing was tried yet");
        };
        let value = i64::from((point.get(0) == Some(Coordinate::Int(0))) == is_other);
        let point = Point::new(vec![Some(Coordinate::Int(value))]);
        let outcome = Outcome::complete(vec![0.0]);
        study.finish(Trial::new(number, point, outcome)).unwrap();
        study.ask()
    };
    assert_eq!(at(&mut study(entry, two(), 0, 9), true), Next::Finished);
    let next = at(&mut study(entry, two(), 0, 9), false);
    assert!(matches!(next, Next::Trial { number: 1, .. }));
}

/// Where no choice has more below it than another, the point of a trial follows from its number alone, however large.
#[test]
fn random_search_numbers_the_points_of_an_even_space() {
    let numbers = (0..5).map(|k| parameter(&format!("p{k}"), int(0, 255)));
    let space = Arc::new(Space::new(numbers.collect()).unwrap());
    let context = SamplerContext {
        space: Arc::clone(&space),
        objectives: 1,
        seed: 1,
    };
    let sampler = config(&SAMPLERS[0]).build(context).unwrap();
    let history = study(&SAMPLERS[0], small(), 0, 1);
    let far = [1 << 39, (1 << 39) + 1];
    let points = far.map(|number| sampler.sample(history.history(), number));
    assert_ne!(points[0], points[1]);
}
