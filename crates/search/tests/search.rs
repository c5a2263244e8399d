//! Searches from their config on: what is given up, what fails, what comes back from a journal, what is best.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixtures;
mod forms;
mod search_file;
mod stored_trials;

use engine::{Input, Network};
use fixtures::{network, run, search, strategy};
use search::results::{Report, importances};
use search::{Event, Objective, Results, Scores, Search};
use serde_json::{Map, Value as Json, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, UNIX_EPOCH};
use stored_trials::StoredTrials;
use study::storage::{Attributes, Journal, StudyInfo};
use study::{Outcome, Point, State, Trial};

fn best(search: &Search, results: &Results) -> Vec<u64> {
    let report = Report::new(search, results);
    report.best().iter().map(|trial| trial.number).collect()
}

/// Which trials are best does not depend on whether hopeless ones are seen to their end.
#[test]
fn giving_up_never_loses_a_best_trial() {
    let mut given_up = 0;
    for metrics in [
        "accuracy = {}\naverage_bitwidth = {}",
        "accuracy.direction = \"minimize\"\naverage_bitwidth = {}",
        "accuracy.scale = -1.0\nbitops = {}",
        "loss.direction = \"maximize\"\naverage_bitwidth = {}",
        "loss = { scale = -2.0, direction = \"minimize\" }",
        "accuracy = { scale = -1.0, direction = \"minimize\" }\nbitops = {}",
    ] {
        let with = |early: bool| {
            let setup = format!("[strategy.setup]\nn_trials = 150\nearly_stop = {early}\n");
            let search = search(&strategy(metrics, &setup), network(), 4000);
            let results = run(&search, None);
            let pruned = |trial: &&Trial| trial.outcome.state == State::Pruned;
            (
                best(&search, &results),
                results.history.trials().iter().filter(pruned).count(),
            )
        };
        let (early, late) = (with(true), with(false));
        assert_eq!(early.0, late.0, "{metrics}");
        assert_eq!(late.1, 0);
        given_up += early.1;
    }
    assert!(given_up > 100, "{given_up} trials were given up");
}

#[test]
fn a_trial_that_was_given_up_shows_no_answers() {
    let setup = "[strategy.setup]\nn_trials = 150\nearly_stop = true\n";
    let search = search(
        &strategy("accuracy = {}\naverage_bitwidth = {}", setup),
        network(),
        4000,
    );
    let results = run(&search, None);
    let report = Report::new(&search, &results);
    let log = report.log();
    let mut rows = log.as_array().unwrap().iter();
    let row = rows.find(|row| row["state"] == "PRUNED").unwrap();
    assert_eq!(row["software_metrics"]["accuracy"], Json::Null);
    assert_eq!(row["scaled_metrics"]["accuracy"], Json::Null);
    assert_eq!(row["values"], Json::Null);
    assert!(row["hardware_metrics"]["average_bitwidth"].is_f64());
    let csv = report.table().to_csv();
    let mut lines = csv.lines();
    assert!(lines.any(|line| line.contains(",PRUNED,,,")), "{csv}");
}

fn journal(name: &str) -> PathBuf {
    let name = format!("runner_{name}_{}.journal", std::process::id());
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path
}

fn info(search: &Search) -> StudyInfo {
    StudyInfo {
        name: "study".to_owned(),
        directions: search.config.goals.directions(),
        metric_names: search.config.goals.names(),
        facts: Map::new(),
        space: Arc::clone(search.space.study_space()),
    }
}

/// Widths are numbers: CMA-ES searches the example that comes with the program, once its objectives are one.
#[test]
fn cmaes_searches_widths() {
    let example = include_str!("../../../configs/examples/jsc_tiny_search.toml");
    let text = example
        .replace("sampler = \"tpe\"", "sampler = \"cmaes\"")
        .replace("sum_scaled_metrics = false", "sum_scaled_metrics = true")
        .replace("[search.", "[");
    let start = text.find("[search_space]").unwrap();
    let mut graph = models::build("jsc-tiny", &models::ModelInfo::default()).unwrap();
    graph.initialize(1);
    let search = search(&text[start..], graph, 200);
    let results = run(&search, None);
    assert_eq!(search.config.sampler.name, "cmaes");
    let is_complete = |trial: &Trial| trial.outcome.state == State::Complete;
    assert!(
        !results.history.trials().is_empty() && results.history.trials().iter().all(is_complete)
    );
}

