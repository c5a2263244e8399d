//! Tables and lists within the width of a terminal.

use super::terminal::{Role, Stream};
use passes::PassReport;
use report::Table;

/// A table within the width of a stream. Where it has no room for all, a line says so and names the place that has:
/// `--json`, or a file.
pub fn table(table: &Table, stream: Stream, whole: &str) -> String {
    decorated_table(table, stream, whole, |_, row| row)
}

/// The same, with every row as `decorate` returns it for its number: painted, or with a line beneath it.
pub fn decorated_table(
    table: &Table,
    stream: Stream,
    whole: &str,
    decorate: impl Fn(usize, String) -> String,
) -> String {
    let max_width = stream.width();
    let mut layout = table.layout(max_width);
    let rows = std::mem::take(&mut layout.rows).into_iter().enumerate();
    layout.rows = rows.map(|(number, row)| decorate(number, row)).collect();
    let mut text = layout.to_string();
    if let Some(width) = max_width.filter(|_| !layout.is_whole()) {
        let without = match layout.left_out.as_slice() {
            [] => String::new(),
            headings => format!(", without {}", headings.join(", ")),
        };
        let line = format!("(cut to {width} columns{without}; {whole} has all)");
        text += &stream.paint(Role::Unchanged, &message(&line, 0, stream));
        text.push('\n');
    }
    text
}

/// The report of a pass, with rows painted by what became of them; `whole` names the place of a table by its name.
pub fn report(report: &PassReport, stream: Stream, whole: impl Fn(&str) -> String) -> String {
    report.to_text_with(|name, table| {
        let mut headings = table.headings.iter();
        let changed = headings.position(|heading| heading == "Changed");
        let role = |number: usize| match table.rows[number][changed?].as_str() {
            "True" => Some(Role::Changed),
            "False" => Some(Role::Unchanged),
            _ => None,
        };
        decorated_table(table, stream, &whole(name), |number, row| {
            role(number).map_or_else(|| row.clone(), |role| stream.paint(role, &row))
        })
    })
}

/// Names with a text each, which goes on under itself where it is too long for a line.
pub fn list(lines: &[(String, String)], stream: Stream) -> String {
    let names = lines.iter().map(|(name, _)| name.chars().count());
    let indent = names.max().unwrap_or(0) + 2;
    let room = stream.width().map(|width| width.saturating_sub(indent));
    // A column of single words reads worse than lines that the terminal breaks.
    let room = room.filter(|&room| room >= MIN_ROOM).unwrap_or(usize::MAX);
    let entry = |(name, about): &(String, String)| {
        let about = wrapped(about, room, room).join(&format!("\n{}", " ".repeat(indent)));
        let name = format!("{name:<indent$}{about}");
        name.trim_end().to_owned() + "\n"
    };
    lines.iter().map(entry).collect()
}

/// Columns beneath which a text is not broken.
const MIN_ROOM: usize = 20;

/// A message whose lines go on under themselves where they are too long; `taken` columns are in front of the first. What
/// is indented, as quoted lines of files are, stays as it is.
pub fn message(text: &str, taken: usize, stream: Stream) -> String {
    let width = stream.width().filter(|&width| width >= 2 * MIN_ROOM);
    let Some(width) = width else {
        return text.to_owned();
    };
    let lines = text.split('\n').enumerate().map(|(number, line)| {
        if line.starts_with(' ') {
            return line.to_owned();
        }
        let first = width - if number == 0 { taken } else { 0 };
        wrapped(line, first, width - INDENT.len()).join(&format!("\n{INDENT}"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The indent of the further lines of a message.
const INDENT: &str = "    ";

/// A text in lines of at most so many columns, the first and the further ones, broken between words.
fn wrapped(text: &str, first: usize, further: usize) -> Vec<String> {
    if columns(text) <= first {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let room = if lines.is_empty() { first } else { further };
        let is_full = columns(&line) + 1 + columns(word) > room;
        if is_full && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines.push(line);
    lines
}

/// The columns that a text takes on a terminal: escape sequences take none.
fn columns(text: &str) -> usize {
    let mut parts = text.split('\x1b');
    let plain = parts.next().unwrap_or_default().chars().count();
    let after = |part: &str| {
        let end = part.find('m').map_or(0, |at| at + 1);
        part[end..].chars().count()
    };
    plain + parts.map(after).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_between_words() {
        let text = "one two  three-and-more four";
        assert_eq!(wrapped(text, usize::MAX, usize::MAX), [text]);
        assert_eq!(wrapped(text, 8, 6), ["one two", "three-and-more", "four"]);
        assert_eq!(wrapped("\x1b[1mone two\x1b[0m", 7, 7).len(), 1);
        assert_eq!(wrapped("\x1b[1mone two\x1b[0m", 6, 6).len(), 2);
        assert_eq!(wrapped("", 5, 5), [""]);
    }
}
