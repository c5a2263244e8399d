//! The page of a search: its data is that of the trials, and a browser shows it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../report/tests/browser/mod.rs"]
mod browser;
mod fixtures;
mod stored_trials;

use browser::{Browser, SKIPPED, part};
use fixtures::{network, run, search, strategy};
use report::page::{data_text, page};
use search::results::{CHAPTER, Report, page_data};
use search::{Objective, Results, Scores, Search};
use serde_json::{Value as Json, json};
use stored_trials::StoredTrials;
use study::storage::Attributes;
use study::{Next, Outcome, State, Trial};

/// A reason to fail that would end a script if it could.
const REASON: &str = "no </script><!--<script> here";

/// A search some of whose trials fail, are given up, exceed the budget, are beaten, and are best.
fn mixed() -> (Search, Results) {
    let budget = "[strategy.budget]\nmax_average_bitwidth = 7.0\n";
    let setup = "[strategy.setup]\nn_trials = 90\nearly_stop = true\n";
    let metrics = "accuracy.scale = 2.0\naverage_bitwidth = {}";
    let text = strategy(metrics, &format!("{budget}{setup}")).replace(
        "name = [\"integer\"]\n",
        "name = [\"integer\", \"minifloat_ieee\"]\ndata_in_exponent_width = [2]\n\
         weight_exponent_width = [2]\nbias_exponent_width = [2, 3]\n",
    );
    let search = search(&text, network(), 4000);
    let stored = StoredTrials {
        ended: failures(&search).into(),
        ..StoredTrials::default()
    };
    let results = run(&search, Some(Box::new(stored)));
    (search, results)
}

/// Some of the first trials, as a run that could not do them would have left them.
fn failures(search: &Search) -> Vec<(Trial, Attributes)> {
    let mut study = search.study().unwrap();
    let mut failed = Vec::new();
    while failed.len() < 10
        && let Next::Trial { number, point } = study.ask()
    {
        let trial = Trial {
            note: Some(REASON.to_owned()),
            ..Trial::new(number, point, Outcome::failed())
        };
        failed.push((trial, Attributes::new()));
    }
    failed.into_iter().step_by(3).collect()
}

/// The keys of [`mixed`] that have one choice.
const FIXED: [&str; 2] = ["data_in_exponent_width 2", "weight_exponent_width 2"];

/// A page with the chapter alone.
fn chapter(report: &Report, title: &str) -> String {
    let data = json!({ "search": page_data(report) });
    page(&data, title, &[CHAPTER])
}

fn data(page: &str) -> Json {
    let mut data: Json = serde_json::from_str(data_text(page).unwrap()).unwrap();
    data["search"].take()
}

/// The entry of a trial in a column, of which one entry is kept when all are the same.
fn entry<T>(column: &[T], trial: usize) -> &T {
    column.get(trial).unwrap_or(&column[0])
}

/// What a list with letters says of a trial.
fn choice(parameter: &Json, trial: usize) -> Option<Json> {
    let letters: Vec<char> = parameter["letters"].as_str().unwrap().chars().collect();
    let place = (*entry(&letters, trial) as usize).checked_sub('0' as usize)?;
    Some(parameter["list"][place].clone())
}

#[test]
fn the_page_holds_every_trial() {
    let (search, results) = mixed();
    let report = Report::new(&search, &results);
    let data = data(&chapter(&report, "t"));
    for (trial, record) in results.history.trials().iter().enumerate() {
        let mut config = json!({});
        for parameter in data["parameters"].as_array().unwrap() {
            if let Some(value) = choice(parameter, trial) {
                let node = parameter["node"].as_str().unwrap();
                config[node]["config"][parameter["key"].as_str().unwrap()] = value;
            }
        }
        let expected = Json::Object(search.space.sampled_config(&record.point));
        assert_eq!(config, expected, "trial {trial}");
        let note = choice(&data["notes"], trial);
        assert_eq!(note, record.note.clone().map(Json::String));
        for (metric, column) in data["columns"].as_array().unwrap().iter().enumerate() {
            let shown = entry(column["values"].as_array().unwrap(), trial).as_f64();
            let scored = Scores::of(record).map(|scores| scores.values()[metric]);
            let scored = scored.filter(|score| score.is_finite());
            let near = |(a, b): (f64, f64)| (a - b).abs() <= 1e-6 * b.abs();
            assert_eq!(shown.is_some(), scored.is_some(), "trial {trial}");
            assert!(shown.zip(scored).is_none_or(near), "trial {trial}");
        }
    }
}

