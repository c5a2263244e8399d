//! Errors with their place in the text.

use std::fmt;
use std::ops::Range;

/// More errors than this are not collected: they would not be read.
pub const MAX_ERRORS: usize = 50;

/// Longer lines are cut around the error.
const MAX_EXCERPT: usize = 160;

/// One thing that is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The problem.
    pub message: String,
    /// The line itself, cut at both ends if it is very long.
    pub excerpt: String,
    /// The start of the fault in the excerpt, and the number of its characters.
    pub mark: (usize, usize),
}

impl TextError {
    /// The error `message` about the bytes `span` of `source`.
    pub fn new(source: &str, span: Range<usize>, message: String) -> Self {
        let start = source.floor_char_boundary(span.start);
        let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = source[start..]
            .find('\n')
            .map_or(source.len(), |at| start + at);
        let before: Vec<char> = source[line_start..start].chars().collect();
        let after: Vec<char> = source[start..line_end].chars().take(MAX_EXCERPT).collect();
        let is_long = before.len() + after.len() > MAX_EXCERPT;
        let n_shown = if is_long {
            before.len().min(MAX_EXCERPT / 2)
        } else {
            before.len()
        };
        let shown = &before[before.len() - n_shown..];
        let after = &after[..after.len().min(MAX_EXCERPT - n_shown)];
        let marked = source
            .get(start..span.end)
            .map_or(1, |text| text.chars().count());
        Self {
            line: source[..start].matches('\n').count() + 1,
            column: before.len() + 1,
            message,
            excerpt: shown
                .iter()
                .chain(after)
                .collect::<String>()
                .trim_end()
                .to_owned(),
            mark: (shown.len(), marked.clamp(1, after.len().max(1))),
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (start, len) = self.mark;
        writeln!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        writeln!(f, "  {}", self.excerpt)?;
        // A tab above the marker must be a tab before it, or the marker slips.
        let pad = self
            .excerpt
            .chars()
            .chain(std::iter::repeat(' '))
            .take(start);
        let pad: String = pad.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        write!(f, "  {pad}{}", "^".repeat(len))
    }
}

/// Everything that is wrong with a text, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextErrors {
    /// At least one.
    pub errors: Vec<TextError>,
}

impl fmt::Display for TextErrors {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let blocks: Vec<String> = self.errors.iter().map(ToString::to_string).collect();
        f.write_str(&blocks.join("\n"))
    }
}

impl std::error::Error for TextErrors {}
