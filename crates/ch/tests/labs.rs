//! The labs and the config files that come with the program, as a user runs them: exit codes, results and files.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;

use folder::Folder;
use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use support::{ch, words};

/// A folder of its own to type commands in, with the config files.
struct Workspace(Folder);

impl Workspace {
    fn new(name: &str) -> Self {
        Self(Folder::new(&format!("labs_{name}")))
    }

    /// The JSON result of a command that must succeed.
    fn json(&self, line: &str) -> Json {
        let printed = ch(&words(&format!("{line} --json --quiet")), &self.0);
        assert_eq!(printed.code, Some(0), "{line}: {}", printed.stderr);
        serde_json::from_str(&printed.stdout).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    /// True when a run left this file, and something in it.
    fn has(&self, run: &str, file: &str) -> bool {
        let path = self
            .0
            .join("mase_output")
            .join(run)
            .join("software")
            .join(file);
        fs::metadata(path).is_ok_and(|file| file.len() > 0)
    }
}

fn configs() -> Vec<PathBuf> {
    let mut files = files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs"));
    files.sort();
    files
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let entries = entries.map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| files_below(folder)));
    files
}

/// Every file runs with the verb it is for: `run`, or `transform` for the formats, which differ in nothing else.
#[test]
fn every_config_that_comes_with_the_program_runs() {
    let files = configs();
    assert!(files.len() > 15, "{} files", files.len());
    let workspace = Workspace::new("configs");
    for (number, path) in files.iter().enumerate() {
        let text = fs::read_to_string(path).unwrap();
        let (run, path) = (format!("run-{number}"), path.display().to_string());
        let mut expected = Vec::new();
        let result = if path.contains("formats") {
            workspace.json(&format!("transform --config {path} --project {run}"))
        } else {
            expected.extend(["training_ckpts/best.ckpt", "metrics.csv"].map(str::to_owned));
            workspace.json(&format!("run {path} --max-epochs 1 --project {run}"))
        };
        assert_eq!(
            result["passes"].is_array(),
            text.contains("[passes"),
            "{path}"
        );
        if let Some(passes) = result["passes"].as_array() {
            expected.push("transform/transformed_ckpt/graph.mz".to_owned());
            let keys = passes.iter().map(|pass| pass["key"].as_str().unwrap());
            expected.extend(keys.map(|key| format!("transform/{key}.txt")));
        }
        if text.contains("[search") {
            let files = ["log.json", "best.json", "report.html", "study.journal"];
            expected.extend(files.map(|file| format!("search_ckpts/{file}")));
        }
        for file in expected {
            assert!(workspace.has(&run, &file), "{path}: {file}");
        }
    }
}

/// Profiling leaves nothing to compare; quantising does.
#[test]
fn a_run_compares_only_what_passes_changed() {
    let workspace = Workspace::new("compares");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/examples");
    for (file, is_compared) in [
        ("jsc_tiny_statistics.toml", false),
        ("jsc_toy_by_name.toml", true),
    ] {
        let path = examples.join(file);
        let result = workspace.json(&format!("run {} --max-epochs 1", path.display()));
        assert_eq!(result["compare"].is_object(), is_compared, "{file}");
        assert_eq!(
            result["test_after_passes"].is_object(),
            is_compared,
            "{file}"
        );
    }
}

/// There is an example for every number format, and it quantises with that format.
#[test]
fn every_format_has_an_example() {
    for entry in format::Format::TABLE {
        let file = format!("../../configs/examples/formats/{}.toml", entry.name);
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        assert!(
            text.contains(&format!("name = \"{}\"", entry.name)),
            "{}",
            entry.name
        );
    }
}

/// The check values of lab 2, before and after quantising, through the passes.
#[test]
fn costs_before_and_after_quantising_are_those_of_lab_2() {
    let workspace = Workspace::new("costs");
    workspace.write(
        "costs.toml",
        "[passes.count_flops]\n[passes.count_bitops]\n[passes.quantize.linear.config]\nname = \"integer\"\n\
         data_in_width = 8\nweight_width = 8\nbias_width = 8\n[passes.count_flops_2]\n[passes.count_bitops_2]\n",
    );
    let result = workspace.json("transform jsc-tiny --config costs.toml --dry-run");
    let facts: Vec<i64> = result["passes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|pass| {
            let report = &pass["report"];
            let total = report.get("total_flops").or(report.get("total_bitops"))?;
            total.as_i64()
        })
        .collect();
    assert_eq!(facts, [1320, 1_205_504, 680, 575_744]);
}

/// A network of the user's own goes the whole way: text, training, passes, and back by the name that is printed.
#[test]
fn a_network_of_ones_own_is_trained_quantised_tested_and_compared() {
    let workspace = Workspace::new("own");
    workspace.write(
        "my_net.mg",
        "graph \"my_net\" {\n  x: f32[N, 16] = placeholder\n  a = batch_norm1d(x) { target = \"a\", num_features = 16 }\n  \
         b = linear(a) { target = \"b\", in_features = 16, out_features = 5 }\n  return b\n}\n",
    );
    workspace.json("train my_net.mg jsc-sim --max-epochs 1 --learning-rate 1e-2 --project mine");
    let config =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/examples/jsc_toy_by_type.toml");
    let load = "mase_output/mine/software/training_ckpts/best.ckpt";
    let line = format!(
        "transform my_net.mg --config {} --load {load} --project mine --quiet",
        config.display()
    );
    let printed = ch(&words(&line), &workspace.0);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let advice = printed
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("use it: ch "));
    let result = workspace.json(advice.unwrap());
    assert!(result["test_acc_epoch"].as_f64() > Some(0.3), "{result}");
    let graph = "mase_output/mine_2/software/transform/transformed_ckpt/graph.mz";
    let compared = workspace.json(&format!("compare {load} {graph} jsc-sim --model my_net.mg"));
    assert!(compared.is_object());
}

/// The samplers of lab 3: with few trials they come close to what brute force finds.
#[test]
fn few_trials_come_close_to_all_of_them() {
    let workspace = Workspace::new("samplers");
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/labs/lab3.md"));
    let page = page.unwrap();
    let (_, rest) = page.split_once("file=sum.toml\n").unwrap();
    workspace.write("sum.toml", rest.split_once("```").unwrap().0);
    workspace.json(
        "train jsc-toy jsc-sim --max-epochs 10 --batch-size 256 --learning-rate 1e-2 --project lab3-toy",
    );
    let best = |options: &str| {
        let result = workspace.json(&format!(
            "search --config sum.toml {options} --project search"
        ));
        result["best"][0]["values"][0].as_f64().unwrap()
    };
    let all = best("--sampler brute_force --n-trials 2000");
    let mean = |sampler: &str| {
        let seeds = [1, 2, 3, 42];
        let sum: f64 = seeds
            .iter()
            .map(|seed| best(&format!("--sampler {sampler} --seed {seed}")))
            .sum();
        sum / seeds.len() as f64
    };
    let (random, tpe, sensitivity) = (mean("random"), mean("tpe"), mean("sensitivity"));
    assert!(
        random < tpe.min(sensitivity),
        "{random} {tpe} {sensitivity}"
    );
    assert!(
        tpe.min(sensitivity) > 0.97 * all,
        "{tpe} {sensitivity} {all}"
    );
    assert!(tpe.max(sensitivity) <= all, "{tpe} {sensitivity} {all}");
}
