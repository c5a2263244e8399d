//! The promises of ARCHITECTURE.md and of the folder tree: crates depend only downwards and as the code map says, every
//! path exists, chains of crates are short, and unsafe code lives in `kernels` and in one file of `python`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates in a chain of dependencies, at most: longer ones cannot be built side by side.
const MAX_CHAIN: usize = 8;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// The parts of a text in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The code map: every crate in its order, with the crates it knows.
fn code_map() -> Vec<(String, BTreeSet<String>)> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').collect();
        let name = quoted(cells.get(1)?).next()?.to_owned();
        let knows = quoted(cells.get(3)?).map(str::to_owned).collect();
        Some((name, knows))
    };
    let page = page();
    let (_, map) = page.split_once("## Code map").unwrap();
    let rows = map.lines().take_while(|line| !line.starts_with("## "));
    rows.filter(|line| line.starts_with("| `"))
        .filter_map(row)
        .collect()
}

/// Our crates among the dependencies that a build of a crate uses; tests may look anywhere.
fn dependencies(name: &str, crates: &BTreeSet<String>) -> BTreeSet<String> {
    let manifest = root().join("crates").join(name).join("Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    let section = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next());
    let ours = names.filter(|name| crates.contains(*name));
    ours.map(str::to_owned).collect()
}

#[test]
fn the_code_map_is_that_of_the_manifests() {
    let map = code_map();
    let folders = fs::read_dir(root().join("crates")).unwrap().flatten();
    let found: BTreeSet<String> = folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let listed: BTreeSet<String> = map.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(found, listed);
    let mut below = BTreeSet::new();
    for (name, knows) in map {
        assert_eq!(dependencies(&name, &listed), knows, "{name}");
        assert!(
            knows.is_subset(&below),
            "{name} depends on what is not below it"
        );
        below.insert(name);
    }
}

#[test]
fn chains_of_crates_are_short() {
    let mut lengths: BTreeMap<String, usize> = BTreeMap::new();
    for (name, knows) in code_map() {
        let below = knows.iter().map(|known| lengths[known]).max();
        lengths.insert(name, 1 + below.unwrap_or(0));
    }
    let longest = lengths.values().max().unwrap();
    assert!(*longest <= MAX_CHAIN, "{lengths:?}");
}

#[test]
fn every_path_exists() {
    let page = page();
    let is_path = |word: &&str| word.contains('/') && !word.contains([' ', '<', '{', ':']);
    let paths: Vec<&str> = quoted(&page).filter(is_path).collect();
    assert!(paths.len() > 15, "{paths:?}");
    for path in paths {
        let path = path.trim_end_matches('/');
        assert!(root().join(path).exists(), "{path} is not there");
    }
}

#[test]
fn a_module_with_children_is_a_folder_with_mod_rs() {
    let mut folders = vec![root().join("crates"), root().join("benches")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                let file = path.with_extension("rs");
                let is_source = folder.components().any(|part| part.as_os_str() == "src");
                assert!(
                    !is_source || !file.exists(),
                    "{} has a folder too",
                    file.display()
                );
                folders.push(path);
            }
        }
    }
}

#[test]
fn only_one_file_of_the_python_package_is_unsafe() {
    let mut folders = vec![root().join("crates/python/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let is_lending = path.file_name().is_some_and(|name| name == "lend.rs");
            assert_eq!(text.contains("unsafe {"), is_lending, "{}", path.display());
            let is_root = path.file_name().is_some_and(|name| name == "lib.rs");
            assert!(!is_root || text.contains("#![deny(unsafe_code)]"));
        }
    }
}

#[test]
fn other_crates_forbid_unsafe_code() {
    let may_not = |(name, _): &(String, _)| name != "kernels" && name != "python";
    for (name, _) in code_map().into_iter().filter(may_not) {
        let source = root().join("crates").join(&name).join("src");
        let roots = ["lib.rs", "main.rs"].map(|file| source.join(file));
        let entry = roots.iter().find(|path| path.exists()).unwrap();
        let text = fs::read_to_string(entry).unwrap();
        assert!(
            text.contains("#![forbid(unsafe_code)]"),
            "{name} does not forbid unsafe code"
        );
    }
}
