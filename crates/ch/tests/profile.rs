//! `ch train --profile`, as a user and a trace viewer see it, and `--augment` beside it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod commands;
mod folder;

use commands::Workspace;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const TRAIN: &str = "train lenet5 toy_tiny --max-epochs 2 --batch-size 100 --learning-rate 1e-3";

/// The file that a profiled run has written.
fn profile(workspace: &Workspace) -> Json {
    let text = fs::read_to_string(workspace.software().join("profile.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The network, as another command shows it.
fn show(workspace: &Workspace) -> Json {
    let output = workspace.run("show lenet5 --json");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_table_adds_up_and_weights_are_the_same() {
    let plain = Workspace::new("plain").json(TRAIN);
    let workspace = Workspace::new("profiled");
    let output = workspace.run(&format!("{TRAIN} --profile --quiet"));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("profile of 18 batches: "), "{printed}");

    // The cells of a column, from the end of the lines: the heads of rows have spaces in them.
    let lines = printed.lines().skip_while(|line| !line.starts_with("---"));
    let rows: Vec<Vec<&str>> = lines
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with('-'))
        .map(|line| line.split_whitespace().rev().collect())
        .collect();
    let column = |rows: &[Vec<&str>], k: usize| -> f64 {
        let cells = rows.iter().map(|row| row[k].trim_end_matches('%'));
        cells.map(|cell| cell.parse::<f64>().unwrap()).sum()
    };
    let (totals, rows) = rows.split_last().unwrap();
    assert_eq!(totals[0], "100.0%");
    let rounding = rows.len() as f64 * 0.05 + 1e-9;
    assert!((column(rows, 0) - 100.0).abs() <= rounding, "{printed}");
    let total: f64 = totals[1].parse().unwrap();
    assert!(
        (column(rows, 1) - total).abs() <= rounding / 50.0,
        "{printed}"
    );
    let times: Vec<f64> = rows.iter().map(|row| row[1].parse().unwrap()).collect();
    let (_, sorted) = times.split_last().unwrap();
    assert!(sorted.is_sorted_by(|a, b| a >= b), "{printed}");

    // A layer has times forward and backward, which add up to its total.
    let layer = rows.iter().find(|row| row.contains(&"linear"));
    let layer = layer.unwrap_or_else(|| panic!("{printed}"));
    let times = layer.iter().filter_map(|cell| cell.parse::<f64>().ok());
    let [total, backward, forward] = times.collect::<Vec<_>>()[..3] else {
        panic!("{layer:?}");
    };
    assert!(forward > 0.0 && backward > 0.0, "{layer:?}");
    assert!((forward + backward - total).abs() < 0.0021, "{layer:?}");

    let facts = fs::read_to_string(workspace.software().join("run.json")).unwrap();
    let facts: Json = serde_json::from_str(&facts).unwrap();
    assert_eq!(facts["weights_hash"], plain["weights_hash"]);
    assert_eq!(facts["config"]["profile"], true);
    assert!(facts["profile"].as_str().unwrap().ends_with("profile.json"));
    assert_eq!(plain["profile"], Json::Null);
}

#[test]
fn every_node_is_there_once_and_shares_add_up() {
    for threads in [1, 2] {
        let workspace = Workspace::new(&format!("nodes-{threads}"));
        workspace.json(&format!("{TRAIN} --cpu {threads} --profile"));
        let profile = profile(&workspace);
        let rows = profile["profile"]["rows"].as_array().unwrap();
        let nodes = rows.iter().flat_map(|row| row["nodes"].as_array().unwrap());
        let mut nodes: Vec<&str> = nodes.map(|node| node.as_str().unwrap()).collect();
        let shown = show(&workspace);
        let shown = shown["nodes"].as_array().unwrap().iter();
        let mut expected: Vec<&str> = shown.map(|node| node["name"].as_str().unwrap()).collect();
        nodes.sort_unstable();
        expected.sort_unstable();
        assert_eq!(nodes, expected);

        let sum = |key: &str| -> f64 { rows.iter().map(|row| row[key].as_f64().unwrap()).sum() };
        assert!((sum("share") - 1.0).abs() < 1e-9, "{}", sum("share"));
        let mean = 1e3 * profile["profile"]["seconds"].as_f64().unwrap() / 18.0;
        assert!((sum("total_ms") - mean).abs() < 1e-6 * mean);
        assert_eq!(profile["profile"]["batches"], 18);
        let operations: BTreeSet<&str> = rows
            .iter()
            .map(|row| row["operation"].as_str().unwrap())
            .collect();
        for part in [
            "data",
            "compile",
            "cross_entropy",
            "adam",
            "other",
            "conv2d + relu",
        ] {
            assert!(operations.contains(part), "{operations:?}");
        }
    }
}

/// Trace viewers want complete events, and on one thread only such that lie beside or in one another.
#[test]
fn the_trace_is_one_that_viewers_take() {
    let workspace = Workspace::new("trace");
    workspace.json(&format!("{TRAIN} --cpu 2 --profile"));
    let trace = profile(&workspace);
    let events = trace["traceEvents"].as_array().unwrap();
    let (names, slices): (Vec<&Json>, Vec<&Json>) =
        events.iter().partition(|event| event["ph"] == "M");
    let nanoseconds = |event: &Json, key: &str| (event[key].as_f64().unwrap() * 1e3).round() as u64;
    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    let mut batches = BTreeSet::new();
    for event in slices {
        assert_eq!((&event["ph"], &event["pid"]), (&"X".into(), &1.into()));
        assert!(event["name"].is_string() && event["cat"].is_string());
        let end = ends.entry(event["tid"].as_u64().unwrap()).or_default();
        let start = nanoseconds(event, "ts");
        assert!(*end <= start, "{event} begins before {end}");
        *end = start + nanoseconds(event, "dur");
        batches.insert(event["args"]["batch"].as_u64().unwrap());
    }
    // Without the two that warm up.
    assert_eq!(batches, (2..18).collect());
    let named: BTreeSet<u64> = names
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| event["tid"].as_u64().unwrap())
        .collect();
    assert_eq!(named, ends.into_keys().collect());
}

#[test]
fn a_profile_is_a_setting_as_others_are() {
    let workspace = Workspace::new("setting");
    workspace.write("yes.toml", "profile = true\nmax_steps = 1\n");
    workspace.json("train lenet5 toy_tiny --config yes.toml");
    // A single batch is traced, warm or not.
    assert_eq!(profile(&workspace)["profile"]["batches"], 1);
    workspace.write("wrong.toml", "profile = \"often\"\n");
    let error = workspace.error("train lenet5 toy_tiny --config wrong.toml", 2);
    assert!(
        error.contains("profile: 'often' is not true or false"),
        "{error}"
    );
    let error = workspace.error("train lenet5 toy_tiny --profile --sweep seed=0,1", 2);
    assert!(error.contains("leave out --profile or --sweep"), "{error}");
}

#[test]
fn augmented_runs_repeat_on_any_number_of_threads_and_after_a_stop() {
    let options = format!("{TRAIN} --augment crop-flip");
    let workspace = Workspace::new("augmented");
    let whole = workspace.json(&format!("{options} --project whole"));
    assert_eq!(whole["config"]["augment"], "crop(4)+flip");
    let threads = workspace.json(&format!("{options} --cpu 2 --project threads"));
    assert_eq!(threads["weights_hash"], whole["weights_hash"]);
    let plain = workspace.json(&format!("{TRAIN} --project plain"));
    assert_ne!(plain["weights_hash"], whole["weights_hash"]);

    workspace.json(&format!("{options} --max-steps 13 --project parts"));
    let resumed = workspace.json("train --resume=mase_output/parts --max-steps -1");
    assert_eq!(resumed["weights_hash"], whole["weights_hash"]);
    let error = workspace.error(
        "train --resume=mase_output/parts --augment flip --max-epochs 3 --quiet",
        2,
    );
    assert!(error.contains("augment is crop(4)+flip in"), "{error}");

    let sweep = workspace.json(&format!(
        "{TRAIN} --sweep augment=none,crop(4)+flip --project both"
    ));
    assert_eq!(sweep.as_array().map_or(0, Vec::len), 2, "{sweep}");
}

#[test]
fn what_cannot_be_augmented_leaves_no_folder() {
    let workspace = Workspace::new("refused");
    for (line, problem) in [
        (
            "train jsc-tiny jsc-sim --augment flip",
            "augment flip needs images",
        ),
        (
            "train jsc-tiny jsc-sim --sweep augment=none,flip",
            "augment flip needs images",
        ),
        (
            "train lenet5 toy_tiny --augment crop(28)",
            "crop by at most 27",
        ),
        (
            "train lenet5 toy_tiny --augment flop",
            "did you mean 'flip'?",
        ),
        (
            "train lenet5 toy_tiny --augment crop(x)",
            "'crop(x)' is not none, crop-flip, or",
        ),
    ] {
        let output = workspace.run(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(problem), "{line}: {error}");
        assert!(!workspace.0.join("mase_output").exists(), "{line}");
    }
}
