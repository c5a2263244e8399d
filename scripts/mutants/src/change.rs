//! A change of the sources, as `cargo mutants --list --json` names it.

use serde::Deserialize;

/// Where a change is: lines and columns from 1 on.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub struct Span {
    pub start: Place,
    pub end: Place,
}

/// What is changed.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub enum Genre {
    FnValue,
    BinaryOperator,
    UnaryOperator,
    MatchArm,
    MatchArmGuard,
    StructField,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Change {
    /// The number that switches it on, from 1 on.
    #[serde(skip)]
    pub number: usize,
    pub file: String,
    pub genre: Genre,
    pub name: String,
    pub replacement: String,
    pub span: Span,
}

/// Which changes of a crate are tried.
pub struct Selection<'a> {
    /// How many, where there is no filter.
    pub count: usize,
    pub seed: usize,
    /// A regular expression for names; empty for none.
    pub filter: &'a str,
}

impl Selection<'_> {
    /// Every n-th change, from one that the seed decides, so that all files have their part; all that a filter has left.
    pub fn of(&self, mut changes: Vec<Change>) -> Vec<Change> {
        let stride = if self.filter.is_empty() {
            changes.len().div_ceil(self.count).max(1)
        } else {
            1
        };
        let mut index = 0;
        changes.retain(|_| {
            index += 1;
            (index - 1) % stride == self.seed % stride
        });
        for (index, change) in changes.iter_mut().enumerate() {
            change.number = index + 1;
        }
        changes
    }
}
