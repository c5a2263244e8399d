//! The lines of a table as text, within the width of a terminal if need be.

use crate::{Align, Table};
use std::fmt;

/// The lines of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The headings.
    pub heading: String,
    /// The line under them.
    pub rule: String,
    /// One line for every row.
    pub rows: Vec<String>,
    /// The line of sums.
    pub totals: Option<String>,
    /// True when cells were shortened.
    pub is_shortened: bool,
    /// The headings of the columns that found no room.
    pub left_out: Vec<String>,
}

/// Spaces between two columns.
const GAP: usize = 2;
/// Characters that a column of words keeps at least, if it has so many.
const MIN_WORDS: usize = 12;
/// The same of the first column, which tells the rows apart.
const MIN_NAMES: usize = 24;

impl Layout {
    /// Lays a table out. Where it is too wide, columns of words are shortened, the widest first; then columns are left out,
    /// the spare ones first, then from the right. The first column always stays.
    pub(crate) fn new(table: &Table, max_width: Option<usize>) -> Self {
        let table = &table.shown();
        let columns: Vec<Extent> = (0..table.headings.len())
            .map(|column| Extent::of(table, column))
            .collect();
        let shown = match max_width {
            None => columns.clone(),
            Some(max) => fit(columns.clone(), &table.spare, max),
        };
        let line = |cells: &Vec<String>| text_line(cells, &shown);
        let rules: Vec<String> = columns.iter().map(|all| "-".repeat(all.width)).collect();
        let is_shown = |column: usize| shown.iter().any(|own| own.column == column);
        let left_out = columns.iter().filter(|all| !is_shown(all.column));
        Self {
            heading: line(&table.headings),
            rule: text_line(&rules, &shown).replace('…', "-"),
            rows: table.rows.iter().map(line).collect(),
            totals: table.totals.as_ref().map(line),
            is_shortened: shown
                .iter()
                .any(|own| own.width < columns[own.column].width),
            left_out: left_out
                .map(|all| table.headings[all.column].clone())
                .collect(),
        }
    }

    /// True when the lines hold everything that the table does.
    pub fn is_whole(&self) -> bool {
        !self.is_shortened && self.left_out.is_empty()
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{}\n{}", self.heading, self.rule)?;
        for row in &self.rows {
            writeln!(f, "{row}")?;
        }
        match &self.totals {
            Some(totals) => writeln!(f, "{}\n{totals}", self.rule),
            None => Ok(()),
        }
    }
}

/// A column with the room that it takes.
#[derive(Clone, Copy)]
struct Extent {
    column: usize,
    align: Align,
    width: usize,
    /// The width below which it is not shortened.
    min: usize,
}

impl Extent {
    fn of(table: &Table, column: usize) -> Self {
        let widths = table.lines().map(|line| width(&line[column]));
        let widest = widths.max().unwrap_or(0);
        let align = table.align(column);
        let min = match (column, align) {
            (_, Align::Right) => widest,
            (0, Align::Left) => widest.min(MIN_NAMES),
            (_, Align::Left) => widest.min(MIN_WORDS.max(width(&table.headings[column]))),
        };
        Self {
            column,
            align,
            width: widest,
            min,
        }
    }
}

/// The columns that fit, as wide as they can be.
fn fit(mut columns: Vec<Extent>, spare: &[usize], max: usize) -> Vec<Extent> {
    let total = |columns: &[Extent], width: fn(&Extent) -> usize| {
        let widths = columns.iter().map(|own| width(own) + GAP);
        // No gap follows the last column.
        widths.sum::<usize>().saturating_sub(GAP)
    };
    let mut spare = spare.iter();
    while columns.len() > 1 && total(&columns, |own| own.min) > max {
        let place = spare.next().map_or(Some(columns.len() - 1), |column| {
            columns.iter().position(|own| own.column == *column)
        });
        place.map(|place| columns.remove(place));
    }
    if let [only] = columns.as_mut_slice() {
        only.width = only.width.min(max);
    }
    while total(&columns, |own| own.width) > max {
        let shrinkable = columns.iter_mut().filter(|own| own.width > own.min);
        let Some(widest) = shrinkable.max_by_key(|own| own.width) else {
            break;
        };
        widest.width -= 1;
    }
    columns
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

/// The cell, or as much of it as fits in front of an ellipsis.
fn shortened(cell: &str, max: usize) -> String {
    if width(cell) <= max {
        return cell.to_owned();
    }
    let head: String = cell.chars().take(max.saturating_sub(1)).collect();
    head.trim_end().to_owned() + "…"
}

fn text_line(cells: &[String], columns: &[Extent]) -> String {
    let padded = columns.iter().map(|own| {
        let width = own.width;
        let cell = shortened(&cells[own.column], width);
        match own.align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        }
    });
    let line = padded.collect::<Vec<_>>().join(&" ".repeat(GAP));
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    fn table() -> Table {
        let columns = [
            Column::words("Name", ""),
            Column::numbers("Size", ""),
            Column::words("About", ""),
            Column::numbers("Count", ""),
        ];
        let mut table = Table::with_columns(&columns);
        table.push(["first", "1", "one of the words that take much room", "12"]);
        table.push(["second", "1000", "short", "7"]);
        table
    }

    #[test]
    fn words_are_shortened_before_columns_are_left_out() {
        let whole = table().layout(None);
        assert!(whole.is_whole());
        assert_eq!(whole.to_string(), table().to_text());
        let narrow = table().layout(Some(38));
        assert_eq!(
            narrow.to_string(),
            "Name    Size  About              Count\n\
             ------  ----  -----------------  -----\n\
             first      1  one of the words…     12\n\
             second  1000  short                  7\n"
        );
        assert!(narrow.is_shortened && narrow.left_out.is_empty());
        let narrower = table().layout(Some(30));
        assert_eq!(narrower.left_out, ["Count"]);
        assert_eq!(narrower.rows[0], "first      1  one of the word…");
        let spared = table().with_spare(&["About", "Size"]).layout(Some(30));
        assert_eq!(spared.left_out, ["About"]);
        assert_eq!(spared.rows[0], "first      1     12");
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        for max in 1..80 {
            let layout = table().layout(Some(max));
            let text = layout.to_string();
            let widest = text.lines().map(width).max();
            assert!(widest.is_some_and(|width| width <= max), "{max}: {text}");
            assert_eq!(layout.is_whole(), max >= 57, "{max}");
            assert!(!layout.rows[0].is_empty(), "the first column stays: {max}");
        }
    }
}
