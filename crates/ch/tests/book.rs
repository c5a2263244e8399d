//! The README and the book are run: every command in a block marked `console` must print what stands beneath it.
//!
//! All pages are run in one folder, as a reader would who goes through the book: the README first, then the pages in the
//! order of the summary. The folder is empty at the start but for `configs`.
//!
//! A line `…` stands for any number of lines, and `…` in a line for any part of it. In a block marked `console,near`
//! decimals may differ by a twentieth: training gives other last digits on other processors; with `counts` behind it, whole
//! numbers may too. A block with `file=NAME` is a
//! file that commands can read. Blocks marked `python,run` are cells of one notebook on each page; a block marked
//! `text,printed` is what the cell before it prints. They are skipped, with a word, where there is no Python, and blocks marked
//! `yosys` where there is no yosys.
//!
//! `docs/pictures/sources.txt` names the pictures of the book and the files that they are copies of. `BLESS=1` copies the
//! charts, without it they are compared. `scripts/pictures.sh` makes all pictures; it names the folder of the run by
//! `BOOK_FOLDER` and removes it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod configs;
mod folder;
mod pages;
mod support;

use configs::copy_configs;
use folder::Folder;
use pages::{Block, Tolerance, blocks, in_order, links, matches, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{ch, text, words};

/// The folder of a run: one that somebody wants to look at, or one that is removed.
enum Workplace {
    Given(PathBuf),
    Own(Folder),
}

impl Workplace {
    fn new() -> Self {
        match std::env::var_os("BOOK_FOLDER") {
            Some(path) => {
                fs::create_dir_all(&path).expect("the folder is writable");
                Self::Given(path.into())
            }
            None => Self::Own(Folder::new("book")),
        }
    }
}

impl Deref for Workplace {
    type Target = Path;

    fn deref(&self) -> &Path {
        match self {
            Self::Given(path) => path,
            Self::Own(folder) => folder,
        }
    }
}

/// True where yosys is on the path.
fn has_yosys() -> bool {
    Command::new("yosys").arg("-V").output().is_ok()
}

/// A walk through the book.
struct Reader {
    folder: Workplace,
    python: Python,
    n_commands: usize,
    n_cells: usize,
    /// Commands and cells that printed something else.
    wrong: Vec<String>,
}

impl Reader {
    fn new() -> Self {
        let folder = Workplace::new();
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
            if block.is("yosys") && !has_yosys() {
                eprintln!(
                    "skipped: a block of {}: there is no yosys here",
                    path.display()
                );
            } else if block.is("console") {
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
            self.check(path, command, expected, &printed, block.tolerance());
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
        let (lines, tolerance) = expected.map_or((&[][..], Tolerance::Exact), |block| {
            (&block.lines[..], block.tolerance())
        });
        self.check(path, &cell.text(), lines, printed, tolerance);
    }

    /// Compares the charts of the book with what the commands wrote, or copies them.
    fn check_pictures(&mut self) {
        for (picture, source) in pictures() {
            if picture.extension().is_none_or(|ending| ending != "svg") {
                continue;
            }
            let source = self.folder.join(source);
            let chart = fs::read_to_string(&source).expect("a command wrote the chart");
            if std::env::var_os("BLESS").is_some() {
                fs::write(&picture, &chart).expect("the picture is writable");
            }
            let drawn = fs::read_to_string(&picture).unwrap_or_default();
            if !same_chart(&drawn, &chart) {
                let (picture, source) = (picture.display(), source.display());
                self.wrong.push(format!(
                    "{picture} is not {source}: run scripts/pictures.sh"
                ));
            }
        }
    }

    fn check(
        &mut self,
        path: &Path,
        what: &str,
        expected: &[String],
        got: &str,
        tolerance: Tolerance,
    ) {
        if !matches(expected, &got.lines().collect::<Vec<_>>(), tolerance) {
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

/// Every picture of the book with the file, beneath the folder of a run, that it is made of.
fn pictures() -> Vec<(PathBuf, String)> {
    let folder = root().join("docs/pictures");
    let sources = fs::read_to_string(folder.join("sources.txt")).expect("the sources are there");
    let lines = sources.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (picture, source) = line.split_once(' ').expect("a picture and its source");
            (folder.join(picture), source.trim().to_owned())
        })
        .collect()
}

/// True when two charts are the same, but for places that training moves by a few dots on another processor.
fn same_chart(a: &str, b: &str) -> bool {
    let parts = |chart: &str| -> Vec<String> {
        let is_cut = |c: char| !(c.is_alphanumeric() || ".-%".contains(c));
        let parts = chart.split(is_cut).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    // `M12.5` and `L12.5` of a path.
    let number = |part: &str| {
        part.trim_start_matches(['M', 'L', 'H', 'V'])
            .parse::<f64>()
            .ok()
    };
    let is_near = |a: &str, b: &str| match (number(a), number(b)) {
        (Some(a), Some(b)) => (a - b).abs() <= f64::max(8.0, 0.05 * a.abs()),
        _ => false,
    };
    let (a, b) = (parts(a), parts(b));
    let mut pairs = a.iter().zip(&b);
    a.len() == b.len() && pairs.all(|(a, b)| a == b || is_near(a, b))
}

/// Pictures are small, and the labs and the README have some.
#[test]
fn pages_have_pictures_of_a_decent_size() {
    const MAX_BYTES: u64 = 150_000;
    let pictures: Vec<PathBuf> = pictures().into_iter().map(|(picture, _)| picture).collect();
    for picture in &pictures {
        let bytes = fs::metadata(picture).expect("the picture is there").len();
        assert!(bytes < MAX_BYTES, "{}: {bytes} bytes", picture.display());
    }
    let names = |page: &Path| -> Vec<String> {
        let text = fs::read_to_string(page).unwrap();
        let pictures = links(&text).filter_map(|link| Some(link.split_once("pictures/")?.1));
        pictures.map(str::to_owned).collect()
    };
    let pages = in_order();
    let is_lab = |page: &&PathBuf| page.parent().is_some_and(|folder| folder.ends_with("labs"));
    for page in pages
        .iter()
        .filter(is_lab)
        .chain([&root().join("README.md")])
    {
        assert!(!names(page).is_empty(), "{}", page.display());
    }
    let shown: BTreeSet<String> = pages.iter().flat_map(|page| names(page)).collect();
    for picture in pictures {
        let name = picture.file_name().unwrap().to_string_lossy();
        assert!(shown.contains(&*name), "{name} is on no page");
    }
}

#[test]
fn every_command_prints_what_the_page_says() {
    let mut reader = Reader::new();
    for page in in_order() {
        reader.read(&page);
    }
    reader.check_pictures();
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
    let exact = |text: &str, lines: &[&str]| matches(&pattern(text), lines, Tolerance::Exact);
    assert!(exact("a|…|c", &["a", "b", "b", "c"]));
    assert!(exact("a|…|c", &["a", "c"]));
    assert!(!exact("a|…|c", &["a", "b"]));
    assert!(!exact("a|b", &["a", "b", "c"]));
    assert!(!exact("a|b", &["a"]));
    assert!(exact("in … s", &["in 0.1 s"]));
    assert!(!exact("in … s", &["in 0.1 m"]));
    assert!(!exact("in … s", &["on 0.1 s"]));
    let near = |text: &str, line: &str| matches(&pattern(text), &[line], Tolerance::Decimals);
    assert!(near("loss 1.00, acc 0.5", "loss 1.04, acc 0.49"));
    assert!(!near("loss 1.00, acc 0.5", "loss 1.06, acc 0.5"));
    assert!(!near("epoch 1 loss 1.0", "epoch 2 loss 1.0"));
    let counts = |text: &str, line: &str| matches(&pattern(text), &[line], Tolerance::Counts);
    assert!(counts("2304 76 0.5", "2310 80 0.51"));
    assert!(!counts("2304 76 0.5", "2304 97 0.5"));
}

#[test]
fn charts_may_differ_by_a_few_dots_and_in_nothing_else() {
    let chart = r#"<path d="M10.5 20 L300 40.25" stroke="red"/><text x="5">loss</text>"#;
    assert!(same_chart(chart, chart));
    assert!(same_chart(chart, &chart.replace("40.25", "43.5")));
    assert!(!same_chart(chart, &chart.replace("40.25", "80.25")));
    assert!(!same_chart(chart, &chart.replace("loss", "accuracy")));
    assert!(!same_chart(chart, &chart.replace("red", "blue")));
    assert!(!same_chart(chart, &chart.replace(" L300 40.25", "")));
}
