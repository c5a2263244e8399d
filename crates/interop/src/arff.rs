//! ARFF tables, as `OpenML` publishes them: a header of `@attribute` lines, then comma-separated rows. May be gzipped.
//!
//! Quoted cells are read when they hold no comma. Sparse rows and missing values are refused.

use crate::Budget;
use crate::columns::{Builder, Table, TableError, TableProblem, read_text};
use std::io::{BufRead, Read};
use std::path::Path;

/// Longer lines are refused: 16 MiB.
pub const MAX_LINE: usize = 1 << 24;

/// Reads the table whose labels stand in the attribute `label`.
pub fn read(path: &Path, label: &str) -> Result<Table, TableError> {
    read_text(path, |text, budget| parse(text, label, budget))
}

/// The table that the text of a file is.
pub fn parse(text: impl BufRead, label: &str, budget: &Budget) -> Result<Table, TableProblem> {
    let mut lines = Lines {
        text,
        line: String::new(),
        number: 0,
    };
    let columns = attributes(&mut lines, budget)?;
    let mut builder = Builder::new(columns, label, budget)?;
    while let Some(line) = lines.next()? {
        if line.starts_with('{') {
            return Err(lines.wrong("sparse rows are not read"));
        }
        let cells = line
            .split(',')
            .map(|cell| cell.trim().trim_matches(['\'', '"']));
        builder.row(cells)?;
    }
    builder.finish()
}

fn attributes<R: BufRead>(
    lines: &mut Lines<R>,
    budget: &Budget,
) -> Result<Vec<String>, TableProblem> {
    let mut columns = Vec::new();
    while let Some(line) = lines.next()? {
        let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match keyword.to_lowercase().as_str() {
            "@relation" => {}
            "@attribute" => match attribute_name(rest.trim()) {
                Some(name) => {
                    budget.take_array(name.len() + size_of::<String>(), 2)?;
                    columns.push(name);
                }
                None => return Err(lines.wrong("the attribute has no name")),
            },
            "@data" => return Ok(columns),
            _ => break,
        }
    }
    Err(TableProblem::Kind {
        kind: "an ARFF file",
        message: format!(
            "line {} is neither @relation, @attribute nor @data",
            lines.number
        ),
    })
}

fn attribute_name(text: &str) -> Option<String> {
    let name = match text.chars().next()? {
        quote @ ('\'' | '"') => text[1..].split_once(quote)?.0,
        _ => text.split(char::is_whitespace).next()?,
    };
    Some(name.to_owned())
}

/// Lines that are neither empty nor comments.
struct Lines<R> {
    text: R,
    line: String,
    /// Of the line, counted from 1.
    number: usize,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<Option<&str>, TableProblem> {
        loop {
            self.line.clear();
            self.number += 1;
            let read = self
                .text
                .by_ref()
                .take(MAX_LINE as u64 + 1)
                .read_line(&mut self.line);
            let n_bytes = read.map_err(|error| self.wrong(&error.to_string()))?;
            if n_bytes == 0 {
                return Ok(None);
            }
            if n_bytes > MAX_LINE {
                return Err(self.wrong(&format!("has more than {MAX_LINE} bytes")));
            }
            let line = self.line.trim();
            if !line.is_empty() && !line.starts_with('%') {
                break;
            }
        }
        Ok(Some(self.line.trim()))
    }

    fn wrong(&self, message: &str) -> TableProblem {
        TableProblem::place(format!("line {}", self.number), message)
    }
}