/// Other programs may run trials of the same study; of those only the values of the objectives are known.
#[test]
fn a_trial_without_scores_is_shown_by_its_values() {
    let (search, results) = mixed();
    let is_complete = |trial: &&Trial| trial.outcome.state == State::Complete;
    let complete = results.history.trials().iter().find(is_complete).unwrap();
    let accuracy = Scores::of(complete).unwrap()[Objective::Accuracy];
    let trial = complete.number as usize;
    let foreign = StoredTrials {
        ended: vec![(complete.clone(), Attributes::new())].into(),
        ..StoredTrials::default()
    };
    let results = run(&search, Some(Box::new(foreign)));
    let report = Report::new(&search, &results);
    let data = data(&chapter(&report, "t"));
    let shown = |column: usize| data["columns"][column]["values"][trial].as_f64();
    assert!((shown(0).unwrap() - accuracy).abs() < 1e-6);
    assert_eq!(shown(1), None);
}

#[test]
fn a_title_is_nothing_but_text() {
    let setup = "[strategy.setup]\nn_trials = 2\n";
    let search = search(&strategy("accuracy = {}", setup), network(), 50);
    let results = run(&search, None);
    let report = Report::new(&search, &results);
    let plain = chapter(&report, "TITLE");
    let escaped = "&lt;/script&gt;{data}&quot;&amp;";
    assert_eq!(
        chapter(&report, "</script>{data}\"&"),
        plain.replace("TITLE", escaped)
    );
    assert_eq!(plain.matches("TITLE").count(), 2);
    for outside in ["src=", "href=\"http", "@import", "url("] {
        assert!(!plain.contains(outside), "the page has {outside}");
    }
}

/// Of 20 rows many trials have the same accuracy: only the first of them is a step.
#[test]
fn the_best_value_so_far_has_a_step_where_a_trial_is_better() {
    let text = strategy("accuracy = {}", "[strategy.setup]\nn_trials = 60\n");
    let search = search(&text, network(), 20);
    let results = run(&search, None);
    let trials = results.history.trials();
    let accuracies = trials
        .iter()
        .map(|trial| (trial.number as f64, trial.outcome.values[0]));
    let mut expected: Vec<(f64, f64)> = Vec::new();
    for place in accuracies.clone() {
        if expected.last().is_none_or(|best| place.1 > best.1) {
            expected.push(place);
        }
    }
    let best = expected.last().unwrap().1;
    assert!(accuracies.filter(|place| place.1 == best).count() > 1);
    expected.push((59.0, best));
    let chart = Report::new(&search, &results).chart();
    assert_eq!(chart.series[1].points, expected);
}

/// Charts show metrics, not what scales make of them, and a best value so far only of trials that keep the budget.
#[test]
fn a_chart_shows_metrics_as_they_are() {
    for metrics in [
        "accuracy.scale = 2.0\naverage_bitwidth.scale = 0.2",
        "accuracy = { scale = -3.0, direction = \"minimize\" }\naverage_bitwidth.scale = 0.2",
        "average_bitwidth.scale = 0.5\naccuracy.scale = 0.5",
        "accuracy.scale = 2.0",
        "loss = { scale = -2.0, direction = \"maximize\" }",
    ] {
        let more =
            "[strategy.budget]\nmax_average_bitwidth = 5.0\n[strategy.setup]\nn_trials = 60\n";
        let search = search(&strategy(metrics, more), network(), 500);
        let results = run(&search, None);
        let report = Report::new(&search, &results);
        let chart = report.chart();
        let value = |record: &Trial, name: &str| match name {
            "trial" => record.number as f64,
            _ => Scores::of(record).unwrap()[Objective::find(name).unwrap()],
        };
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let known = |&(x, y): &(f64, f64), records: &[&Trial]| {
            let place = |r: &&Trial| (value(r, &chart.x_label), value(r, &chart.y_label));
            records
                .iter()
                .map(place)
                .any(|(a, b)| close(a, x) && close(b, y))
        };
        let records: Vec<&Trial> = results.history.trials().iter().collect();
        let keeps = |record: &&&Trial| record.outcome.violation == Some(0.0);
        let kept: Vec<&Trial> = records.iter().filter(keeps).copied().collect();
        let (all, best) = (&chart.series[0].points, &chart.series[1].points);
        assert!(all.iter().all(|place| known(place, &records)), "{metrics}");
        // The end of a best value so far is where the last trial is, not a trial of its own.
        let own = best.len() - usize::from(chart.x_label == "trial");
        assert!(own > 1, "{metrics}");
        assert!(
            best[..own].iter().all(|place| known(place, &kept)),
            "{metrics}"
        );
        // Steps begin at the best place across, so that no corner is better than what was reached.
        let is_turned = chart.x_label == "accuracy";
        let is_right = |pair: &[(f64, f64)]| (pair[0].0 <= pair[1].0) != is_turned;
        assert!(
            best.windows(2)
                .all(|pair| pair[0].0 == pair[1].0 || is_right(pair))
        );
    }
}

