//! Commands with their output: `golden/cli/*.txt` holds the command line, the exit code, stdout and stderr.
//! `BLESS=1 cargo test -p ch` rewrites everything below the command line.

mod support;

use serde_json::Value as Json;
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

#[test]
fn commands_print_what_the_golden_files_say() {
    let temporary = env!("CARGO_TARGET_TMPDIR");
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    let mut n_files = 0;
    let mut files: Vec<PathBuf> = fs::read_dir(golden_folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for path in files
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
    {
        n_files += 1;
        let file = fs::read_to_string(path).unwrap();
        let (command, expected) = file.split_once('\n').unwrap_or((&file, ""));
        let line = command
            .strip_prefix("$ ch")
            .expect("a golden file starts with `$ ch`");
        let printed = golden(&run(&line.replace("{tmp}", temporary)));
        if printed == expected {
            continue;
        }
        if bless {
            fs::write(path, format!("{command}\n{printed}")).unwrap();
        } else {
            wrong.push(format!("{}:\n{command}\n{printed}", path.display()));
        }
    }
    assert!(n_files > 50, "{n_files} golden files");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Exit code 2 goes with one `error:` on stderr and nothing on stdout; exit code 0 with an empty stderr.
#[test]
fn errors_are_sentences_on_stderr() {
    for entry in fs::read_dir(golden_folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let file = fs::read_to_string(&path).unwrap();
        let is_wrong = name.starts_with("wrong_");
        assert_eq!(
            file.contains("\nexit 2\n--- stdout\n--- stderr\n"),
            is_wrong,
            "{name}"
        );
        assert_eq!(file.contains("--- stderr\n"), is_wrong, "{name}");
        let is_sentence = file.contains("--- stderr\nerror: ") || name == "wrong_nothing";
        assert_eq!(is_sentence, is_wrong, "{name}");
        for trace in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
            assert!(!file.contains(trace), "{name}");
        }
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
    assert_eq!(kinds.len(), 8);
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

/// What `show` prints is what `show` reads.
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
