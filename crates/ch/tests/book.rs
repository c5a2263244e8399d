//! The README and the book are run: every command in a block marked `console` must print what stands beneath it.
//!
//! A line `…` stands for any number of lines, and `…` in a line for any part of it. In a block marked `console,near`
//! decimals may differ by a twentieth: training gives other last digits on other processors. A block with `file=NAME` is a
//! file that the commands of the same page can read. Every page has a folder of its own, empty at the start but for `configs`.

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

/// True when the lines are the pattern's, where `…` stands for any number of lines.
fn matches(pattern: &[String], lines: &[&str], is_near: bool) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((any, rest)) if any == "…" => {
            (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..], is_near))
        }
        Some((first, rest)) => {
            let is_line = |line: &&str| line_matches(first, line, is_near);
            lines.first().is_some_and(is_line) && matches(rest, &lines[1..], is_near)
        }
    }
}

/// True when a line is the pattern's, where `…` stands for any part of it, spaces around it included.
fn line_matches(pattern: &str, line: &str, is_near: bool) -> bool {
    let Some((before, after)) = pattern.split_once('…') else {
        return same(pattern, line, is_near);
    };
    let before = before.trim_end();
    let cuts = || line.char_indices().map(|(i, _)| i).chain([line.len()]);
    cuts().any(|start| {
        let is_head = same(before, line[..start].trim_end(), is_near);
        is_head && cuts().any(|end| end >= start && line_matches(after, &line[end..], is_near))
    })
}

/// True when two texts are the same, or the same but for near decimals.
fn same(expected: &str, got: &str, is_near: bool) -> bool {
    if !is_near {
        return expected == got;
    }
    let words =
        |text: &'_ str| -> Vec<String> { text.split([' ', ',']).map(str::to_owned).collect() };
    let (expected, got) = (words(expected), words(got));
    let pairs = || expected.iter().zip(&got);
    expected.len() == got.len() && pairs().all(|(a, b)| a == b || near(a, b))
}

fn near(expected: &str, got: &str) -> bool {
    let decimal = |text: &str| text.parse::<f64>().ok().filter(|_| text.contains('.'));
    match (decimal(expected), decimal(got)) {
        (Some(a), Some(b)) => (a - b).abs() <= 0.05 * a.abs(),
        _ => false,
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

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the target folder is writable");
    for entry in fs::read_dir(from).expect("the folder is there").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("the target folder is writable");
        }
    }
}

/// The number of commands that were run, and those that printed something else.
fn run_page(path: &Path) -> (usize, Vec<String>) {
    let page = fs::read_to_string(path).expect("the page is there");
    let name = path
        .file_stem()
        .expect("a page has a name")
        .to_string_lossy();
    // Two runs of this test at once must not share a folder.
    let folder = format!("book_{name}_{}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).expect("the target folder is writable");
    copy(&root().join("configs"), &folder.join("configs"));
    let (mut n_commands, mut wrong) = (0, Vec::new());
    for block in blocks(&page) {
        if let Some((_, file)) = block.info.split_once("file=") {
            fs::write(folder.join(file), block.lines.join("\n") + "\n")
                .expect("the folder is writable");
        }
        let is_near = block.info == "console,near";
        if block.info != "console" && !is_near {
            continue;
        }
        for (command, expected) in commands(&block) {
            let line = command
                .strip_prefix("$ ch ")
                .expect("console blocks hold `$ ch` commands");
            let printed = ch(&words(line), &folder);
            let is_error = printed.stderr.starts_with("error: ");
            assert_eq!(
                printed.code,
                Some(if is_error { 2 } else { 0 }),
                "{command}"
            );
            let printed = printed.stdout + &printed.stderr;
            n_commands += 1;
            if !matches(expected, &printed.lines().collect::<Vec<_>>(), is_near) {
                wrong.push(format!("{}: {command}\n{printed}", path.display()));
            }
        }
    }
    fs::remove_dir_all(&folder).expect("the folder is writable");
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
    let command = readme.lines().find(|line| line.starts_with("cargo test"));
    let command = command.expect("the README has a test command");
    assert!(checks.lines().any(|line| line == format!("step {command}")));
}

#[test]
fn dots_match_anything_and_nothing_else_does() {
    let pattern = |text: &str| text.split('|').map(str::to_owned).collect::<Vec<_>>();
    let exact = |text: &str, lines: &[&str]| matches(&pattern(text), lines, false);
    assert!(exact("a|…|c", &["a", "b", "b", "c"]));
    assert!(exact("a|…|c", &["a", "c"]));
    assert!(!exact("a|…|c", &["a", "b"]));
    assert!(!exact("a|b", &["a", "b", "c"]));
    assert!(!exact("a|b", &["a"]));
    assert!(exact("in … s", &["in 0.1 s"]));
    assert!(!exact("in … s", &["in 0.1 m"]));
    assert!(!exact("in … s", &["on 0.1 s"]));
    let near = |text: &str, line: &str| matches(&pattern(text), &[line], true);
    assert!(near("loss 1.00, acc 0.5", "loss 1.04, acc 0.49"));
    assert!(!near("loss 1.00, acc 0.5", "loss 1.06, acc 0.5"));
    assert!(!near("epoch 1 loss 1.0", "epoch 2 loss 1.0"));
}
