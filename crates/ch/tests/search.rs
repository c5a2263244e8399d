//! `ch search` as a user drives it: the same results on any number of threads and after a kill, the best by definition,
//! budgets kept, hopeless trials given up.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;
mod workspace;

use serde_json::Value as Json;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::{ch, words};
use workspace::{Workspace, config};

#[test]
fn every_sampler_is_the_same_on_one_and_two_threads() {
    let workspace = Workspace::new("threads", "jsc-toy");
    for sampler in ["random", "qmc", "tpe", "nsgaii", "nsgaiii", "sensitivity"] {
        workspace.config(&config("jsc-toy", sampler, 70, 2500));
        for threads in [1, 2] {
            let output = workspace.run(
                &workspace.search(&format!("{sampler}{threads}"), &format!("--cpu {threads}")),
            );
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let (one, two) = (
            workspace.log(&format!("{sampler}1")),
            workspace.log(&format!("{sampler}2")),
        );
        assert_eq!(one.as_array().unwrap().len(), 70, "{sampler}");
        assert_eq!(one, two, "{sampler}");
    }
}

#[test]
fn a_killed_search_goes_on_to_the_same_end() {
    let workspace = Workspace::new("kill", "jsc-toy");
    for sampler in ["random", "nsgaii"] {
        workspace.config(&config("jsc-toy", sampler, 400, 4000));
        workspace.searched(&format!("{sampler}_whole"), "--cpu 2");
        let project = format!("{sampler}_killed");
        let journal = workspace.0.join(format!(
            "mase_output/{project}/software/search_ckpts/study.journal"
        ));
        let finished = || {
            let text = fs::read_to_string(&journal).unwrap_or_default();
            text.lines()
                .filter(|line| line.contains("\"op_code\":6"))
                .count()
        };
        let mut kept = 0;
        for (round, wanted) in [20, 120].into_iter().enumerate() {
            let more = if round == 0 {
                "--cpu 2"
            } else {
                "--cpu 2 --resume"
            };
            let line = workspace.search(&project, more);
            let mut child = workspace
                .command(&line)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let start = Instant::now();
            while finished() < wanted && child.try_wait().unwrap().is_none() {
                assert!(
                    start.elapsed() < Duration::from_mins(1),
                    "the search does not move"
                );
                std::thread::yield_now();
            }
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(finished() >= kept, "a finished trial was lost");
            kept = finished();
        }
        assert!(
            (20..400).contains(&kept),
            "{kept} trials before the last kill"
        );
        let output = workspace.run(&workspace.search(&project, "--cpu 1 --resume"));
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(
            workspace.log(&project),
            workspace.log(&format!("{sampler}_whole")),
            "{sampler}"
        );
    }
}

/// The front of the 18 combinations, by its definition, from `ch transform` and `ch test` for each of them.
#[test]
fn brute_force_finds_the_best_by_definition() {
    let workspace = Workspace::new("brute", "jsc-tiny");
    workspace.config(&config("jsc-tiny", "brute_force", 1000, 10_000));
    workspace.searched("all", "");
    let log = workspace.read("all", "log.json");
    let rows = log.as_array().unwrap();
    assert_eq!(rows.len(), 18);
    let rows: Vec<&Json> = rows
        .iter()
        .filter(|row| row["state"] == "COMPLETE")
        .collect();
    let values = |row: &Json| {
        (
            row["values"][0].as_f64().unwrap(),
            row["values"][1].as_f64().unwrap(),
        )
    };
    let is_best = |row: &&&Json| {
        let (accuracy, bits) = values(row);
        !rows
            .iter()
            .map(|row| values(row))
            .any(|(a, b)| a >= accuracy && b <= bits && (a, b) != (accuracy, bits))
    };
    let expected: Vec<&Json> = rows
        .iter()
        .filter(is_best)
        .map(|row| &row["number"])
        .collect();
    let best = workspace.read("all", "best.json");
    let found: Vec<&Json> = best
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["number"])
        .collect();
    assert_eq!(found, expected);
    // What was found is what a test of the written graph gives.
    let first = &best[0];
    let graph = format!(
        "mase_output/all/software/search_ckpts/best/trial_{}.mz",
        first["number"]
    );
    let toml = workspace.0.join(graph.replace(".mz", ".toml"));
    assert!(
        fs::read_to_string(toml)
            .unwrap()
            .contains("[passes.quantize.seq_blocks_2.config]")
    );
    let output = workspace.run(&format!(
        "test jsc-tiny jsc-sim --load {graph} --json --quiet"
    ));
    let tested: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert!(tested["test_acc_epoch"].as_f64().unwrap() > 0.2);
}