/// Floats overflow over a huge weight, integers end it: some trials have a loss, others none.
#[test]
fn a_trial_without_a_number_fails_and_the_study_goes_on() {
    let mut graph = network();
    let (id, node) = graph
        .iter()
        .find(|(_, node)| node.op.name() == "linear")
        .unwrap();
    let mut weight = node.params["weight"].clone();
    weight.values_mut()[0] = f32::MAX;
    graph
        .node_mut(id)
        .params
        .insert("weight".to_owned(), weight);
    let text = |trials: u64| {
        let setup = format!("[strategy.setup]\nn_trials = {trials}\n");
        strategy("loss = {}\naverage_bitwidth = {}", &setup)
            .replace("name = [\"integer\"]", "name = [\"integer\", \"NA\"]")
    };
    let first = search(&text(20), graph.clone(), 300);
    let path = journal("nan");
    let storage = Journal::create(&path, &info(&first)).unwrap();
    let results = run(&first, Some(Box::new(storage)));
    let failed = |trial: &&Trial| trial.outcome.state == State::Failed;
    let count = results.history.trials().iter().filter(failed).count();
    assert!((1..20).contains(&count), "{count} of 20 failed");
    let note = results
        .history
        .trials()
        .iter()
        .find(failed)
        .unwrap()
        .note
        .clone();
    assert!(note.unwrap().starts_with("loss is "));

    let log = |search: &Search, results: &Results| {
        let mut log = Report::new(search, results).log();
        for row in log.as_array_mut().unwrap() {
            for time in ["time_begin", "time_end", "duration"] {
                row.as_object_mut().unwrap().remove(time);
            }
        }
        log
    };
    let longer = search(&text(30), graph.clone(), 300);
    let resumed = run(
        &longer,
        Some(Box::new(Journal::open(&path, &info(&longer)).unwrap())),
    );
    assert_eq!(resumed.ran, 10);
    assert_eq!(log(&longer, &resumed), log(&longer, &run(&longer, None)));
    std::fs::remove_file(path).unwrap();
}

/// A complete trial whose value is null, as journals of others may have it.
#[test]
fn a_kept_value_that_is_null_is_a_failed_trial() {
    let text = |trials: u64| {
        let setup = format!("[strategy.setup]\nn_trials = {trials}\n");
        strategy("accuracy = {}", &setup)
    };
    let first = search(&text(4), network(), 100);
    let path = journal("null");
    run(
        &first,
        Some(Box::new(Journal::create(&path, &info(&first)).unwrap())),
    );
    let kept = std::fs::read_to_string(&path).unwrap();
    let nulled: Vec<String> = kept
        .lines()
        .map(|line| {
            let mut line: Json = serde_json::from_str(line).unwrap();
            if line["op_code"] == 6 && line["trial_id"] == 2 {
                line["values"] = serde_json::json!([null]);
            }
            line.to_string() + "\n"
        })
        .collect();
    std::fs::write(&path, nulled.concat()).unwrap();
    let longer = search(&text(6), network(), 100);
    let results = run(
        &longer,
        Some(Box::new(Journal::open(&path, &info(&longer)).unwrap())),
    );
    let states: Vec<State> = results
        .history
        .trials()
        .iter()
        .map(|trial| trial.outcome.state)
        .collect();
    assert_eq!(states.len(), 6);
    for (number, state) in states.into_iter().enumerate() {
        assert_eq!(state == State::Failed, number == 2);
    }
    std::fs::remove_file(path).unwrap();
}

/// The graph of a trained trial scores what the trial scored, by our keys and by those of the original.
#[test]
fn a_trained_trial_can_be_had_again() {
    for keys in [
        "max_steps = 20\nlearning_rate = 1e-2\n",
        "name = \"accuracy\"\ndata_loader = \"train_dataloader\"\nnum_samples = 2048\nmax_epochs = 5\noptimizer = \"adam\"\n\
         learning_rate = 1e-2\nlr_scheduler = \"linear\"\nnum_warmup_steps = 2\n",
    ] {
        trains_again(keys);
    }
}

fn trains_again(keys: &str) {
    let more = format!(
        "eval_mode = false\n[strategy.sw_runner.basic_train]\n{keys}[strategy.setup]\nn_trials = 3\n"
    );
    let search = search(&strategy("accuracy = {}", &more), network(), 600);
    for trial in run(&search, None).history.trials() {
        let graph = search.graph(&trial.point).unwrap();
        let untrained = search.space.graph(&search.network, &trial.point, 0);
        assert_ne!(graph, untrained.unwrap());
        let mut network = Network::new(graph, 1).unwrap();
        let rows = &search.rows;
        let input = Input::Gather {
            values: rows.rows(),
            indices: rows.indices(),
        };
        let score = network.evaluate(&[input], rows.labels(), rows.len());
        let accuracy = score.unwrap().correct as f64 / rows.len() as f64;
        assert_eq!(Scores::of(trial).unwrap()[Objective::Accuracy], accuracy);
    }
}

