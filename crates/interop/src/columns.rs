//! A table of numbers with one column of labels: what the readers of CSV, ARFF, NPZ, Parquet and HDF5 give.

use crate::{Budget, FileError, OverBudget, gzip};
use config::did_you_mean;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead};
use std::path::Path;

/// More different labels than this are a column of measurements, not of classes.
pub const MAX_CLASSES: usize = 10_000;
/// Columns that a message names before it counts the rest.
const MAX_LISTED: usize = 30;
/// More columns than this are refused.
pub const MAX_COLUMNS: usize = 1 << 16;
/// Bytes of a cell: four, and as many again while a list grows.
const CELL_BYTES: usize = 8;
/// More cells than this, 16 GiB as f32, are refused.
pub const MAX_CELLS: u64 = 1 << 32;
/// More rows than this cannot be numbered with 32 bits.
pub const MAX_ROWS: usize = u32::MAX as usize;

/// Rows of numbers, each with a label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The names of the columns but the label's.
    pub features: Vec<String>,
    /// The numbers, row-major, all finite.
    pub values: Vec<f32>,
    /// The classes: in numeric order when all are numbers, else in alphabetic order.
    pub classes: Vec<String>,
    /// The class of every row.
    pub labels: Vec<u32>,
}

/// A file that cannot be read as a table.
pub type TableError = FileError<TableProblem>;

/// Reads a table of text, gzipped or not.
pub(crate) fn read_text(
    path: &Path,
    parse: impl FnOnce(&mut dyn BufRead, &Budget) -> Result<Table, TableProblem>,
) -> Result<Table, TableError> {
    let (file, budget) = open(path).map_err(|problem| problem.of(path))?;
    let table = gzip::reader(file, &budget)
        .map_err(TableProblem::from)
        .and_then(|mut reader| parse(&mut reader, &budget));
    table.map_err(|problem| problem.of(path))
}

/// Opens a file with the budget of its size.
pub(crate) fn open(path: &Path) -> Result<(File, Budget), TableProblem> {
    let file = File::open(path)?;
    let budget = Budget::of_size(file.metadata()?.len());
    Ok((file, budget))
}

/// A problem of a table.
#[derive(Debug, thiserror::Error)]
pub enum TableProblem {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file needs more memory than it may take.
    #[error(transparent)]
    Budget(#[from] OverBudget),
    /// The file is of another kind.
    #[error("is not {kind}: {message}")]
    Kind {
        /// The expected format.
        kind: &'static str,
        /// The reason.
        message: String,
    },
    /// Something in the file is larger than is read.
    #[error("has {got} {what}, more than the {limit} that are read")]
    TooLarge {
        /// The quantity that is too large.
        what: &'static str,
        /// Its size in the file.
        got: u64,
        /// The limit.
        limit: u64,
    },
    /// A column is not there.
    #[error("has no column '{name}'{hint}")]
    NoColumn {
        /// The column asked for.
        name: String,
        /// The columns there are, and the nearest names.
        hint: String,
    },
    /// A row has too few or too many cells.
    #[error("row {row} has {got} cells; the table has {expected} columns")]
    Ragged {
        /// The row, counted from 1.
        row: usize,
        /// Its cells.
        got: usize,
        /// The columns of the table.
        expected: usize,
    },
    /// A cell is no number.
    #[error("row {row}, column '{column}': {message}")]
    Cell {
        /// The row, counted from 1.
        row: usize,
        /// The name of the column.
        column: String,
        /// The problem.
        message: String,
    },
    /// A part of the file is not what it should be.
    #[error("{place}: {message}")]
    Place {
        /// The place in the file.
        place: String,
        /// The problem.
        message: String,
    },
    /// None or several arrays of an archive could be the features of a table.
    #[error("archive: {0} arrays could be the features; call one of them x")]
    FeatureArrays(usize),
    /// The table has no rows.
    #[error("has no rows")]
    NoRows,
    /// The table has no columns but the label.
    #[error("has no columns but '{0}'")]
    NoFeatures(String),
}

impl TableProblem {
    /// A part of the file that is not what it should be.
    pub(crate) fn place(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Place {
            place: place.into(),
            message: message.into(),
        }
    }

    /// This problem of this file.
    pub fn of(self, path: &Path) -> TableError {
        TableError {
            path: path.to_owned(),
            problem: self,
        }
    }
}

/// The position of the column called `name`.
pub(crate) fn column(columns: &[String], name: &str) -> Result<usize, TableProblem> {
    let found = columns.iter().position(|column| column == name);
    found.ok_or_else(|| TableProblem::NoColumn {
        name: name.to_owned(),
        hint: listing(columns) + &did_you_mean(name, columns.iter().map(String::as_str)),
    })
}

/// The names of the columns, for a message.
fn listing(columns: &[String]) -> String {
    if columns.is_empty() {
        return String::new();
    }
    let mut names: Vec<&str> = columns
        .iter()
        .take(MAX_LISTED)
        .map(String::as_str)
        .collect();
    let more = format!("{} more", columns.len().saturating_sub(MAX_LISTED));
    if columns.len() > MAX_LISTED {
        names.push(&more);
    }
    format!("; it has {}", names.join(", "))
}

/// Checks the size of a table before it is read. Packed files can promise any size, so theirs bounds nothing.
pub(crate) fn check_size(n_rows: u64, n_columns: usize) -> Result<(), TableProblem> {
    for (what, got, limit) in [
        ("rows", n_rows, MAX_ROWS as u64),
        ("cells", n_rows.saturating_mul(n_columns as u64), MAX_CELLS),
    ] {
        if got > limit {
            return Err(TableProblem::TooLarge { what, got, limit });
        }
    }
    Ok(())
}

/// Collects a table row by row, cell by cell.
pub(crate) struct Builder<'a> {
    budget: &'a Budget,
    columns: Vec<String>,
    label: usize,
    values: Vec<f32>,
    labels: Labels,
}

