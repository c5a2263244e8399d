//! A study of everything at once, for the tests of storages: all kinds of parameters, states, values and constraints.

use serde_json::{Map, Value as Json, json};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use study::storage::{Attributes, Storage, StorageError, StudyInfo};
use study::{
    Condition, Direction, Distribution, Next, Outcome, Parameter, Point, SamplerContext, Space,
    State, Study, Trial, build_sampler,
};

/// Lists, texts and nothing as choices, a condition, steps, logarithms, a real number.
pub fn space() -> Arc<Space> {
    let int = |low, high, step, log| Distribution::Int {
        low,
        high,
        step,
        log,
    };
    let when = |choices: Vec<Json>| {
        Some(Condition {
            parameter: "kind".to_owned(),
            choices,
        })
    };
    let choices = vec![json!("a b"), json!([1, 16]), json!(null), json!(2.5)];
    let parameters = [
        (
            "kind",
            Distribution::Categorical {
                choices: choices.clone(),
            },
            None,
        ),
        ("steps", int(-4, 20, 4, false), when(choices[..2].to_vec())),
        ("width", int(1, 64, 1, true), None),
        (
            "rate",
            Distribution::Float {
                low: 1e-5,
                high: 1.0,
                log: true,
            },
            None,
        ),
        (
            "\"quoted\" é",
            Distribution::Float {
                low: -1.0,
                high: 1.0,
                log: false,
            },
            when(vec![json!(null)]),
        ),
    ];
    let parameters = parameters.map(|(name, distribution, condition)| Parameter {
        condition,
        ..Parameter::new(name, distribution)
    });
    Arc::new(Space::new(parameters.to_vec()).unwrap())
}

pub fn info() -> StudyInfo {
    let facts = json!({"seed": 1, "rate": 0.1, "space": {"relu": {"width": [4], "name": ["é"]}}});
    StudyInfo {
        name: "toy".to_owned(),
        directions: vec![Direction::Minimize, Direction::Maximize],
        metric_names: vec!["loss".to_owned(), "gain".to_owned()],
        facts: facts.as_object().unwrap().clone(),
        space: space(),
    }
}

pub fn study(sampler: &str, n_trials: u64) -> Study {
    let (space, info) = (space(), info());
    let context = SamplerContext {
        space: Arc::clone(&space),
        objectives: info.directions.len(),
        seed: 3,
    };
    let sampler = build_sampler(sampler, context).unwrap();
    Study::new(space, sampler, info.directions, n_trials).unwrap()
}

/// What a trial scores: mostly something, sometimes nothing or something infinite.
pub fn outcome(number: u64, parameters: &Map<String, Json>) -> Outcome {
    if number % 9 == 4 {
        return Outcome::failed();
    }
    let value = |name: &str| parameters.get(name).and_then(Json::as_f64).unwrap_or(0.7);
    let loss = value("rate").ln() / 3.0 + value("steps");
    let gain = if number % 7 == 3 {
        f64::INFINITY
    } else {
        value("width") * 0.1
    };
    Outcome {
        values: vec![loss, gain],
        violation: (!number.is_multiple_of(3)).then(|| loss - 1.0 / 3.0),
        state: if number % 5 == 2 {
            State::Pruned
        } else {
            State::Complete
        },
    }
}

/// A trial of [`study`] with what is stored beside it.
pub fn stored(space: &Space, number: u64, point: &Point) -> (Trial, Attributes) {
    let started = UNIX_EPOCH + Duration::from_micros(1_700_000_000_123_457 + 1_000_000 * number);
    let trial = Trial {
        note: Some(format!("é \n {number}")),
        started,
        finished: started + Duration::from_micros(250_001),
        ..Trial::new(number, point.clone(), outcome(number, &space.named(point)))
    };
    let attributes = json!({"metrics": {"x": 1.0 / 3.0, "none": null}});
    (trial, attributes.as_object().unwrap().clone())
}

/// Goes on with a study until it ends, or until so many operations were done on the storage.
pub fn run(
    storage: &dyn Storage,
    study: &mut Study,
    mut operations: usize,
) -> Result<(), StorageError> {
    let space = space();
    let mut is_over = || {
        operations = operations.saturating_sub(1);
        operations == 0
    };
    for (trial, _) in storage.poll()? {
        study.restore(trial).unwrap();
    }
    while let Next::Trial { number, point } = study.ask() {
        if is_over() {
            return Ok(());
        }
        assert!(storage.claim(number, &point)?);
        if is_over() {
            return Ok(());
        }
        let (trial, attributes) = stored(&space, number, &point);
        storage.finish(&trial, &attributes)?;
        storage.sync(false)?;
        study.finish(trial).unwrap();
    }
    Ok(())
}

/// The trials of a study of [`run`] that was not disturbed.
pub fn expected(sampler: &str, n_trials: u64) -> Vec<(Trial, Attributes)> {
    let mut study = study(sampler, n_trials);
    let mut trials = Vec::new();
    while let Next::Trial { number, point } = study.ask() {
        let trial = stored(study.space(), number, &point);
        study.finish(trial.0.clone()).unwrap();
        trials.push(trial);
    }
    trials
}
