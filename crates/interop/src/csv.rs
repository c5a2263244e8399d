//! Separated tables with a header line (RFC 4180), with commas, semicolons or tabs between the cells: with those of which
//! the header has most.
//!
//! Cells may stand in double quotes, in which separators, doubled quotes and line ends are text. Empty lines are skipped.
//! Lines end with `\n` or `\r\n`; a byte-order mark at the start is skipped. Files may be gzipped.

use crate::Budget;
use crate::columns::{Builder, Table, TableError, TableProblem, read_text};
use std::io::BufRead;
use std::path::Path;

/// The characters that may stand between cells; of equally many in the header the first.
const SEPARATORS: [char; 3] = [',', ';', '\t'];
/// Bytes of a cell of a record, with the small text in it.
const CELL_BYTES: u64 = 48;
/// Longer records are refused: 16 MiB.
pub const MAX_RECORD: usize = 1 << 24;

/// Reads the table whose labels stand in the column `label`.
pub fn read(path: &Path, label: &str) -> Result<Table, TableError> {
    read_text(path, |text, budget| parse(text, label, budget))
}

/// The table that the text of a file is.
pub fn parse(text: impl BufRead, label: &str, budget: &Budget) -> Result<Table, TableProblem> {
    let mut records = Records::new(text, budget);
    let Some(header) = records.next()? else {
        return Err(TableProblem::NoRows);
    };
    let columns = header.iter().map(|name| name.trim().to_owned()).collect();
    let mut builder = Builder::new(columns, label, budget)?;
    while let Some(cells) = records.next()? {
        builder.row(cells.iter().map(String::as_str))?;
    }
    builder.finish()
}

/// Splits text into records of cells. The cells are reused from record to record.
pub(crate) struct Records<'a, R> {
    reader: R,
    budget: &'a Budget,
    /// Found in the first record.
    separator: Option<char>,
    line: String,
    n_lines: usize,
    cells: Vec<String>,
    n_cells: usize,
}

impl<'b, R: BufRead> Records<'b, R> {
    /// The records of this text.
    pub fn new(reader: R, budget: &'b Budget) -> Self {
        Self {
            reader,
            budget,
            separator: None,
            line: String::new(),
            n_lines: 0,
            cells: Vec::new(),
            n_cells: 0,
        }
    }

    /// The cells of the next record that is not an empty line.
    pub fn next(&mut self) -> Result<Option<&[String]>, TableProblem> {
        loop {
            self.line.clear();
            if !self.read_line()? {
                return Ok(None);
            }
            if !self.line.trim().is_empty() {
                break;
            }
        }
        let first_line = self.n_lines;
        // A quote is open when an odd number was seen: the line end then belongs to a cell.
        let mut is_open = has_odd_quotes(&self.line);
        while is_open {
            let before = self.line.len();
            if !self.read_line()? {
                return Err(wrong(first_line, "a quoted cell has no end"));
            }
            is_open ^= has_odd_quotes(&self.line[before..]);
        }
        let line = std::mem::take(&mut self.line);
        let separator = *self.separator.get_or_insert_with(|| separator_of(&line));
        let split = self.split(&line, separator);
        self.line = line;
        split.map_err(|message| wrong(first_line, message))?;
        Ok(Some(&self.cells[..self.n_cells]))
    }

    /// Appends a line without its end; false at the end of the text.
    fn read_line(&mut self) -> Result<bool, TableProblem> {
        use std::io::Read;
        let before = self.line.len();
        let mut bounded = self
            .reader
            .by_ref()
            .take((MAX_RECORD - before.min(MAX_RECORD)) as u64 + 1);
        let n_bytes = bounded
            .read_line(&mut self.line)
            .map_err(|error| wrong(self.n_lines + 1, &error.to_string()))?;
        self.n_lines += 1;
        if self.line.len() > MAX_RECORD {
            return Err(wrong(
                self.n_lines,
                &format!("the record has more than {MAX_RECORD} bytes"),
            ));
        }
        if self.n_lines == 1 && self.line.starts_with('\u{feff}') {
            self.line.remove(0);
        }
        Ok(n_bytes > 0)
    }

    fn split(&mut self, line: &str, separator: char) -> Result<(), &'static str> {
        let mut rest = line.trim_end_matches(['\r', '\n']);
        self.n_cells = 0;
        loop {
            if self.n_cells == self.cells.len() {
                self.budget
                    .take(CELL_BYTES)
                    .map_err(|_| "the record has more cells than a table of this size may have")?;
            }
            let cell = next_cell(&mut self.cells, self.n_cells);
            self.n_cells += 1;
            let after = if let Some(quoted) = rest.trim_start_matches(' ').strip_prefix('"') {
                unquote(quoted, cell)?
            } else {
                let end = rest.find(separator).unwrap_or(rest.len());
                cell.push_str(&rest[..end]);
                &rest[end..]
            };
            match after.strip_prefix(separator) {
                Some(more) => rest = more,
                None if after.trim().is_empty() => return Ok(()),
                None => return Err("text follows a closing quote"),
            }
        }
    }
}

fn has_odd_quotes(text: &str) -> bool {
    text.matches('"').count() % 2 == 1
}

/// The separator of which the header has most outside of quotes.
fn separator_of(header: &str) -> char {
    let count = |separator: char| {
        let unquoted = header.split('"').step_by(2);
        unquoted
            .map(|text| text.matches(separator).count())
            .sum::<usize>()
    };
    let more = |best: char, other: char| {
        if count(other) > count(best) {
            other
        } else {
            best
        }
    };
    SEPARATORS.into_iter().fold(SEPARATORS[0], more)
}

fn wrong(line: usize, message: &str) -> TableProblem {
    TableProblem::place(format!("line {line}"), message)
}

fn next_cell(cells: &mut Vec<String>, position: usize) -> &mut String {
    if position == cells.len() {
        cells.push(String::new());
    }
    let cell = &mut cells[position];
    cell.clear();
    cell
}

/// Copies a quoted cell, of which the opening quote is gone, and gives what follows it.
fn unquote<'a>(mut rest: &'a str, cell: &mut String) -> Result<&'a str, &'static str> {
    loop {
        let end = rest.find('"').ok_or("a quoted cell has no end")?;
        cell.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                cell.push('"');
                rest = more;
            }
            None => return Ok(rest.trim_start_matches(' ')),
        }
    }
}
