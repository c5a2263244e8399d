//! Words that commands print in tables, in JSON and in files: `ch explain` knows each of them.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod configs;
#[path = "../../hw/tests/emitted/mod.rs"]
mod emitted;
mod folder;
mod support;

use configs::copy_configs;
use emitted::{has_all_tools, pipelined_at};
use folder::Folder;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use support::{ch, words};

/// Passes that print all kinds of tables.
const PASSES: &str = r#"
model = "jsc-tiny"
dataset = "jsc-sim"
[passes.verify]
[passes.init_metadata]
[passes.report_graph]
[passes.report_node_type]
[passes.report_node_shape]
[passes.profile_statistics]
by = "type"
target_weight_nodes = ["linear"]
target_activation_nodes = ["linear"]
num_samples = 32
[passes.profile_statistics.weight_statistics]
record = {}
variance_precise = { dims = "all" }
range_n_sigma = { dims = "all" }
abs_mean = { dims = "all" }
[passes.profile_statistics.activation_statistics]
variance_online = { dims = "all" }
range_min_max = { dims = "all" }
range_quantile = { dims = "all", quantile = 0.97 }
[passes.count_flops]
[passes.count_bitops]
[passes.prune.weight]
sparsity = 0.2
[passes.add_pruning_metadata]
[passes.remove_prune_wrappers]
[passes.add_natural_sparsity]
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.linear.config]
name = "integer"
data_in_width = 8
weight_width = 8
bias_width = 8
[passes.calibrate]
[passes.gptq]
[passes.correct_bias]
[passes.summarize_quantization]
[passes.check_quantization]
[passes.calculate_avg_bits]
[passes.report_node_meta_param]
[passes.runtime_analysis]
num_batches = 2
"#;

/// Commands of every kind, in an order in which each finds what it reads. All of them also print JSON.
const COMMANDS: &[&str] = &[
    "train jsc-tiny jsc-sim --max-epochs 1 --profile --project net",
    "train jsc-tiny jsc-sim --max-epochs 1 --sweep learning_rate=1e-3,1e-2 --project rates",
    "train jsc-tiny jsc-sim --max-epochs 1 --sweep learning_rate=1e-3,1e-2 --sweep seed=0..1 --project seeds",
    "test jsc-tiny jsc-sim --load mase_output/net --out charts",
    "predict jsc-tiny jsc-sim --load mase_output/net --out y.npy",
    "transform --config passes.toml --load mase_output/net --project passes",
    "compare mase_output/net mase_output/passes jsc-sim",
    "search --config configs/examples/jsc_tiny_search.toml --load mase_output/net --project found",
    "data list",
    "data info jsc-sim",
    "show mase_output/passes",
    "show jsc-tiny --seed 1",
    "format 'integer(8, 4)' 0.3",
    "format 'mxint(8, 2)' 0.3 0.4",
    "format 'integer(4, 2)' --table",
    "list models",
    "list tools",
    "list targets",
    "list boards",
    "explain integer",
    "emit jsc-tiny jsc-sim --quantize-rest 6 --rows 40 --out made --quiet",
];

/// Commands over emitted hardware, which need tools of others.
const HARDWARE_COMMANDS: &[&str] = &[
    "simulate hw",
    "prove made",
    "prove made --check",
    "simulate made",
    "synth made --target xcup",
    "synth hw --target ice40 --place --seeds 1",
    "bitstream hw --board icebreaker",
];

/// Columns whose cells are words of the program.
const WORD_COLUMNS: &[&str] = &[
    "Original type",
    "Quantized type",
    "MASE_TYPE",
    "Mase_OP",
    "Mase type",
    "Mase op",
    "Fx Node op",
    "OP",
    "Port",
    "Statistic",
    "Field",
    "Ending",
    "What",
    "state",
];

/// Words with the places where they were seen.
#[derive(Default)]
struct Seen(BTreeMap<String, BTreeSet<String>>);

impl Seen {
    fn add(&mut self, word: &str, place: &str) {
        let word = word.trim();
        let is_number = !word.contains(char::is_alphabetic);
        if !is_number && !is_given_name(word) {
            self.0
                .entry(word.to_owned())
                .or_default()
                .insert(place.to_owned());
        }
    }