/// Moves the pointer over the first trial of the front.
const POINTING: &str = "<script>{
    const svg = document.getElementById('scatter'), box = svg.getBoundingClientRect();
    const [, x, y] = svg.querySelector('.dots.front').getAttribute('d').match(/^M(\\S+) (\\S+?)h/);
    const scale = box.width / svg.viewBox.baseVal.width;
    const place = { clientX: box.left + x * scale, clientY: box.top + y * scale };
    svg.dispatchEvent(new PointerEvent('pointermove', place));
}</script>";

#[test]
fn a_browser_shows_the_search() {
    let Some(browser) = Browser::find() else {
        println!("{SKIPPED}");
        return;
    };
    let (search, results) = mixed();
    let report = Report::beside_float(&search, &results).unwrap();
    let failed = numbers(&results, |record| record.outcome.state == State::Failed);
    let page = chapter(&report, "A & B") + POINTING;
    let dom = browser.shown(&page, &format!("#trial-{}", failed[0]));
    assert_eq!(part(&dom, "<h1>", "</h1>"), "A &amp; B");
    check_chart(&dom, &report);
    check_table(&dom, &report);
    check_configurations(&dom, &search, report.best_spread(1)[0]);

    // The address names a trial that failed: the panel says why, and what was tried.
    let panel = text(part(&dom, "<div id=\"trial\"", "<h3 id=\"bestTitle"));
    let record = &results.history.trials()[usize::try_from(failed[0]).unwrap()];
    assert!(panel.contains(&format!("trial {} – could not be run", failed[0])));
    let reason = REASON.replace('<', "&lt;").replace('>', "&gt;");
    assert!(panel.contains(&reason), "{panel}");
    check_panel(&panel, &search, record);

    // The pointer is on a best trial.
    let tip = text(part(&dom, "<div id=\"tip\"", "<script"));
    let best = report.best()[0];
    assert!(
        tip.contains(&format!("trial {} – on the front", best.number)),
        "{tip}"
    );
    check_tip(&tip, &search, best);
}

/// As many marks of each kind as there are trials of it.
fn check_chart(dom: &str, report: &Report) {
    let chart = part(dom, "<svg id=\"scatter\"", "</svg>");
    let marks = |class: &str, mark: &str| {
        let path = part(chart, &format!("class=\"{class}\" d=\""), "\"");
        path.matches(mark).count()
    };
    let is = |record: &Trial, state| record.outcome.state == state;
    let is_over = |record: &Trial| record.outcome.violation.is_some_and(|by| by > 0.0);
    let complete = numbers(report.results, |r| is(r, State::Complete) && !is_over(r)).len();
    let over = numbers(report.results, |r| is(r, State::Complete) && is_over(r)).len();
    let pruned = numbers(report.results, |r| is(r, State::Pruned)).len();
    let best = report.best().len();
    assert!(best > 1 && over > 0 && pruned > 0 && complete > best);
    assert_eq!(marks("dots front", "h0"), best);
    assert_eq!(marks("dots complete", "h0"), complete - best);
    assert_eq!(marks("dots over", "h0"), over);
    assert_eq!(marks("rug pruned", "v8"), pruned);
    // Two corners for every place on the front, and one where it leaves the plot.
    let place = |record: &&Trial| record.outcome.values.clone();
    let mut places: Vec<Vec<f64>> = report.best().iter().map(place).collect();
    places.sort_by(|a, b| a.partial_cmp(b).unwrap());
    places.dedup();
    assert_eq!(marks("steps", "L"), 2 * places.len());
    // The labels are the answers of the float network.
    assert!(chart.contains("class=\"level\""), "{chart}");
    assert!(chart.contains(">float network 1<"), "{chart}");
}

