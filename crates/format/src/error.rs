//! The errors in a format's description, with the nearest names for misspelled ones.

use std::fmt;

/// A format description that cannot be used: what is wrong, and where it stands in the text if there is a text.
#[derive(Clone, Debug, PartialEq)]
pub struct FormatError {
    /// The problem.
    pub problem: Problem,
    /// Byte offset into the text given to [`Format::parse`](crate::Format::parse).
    pub offset: Option<usize>,
}

/// The ways in which a format description can be wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// No format has this name.
    UnknownFormat {
        /// The name as given.
        name: String,
        /// Names that are close to it, nearest first.
        candidates: Vec<&'static str>,
    },
    /// The format has no field of this name.
    UnknownField {
        /// The format.
        format: &'static str,
        /// The field as given.
        field: String,
        /// The format's fields that are close to it, nearest first; all of them if none is.
        candidates: Vec<&'static str>,
    },
    /// A field without a default is missing.
    MissingField {
        /// The format.
        format: &'static str,
        /// The missing field.
        field: &'static str,
    },
    /// A field is given twice.
    RepeatedField {
        /// The format.
        format: &'static str,
        /// The repeated field.
        field: String,
    },
    /// More positional values than the format has fields.
    TooManyValues {
        /// The format.
        format: &'static str,
        /// The number of its fields.
        max: usize,
    },
    /// A field's value has the wrong type.
    WrongType {
        /// The format.
        format: &'static str,
        /// The field.
        field: &'static str,
        /// The type it takes.
        expected: String,
        /// The given value.
        found: String,
    },
    /// A field's value has the right type and cannot be used.
    BadValue {
        /// The format.
        format: &'static str,
        /// The field.
        field: &'static str,
        /// The value as given.
        value: String,
        /// The rule that the value violates, to be read after it: `is outside 1 to 64`.
        rule: String,
    },
    /// The text is not of the form `name(value, key = value)`.
    Syntax {
        /// The expected text.
        expected: &'static str,
        /// The text found.
        found: String,
    },
}

impl From<Problem> for FormatError {
    fn from(problem: Problem) -> Self {
        Self {
            problem,
            offset: None,
        }
    }
}

impl FormatError {
    /// The field that the error is about, if it is about one.
    pub fn field(&self) -> Option<&str> {
        match &self.problem {
            Problem::UnknownField { field, .. } | Problem::RepeatedField { field, .. } => {
                Some(field)
            }
            Problem::WrongType { field, .. }
            | Problem::BadValue { field, .. }
            | Problem::MissingField { field, .. } => Some(field),
            _ => None,
        }
    }
}

impl std::error::Error for FormatError {}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFormat { name, candidates } => {
                write!(f, "unknown format '{name}'{}", did_you_mean(candidates))
            }
            Self::UnknownField {
                format,
                field,
                candidates,
            } => {
                let hint = did_you_mean(candidates);
                write!(f, "{format}: unknown field '{field}'{hint}")
            }
            Self::MissingField { format, field } => write!(f, "{format}: {field} is missing"),
            Self::RepeatedField { format, field } => write!(f, "{format}: {field} is given twice"),
            Self::TooManyValues { format, max } => {
                write!(f, "{format}: takes at most {max} values")
            }
            Self::WrongType {
                format,
                field,
                expected,
                found,
            } => write!(f, "{format}: {field} takes {expected}, not {found}"),
            Self::BadValue {
                format,
                field,
                value,
                rule,
            } => write!(f, "{format}: {field} {value} {rule}"),
            Self::Syntax { expected, found } => write!(f, "expected {expected}, found {found}"),
        }
    }
}

fn did_you_mean(candidates: &[&str]) -> String {
    let quoted: Vec<String> = candidates.iter().map(|name| format!("'{name}'")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => format!("; did you mean {only}?"),
        Some((last, rest)) => format!("; did you mean {} or {last}?", rest.join(", ")),
    }
}

/// The names within a third of the word's length (at least two edits) of `word`, nearest first, at most three.
pub(crate) fn nearest(
    word: &str,
    names: impl IntoIterator<Item = &'static str>,
) -> Vec<&'static str> {
    let limit = (word.chars().count() / 3).max(2);
    let mut close: Vec<(usize, &'static str)> = names
        .into_iter()
        .map(|name| (edit_distance(word, name), name))
        .filter(|&(distance, _)| distance <= limit)
        .collect();
    close.sort_by_key(|&(distance, _)| distance);
    close.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        for (a, b, edits) in [
            ("", "", 0),
            ("", "abc", 3),
            ("jcs", "jsc", 1),
            ("integer", "interger", 1),
            ("kitten", "sitting", 3),
            // Neighbours change places once, and others not at all.
            ("abcd", "badc", 2),
            ("xab", "xba", 1),
            ("axb", "bxa", 2),
            ("ca", "abc", 3),
            ("aabb", "bbaa", 3),
        ] {
            assert_eq!(edit_distance(a, b), edits, "{a} {b}");
            assert_eq!(edit_distance(b, a), edits, "{b} {a}");
        }
    }
}
