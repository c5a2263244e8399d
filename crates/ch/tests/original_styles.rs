//! Files in the styles that the original had over the years run as they are, with notes on what has no effect.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;

use folder::Folder;
use std::fs;
use support::{ch, words};

/// Search as in 2023: runners by name, with their keys beside them.
const OF_2023: &str = include_str!("original/of_2023.toml");

/// Search as in early 2024: a table for each runner.
const OF_2024: &str = include_str!("original/of_2024.toml");

/// Transforming as in 2025 and 2026: a style, and one list of keys for formats of every kind.
const OF_2026: &str = include_str!("original/of_2026.toml");

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
    for machine in ["cpu", "auto"] {
        let line = format!("test jsc-tiny jsc-sim --accelerator {machine}");
        let printed = ch(&words(&line), &folder);
        assert!(!printed.stderr.contains("GPU"), "{}", printed.stderr);
    }
    let printed = ch(&words("test jsc-tiny jsc-sim --accelerator gpu"), &folder);
    assert_eq!(printed.code, Some(2));
    assert!(
        printed.stderr.contains("there is no GPU back end"),
        "{}",
        printed.stderr
    );
}
