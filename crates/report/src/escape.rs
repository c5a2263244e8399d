//! Text of files made fit for terminals and reports: control characters are shown, not sent.

use std::borrow::Cow;

/// A text whose control characters are shown as `\u{1b}`, but for the ends of its lines and tabs. Characters that turn the
/// direction of writing around count as well: they make a line read as another one.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    replaced(text, |c| is_command(c) && !matches!(c, '\n' | '\t'))
}

/// The same for a text that is part of a line, such as a cell of a table: ends of lines and tabs are shown too.
#[must_use]
pub fn escape_line(text: &str) -> Cow<'_, str> {
    replaced(text, is_command)
}

/// True for a character that a terminal obeys instead of showing it.
#[must_use]
pub fn is_command(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
}

fn replaced(text: &str, is_replaced: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_replaced) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for c in text.chars() {
        if is_replaced(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn commands_are_shown_and_words_stay() {
        assert_eq!(escape("\x1b]0;title\x07\r"), "\\u{1b}]0;title\\u{7}\\u{d}");
        assert_eq!(escape("größe\tµ\n日本"), "größe\tµ\n日本");
        assert_eq!(escape_line("a\tb\nc"), "a\\u{9}b\\u{a}c");
        assert_eq!(
            escape("\u{9b}2J\u{7f}\u{202e}"),
            "\\u{9b}2J\\u{7f}\\u{202e}"
        );
    }

    #[test]
    fn no_form_of_a_table_holds_a_command() {
        let mut table = Table::new(&["na\rme", "value"]);
        table.push(["\x1b[2J", "a\x08"]);
        table.totals = Some(vec!["\x07".to_owned(), "\u{9b}".to_owned()]);
        for text in [table.to_text(), table.to_csv(), table.to_markdown()] {
            let found = text.chars().find(|&c| is_command(c) && c != '\n');
            assert_eq!(found, None, "{text:?}");
            assert!(text.contains("\\u{1b}[2J"), "{text}");
        }
        assert_eq!(table.to_json()[0]["na\rme"], "\x1b[2J");
    }
}