/// The last cell of the first row: of every node the keys that have several choices.
fn check_configurations(dom: &str, search: &Search, record: &Trial) {
    let table = part(dom, "<table id=\"best\"", "</table>");
    let row = part(table, "<tr data-row", "</tr>");
    let cell = text(row.rsplit("<td class=\"word\"").next().unwrap());
    for (node, keys) in configs(search, record) {
        let said = keys
            .into_iter()
            .map(|(key, value)| format!("{key} {value}"));
        let said: Vec<String> = said
            .filter(|pair| !FIXED.contains(&pair.as_str()))
            .collect();
        let expected = format!("{node}. {}", said.join(", "));
        assert!(cell.contains(&expected), "no '{expected}' in '{cell}'");
    }
}

/// A row for every best trial, from the best value of the first objective on.
fn check_table(dom: &str, report: &Report) {
    let table = part(dom, "<table id=\"best\"", "</table>");
    let rows = table.split("<a href=\"#trial-").skip(1);
    let rows: Vec<u64> = rows
        .map(|row| row.split('"').next().unwrap().parse().unwrap())
        .collect();
    let best = report.best_spread(usize::MAX);
    assert!(best.is_sorted_by(|a, b| a.outcome.values[0] >= b.outcome.values[0]));
    let best: Vec<u64> = best.iter().map(|record| record.number).collect();
    assert_eq!(rows, best);
}

/// Of every node of a trial its keys and values, as they are written.
fn configs(search: &Search, record: &Trial) -> Vec<(String, Vec<(String, String)>)> {
    let written = |value: &Json| value.as_str().map_or(value.to_string(), str::to_owned);
    let nodes = search.space.sampled_config(&record.point).into_iter();
    let keys = |config: &Json| {
        let keys = config["config"].as_object().unwrap().iter();
        keys.map(|(key, value)| (key.clone(), written(value)))
            .collect()
    };
    nodes.map(|(node, config)| (node, keys(&config))).collect()
}

/// A row for every node, with all its values.
fn check_panel(panel: &str, search: &Search, record: &Trial) {
    let mut rest = panel;
    for (node, keys) in configs(search, record).into_iter().rev() {
        let (before, row) = rest.rsplit_once(&node).unwrap();
        let mut shown: Vec<&str> = row.split_whitespace().collect();
        let mut expected: Vec<&str> = keys.iter().map(|(_, value)| value.as_str()).collect();
        shown.sort_unstable();
        expected.sort_unstable();
        assert_eq!(shown, expected, "{node}");
        rest = before;
    }
}

/// A line for every node, with all its keys and values.
fn check_tip(tip: &str, search: &Search, record: &Trial) {
    for (node, keys) in configs(search, record) {
        let said = keys.into_iter().map(|(key, value)| match key.as_str() {
            "name" => value,
            _ => format!("{key} {value}"),
        });
        let line = format!("{node} {}", said.collect::<Vec<_>>().join(", "));
        assert!(tip.contains(&line), "no '{line}' in '{tip}'");
    }
}

fn numbers(results: &Results, is_meant: impl Fn(&Trial) -> bool) -> Vec<u64> {
    let meant = results
        .history
        .trials()
        .iter()
        .filter(|record| is_meant(record));
    meant.map(|record| record.number).collect()
}

/// A piece of a page without its tags, and without the rest of the tag that it begins in.
fn text(piece: &str) -> String {
    let pieces = piece
        .split('<')
        .map(|tag| tag.split_once('>').map_or("", |(_, text)| text));
    pieces
        .collect::<Vec<_>>()
        .join(" ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
