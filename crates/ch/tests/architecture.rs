//! The laws of the folder tree: crates depend only downwards, and unsafe code lives in `kernels` alone.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every package, lowest first: one may depend on those before it.
const ORDER: [&str; 16] = [
    "random", "config", "format", "kernels", "ir", "engine", "interop", "data", "models", "report",
    "passes", "train", "study", "search", "ch", "benches",
];

fn folder(package: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match package {
        "benches" => root.join(package),
        _ => root.join("crates").join(package),
    }
}

/// Our packages among the dependencies that a build uses; tests may look anywhere.
fn dependencies(package: &str) -> Vec<String> {
    let manifest = fs::read_to_string(folder(package).join("Cargo.toml")).unwrap();
    let section = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next());
    names
        .filter(|name| ORDER.contains(name))
        .map(str::to_owned)
        .collect()
}

#[test]
fn crates_depend_only_downwards() {
    for (place, package) in ORDER.iter().enumerate() {
        for dependency in dependencies(package) {
            assert!(
                ORDER[..place].contains(&dependency.as_str()),
                "{package} depends on {dependency}, which is not below it"
            );
        }
    }
}

#[test]
fn every_crate_has_its_place() {
    let crates = fs::read_dir(folder("ch").join("..")).unwrap().flatten();
    let found: BTreeSet<String> = crates
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let known: BTreeSet<String> = ORDER
        .iter()
        .filter(|name| **name != "benches")
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, known);
}

#[test]
fn only_kernels_may_be_unsafe() {
    for package in ORDER.iter().filter(|package| **package != "kernels") {
        let source = folder(package).join("src");
        let roots = ["lib.rs", "main.rs"].map(|name| source.join(name));
        let root = roots.iter().find(|path| path.exists()).unwrap();
        let text = fs::read_to_string(root).unwrap();
        assert!(
            text.contains("#![forbid(unsafe_code)]"),
            "{package} does not forbid unsafe code"
        );
    }
}
