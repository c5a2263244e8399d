//! The results of a search in all their forms, held against its trials; and a search from its file and a dataset.

use crate::fixtures::{network, read, run, search, strategy};
use data::{Dataset, OpenOptions, Preparation};
use passes::interface::graph_file;
use search::results::{MAX_GRAPHS, Report};
use search::{OBJECTIVES, Scores, Search, Setup, Source};
use serde_json::{Map, Value as Json, json};
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::UNIX_EPOCH;
use study::Trial;

const METRICS: &str = "accuracy.scale = 2.0\naverage_bitwidth.scale = 0.2";

fn small(metrics: &str) -> Search {
    let more = "[strategy.budget]\nmax_average_bitwidth = 5.0\n[strategy.setup]\nn_trials = 40\n";
    search(&strategy(metrics, more), network(), 100)
}

fn metrics(trial: &Trial, source: Source) -> Json {
    let scores = Scores::of(trial).unwrap();
    let own = OBJECTIVES.iter().filter(|entry| entry.source == source);
    let pairs = own.map(|entry| (entry.name.to_owned(), json!(scores[entry.objective])));
    Json::Object(pairs.collect())
}

#[test]
fn rows_have_what_the_trials_have() {
    let search = small(METRICS);
    let results = run(&search, None);
    let report = Report::new(&search, &results);
    let seconds = |time: std::time::SystemTime| {
        let since = time.duration_since(UNIX_EPOCH);
        since.unwrap().as_secs_f64()
    };
    let expected = |trial: &Trial| {
        let software = metrics(trial, Source::Software);
        let hardware = metrics(trial, Source::Hardware);
        let scaled = json!({
            "accuracy": 2.0 * software["accuracy"].as_f64().unwrap(),
            "average_bitwidth": 0.2 * hardware["average_bitwidth"].as_f64().unwrap(),
        });
        let duration = trial.finished.duration_since(trial.started).unwrap();
        json!({
            "number": trial.number,
            "values": trial.outcome.values,
            "software_metrics": software,
            "hardware_metrics": hardware,
            "scaled_metrics": scaled,
            "violation": trial.outcome.violation,
            "sampled_config": search.space.sampled_config(&trial.point),
            "state": "COMPLETE",
            "note": null,
            "time_begin": seconds(trial.started),
            "time_end": seconds(trial.finished),
            "duration": duration.as_secs_f64(),
        })
    };
    let trials = results.history.trials().iter();
    assert_eq!(report.log(), trials.map(expected).collect::<Json>());
    let best = report.best();
    assert!(best.len() > 1);
    let rows: Json = best.into_iter().map(expected).collect();
    assert_eq!(report.best_json(), rows);
}

#[test]
fn the_table_has_a_column_for_every_metric_and_parameter() {
    let search = small(METRICS);
    let results = run(&search, None);
    let table = Report::new(&search, &results).table();
    let space = search.space.study_space();
    let names = OBJECTIVES
        .iter()
        .filter(|entry| entry.source != Source::Netlist);
    let names = names.map(|entry| entry.name);
    let parameters = space.parameters().iter().map(|p| p.name.as_str());
    let headings: Vec<&str> = ["number", "state"]
        .into_iter()
        .chain(names)
        .chain(parameters)
        .collect();
    assert_eq!(table.headings, headings);
    for (row, trial) in table.rows.iter().zip(results.history.trials()) {
        let scores = Scores::of(trial).unwrap();
        let known = scores.values().iter().filter(|value| !value.is_nan());
        let values = known.map(f64::to_string);
        let named: Map<String, Json> = space.named(&trial.point);
        let chosen = space.parameters().iter().map(|p| match &named[&p.name] {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        });
        let start = [trial.number.to_string(), "COMPLETE".to_owned()];
        let cells: Vec<String> = start.into_iter().chain(values).chain(chosen).collect();
        assert_eq!(*row, cells);
    }
}

#[test]
fn files_are_the_forms_of_the_report_and_the_best_networks() {
    let search = small(METRICS);
    let results = run(&search, None);
    let report = Report::beside_float(&search, &results).unwrap();
    let preparation = Preparation::default();
    let best = report.best_graphs().unwrap();
    let files = report.files(&best, &preparation).unwrap();
    let json_text = |json: Json| format!("{json:#}\n").into_bytes();
    let mut expected = vec![
        ("log.json".to_owned(), json_text(report.log())),
        ("trials.csv".to_owned(), report.table().to_csv().into()),
        ("front.svg".to_owned(), report.chart().to_svg().into()),
    ];
    for trial in report.best_spread(MAX_GRAPHS) {
        let name = format!("best/trial_{}", trial.number);
        let config = search.space.to_toml(&trial.point);
        let graph = search.graph(&trial.point).unwrap();
        let graph = graph_file(&graph, &preparation).unwrap();
        expected.push((format!("{name}.toml"), config.into()));
        expected.push((format!("{name}.mz"), graph));
    }
    expected.push(("best.json".to_owned(), json_text(report.best_json())));
    assert_eq!(files, expected);
}

