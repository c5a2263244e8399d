//! The pages of the README and the book: their order, their fenced blocks, and what matches a block.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README, then every page in the order of the summary.
pub fn in_order() -> Vec<PathBuf> {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("the summary is there");
    let pages = links(&summary).map(|link| docs.join(link));
    [root().join("README.md")]
        .into_iter()
        .chain(pages)
        .collect()
}

/// Every page in a folder and below it.
pub fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut pages = Vec::new();
    for path in entries.map(|entry| entry.expect("the folder is readable").path()) {
        if path.is_dir() {
            pages.extend(below(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

/// The targets of a page's links and pictures.
pub fn links(page: &str) -> impl Iterator<Item = &str> {
    let targets = page.split("](").skip(1);
    targets.filter_map(|rest| Some(rest.split_once(')')?.0))
}

/// A fenced block: what stands behind the fence, and the lines inside.
pub struct Block {
    /// What stands behind the fence.
    pub info: String,
    /// The lines inside.
    pub lines: Vec<String>,
}

impl Block {
    /// True when a word stands behind the fence, between commas.
    pub fn is(&self, word: &str) -> bool {
        self.info.split(',').any(|part| part == word)
    }

    /// The file that the block is.
    pub fn file(&self) -> Option<&str> {
        self.info
            .split(',')
            .find_map(|part| part.strip_prefix("file="))
    }

    /// The difference that numbers in the block may have.
    pub fn tolerance(&self) -> Tolerance {
        if self.is("counts") {
            Tolerance::Counts
        } else if self.is("near") {
            Tolerance::Decimals
        } else {
            Tolerance::Exact
        }
    }

    /// The lines as text.
    pub fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// The commands of a block, each with the lines beneath it.
    pub fn commands(&self) -> Vec<(&str, &[String])> {
        let starts: Vec<usize> = (0..self.lines.len())
            .filter(|&i| self.lines[i].starts_with("$ "))
            .collect();
        let ends = starts.iter().skip(1).copied().chain([self.lines.len()]);
        let pairs = starts.iter().zip(ends);
        pairs
            .map(|(&start, end)| (self.lines[start].as_str(), &self.lines[start + 1..end]))
            .collect()
    }
}

/// The difference that numbers may have: training gives other last digits on other processors.
#[derive(Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// None.
    Exact,
    /// Decimals may differ by a twentieth.
    Decimals,
    /// So may whole numbers, or by as many as twenty.
    Counts,
}

/// The blocks of a page.
pub fn blocks(page: &str) -> Vec<Block> {
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
pub fn matches(pattern: &[String], lines: &[&str], tolerance: Tolerance) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((any, rest)) if any == "…" => {
            (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..], tolerance))
        }
        Some((first, rest)) => {
            let is_line = |line: &&str| line_matches(first, line, tolerance);
            lines.first().is_some_and(is_line) && matches(rest, &lines[1..], tolerance)
        }
    }
}

/// True when a line is the pattern's, where `…` stands for any part of it, spaces around it included.
fn line_matches(pattern: &str, line: &str, tolerance: Tolerance) -> bool {
    let Some((before, after)) = pattern.split_once('…') else {
        return same(pattern, line, tolerance);
    };
    let before = before.trim_end();
    let cuts = || line.char_indices().map(|(i, _)| i).chain([line.len()]);
    cuts().any(|start| {
        let is_head = same(before, line[..start].trim_end(), tolerance);
        is_head && cuts().any(|end| end >= start && line_matches(after, &line[end..], tolerance))
    })
}

/// True when two texts are the same, or the same but for near decimals.
fn same(expected: &str, got: &str, tolerance: Tolerance) -> bool {
    if tolerance == Tolerance::Exact {
        return expected == got;
    }
    let words =
        |text: &'_ str| -> Vec<String> { text.split([' ', ',']).map(str::to_owned).collect() };
    let (expected, got) = (words(expected), words(got));
    let pairs = || expected.iter().zip(&got);
    expected.len() == got.len() && pairs().all(|(a, b)| a == b || near(a, b, tolerance))
}

fn near(expected: &str, got: &str, tolerance: Tolerance) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    let is_decimal = |text: &str| text.contains('.');
    let (Some(a), Some(b)) = (number(expected), number(got)) else {
        return false;
    };
    match (is_decimal(expected), is_decimal(got)) {
        (true, true) => (a - b).abs() <= 0.05 * a.abs(),
        (false, false) if tolerance == Tolerance::Counts => {
            (a - b).abs() <= f64::max(20.0, 0.05 * a)
        }
        _ => false,
    }
}