/// Studies of trials that are trained in other ways are other studies.
#[test]
fn the_identity_of_a_study_follows_from_the_training_of_its_trials() {
    let data = data::open("jsc-sim", &data::OpenOptions::default()).unwrap();
    let facts = |keys: &str| {
        let more = format!("eval_mode = false\n[strategy.sw_runner.basic_train]\n{keys}");
        let search = search(&strategy("accuracy = {}", &more), network(), 50);
        search.info(&data).facts
    };
    assert_eq!(facts("max_steps = 100\n"), facts(""));
    for keys in [
        "max_epochs = 1\n",
        "num_samples = 512\n",
        "optimizer = \"adamw\"\n",
        "weight_decay = 0.1\n",
        "lr_scheduler = \"linear\"\n",
        "num_warmup_steps = 5\n",
        "gradient_accumulation_steps = 2\n",
    ] {
        assert_ne!(facts(keys), facts(""), "{keys}");
    }
}

#[test]
fn a_budget_that_nothing_keeps_leaves_no_best() {
    for metrics in ["accuracy = {}", "accuracy = {}\nbitops = {}"] {
        let more = "[strategy.budget]\nmax_average_bitwidth = 1.5\n";
        let setup = "[strategy.setup]\nn_trials = 40\nearly_stop = false\n";
        let search = search(&strategy(metrics, &format!("{more}{setup}")), network(), 50);
        let results = run(&search, None);
        let report = Report::new(&search, &results);
        assert_eq!(report.best().len(), 0);
        let nearest = report.nearest().unwrap();
        let violation = |trial: &Trial| trial.outcome.violation.unwrap();
        let min = results
            .history
            .trials()
            .iter()
            .map(violation)
            .fold(f64::MAX, f64::min);
        assert_eq!(violation(nearest), min);
        assert!(report.excess(nearest).ends_with("(at most 1.5)"));
    }
}

#[test]
fn the_best_are_spread_from_the_best_of_the_first_objective() {
    let setup = "[strategy.setup]\nn_trials = 200\n";
    let metrics = "accuracy = {}\nbitops = {}\nloss = {}";
    let search = search(&strategy(metrics, setup), network(), 600);
    let results = run(&search, None);
    let report = Report::new(&search, &results);
    let all = report.best();
    assert!(all.len() > 5, "{} are on the front", all.len());
    let accuracy = |trial: &&Trial| trial.outcome.values[0];
    let max = all.iter().map(accuracy).fold(0.0, f64::max);
    let min = all.iter().map(accuracy).fold(1.0, f64::min);
    for kept in [2, 5, all.len(), 10_000] {
        let spread = report.best_spread(kept);
        assert_eq!(spread.len(), kept.min(all.len()));
        assert_eq!(accuracy(&spread[0]), max);
        assert_eq!(accuracy(&spread[spread.len() - 1]), min);
    }
    assert_eq!(accuracy(&report.best_spread(1)[0]), max);
}

#[test]
fn few_trials_say_nothing_of_importances() {
    for (trials, objectives) in [(9, 0), (10, 1)] {
        let setup = format!("[strategy.setup]\nn_trials = {trials}\n");
        let search = search(&strategy("accuracy = {}", &setup), network(), 50);
        let shares = importances(&search, &run(&search, None));
        assert_eq!(shares.len(), objectives, "{trials} trials");
    }
}

/// Every combination of two keys is tried, and one of them alone decides the bits.
#[test]
fn what_decides_an_objective_is_all_that_matters_for_it() {
    let text = "[search_space.setup]\nby = \"type\"\n[search_space.seed.linear.config]\nname = [\"integer\"]\n\
                weight_frac_width = [0, 1, 2, 3, 4]\nweight_width = [2, 4, 8, 16]\n\
                [strategy]\nname = \"random\"\n[strategy.setup]\nn_trials = 20\n\
                [strategy.metrics]\naccuracy = {}\naverage_bitwidth = {}\n";
    let mut graph = models::build("jsc-tiny", &models::ModelInfo::default()).unwrap();
    graph.initialize(1);
    let search = search(text, graph, 200);
    let results = run(&search, None);
    let shares = importances(&search, &results);
    let objectives: Vec<&str> = shares.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(objectives, ["accuracy", "average_bitwidth"]);
    for (_, shares) in &shares {
        assert!(shares.iter().all(|(_, share)| (0.0..=1.0).contains(share)));
        assert!(shares.is_sorted_by(|a, b| a.1 >= b.1), "{shares:?}");
    }
    let [width, frac_width] = shares[1].1.as_slice() else {
        panic!("{shares:?}");
    };
    assert!(width.0.ends_with("/weight_width") && (width.1 - 1.0).abs() < 1e-9);
    assert!(frac_width.0.ends_with("/weight_frac_width") && frac_width.1 == 0.0);
}