/// The level of the float network stands where the vertical axis shows answers, not costs or sums.
#[test]
fn charts_have_the_level_of_the_float_network() {
    let sum = "[strategy.setup]\nsum_scaled_metrics = true\nn_trials = 20\n";
    for (metrics, more, y_label, has_level, title) in [
        (METRICS, "", "accuracy", true, "on the front"),
        (
            "accuracy = {}",
            "",
            "accuracy",
            true,
            "accuracy of 20 trials",
        ),
        ("bitops = {}", "", "bitops", false, "bitops of 20 trials"),
        (
            METRICS,
            sum,
            "sum_scaled_metrics",
            false,
            "sum_scaled_metrics of 20 trials",
        ),
    ] {
        let search = search(&strategy(metrics, more), network(), 100);
        let results = run(&search, None);
        let report = Report::beside_float(&search, &results).unwrap();
        let chart = report.chart();
        // The labels are the network's own answers.
        let expected = has_level.then(|| ("float network".to_owned(), 1.0));
        assert_eq!(
            chart.levels,
            expected.into_iter().collect::<Vec<_>>(),
            "{y_label}"
        );
        assert_eq!(chart.y_label, y_label);
        assert!(chart.title.ends_with(title), "{}", chart.title);
        let names: Vec<&str> = chart.series.iter().map(|own| own.name.as_str()).collect();
        let second = if chart.x_label == "trial" {
            "best so far"
        } else {
            "front"
        };
        assert_eq!(names, ["trials", second]);
    }
}

fn prepared(data: &Dataset, more: &str, threads: Option<usize>) -> Search {
    let setup = Setup {
        graph: network(),
        data,
        seed: 9,
        threads,
    };
    let config = read(&strategy("accuracy = {}", more)).unwrap();
    Search::prepare(config, setup).unwrap()
}

#[test]
fn a_search_has_the_rows_and_the_threads_that_are_asked_for() {
    let data = data::open("jsc-sim", &OpenOptions::default()).unwrap();
    let cores = available_parallelism().map_or(1, NonZero::get);
    for (given, n_jobs, expected) in [
        (None, "", cores),
        (Some(0), "n_jobs = 1\n", cores),
        (Some(cores + 3), "n_jobs = 1\n", cores + 3),
        (None, "n_jobs = 1\n", 1),
        (None, "n_jobs = 4000\n", cores),
    ] {
        let search = prepared(&data, &format!("[strategy.setup]\n{n_jobs}"), given);
        assert_eq!(
            (search.threads, search.seed),
            (expected, 9),
            "{given:?}, {n_jobs}"
        );
        assert_eq!(search.rows.len(), data.val.len());
        assert!(search.train_rows.is_none());
        assert_eq!(search.notes(&data), [""; 0]);
    }
    let rows = |count| format!("num_samples = {count}\ndata_loader = \"test_dataloader\"\n");
    let search = prepared(&data, &rows(70), None);
    assert_eq!(search.rows.indices(), data.test.head(70).indices());
    assert_eq!(search.notes(&data), [""; 0]);
    let more = data.test.len() + 1;
    let search = prepared(&data, &rows(more), None);
    let [note] = &search.notes(&data)[..] else {
        panic!("{:?}", search.notes(&data))
    };
    assert!(
        note.starts_with(&format!("requested {more} rows but")),
        "{note}"
    );
    let trained = prepared(&data, "eval_mode = false\n", None);
    assert_eq!(trained.train_rows.unwrap().len(), data.train.len());
}

#[test]
fn a_search_without_rows_is_refused() {
    let data = data::open("jsc-sim", &OpenOptions::default()).unwrap();
    let data = Dataset {
        val: data.val.head(0),
        ..data
    };
    let setup = Setup {
        graph: network(),
        data: &data,
        seed: 9,
        threads: None,
    };
    let config = read(&strategy("accuracy = {}", "")).unwrap();
    let error = Search::prepare(config, setup).err().unwrap().to_string();
    assert!(error.ends_with("rows to score trials on"), "{error}");
}
