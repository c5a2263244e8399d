//! Files in the styles that the original had over the years run as they are, with notes on what has no effect.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;

use folder::Folder;
use std::fs;
use support::{ch, words};

/// Search as in 2023: runners by name, with their keys beside them.
const OF_2023: &str = r#"
model = "jsc_tiny"
dataset = "JSC-Sim"
task = "cls"
batch_size = 512
accelerator = "gpu"
project = "of_2023"
seed = 42
log_every_n_steps = 5
is_pretrained = true

[search.search_space]
name = "graph/quantize/mixed_precision_ptq"

[search.search_space.setup]
by = "name"
model_parallel = false

[search.search_space.seed.default.config]
name = ["NA"]

[search.search_space.seed.linear.config]
name = ["integer"]
data_in_width = [4, 8]

[search.search_space.seed.seq_blocks_2.config]
name = ["integer"]
data_in_width = [4, 8, 8]
data_in_frac_width = ["NA"]
weight_width = [2, 4, 8]
weight_frac_width = ["NA"]
bias_width = [2, 4, 8]
bias_frac_width = ["NA"]

[search.strategy]
name = "optuna"
sw_runner = "basic_evaluation"
hw_runner = "average_bitwidth"
data_loader = "val_dataloader"
num_samples = 64
eval_mode = true

[search.strategy.setup]
n_jobs = 1
n_trials = 3
timeout = 20000
sampler = "TPE"
sum_scaled_metrics = false
direction = "maximize"

[search.strategy.metrics]
accuracy.scale = 1.0
accuracy.direction = "maximize"
average_bitwidth.scale = 0.2
average_bitwidth.direction = "minimize"
"#;

/// Search as in early 2024: a table for each runner.
const OF_2024: &str = r#"
model = "jsc-tiny"
dataset = "jsc-sim"
task = "cls"
max_epochs = 0
batch_size = 512
learning_rate = 1e-2
accelerator = "cuda"
project = "of_2024"
seed = 42

[passes.quantize]
by = "type"
report = true
load_type = "mz"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.linear.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 8
weight_frac_width = 4

[search.search_space]
name = "graph/quantize/mixed_precision_ptq"

[search.search_space.setup]
by = "type"

[search.search_space.seed.default.config]
name = ["NA"]

[search.search_space.seed.conv2d.config]
name = ["integer"]
weight_width = [4, 8]

[search.search_space.seed.linear.config]
name = ["integer"]
data_in_width = [4, 8]
data_in_frac_width = ["NA"]
weight_width = [2, 4]
weight_frac_width = ["NA"]
bias_width = [2]
bias_frac_width = ["NA"]

[search.strategy]
name = "optuna"
eval_mode = true

[search.strategy.sw_runner.basic_evaluation]
name = "accuracy"
data_loader = "val_dataloader"
num_samples = 64

[search.strategy.hw_runner.average_bitwidth]
compare_to = 32

[search.strategy.setup]
n_jobs = 1
n_trials = 20
timeout = 20000
sampler = "BruteForce"
sum_scaled_metrics = true
direction = "maximize"

[search.strategy.metrics]
accuracy.scale = 1.0
accuracy.direction = "maximize"
average_bitwidth.scale = 0.2
average_bitwidth.direction = "minimize"
"#;

/// Transforming as in 2025 and 2026: a style, and one list of keys for formats of every kind.
const OF_2026: &str = r#"
model = "jsc-tiny"
dataset = "jsc-sim"
task = "classification"
max_epochs = -1
batch_size = 512
accelerator = "mps"
devices = 1
project = "of_2026"

[transform]
style = "graph"

[passes.add_hardware_metadata]

[passes.verify_common_metadata]

[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.conv2d.config]
name = "integer"
weight_width = 8
[passes.quantize.linear.config]
name = "binary"
data_in_width = 8
data_in_frac_width = 4
data_in_stochastic = 0
data_in_bipolar = 1
weight_width = 1
weight_frac_width = 4
weight_stochastic = false
weight_bipolar = 1
binary_training = false
"#;

/// Trains the network that the files load, briefly.
fn trained(name: &str) -> Folder {
    let folder = Folder::new(&format!("original_{name}"));
    let line = "train jsc-tiny jsc-sim --max-epochs 1 --max-steps 20 --batch-size 512 --project net --quiet";
    assert_eq!(ch(&words(line), &folder).code, Some(0));
    folder
}

/// Runs an action on a file and holds the notes that it must give against what is printed.
fn runs(folder: &Folder, action: &str, text: &str, notes: &[&str]) {
    fs::write(folder.join("old.toml"), text).unwrap();
    let load = "mase_output/net/software/training_ckpts/best.ckpt";
    let line = format!("{action} --config old.toml --load {load}");
    let printed = ch(&words(&line), folder);
    let all = format!("{}{}", printed.stdout, printed.stderr);
    assert_eq!(printed.code, Some(0), "{action}: {all}");
    for note in notes {
        assert_eq!(all.matches(note).count(), 1, "{note}\n{all}");
    }
}

#[test]
fn a_search_of_2023_runs() {
    let folder = trained("2023");
    runs(
        &folder,
        "search",
        OF_2023,
        &[
            "accelerator = \"gpu\" in the file: there is no GPU back end, so this runs on the CPU",
            "'is_pretrained' in the file has no effect",
            "'model_parallel' in [search.search_space.setup] has no effect",
            "choice 8 is there twice and counts once",
            "'direction' in [search.strategy.setup] has no effect",
            "rule 'linear' matches nothing",
        ],
    );
    let log = folder.join("mase_output/of_2023/software/search_ckpts/log.json");
    let log: serde_json::Value = serde_json::from_str(&fs::read_to_string(log).unwrap()).unwrap();
    assert_eq!(log.as_array().unwrap().len(), 3);
}

#[test]
fn a_search_of_early_2024_runs_and_so_does_its_transform() {
    let folder = trained("2024");
    runs(
        &folder,
        "search",
        OF_2024,
        &[
            "accelerator = \"cuda\" in the file",
            "'name' in [search.strategy.sw_runner.basic_evaluation] has no effect",
            "rule 'conv2d' matches nothing",
        ],
    );
    let log = folder.join("mase_output/of_2024/software/search_ckpts/log.json");
    let log: serde_json::Value = serde_json::from_str(&fs::read_to_string(log).unwrap()).unwrap();
    assert_eq!(log.as_array().unwrap().len(), 4, "brute force tries each");
    let text = OF_2024.replace("of_2024", "of_2024_transform");
    runs(
        &folder,
        "transform",
        &text,
        &["'load_type' in [passes.quantize] has no effect"],
    );
}

#[test]
fn a_transform_of_2026_runs() {
    let folder = trained("2026");
    runs(
        &folder,
        "transform",
        OF_2026,
        &[
            "accelerator = \"mps\" in the file",
            "'devices' in the file has no effect",
            "rule 'conv2d' matches nothing",
            "'binary_training' in [passes.quantize.linear.config] has no effect",
            "'weight_frac_width' in [passes.quantize.linear.config] has no effect: binary has no frac_width",
        ],
    );
}

#[test]
fn typed_on_the_command_line_a_gpu_is_refused() {
    let folder = Folder::new("original_typed");
    let printed = ch(&words("test jsc-tiny jsc-sim --accelerator gpu"), &folder);
    assert_eq!(printed.code, Some(2));
    assert!(
        printed.stderr.contains("there is no GPU back end"),
        "{}",
        printed.stderr
    );
}
