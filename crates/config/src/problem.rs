//! Problems of a file, each with its place, and how they are shown.

use std::ops::Range;

/// Bytes of the file's text.
pub type Span = Range<usize>;

/// A problem and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the text.
    pub span: Span,
    /// The message.
    pub message: String,
}

/// Every problem of the file `name` with its line and column, the line itself and a mark below it.
pub fn describe(name: &str, text: &str, problems: &[Problem]) -> String {
    let all: Vec<String> = problems
        .iter()
        .map(|problem| describe_one(name, text, problem))
        .collect();
    match all.as_slice() {
        [only] => only.clone(),
        several => format!(
            "{} problems in {name}\n{}",
            several.len(),
            several.join("\n")
        ),
    }
}

fn describe_one(name: &str, text: &str, problem: &Problem) -> String {
    let before = &text[..text.floor_char_boundary(problem.span.start.min(text.len()))];
    let line = before.matches('\n').count();
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count();
    let source = text.lines().nth(line).unwrap_or_default();
    let marks = text.get(problem.span.clone()).map_or(1, |marked| {
        marked.lines().next().unwrap_or_default().chars().count()
    });
    let caret = format!("{}{}", " ".repeat(column), "^".repeat(marks.max(1)));
    format!(
        "{name}:{}:{}: {}\n  {source}\n  {caret}",
        line + 1,
        column + 1,
        problem.message
    )
}
