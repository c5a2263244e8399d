//! Golden files of passes: `PASS/CASE.mg` has a graph and what to run above `----`, and below it what comes of it: the
//! graph and its tensors where they changed, the report, the files. `BLESS=1 cargo test -p passes --test golden`
//! rewrites what is below the line.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod case;

use case::Case;
use passes::{Kind, PASSES, PassEntry};
use std::fs;
use std::path::{Path, PathBuf};

const LINE: &str = "----\n";

/// The cases of a pass, in alphabetical order.
fn cases(pass: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder.join("tests/golden").join(pass);
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_case_gives_what_it_says() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for entry in PASSES {
        for path in cases(entry.name) {
            let text = fs::read_to_string(&path).unwrap();
            let (input, expected) = text.split_once(LINE).unwrap_or((&text, ""));
            let run = format!("# run: {}", entry.name);
            assert_eq!(input.lines().next(), Some(&*run), "{}", path.display());
            let got = Case::parse(entry.name, input).run();
            if bless {
                fs::write(&path, format!("{input}{LINE}{got}")).unwrap();
            } else if got != expected {
                let path = path.display();
                wrong.push(format!("{path}:\n--- expected\n{expected}--- got\n{got}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_pass_has_a_case_and_every_transformation_two() {
    for entry in PASSES {
        let wanted = if entry.kind == Kind::Transform { 2 } else { 1 };
        let found = cases(entry.name).len();
        assert!(found >= wanted, "{}: {found} golden cases", entry.name);
    }
}

#[test]
fn every_folder_is_that_of_a_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_pass = PASSES.iter().any(|entry| entry.name == name);
        assert!(is_pass || name.ends_with(".rs"), "{name}");
    }
}

/// The indented lines behind a heading of a pass's documentation.
fn section(entry: &PassEntry, heading: &str) -> Option<String> {
    let (_, text) = entry.doc.split_once(&format!("{heading}:\n"))?;
    let lines = text.lines().take_while(|line| line.starts_with("  "));
    Some(lines.map(|line| format!("{}\n", &line[2..])).collect())
}

#[test]
fn a_transformation_does_what_its_documentation_shows() {
    for entry in PASSES.iter().filter(|entry| entry.kind == Kind::Transform) {
        let [config, before, after] = ["Example", "Before", "After"].map(|heading| {
            section(entry, heading).unwrap_or_else(|| panic!("{}: no {heading}", entry.name))
        });
        let graph = format!("graph \"example\" {{\n{before}}}\n");
        let case = Case::parse(entry.name, &graph).with_config(config);
        assert_eq!(case.changed_statements(), after, "{}", entry.name);
    }
}
