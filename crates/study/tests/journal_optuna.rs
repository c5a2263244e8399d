//! Real Optuna reads a journal, continues it, and is continued; `BENCH_PYTHON` names a Python that has it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod files;
mod python;
mod toy;

use serde_json::json;
use study::State;
use study::storage::{Journal, Storage};

const TRIALS: u64 = 30;

/// One test: a process that is being started holds the locks of all other threads for a moment.
#[test]
fn optuna_reads_and_continues_what_is_written() {
    optuna_shows_the_same_study();
    optuna_continues_a_study_and_is_continued();
}

fn optuna_shows_the_same_study() {
    let path = files::path("show");
    let journal = Journal::create(&path, &toy::info()).unwrap();
    toy::run(&journal, &mut toy::study("random", TRIALS), usize::MAX).unwrap();
    drop(journal);
    let Some(shown) = python::optuna(&["show", path.to_str().unwrap()]) else {
        return;
    };
    let trials = toy::expected("random", TRIALS);
    python::assert_shown(&shown, &trials);
    let mut study = toy::study("random", TRIALS);
    let journal = Journal::open(&path, &toy::info()).unwrap();
    toy::run(&journal, &mut study, usize::MAX).unwrap();
    let best = study::pareto::front(study.history());
    let best: Vec<u64> = best.iter().map(|trial| trial.number).collect();
    assert_eq!(shown["best"], json!(best));
    drop(journal);
    let studies = python::optuna(&["dashboard", path.to_str().unwrap()]).unwrap();
    if studies.is_null() {
        eprintln!("skipped: optuna-dashboard is not installed");
        return;
    }
    assert_eq!(studies["study_summaries"][0]["study_name"], "toy");
}

/// Optuna adds trials, some pruned, one left behind; the study goes on here behind them.
fn optuna_continues_a_study_and_is_continued() {
    let path = files::path("both");
    let journal = Journal::create(&path, &toy::info()).unwrap();
    toy::run(&journal, &mut toy::study("random", 7), usize::MAX).unwrap();
    drop(journal);
    let place = path.to_str().unwrap();
    let Some(shown) = python::optuna(&["go_on", place, "10"]) else {
        return;
    };
    python::optuna(&["leave", place]);
    let trials = Journal::open(&path, &toy::info()).unwrap().poll().unwrap();
    assert_eq!(trials.len(), 18);
    files::assert_same(&trials[..7], &toy::expected("random", 7));
    for ((trial, attributes), row) in trials
        .iter()
        .zip(shown["trials"].as_array().unwrap())
        .skip(7)
    {
        assert_eq!(row["state"], trial.outcome.state.name());
        assert_eq!(
            row["params"].as_object().unwrap().len(),
            toy::space().named(&trial.point).len()
        );
        assert_eq!(
            row["values"].as_array().unwrap().len(),
            trial.outcome.values.len()
        );
        assert_eq!(attributes["where"], "python");
    }
    assert_eq!(trials[17].0.outcome.state, State::Failed);
    let journal = Journal::open(&path, &toy::info()).unwrap();
    toy::run(&journal, &mut toy::study("random", 25), usize::MAX).unwrap();
    drop(journal);
    let numbers: Vec<u64> = Journal::open(&path, &toy::info())
        .unwrap()
        .poll()
        .unwrap()
        .iter()
        .map(|(trial, _)| trial.number)
        .collect();
    assert_eq!(numbers, (0..25).collect::<Vec<_>>());
    let shown = python::optuna(&["show", place]).unwrap();
    assert_eq!(shown["trials"].as_array().unwrap().len(), 25);
}
