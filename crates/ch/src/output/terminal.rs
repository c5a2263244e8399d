//! The terminal behind a stream: its width, and colours by role.

use report::escape;
use std::env;
use std::io::{self, IsTerminal};

/// A stream that the program prints to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// The role of a text, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The word in front of an error.
    Error,
    /// The word in front of a note.
    Note,
    /// The title of a part.
    Title,
    /// The best of several results.
    Best,
    /// Something that was changed.
    Changed,
    /// Something that was left as it is, or an aside.
    Unchanged,
}

impl Role {
    const ALL: [Self; 6] = [
        Self::Error,
        Self::Note,
        Self::Title,
        Self::Best,
        Self::Changed,
        Self::Unchanged,
    ];

    /// The parameters of the escape sequence.
    fn code(self) -> &'static str {
        match self {
            Self::Error => "1;31",
            Self::Note => "1;33",
            Self::Title => "1",
            Self::Best => "1;32",
            Self::Changed => "36",
            Self::Unchanged => "2",
        }
    }

    /// The beginning of the colour.
    fn start(self) -> String {
        format!("\x1b[{}m", self.code())
    }
}

/// The end of a colour.
const END: &str = "\x1b[0m";

impl Stream {
    /// The columns that a line may have: those of the terminal, or `$COLUMNS`; no limit where there is neither.
    pub fn width(self) -> Option<usize> {
        let given = env::var("COLUMNS").ok();
        let given = given.and_then(|text| text.parse().ok());
        given.filter(|&width| width > 0).or_else(|| {
            let size = match self {
                Self::Out => terminal_size::terminal_size_of(io::stdout()),
                Self::Err => terminal_size::terminal_size_of(io::stderr()),
            };
            size.map(|(width, _)| usize::from(width.0))
        })
    }

    /// A text in the colour of its role, if the stream has colours.
    pub fn paint(self, role: Role, text: &str) -> String {
        if self.has_colors() {
            format!("{}{text}{END}", role.start())
        } else {
            text.to_owned()
        }
    }

    /// A text that holds no commands for the terminal but the colours of [`Stream::paint`].
    pub fn printable(self, text: &str) -> String {
        if !text.contains(report::is_command) || !self.has_colors() {
            return escape(text).into_owned();
        }
        let own: Vec<String> = Role::ALL.map(Role::start).into();
        let own = || own.iter().map(String::as_str).chain([END]);
        let mut shown = String::new();
        for (place, piece) in text.split('\x1b').enumerate() {
            let piece = if place == 0 {
                piece.to_owned()
            } else {
                format!("\x1b{piece}")
            };
            let color = own().find(|color| piece.starts_with(color));
            let color = color.unwrap_or_default();
            shown += color;
            shown += &escape(&piece[color.len()..]);
        }
        shown
    }

    fn has_colors(self) -> bool {
        let is_terminal = match self {
            Self::Out => io::stdout().is_terminal(),
            Self::Err => io::stderr().is_terminal(),
        };
        wants_colors(is_terminal, |name| env::var(name).ok())
    }
}

/// True when colours are wanted. `NO_COLOR` wins over `CLICOLOR_FORCE`, and that over what the stream is.
fn wants_colors(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let value = |name| variable(name).filter(|value| !value.is_empty());
    if value("NO_COLOR").is_some() {
        return false;
    }
    let is_forced = value("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    is_forced || is_terminal && value("TERM").is_none_or(|name| name != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_for_terminals_that_want_them() {
        struct Case(bool, &'static [(&'static str, &'static str)], bool);
        let cases = [
            Case(true, &[], true),
            Case(false, &[], false),
            Case(true, &[("TERM", "xterm")], true),
            Case(true, &[("TERM", "dumb")], false),
            Case(true, &[("NO_COLOR", "1")], false),
            Case(true, &[("NO_COLOR", "0")], false),
            Case(true, &[("NO_COLOR", "")], true),
            Case(false, &[("CLICOLOR_FORCE", "1")], true),
            Case(false, &[("CLICOLOR_FORCE", "0")], false),
            Case(true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        ];
        for Case(is_terminal, variables, expected) in cases {
            let variable = |name: &str| {
                let mut pairs = variables.iter();
                let found = pairs.find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let wants = wants_colors(is_terminal, variable);
            assert_eq!(wants, expected, "{is_terminal} {variables:?}");
        }
    }
}
