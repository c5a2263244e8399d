//! The README and the book are run: every command in a block marked `console` must print what stands beneath it.
//!
//! All pages are run in one folder, as a reader would who goes through the book: the README first, then the pages in the
//! order of the summary. The folder is empty at the start but for `configs`.
//!
//! A line `…` stands for any number of lines, and `…` in a line for any part of it. In a block marked `console,near`
//! decimals may differ by a twentieth: training gives other last digits on other processors. A block with `file=NAME` is a
//! file that commands can read. Blocks marked `python,run` are cells of one notebook on each page; a block marked
//! `text,printed` is what the cell before it prints. They are skipped, with a word, where there is no Python.
//!
//! `BLESS=1` copies the charts that the commands write to `docs/pictures`; without it they are compared.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod configs;
mod folder;
mod pages;
mod support;

use configs::copy_configs;
use folder::Folder;
use pages::{Block, blocks, in_order, links, matches, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{ch, text, words};

/// A walk through the book.
struct Reader {
    folder: Folder,
    python: Python,
    n_commands: usize,
    n_cells: usize,
    /// Commands and cells that printed something else.
    wrong: Vec<String>,
}

impl Reader {
    fn new() -> Self {
        let folder = Folder::new("book");
        copy_configs(&folder);
        Self {
            folder,
            python: Python::find(),
            n_commands: 0,
            n_cells: 0,
            wrong: Vec::new(),
        }
    }

    fn read(&mut self, path: &Path) {
        let page = fs::read_to_string(path).expect("the page is there");
        let blocks = blocks(&page);
        let mut cells = String::new();
        for (k, block) in blocks.iter().enumerate() {
            if let Some(file) = block.file() {
                fs::write(self.folder.join(file), block.text()).expect("the folder is writable");
            }
            if block.is("console") {
                self.run_commands(path, block);
            }
            if block.is("python") && block.is("run") {
                let printed = blocks.get(k + 1).filter(|next| next.is("printed"));
                self.run_cell(path, &cells, block, printed);
                cells += &block.text();
            }
        }
    }

    fn run_commands(&mut self, path: &Path, block: &Block) {
        for (command, expected) in block.commands() {
            let line = command
                .strip_prefix("$ ch ")
                .expect("console blocks hold `$ ch` commands");
            let printed = ch(&words(line), &self.folder);
            let is_error = printed.stderr.starts_with("error: ");
            let code = Some(if is_error { 2 } else { 0 });
            assert_eq!(printed.code, code, "{}: {command}", path.display());
            self.n_commands += 1;
            let printed = printed.stdout + &printed.stderr;
            self.check(path, command, expected, &printed, block.is("near"));
        }
    }

    /// Runs a cell after those before it.
    fn run_cell(&mut self, path: &Path, before: &str, cell: &Block, expected: Option<&Block>) {
        const MARK: &str = "---- the cell";
        if let Some(reason) = self.python.missing(cell) {
            eprintln!("skipped: a cell of {}: {reason}", path.display());
            return;
        }
        let code = format!("{before}\nprint('{MARK}')\n{}", cell.text());
        let output = Command::new(&self.python.program)
            .args(["-c", &code])
            .current_dir(&*self.folder)
            .output()
            .expect("Python runs");
        let errors = text(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", path.display());
        let printed = text(&output.stdout);
        let (_, printed) = printed.split_once(&format!("{MARK}\n")).unwrap();
        self.n_cells += 1;
        let (lines, is_near) = expected.map_or((&[][..], false), |block| {
            (&block.lines[..], block.is("near"))
        });
        self.check(path, &cell.text(), lines, printed, is_near);
    }

    fn check(&mut self, path: &Path, what: &str, expected: &[String], got: &str, is_near: bool) {
        if !matches(expected, &got.lines().collect::<Vec<_>>(), is_near) {
            self.wrong
                .push(format!("{}: {what}\n{got}", path.display()));
        }
    }
}

/// The Python of this machine: `$BENCH_PYTHON`, else `python3`.
struct Python {
    program: PathBuf,
    is_there: bool,
    has_numpy: bool,
}

impl Python {
    fn find() -> Self {
        let program = std::env::var_os("BENCH_PYTHON").map_or("python3".into(), PathBuf::from);
        // The tests run in the folder of the crate, and the path is one below the root.
        let below_root = root().join(&program);
        let program = if below_root.is_file() {
            below_root
        } else {
            program
        };
        let runs = |code: &str| {
            let output = Command::new(&program).args(["-c", code]).output();
            output.is_ok_and(|output| output.status.success())
        };
        Self {
            is_there: runs(""),
            has_numpy: runs("import numpy"),
            program,
        }
    }

    /// The reason why a cell cannot be run.
    fn missing(&self, cell: &Block) -> Option<&'static str> {
        if !self.is_there {
            Some("there is no python3")
        } else if cell.is("numpy") && !self.has_numpy {
            Some("Python has no NumPy")
        } else {
            None
        }
    }
}

#[test]
fn every_command_prints_what_the_page_says() {
    let mut reader = Reader::new();
    for page in in_order() {
        reader.read(&page);
    }
    let Reader {
        n_commands,
        n_cells,
        wrong,
        ..
    } = &reader;
    assert!(*n_commands > 15, "{n_commands} commands");
    assert!(*n_cells > 2 || !reader.python.is_there, "{n_cells} cells");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A page that used the folder of another would silently go on with its run.
#[test]
fn every_page_has_projects_of_its_own() {
    let mut pages: BTreeMap<String, PathBuf> = BTreeMap::new();
    for page in in_order() {
        let text = fs::read_to_string(&page).unwrap();
        let blocks = blocks(&text);
        let commands = blocks.iter().flat_map(Block::commands);
        for (command, _) in commands {
            let words = words(command);
            let option = words.iter().position(|word| word == "--project");
            let Some(project) = option.map(|k| words[k + 1].clone()) else {
                continue;
            };
            let first = pages.entry(project.clone()).or_insert(page.clone());
            assert_eq!(*first, page, "both use --project {project}");
        }
    }
    assert!(pages.len() > 15, "{pages:?}");
}

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for page in pages::below(&docs) {
        let name = page.strip_prefix(&docs).unwrap().to_string_lossy();
        assert!(
            name == "SUMMARY.md" || links(&summary).any(|link| link == name),
            "{name}"
        );
    }
    for page in in_order() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            let target = page.parent().unwrap().join(link);
            assert!(target.exists(), "{}: {link}", page.display());
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