    /// The headings of tables, and the cells of columns that hold words: a line of dashes stands below the headings.
    fn add_text(&mut self, text: &str, place: &str) {
        let lines: Vec<&str> = text.lines().collect();
        // A second line of dashes stands above the totals.
        let is_rule = |line: &str| line.starts_with('-') && line.chars().all(|c| "- ".contains(c));
        let mut is_in_table = false;
        for k in 1..lines.len() {
            is_in_table &= !lines[k].is_empty();
            if is_in_table || !is_rule(lines[k]) {
                continue;
            }
            is_in_table = true;
            for column in columns(lines[k]) {
                let heading = cell(lines[k - 1], &column);
                self.add(&heading, place);
                let below = lines[k + 1..].iter();
                let below = below.take_while(|line| !line.is_empty() && !is_rule(line));
                if WORD_COLUMNS.contains(&heading.trim()) {
                    below.for_each(|line| self.add(&cell(line, &column), place));
                }
            }
        }
    }

    fn add_csv(&mut self, text: &str, place: &str) {
        let mut lines = text.lines();
        let headings: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        for heading in &headings {
            self.add(heading, place);
        }
        for line in lines {
            for (heading, cell) in headings.iter().zip(line.split(',')) {
                if WORD_COLUMNS.contains(heading) {
                    self.add(cell, place);
                }
            }
        }
    }

    /// The keys of JSON.
    fn add_json(&mut self, json: &Json, place: &str) {
        match json {
            Json::Object(entries) => {
                for (key, value) in entries {
                    self.add(key, place);
                    self.add_json(value, &format!("{place}: {key}"));
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.add_json(item, place)),
            _ => {}
        }
    }

    fn add_file(&mut self, path: &Path) {
        let place = path.file_name().unwrap().to_string_lossy();
        let Ok(text) = fs::read_to_string(path) else {
            return;
        };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => self.add_csv(&text, &place),
            Some("json") => self.add_json(&serde_json::from_str(&text).unwrap(), &place),
            Some("txt") => self.add_text(&text, &place),
            _ => {}
        }
    }

    /// The names of all files.
    fn add_names(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                self.add_names(&entry.path());
            } else {
                let name = entry.file_name();
                self.add(&name.to_string_lossy(), &folder.to_string_lossy());
            }
        }
    }

    fn add_folder(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                self.add_folder(&path);
            } else {
                self.add_file(&path);
            }
        }
    }
}

/// Names that are the network's or the data's: nodes, parameters and classes.
fn is_given_name(word: &str) -> bool {
    word.starts_with("seq_blocks") || ["x", "g", "q", "t", "w", "z"].contains(&word)
}

/// The places of a table's columns, from the line of dashes.
fn columns(rule: &str) -> Vec<(usize, usize)> {
    let mut columns = Vec::new();
    let mut start = 0;
    for part in rule.split("  ") {
        if !part.is_empty() {
            columns.push((start, start + part.len()));
        }
        start += part.len() + 2;
    }
    columns
}

fn cell(line: &str, &(start, end): &(usize, usize)) -> String {
    let cell = line.chars().skip(start).take(end - start);
    cell.collect::<String>().trim().to_owned()
}

#[test]
fn every_printed_word_is_explained() {
    let folder = Folder::new("vocabulary");
    copy_configs(&folder);
    fs::write(folder.join("passes.toml"), PASSES).unwrap();
    let mut seen = Seen::default();
    let _hardware = pipelined_at(&folder.join("hw"));
    let hardware: &[&str] = if has_all_tools() {
        HARDWARE_COMMANDS
    } else {
        &[]
    };
    for command in COMMANDS.iter().chain(hardware) {
        let printed = ch(&words(command), &folder);
        assert_eq!(printed.code, Some(0), "{command}: {}", printed.stderr);
        seen.add_text(&printed.stdout, command);
        let json = ch(&words(&format!("{command} --json")), &folder);
        assert_eq!(json.code, Some(0), "{command} --json: {}", json.stderr);
        seen.add_json(&serde_json::from_str(&json.stdout).unwrap(), command);
    }
    seen.add_folder(&folder.join("mase_output"));
    seen.add_folder(&folder.join("charts"));
    seen.add_folder(&folder.join("made"));
    seen.add_names(&folder.join("made"));
    assert!(seen.0.len() > 150, "{} words", seen.0.len());
    let unknown: Vec<String> = seen
        .0
        .iter()
        .filter(|(word, _)| {
            ch(
                &[&["explain".to_owned()][..], &words(word)].concat(),
                &folder,
            )
            .code
                != Some(0)
        })
        .map(|(word, places)| format!("{word}: {places:?}"))
        .collect();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}
