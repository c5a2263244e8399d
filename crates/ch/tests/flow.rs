//! `ch transform` and `ch run` when something goes wrong, is resumed, or only results are wanted.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;

use folder::Folder;
use serde_json::Value as Json;
use std::fs;
use support::{Printed, ch, words};

struct Workspace(Folder);

impl Workspace {
    fn new(name: &str) -> Self {
        let path = Folder::new(&format!("flow_{name}"));
        Self(path)
    }

    fn run(&self, line: &str) -> Printed {
        ch(&words(line), &self.0)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn has(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }
}

const QUANTIZE: &str = "[passes.quantize]\n[passes.quantize.linear.config]\nname = \"integer\"\ndata_in_width = 8\nweight_width = 8\n";

#[test]
fn a_pass_that_fails_leaves_reports_but_nothing_that_looks_complete() {
    let workspace = Workspace::new("failing");
    let head = "model = \"jsc-tiny\"\nproject = \"p\"\n";
    workspace.write(
        "late.toml",
        &format!("{head}[passes.count_flops]\n[passes.load_mase_graph]\nload_dir = \"nowhere\"\n"),
    );
    let printed = workspace.run("transform --config late.toml");
    assert_eq!(printed.code, Some(2));
    assert!(
        printed
            .stderr
            .contains("late.toml:5:12: load_dir: there is no file nowhere"),
        "{}",
        printed.stderr
    );
    assert!(workspace.has("mase_output/p/software/transform/count_flops.txt"));
    assert!(!workspace.has("mase_output/p/software/transform/transformed_ckpt"));
    assert!(!workspace.has("mase_output/p/software/run.json"));
    workspace.write(
        "early.toml",
        &format!(
            "{head}project_dir = \"other\"\n[passes.load_mase_graph]\nload_dir = \"nowhere\"\n"
        ),
    );
    assert_eq!(workspace.run("transform --config early.toml").code, Some(2));
    assert!(
        !workspace.has("other"),
        "nothing was done, so there is no folder"
    );
}

#[test]
fn mistakes_in_a_file_cost_no_training() {
    let workspace = Workspace::new("mistakes");
    let head = "model = \"jsc-tiny\"\ndataset = \"jsc-sim\"\nproject = \"p\"\nmax_epochs = 1\n";
    workspace.write(
        "a.toml",
        &format!(
            "{head}{}",
            QUANTIZE.replace("quantize.linear", "quantize.conv9d")
        ),
    );
    let search = "[search.search_space.setup]\nby = \"name\"\n[search.search_space.seed.seq_blocks_77.config]\nname = [\"integer\"]\nweight_width = [4, 8]\n\
                  [search.strategy.metrics]\naccuracy.scale = 1.0\n";
    workspace.write("b.toml", &format!("{head}{search}"));
    for (file, expected) in [
        ("a.toml", "rule 'conv9d' matches nothing"),
        ("b.toml", "rule 'seq_blocks_77' matches nothing"),
    ] {
        let printed = workspace.run(&format!("run {file}"));
        assert_eq!(printed.code, Some(2), "{file}");
        assert!(printed.stderr.contains(expected), "{}", printed.stderr);
        assert!(!printed.stdout.contains("train_loss"), "{file} was trained");
        assert!(!workspace.has("mase_output"), "{file}");
    }
}

#[test]
fn a_run_goes_on_in_its_folder_and_quiet_leaves_the_results() {
    let workspace = Workspace::new("resume");
    workspace.write("r.toml", &format!("model = \"jsc-tiny\"\ndataset = \"jsc-sim\"\nproject = \"p\"\nlearning_rate = 1e-2\n{QUANTIZE}"));
    let first = workspace.run("run r.toml --max-epochs 1 --quiet");
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    for part in [
        "== test\n",
        "== quantize\n",
        "== compare\n",
        "== test after the passes\n",
    ] {
        assert!(first.stdout.contains(part), "{part} in {}", first.stdout);
    }
    let again = workspace.run("run r.toml --max-epochs 2 --resume --json --quiet");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let facts: Json = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(facts["train"]["epochs"], 2);
    assert!(!workspace.has("mase_output/p_2"));
    let whole = workspace.run("run r.toml --max-epochs 2 --project whole --json --quiet");
    let whole: Json = serde_json::from_str(&whole.stdout).unwrap();
    assert_eq!(
        facts["train"]["weights_hash"],
        whole["train"]["weights_hash"]
    );
    let recorded: Json = serde_json::from_str(
        &fs::read_to_string(workspace.0.join("mase_output/p/software/run.json")).unwrap(),
    )
    .unwrap();
    assert!(
        recorded["weights_hash"].is_string() && recorded["transform"]["passes"].is_array(),
        "{recorded}"
    );
}

#[test]
fn a_lone_name_beside_a_graph_is_the_dataset() {
    let workspace = Workspace::new("names");
    workspace.write(
        "q.toml",
        &format!("model = \"jsc-tiny\"\nproject = \"p\"\n{QUANTIZE}"),
    );
    assert_eq!(workspace.run("transform --config q.toml").code, Some(0));
    let graph = "mase_output/p/software/transform/transformed_ckpt/graph.mz";
    let printed = workspace.run(&format!("test jsc-sim --load {graph} --quiet"));
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let refused = workspace.run("transform --config q.toml --resume");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("nothing to go on with"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_pipeline_runs_without_a_file_and_instead_of_that_of_a_file() {
    let workspace = Workspace::new("pipeline");
    let keys = |line: &str| -> Vec<String> {
        let printed = workspace.run(&format!("{line} --dry-run --json --quiet"));
        assert_eq!(printed.code, Some(0), "{line}: {}", printed.stderr);
        let facts: Json = serde_json::from_str(&printed.stdout).unwrap();
        let passes = facts["passes"].as_array().unwrap();
        let key = |pass: &Json| pass["key"].as_str().unwrap().to_owned();
        passes.iter().map(key).collect()
    };
    let ptq = [
        "fuse_batch_norm",
        "quantize",
        "calibrate",
        "gptq",
        "correct_bias",
        "calibrate_2",
        "correct_bias_2",
    ];
    assert_eq!(keys("transform jsc-toy jsc-sim --pipeline ptq"), ptq);
    let head = "model = \"jsc-toy\"\ndataset = \"jsc-sim\"\n";
    workspace.write(
        "own.toml",
        &format!(
            "{head}[passes]\npipeline = \"own\"\n[passes.pipelines.own]\nsteps = [\"quantize\"]\n{QUANTIZE}"
        ),
    );
    assert_eq!(keys("transform --config own.toml"), ["quantize"]);
    assert_eq!(keys("transform --config own.toml --pipeline ptq"), ptq);
    for (line, expected) in [
        (
            "transform --config own.toml --pipeline onw",
            "error: --pipeline: unknown pipeline 'onw'; did you mean 'own'?\n",
        ),
        (
            "transform --config own.toml --pipeline report",
            "own.toml:7:9: 'quantize' is not a step of pipeline 'report'",
        ),
        (
            "run own.toml --pipeline zzz",
            "error: --pipeline: unknown pipeline 'zzz'; there are report, ptq, prune, own\n",
        ),
    ] {
        let printed = workspace.run(line);
        assert_eq!(printed.code, Some(2), "{line}");
        assert!(printed.stderr.contains(expected), "{}", printed.stderr);
    }
    assert!(!workspace.has("mase_output"));
}

/// The search of a file is done after its training and its passes, by the same command.
#[test]
fn a_flow_ends_in_its_search() {
    let workspace = Workspace::new("search");
    let search = "[search.search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n\
        [search.search_space.setup]\nby = \"type\"\n\
        [search.search_space.seed.linear.config]\nname = [\"integer\"]\ndata_in_width = [4, 8]\nweight_width = [2, 8]\n\
        [search.strategy]\nname = \"brute_force\"\n[search.strategy.metrics]\naccuracy.scale = 1.0\n";
    workspace.write("s.toml", &format!("model = \"jsc-tiny\"\ndataset = \"jsc-sim\"\nproject = \"p\"\nlearning_rate = 1e-2\nmax_steps = 40\n{search}"));
    let printed = workspace.run("run s.toml --json --quiet");
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let facts: Json = serde_json::from_str(&printed.stdout).unwrap();
    assert!(
        facts["search"].is_object() || facts["search"].is_array(),
        "{facts}"
    );
    let log = fs::read_to_string(
        workspace
            .0
            .join("mase_output/p/software/search_ckpts/log.json"),
    );
    let log: Json = serde_json::from_str(&log.unwrap()).unwrap();
    assert_eq!(log.as_array().map(Vec::len), Some(4));
    // A search that has lost its journal begins it again.
    fs::remove_file(
        workspace
            .0
            .join("mase_output/p/software/search_ckpts/study.journal"),
    )
    .unwrap();
    let again = workspace.run("run s.toml --resume --json --quiet");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(workspace.has("mase_output/p/software/search_ckpts/study.journal"));
}
