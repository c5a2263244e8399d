//! Commands with their output: `golden/cli/*.txt` holds the command line, the exit code, stdout and stderr.
//! `BLESS=1 cargo test -p ch` rewrites everything below the command line.

mod support;

use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::{Printed, ch, text, words};

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cli")
}

fn run(line: &str) -> Printed {
    ch(&words(line), &golden_folder())
}

/// The part of a golden file below its command line.
fn golden(printed: &Printed) -> String {
    let code = printed
        .code
        .map_or("none".to_owned(), |code| code.to_string());
    let stderr = match printed.stderr.as_str() {
        "" => String::new(),
        stderr => format!("--- stderr\n{stderr}"),
    };
    format!("exit {code}\n--- stdout\n{}{stderr}", printed.stdout)
}

/// Every golden file: its path and its text, which starts with the command line.
fn golden_files() -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(golden_folder()).expect("the golden files are there");
    let paths = entries.map(|entry| entry.expect("the folder is readable").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a golden file is text");
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

fn run_golden(command: &str) -> Printed {
    let line = command
        .strip_prefix("$ ch")
        .expect("a golden file starts with `$ ch`");
    run(&line.replace("{tmp}", env!("CARGO_TARGET_TMPDIR")))
}

#[test]
fn commands_print_what_the_golden_files_hold() {
    let bless = std::env::var_os("BLESS").is_some();
    let files = golden_files();
    assert!(files.len() > 50, "{} golden files", files.len());
    let mut wrong = Vec::new();
    for (path, file) in files {
        let (command, expected) = file.split_once('\n').unwrap_or((&file, ""));
        let printed = golden(&run_golden(command));
        if printed == expected {
            continue;
        }
        if bless {
            fs::write(path, format!("{command}\n{printed}")).unwrap();
        } else {
            wrong.push(format!("{}:\n{command}\n{printed}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files called `wrong_…` hold errors: exit code 2, nothing on stdout, one `error:` on stderr. All others succeed
/// and print nothing on stderr.
#[test]
fn errors_are_sentences_on_stderr() {
    for (path, file) in golden_files() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let printed = run_golden(file.lines().next().unwrap());
        let is_wrong = name.starts_with("wrong_");
        assert_eq!(printed.code, Some(if is_wrong { 2 } else { 0 }), "{name}");
        assert_eq!(printed.stdout.is_empty(), is_wrong, "{name}");
        assert_eq!(printed.stderr.is_empty(), !is_wrong, "{name}");
        // Without a command there is nothing to be wrong about; the help is shown.
        let is_sentence = printed.stderr.starts_with("error: ") || name == "wrong_nothing";
        assert_eq!(is_sentence, is_wrong, "{name}");
        assert!(!printed.stderr.contains("internal error"), "{name}");
    }
}

fn json(line: &str) -> Json {
    let printed = run(line);
    assert_eq!(printed.code, Some(0), "{line}: {}", printed.stderr);
    serde_json::from_str(&printed.stdout).expect("JSON")
}

fn names(line: &str) -> Vec<String> {
    let entries = json(line);
    let entries = entries.as_array().expect("a list");
    entries
        .iter()
        .map(|entry| entry["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn every_listed_name_is_explained() {
    let kinds = names("list --json");
    assert_eq!(kinds.len(), 23);
    for kind in kinds {
        for name in names(&format!("list {kind} --json")) {
            let meanings = json(&format!("explain {name} --json"));
            let meanings = meanings.as_array().unwrap();
            assert!(
                meanings.iter().any(|meaning| meaning["name"] == *name),
                "{kind}: {name}"
            );
        }
    }
}

#[test]
fn every_command_is_listed() {
    let help = run("--help").stdout;
    let (_, commands) = help
        .split_once("Commands:\n")
        .expect("the help lists commands");
    let commands = commands.lines().take_while(|line| !line.is_empty());
    // Some commands share a line: `  help, man: …`.
    let in_help: BTreeSet<String> = commands
        .flat_map(|line| {
            let words = line.split_whitespace().map(str::to_owned);
            let mut is_last = false;
            words.take_while(move |word| !std::mem::replace(&mut is_last, !word.ends_with(',')))
        })
        .map(|name| name.trim_end_matches([',', ':']).to_owned())
        .collect();
    let listed: BTreeSet<String> = names("list commands --json").into_iter().collect();
    assert_eq!(listed, in_help);
}

#[test]
fn every_model_is_shown_and_its_totals_add_up() {
    for name in names("list models --json") {
        let shown = json(&format!("show {name} --json"));
        let nodes = shown["nodes"].as_array().unwrap();
        for field in ["parameters", "flops", "bit_ops"] {
            let sum: u64 = nodes
                .iter()
                .map(|node| node["cost"][field].as_u64().unwrap())
                .sum();
            assert_eq!(shown["total"][field].as_u64(), Some(sum), "{name}: {field}");
        }
        let counts = shown["overview"].as_object().unwrap().values();
        let n_nodes: u64 = counts.map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(n_nodes, nodes.len() as u64, "{name}");
    }
}

/// The check values of the labs, in float and with the linear layer in integer(8, 4).
#[test]
fn costs_are_those_of_the_labs() {
    let float = json("show jsc-tiny --json");
    let quantized = json("show fixtures/quantized.mg --json");
    let total = |shown: &Json, field: &str| shown["total"][field].as_u64().unwrap();
    assert_eq!(
        ["parameters", "flops", "bit_ops"].map(|field| total(&float, field)),
        [117, 1320, 1_205_504]
    );
    assert_eq!(
        ["parameters", "flops", "bit_ops"].map(|field| total(&quantized, field)),
        [117, 680, 575_744]
    );
}

/// `show` reads what `show` prints.
#[test]
fn shown_text_can_be_shown_again() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("again.mg");
    for name in names("list models --json") {
        let shown = json(&format!("show {name} --json"));
        fs::write(&path, shown["text"].as_str().unwrap()).unwrap();
        assert_eq!(
            json(&format!("show {} --json", path.display())),
            shown,
            "{name}"
        );
    }
}

#[test]
fn arrays_are_rounded_as_values_are() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arrays.npy");
    let input = golden_folder().join("fixtures/values.npy");
    let values = interop::npy::read(&input).unwrap();
    for spec in [
        "integer(8, 4)",
        "minifloat_ieee(8, 4)",
        "log(8)",
        "binary(8, bipolar = true)",
    ] {
        let line = format!(
            "format '{spec}' --npy fixtures/values.npy --out {}",
            out.display()
        );
        assert_eq!(run(&line).code, Some(0), "{spec}");
        let rounded = interop::npy::read(&out).unwrap();
        assert_eq!(rounded.shape, values.shape);
        let numbers: Vec<String> = values.values.iter().map(ToString::to_string).collect();
        let table = json(&format!("format '{spec}' {} --json", numbers.join(" ")));
        for (value, row) in rounded
            .values
            .iter()
            .zip(table["values"].as_array().unwrap())
        {
            assert_eq!(row["quantized"].as_f64(), Some(f64::from(*value)), "{spec}");
        }
    }
}

/// A pipe holds less than this output, so the program still writes when the reader leaves.
#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ch"))
        .args(["show", "mobilenetv2", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "");
}