#[test]
fn tpe_and_nsgaii_find_what_brute_force_finds() {
    let workspace = Workspace::new("found", "jsc-tiny");
    let front = |workspace: &Workspace, project: &str| {
        let best = workspace.read(project, "best.json");
        let mut values: Vec<String> = best
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["values"].to_string())
            .collect();
        values.sort();
        values
    };
    workspace.config(&config("jsc-tiny", "brute_force", 60, 512));
    workspace.searched("all", "");
    let expected = front(&workspace, "all");
    for sampler in ["tpe", "nsgaii"] {
        workspace.config(&config("jsc-tiny", sampler, 60, 512));
        let found = (0..20).filter(|seed| {
            let project = format!("{sampler}{seed}");
            workspace.searched(&project, &format!("--seed {seed}"));
            front(&workspace, &project) == expected
        });
        let found = found.count();
        assert!(found >= 19, "{sampler} found it for {found} of 20 seeds");
    }
}

#[test]
fn budgets_are_kept() {
    let workspace = Workspace::new("budget", "jsc-toy");
    let text = config("jsc-toy", "sensitivity", 120, 1000)
        .replace("average_bitwidth.scale = 0.2\n", "")
        + "[search.strategy.budget]\nmax_average_bitwidth = 4.5\n";
    workspace.config(&text);
    workspace.searched("b", "");
    let best = workspace.read("b", "best.json");
    let bits = best[0]["hardware_metrics"]["average_bitwidth"]
        .as_f64()
        .unwrap();
    assert!(bits <= 4.5, "{bits}");
    assert_eq!(best[0]["violation"], 0.0);
}

#[test]
fn a_budget_that_nothing_keeps_is_said() {
    let workspace = Workspace::new("impossible", "jsc-tiny");
    let budget = "[search.strategy.budget]\nmax_average_bitwidth = 1\n";
    let two = config("jsc-tiny", "brute_force", 60, 100);
    let one = two.replace("average_bitwidth.scale = 0.2\n", "");
    for (project, text) in [("two", two), ("one", one)] {
        workspace.config(&(text + budget));
        let output = workspace.run(&workspace.search(project, ""));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        assert!(
            text.contains("no trial keeps the budget; nearest: trial "),
            "{text}"
        );
        assert!(text.contains("average_bitwidth 2 (at most 1)"), "{text}");
        assert!(!text.contains("use it: "), "{text}");
        assert_eq!(
            workspace.read(project, "best.json"),
            Json::Array(Vec::new())
        );
    }
}

/// Of the front, the trial that the last line names is the most accurate.
#[test]
fn the_most_accurate_of_the_front_is_suggested() {
    let workspace = Workspace::new("suggested", "jsc-tiny");
    workspace.config(&config("jsc-tiny", "brute_force", 60, 2000));
    let output = workspace.run(&workspace.search("f", ""));
    let text = String::from_utf8(output.stdout).unwrap();
    let best = workspace.read("f", "best.json");
    let accuracy = |row: &Json| row["values"][0].as_f64().unwrap();
    let rows = best.as_array().unwrap();
    let highest = rows.iter().map(accuracy).fold(0.0, f64::max);
    let is_suggested = |row: &&Json| text.contains(&format!("best/trial_{}.mz\n", row["number"]));
    let suggested: Vec<f64> = rows.iter().filter(is_suggested).map(accuracy).collect();
    assert_eq!(suggested, [highest], "{text}");
    let line = text
        .lines()
        .find(|line| line.starts_with("what accuracy depends on: "));
    assert!(line.is_some_and(|line| line.ends_with('%')), "{text}");
    assert_ne!(accuracy(&rows[0]), highest, "the first would do by chance");
}