impl<'b> Builder<'b> {
    /// A table with these columns, of which one is the label.
    pub fn new(
        columns: Vec<String>,
        label: &str,
        budget: &'b Budget,
    ) -> Result<Self, TableProblem> {
        let position = column(&columns, label)?;
        if columns.len() == 1 {
            return Err(TableProblem::NoFeatures(label.to_owned()));
        }
        if columns.len() > MAX_COLUMNS {
            return Err(TableProblem::TooLarge {
                what: "columns",
                got: columns.len() as u64,
                limit: MAX_COLUMNS as u64,
            });
        }
        Ok(Self {
            budget,
            columns,
            label: position,
            values: Vec::new(),
            labels: Labels::default(),
        })
    }

    /// Adds a row given as text.
    pub fn row<'a>(&mut self, cells: impl Iterator<Item = &'a str>) -> Result<(), TableProblem> {
        let row = self.labels.codes.len() + 1;
        check_size(row as u64, self.columns.len())?;
        self.budget.take_array(self.columns.len(), CELL_BYTES)?;
        let mut n_cells = 0;
        for (position, cell) in cells.enumerate() {
            n_cells += 1;
            let Some(column) = self.columns.get(position) else {
                continue;
            };
            let cell = cell.trim();
            let wrong = |message| TableProblem::Cell {
                row,
                column: column.clone(),
                message,
            };
            if position == self.label {
                self.labels.push(cell, self.budget).map_err(wrong)?;
            } else {
                self.values.push(number(cell).map_err(wrong)?);
            }
        }
        if n_cells == self.columns.len() {
            return Ok(());
        }
        Err(TableProblem::Ragged {
            row,
            got: n_cells,
            expected: self.columns.len(),
        })
    }

    /// The table, if it has rows.
    pub fn finish(mut self) -> Result<Table, TableProblem> {
        let (classes, labels) = self.labels.finish();
        if labels.is_empty() {
            return Err(TableProblem::NoRows);
        }
        self.columns.remove(self.label);
        self.values.shrink_to_fit();
        Ok(Table {
            features: self.columns,
            values: self.values,
            classes,
            labels,
        })
    }
}

/// A finite f32 from text.
fn number(cell: &str) -> Result<f32, String> {
    let shown = || cell.chars().take(40).collect::<String>();
    let value: f32 = cell
        .parse()
        .map_err(|_| format!("'{}' is not a number{}", shown(), point_hint(cell)))?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(format!("'{}' is not a finite float32", shown()))
    }
}

fn point_hint(cell: &str) -> &'static str {
    match cell.replacen(',', ".", 1).parse::<f32>() {
        Ok(_) => "; decimals are written with a point",
        Err(_) => "",
    }
}

/// Numbers labels in the order they appear, and sorts them in the end.
#[derive(Default)]
pub(crate) struct Labels {
    known: HashMap<String, u32>,
    names: Vec<String>,
    codes: Vec<u32>,
}

impl Labels {
    /// Adds the label of the next row.
    pub fn push(&mut self, label: &str, budget: &Budget) -> Result<(), String> {
        if let Some(&code) = self.known.get(label) {
            self.codes.push(code);
            return Ok(());
        }
        if label.is_empty() {
            return Err("the label is empty".to_owned());
        }
        if self.names.len() == MAX_CLASSES {
            return Err(format!(
                "there are more than {MAX_CLASSES} different labels; a regression target is no column of classes"
            ));
        }
        // The name is there three times in the end.
        let charged = budget.take_array(label.len(), 3);
        charged.map_err(|over| over.to_string())?;
        let code = self.names.len() as u32;
        self.known.insert(label.to_owned(), code);
        self.names.push(label.to_owned());
        self.codes.push(code);
        Ok(())
    }

    /// The classes in order and the class of every row.
    pub fn finish(self) -> (Vec<String>, Vec<u32>) {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        let numbers: Option<Vec<f64>> = self.names.iter().map(|name| finite(name)).collect();
        match numbers {
            Some(numbers) => order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b])),
            None => order.sort_by_key(|&name| &self.names[name]),
        }
        let mut rank = vec![0; order.len()];
        for (place, &name) in order.iter().enumerate() {
            rank[name] = place as u32;
        }
        let labels = self.codes.iter().map(|&code| rank[code as usize]).collect();
        let classes = order.iter().map(|&name| self.names[name].clone()).collect();
        (classes, labels)
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}
