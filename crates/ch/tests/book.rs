//! The README and the book are run: every command in a block marked `console` must print what stands beneath it.
//!
//! A line `…` stands for any number of lines. A block marked `mg,file=NAME` is a file that the commands of the same
//! page can read.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use support::{ch, words};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A fenced block: what stands behind the fence, and the lines inside.
struct Block {
    info: String,
    lines: Vec<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => {
                open = Some(Block {
                    info: info.to_owned(),
                    lines: Vec::new(),
                });
            }
            (None, Some(block)) => block.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// Whether the lines are the pattern's, where `…` stands for any number of lines.
fn matches(pattern: &[String], lines: &[&str]) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((any, rest)) if any == "…" => {
            (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]))
        }
        Some((first, rest)) => lines.first() == Some(&first.as_str()) && matches(rest, &lines[1..]),
    }
}

/// The commands of a block, each with the lines beneath it.
fn commands(block: &Block) -> Vec<(&str, &[String])> {
    let starts: Vec<usize> = (0..block.lines.len())
        .filter(|&i| block.lines[i].starts_with("$ "))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([block.lines.len()]);
    let pairs = starts.iter().zip(ends);
    pairs
        .map(|(&start, end)| (block.lines[start].as_str(), &block.lines[start + 1..end]))
        .collect()
}

/// The number of commands that were run, and those that printed something else.
fn run_page(path: &Path) -> (usize, Vec<String>) {
    let page = fs::read_to_string(path).expect("the page is there");
    let name = path
        .file_stem()
        .expect("a page has a name")
        .to_string_lossy();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("book_{name}"));
    fs::create_dir_all(&folder).expect("the target folder is writable");
    let (mut n_commands, mut wrong) = (0, Vec::new());
    for block in blocks(&page) {
        if let Some((_, file)) = block.info.split_once("file=") {
            fs::write(folder.join(file), block.lines.join("\n") + "\n")
                .expect("the folder is writable");
        }
        if block.info != "console" {
            continue;
        }
        for (command, expected) in commands(&block) {
            let line = command
                .strip_prefix("$ ch ")
                .expect("console blocks hold `$ ch` commands");
            let printed = ch(&words(line), &folder);
            let is_error = !printed.stderr.is_empty();
            assert_eq!(
                printed.code,
                Some(if is_error { 2 } else { 0 }),
                "{command}"
            );
            let printed = printed.stdout + &printed.stderr;
            n_commands += 1;
            if !matches(expected, &printed.lines().collect::<Vec<_>>()) {
                wrong.push(format!("{}: {command}\n{printed}", path.display()));
            }
        }
    }
    (n_commands, wrong)
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut pages = Vec::new();
    for path in entries.map(|entry| entry.expect("the folder is readable").path()) {
        if path.is_dir() {
            pages.extend(self::pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

#[test]
fn every_command_prints_what_the_page_says() {
    let mut n_commands = 0;
    let mut wrong = Vec::new();
    for page in pages(&root().join("docs"))
        .into_iter()
        .chain([root().join("README.md")])
    {
        let (n, differing) = run_page(&page);
        n_commands += n;
        wrong.extend(differing);
    }
    assert!(n_commands > 15, "{n_commands} commands");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for page in pages(&docs) {
        let name = page
            .strip_prefix(&docs)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("({name})")),
            "{name}"
        );
    }
    for page in pages(&docs).into_iter().chain([root().join("README.md")]) {
        let text = fs::read_to_string(&page).unwrap();
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'))
        {
            let target = page.parent().unwrap().join(link.0);
            assert!(target.exists(), "{}: {}", page.display(), link.0);
        }
    }
}

/// The test command of the README is the one that guards every change.
#[test]
fn the_readme_and_the_checks_run_the_same_tests() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let checks = fs::read_to_string(root().join(".ci/run")).unwrap();
    let command = "cargo test --workspace --release";
    assert!(readme.lines().any(|line| line == command));
    assert!(checks.lines().any(|line| line == format!("step {command}")));
}

#[test]
fn dots_match_any_number_of_lines_and_nothing_else_does() {
    let pattern = |text: &str| text.split('|').map(str::to_owned).collect::<Vec<_>>();
    assert!(matches(&pattern("a|…|c"), &["a", "b", "b", "c"]));
    assert!(matches(&pattern("a|…|c"), &["a", "c"]));
    assert!(!matches(&pattern("a|…|c"), &["a", "b"]));
    assert!(!matches(&pattern("a|b"), &["a", "b", "c"]));
    assert!(!matches(&pattern("a|b"), &["a"]));
}
