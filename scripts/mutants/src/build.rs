//! Builds a crate's tests with its changes in them. A change that does not compile is left out, and the build begins again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::change::Change;
use crate::switch::{SWITCHES, switch};

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A test binary and the folder it runs in.
pub struct Binary {
    pub path: PathBuf,
    pub folder: PathBuf,
}

pub struct Built {
    pub binaries: Vec<Binary>,
    /// Numbers of the changes that are in them.
    pub inside: BTreeSet<usize>,
}

/// The sources of a crate in a copy of the tree, as they were.
struct Sources<'a> {
    tree: &'a Path,
    package: &'a str,
    texts: BTreeMap<String, String>,
}

pub fn build(tree: &Path, package: &str, changes: &[Change]) -> Result<Built> {
    let root = format!("crates/{package}/src/lib.rs");
    let mut texts = BTreeMap::new();
    for file in changes.iter().map(|change| &change.file).chain([&root]) {
        texts.insert(file.clone(), fs::read_to_string(tree.join(file))?);
    }
    let sources = Sources {
        tree,
        package,
        texts,
    };
    let result = sources.build(changes, &root);
    for (file, text) in &sources.texts {
        fs::write(tree.join(file), text)?;
    }
    result
}

impl Sources<'_> {
    fn build(&self, changes: &[Change], root: &str) -> Result<Built> {
        let mut inside: BTreeSet<usize> = changes.iter().map(|change| change.number).collect();
        loop {
            self.write(changes, root, &mut inside)?;
            // The library alone finds most of what does not compile, in a fraction of the time.
            let mut fails = self.failing(&["check", "--lib"])?.0;
            let mut binaries = Vec::new();
            if fails.is_empty() {
                (fails, binaries) = self.failing(&["test", "--no-run"])?;
            }
            if fails.is_empty() {
                return Ok(Built { binaries, inside });
            }
            inside.retain(|number| !fails.contains(number));
        }
    }

    fn write(&self, changes: &[Change], root: &str, inside: &mut BTreeSet<usize>) -> Result<()> {
        for (file, text) in &self.texts {
            let here: Vec<_> = changes
                .iter()
                .filter(|change| change.file == *file && inside.contains(&change.number))
                .collect();
            let is_program = file.ends_with("/main.rs");
            let mut text = switch(text, &here, if is_program { self.package } else { "crate" })?;
            inside.retain(|number| {
                here.iter().all(|change| change.number != *number)
                    || text.contains(&format!("/*<{number}*/"))
            });
            if file == root {
                text += SWITCHES;
            }
            let path = self.tree.join(file);
            if fs::read_to_string(&path)? != text {
                fs::write(path, text)?;
            }
        }
        Ok(())
    }

    /// The changes at which the compiler's errors are, or the binaries that it made.
    fn failing(&self, arguments: &[&str]) -> Result<(BTreeSet<usize>, Vec<Binary>)> {
        let output = Command::new("cargo")
            .args(arguments)
            .args([
                "--quiet",
                "--all-features",
                "--package",
                self.package,
                "--message-format=json",
            ])
            .current_dir(self.tree)
            .output()?;
        let (mut fails, mut binaries, mut untraced) = (BTreeSet::new(), Vec::new(), String::new());
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Ok(message) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            if message["reason"] == "compiler-message" && message["message"]["level"] == "error" {
                match self.change_at(&message["message"]) {
                    Some(number) => drop(fails.insert(number)),
                    None => untraced += message["message"]["rendered"].as_str().unwrap_or_default(),
                }
            }
            if let (Some(path), true) = (
                message["executable"].as_str(),
                message["profile"]["test"] == true,
            ) {
                let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
                let folder = manifest.parent().unwrap_or(self.tree).to_owned();
                binaries.push(Binary {
                    path: path.into(),
                    folder,
                });
            }
        }
        if !output.status.success() && fails.is_empty() {
            return Err(format!(
                "{}: does not build:\n{untraced}{}",
                self.package,
                String::from_utf8_lossy(&output.stderr)
            )
            .into());
        }
        Ok((fails, binaries))
    }

    /// The innermost change around a place of an error; else the next one behind it, as where an arm of a match is missing.
    fn change_at(&self, message: &Value) -> Option<usize> {
        let spans = message["spans"].as_array()?;
        let primary = spans.iter().filter(|span| span["is_primary"] == true);
        let places: Vec<_> = primary
            .chain(spans)
            .filter_map(|span| self.place(span))
            .collect();
        let around = places.iter().find_map(|(start, end, marks)| {
            let around = marks.iter().filter(|m| m.1 <= *start && *end <= m.2);
            around.min_by_key(|m| m.2 - m.1)
        });
        let behind = || {
            let (start, _, marks) = places.first()?;
            let behind = marks.iter().filter(|m| m.1 >= *start);
            behind.min_by_key(|m| m.1)
        };
        around.or_else(behind).map(|mark| mark.0)
    }

    /// Where a place of an error begins and ends, and the marks of its file.
    fn place(&self, mut span: &Value) -> Option<(usize, usize, Vec<Mark>)> {
        // What a macro makes is where it is called.
        while !span["expansion"].is_null() {
            span = &span["expansion"]["span"];
        }
        let text = fs::read(self.tree.join(span["file_name"].as_str()?)).ok()?;
        let at = |key: &str| Some(span[key].as_u64()? as usize);
        Some((at("byte_start")?, at("byte_end")?, marks(&text)))
    }
}

/// The number of a change, and where its first and its last mark begin.
type Mark = (usize, usize, usize);

/// The marks in a file.
fn marks(text: &[u8]) -> Vec<Mark> {
    let text = String::from_utf8_lossy(text);
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut found = Vec::new();
    for (at, _) in text.match_indices("/*") {
        let Some(end) = text[at..].find("*/") else {
            continue;
        };
        let inner = &text[at + 2..at + end];
        if let Some(number) = inner
            .strip_prefix('<')
            .and_then(|number| number.parse().ok())
        {
            open.push((number, at));
        } else if let Some(number) = inner
            .strip_suffix('>')
            .and_then(|number| number.parse::<usize>().ok())
            && let Some(index) = open.iter().rposition(|(opened, _)| *opened == number)
        {
            found.push((number, open.remove(index).1, at));
        }
    }
    found
}