#[test]
fn trials_can_be_trained() {
    let workspace = Workspace::new("trained", "jsc-tiny");
    let text = config("jsc-tiny", "random", 4, 1000).replace(
        "name = \"optuna\"\n",
        "name = \"optuna\"\neval_mode = false\n",
    ) + "[search.strategy.sw_runner.basic_train]\nmax_steps = 30\nlearning_rate = 1e-3\n";
    workspace.config(&text);
    for threads in [1, 2] {
        workspace.searched(&format!("t{threads}"), &format!("--cpu {threads}"));
    }
    assert_eq!(workspace.log("t1"), workspace.log("t2"));
    // A graph that was written has the weights that its trial was scored with.
    workspace.config(
        &text
            .replace("val_dataloader", "test_dataloader")
            .replace("num_samples = 1000", "num_samples = 1000000"),
    );
    workspace.searched("tested", "");
    for row in workspace.read("tested", "best.json").as_array().unwrap() {
        let graph = format!(
            "mase_output/tested/software/search_ckpts/best/trial_{}.mz",
            row["number"]
        );
        let output = workspace.run(&format!(
            "test jsc-tiny jsc-sim --load {graph} --json --quiet"
        ));
        let tested: Json = serde_json::from_slice(&output.stdout).unwrap();
        let accuracy = |json: &Json| json.as_f64().unwrap() as f32;
        assert_eq!(
            accuracy(&tested["test_acc_epoch"]),
            accuracy(&row["values"][0])
        );
    }
    workspace.config(&config("jsc-tiny", "random", 4, 1000));
    workspace.searched("untrained", "");
    assert_ne!(workspace.log("t1"), workspace.log("untrained"));
}

/// Samplers that learn nothing from it give up a trial that cannot reach the front, without being told to.
#[test]
fn hopeless_trials_are_given_up() {
    let workspace = Workspace::new("hopeless", "jsc-toy");
    let states = |project: &str, sampler: &str, more: &str| {
        let text = config("jsc-toy", sampler, 200, 4096);
        workspace.config(&text.replace("n_trials = 200\n", &format!("n_trials = 200\n{more}")));
        workspace.searched(project, "");
        let best: Vec<Json> = workspace
            .read(project, "best.json")
            .as_array()
            .unwrap()
            .clone();
        let best: Vec<String> = best.iter().map(|row| row["number"].to_string()).collect();
        let log = workspace.log(project);
        let pruned = log.as_array().unwrap().iter();
        (pruned.filter(|row| row["state"] == "PRUNED").count(), best)
    };
    let (by_itself, best) = states("r", "random", "");
    let (asked_not_to, all) = states("s", "random", "early_stop = false\n");
    assert!(by_itself > 0);
    assert_eq!(asked_not_to, 0);
    assert_eq!(best, all, "nothing that belongs to the front is lost");
    let (tpe, _) = states("t", "tpe", "");
    assert_eq!(tpe, 0, "tpe learns from bad trials too");
}

/// The front of a longer run need not hold what was best before.
#[test]
fn the_best_of_an_earlier_run_are_removed() {
    let workspace = Workspace::new("stale", "jsc-toy");
    workspace.config(&config("jsc-toy", "random", 60, 1000));
    workspace.searched("j", "--n-trials 3");
    workspace.searched("j", "--resume");
    let best = workspace.read("j", "best.json");
    let numbers = best
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["number"].to_string());
    let mut wanted: Vec<String> = numbers
        .flat_map(|number| [format!("trial_{number}.mz"), format!("trial_{number}.toml")])
        .collect();
    wanted.sort();
    let folder = workspace.0.join("mase_output/j/software/search_ckpts/best");
    let entries = fs::read_dir(folder).unwrap();
    let mut there: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    assert_eq!(there, wanted);
}

#[test]
fn a_budget_of_zero_is_a_budget() {
    let workspace = Workspace::new("zero", "jsc-tiny");
    workspace.config(
        &(config("jsc-tiny", "random", 6, 100) + "[search.strategy.budget]\nmax_flops = 0\n"),
    );
    let output = workspace.run(&workspace.search("z", ""));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("no trial keeps the budget; nearest: trial "),
        "{text}"
    );
}

#[test]
fn the_samplers_are_listed() {
    let [text, earlier_name] = ["list samplers", "list strategies"]
        .map(|line| ch(&words(line), &std::env::temp_dir()).stdout);
    assert_eq!(text, earlier_name);
    for name in [
        "random",
        "qmc",
        "brute_force",
        "tpe",
        "cmaes",
        "sensitivity",
        "nsgaii",
        "nsgaiii",
    ] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}");
    }
}
