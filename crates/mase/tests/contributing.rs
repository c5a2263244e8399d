//! The recipes of CONTRIBUTING.md: adding a thing touches the files that the table names, and no others.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files that adding one thing may touch, by kind.
const MAX_FILES: &[(&str, usize)] = &[
    ("operator", 4),
    ("number format", 3),
    ("pass", 3),
    ("statistic", 2),
    ("model", 2),
    ("dataset", 3),
    ("sampler", 2),
    ("objective", 3),
    ("command", 2),
];

struct Recipe {
    kind: String,
    example: String,
    files: BTreeSet<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn recipes() -> Vec<Recipe> {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let quoted = |text: &str| -> Vec<String> {
        text.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let recipe = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let files: BTreeSet<String> = quoted(cells.get(3)?).into_iter().collect();
        let example = quoted(cells[2]).into_iter().next()?;
        (!files.is_empty()).then(|| Recipe {
            kind: cells[1].to_owned(),
            example,
            files,
        })
    };
    page.lines()
        .filter(|line| line.starts_with("| "))
        .filter_map(recipe)
        .collect()
}

/// Every source file of a crate, with its path from the root.
fn sources() -> Vec<(String, String)> {
    let mut sources = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let name = path
                .strip_prefix(root())
                .unwrap()
                .to_string_lossy()
                .into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.contains("/src/") && path.extension().is_some_and(|end| end == "rs") {
                sources.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    sources
}

fn names(text: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    })
}

#[test]
fn every_kind_has_a_recipe_of_few_files() {
    let recipes = recipes();
    for (kind, max) in MAX_FILES {
        let recipe = recipes.iter().find(|recipe| recipe.kind == *kind);
        let recipe = recipe.unwrap_or_else(|| panic!("no recipe for a {kind}"));
        assert!(recipe.files.len() <= *max, "{kind}: {:?}", recipe.files);
    }
    assert_eq!(recipes.len(), MAX_FILES.len());
}

#[test]
fn a_recipe_names_every_file_that_knows_its_example() {
    let sources = sources();
    for recipe in recipes() {
        for file in &recipe.files {
            assert!(root().join(file).exists(), "{file} is not there");
        }
        let knowing = sources
            .iter()
            .filter(|(_, text)| names(text, &recipe.example));
        let knowing: BTreeSet<String> = knowing.map(|(name, _)| name.clone()).collect();
        assert!(!knowing.is_empty(), "{} is nowhere", recipe.example);
        let others: Vec<&String> = knowing.difference(&recipe.files).collect();
        assert!(
            others.is_empty(),
            "{} is named in {others:?} too",
            recipe.example
        );
    }
}