#[test]
fn a_row_says_when_a_trial_ran() {
    let setup = "[strategy.setup]\nn_trials = 1\n";
    let search = search(&strategy("accuracy = {}", setup), network(), 50);
    let results = run(&search, None);
    let report = Report::new(&search, &results);
    let start = UNIX_EPOCH + Duration::from_millis(1_500);
    let row = |started, finished| {
        let trial = Trial {
            started,
            finished,
            ..results.history.trials()[0].clone()
        };
        let row = report.row(&trial);
        ["time_begin", "time_end", "duration"].map(|key| row[key].as_f64().unwrap())
    };
    let later = start + Duration::from_millis(2_250);
    assert_eq!(row(start, later), [1.5, 3.75, 2.25]);
    // A clock that was set back.
    assert_eq!(row(later, start), [3.75, 1.5, 0.0]);
}

/// Other programs that share a study choose each parameter by itself.
#[test]
fn a_foreign_trial_that_makes_no_format_has_failed() {
    let text = "[search_space.setup]\nby = \"type\"\n[search_space.seed.linear.config]\nname = [\"minifloat_ieee\"]\n\
                weight_width = [2, 4, 8]\nweight_exponent_width = [1, 3, 4]\n\
                [strategy]\nname = \"tpe\"\n[strategy.setup]\nn_trials = 8\n[strategy.metrics]\naccuracy.scale = 1.0\n";
    let search = search(text, network(), 100);
    let parameters = search.space.study_space().parameters().iter();
    let chosen = parameters.map(|parameter| {
        let is_width = parameter.name.ends_with("/weight_width");
        (parameter.name.clone(), json!(if is_width { 2 } else { 4 }))
    });
    let named: Map<String, Json> = chosen.collect();
    let point = search.space.study_space().point(&named).unwrap();
    let foreign = Trial::new(0, point, Outcome::complete(vec![0.99]));
    let results = run(
        &search,
        Some(Box::new(StoredTrials {
            ended: vec![(foreign, Attributes::new())].into(),
            ..StoredTrials::default()
        })),
    );
    assert_eq!(results.history.trials().len(), 8);
    assert_eq!(results.history.trials()[0].outcome.state, State::Failed);
    let others = &results.history.trials()[1..];
    assert!(
        others
            .iter()
            .all(|trial| trial.outcome.state == State::Complete)
    );
    let report = Report::new(&search, &results);
    assert!(report.best().iter().all(|trial| trial.number > 0));
}

/// A trial that was enqueued is begun as soon as a worker is free, at the point that it fixes.
#[test]
fn an_enqueued_trial_is_run_at_its_point() {
    let text = "[search_space.setup]\nby = \"type\"\n[search_space.seed.linear.config]\nname = [\"integer\"]\n\
                weight_width = [2, 4, 8]\nweight_frac_width = [1]\n\
                [strategy]\nname = \"random\"\n[strategy.setup]\nn_trials = 6\n[strategy.metrics]\naccuracy.scale = 1.0\n";
    let search = search(text, network(), 100);
    let unaided = run(&search, Some(Box::new(StoredTrials::default())));
    let points: Vec<&Point> = unaided
        .history
        .trials()
        .iter()
        .map(|trial| &trial.point)
        .collect();
    let other = points.iter().find(|point| **point != points[3]).unwrap();
    let storage = StoredTrials {
        waiting: Some((3, (*other).clone())).into(),
        ..StoredTrials::default()
    };
    let results = run(&search, Some(Box::new(storage)));
    let trials = results.history.trials();
    assert_eq!(trials.len(), 6);
    assert_eq!(&trials[3].point, *other);
    assert_eq!(trials[3].outcome.state, State::Complete);
}

/// What a worker cannot store ends the search for all of them, with the error.
#[test]
fn a_result_that_cannot_be_stored_ends_the_search() {
    for threads in [1, 2] {
        let text = strategy("accuracy = {}", "[strategy.setup]\nn_trials = 400\n");
        let mut search = search(&text, network(), 100);
        search.threads = threads;
        let storage = StoredTrials {
            last_writable: Some(5),
            ..StoredTrials::default()
        };
        let mut finished = 0;
        let error = search
            .run(
                Some(Box::new(storage)),
                &AtomicBool::new(false),
                &mut |event| {
                    finished += u64::from(matches!(event, Event::Finished(..)));
                },
            )
            .err()
            .unwrap();
        let text = error.to_string();
        assert!(text.starts_with("full.journal: "), "{text}");
        assert!(finished < 100, "{threads} threads: {finished}");
    }
}
