//! Tables of text in the labs' plain layout.
//!
//! Our own because a table crate wraps, colours and measures terminals, and none of that is wanted: the same table
//! goes to a terminal, a pipe and a golden file.

/// One column, and what `ch explain` says about it.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The heading.
    pub heading: &'static str,
    /// What stands in it.
    pub about: &'static str,
    /// Where its cells stand.
    pub align: Align,
}

/// Where a cell stands in its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

impl Column {
    /// A column of words.
    pub const fn words(heading: &'static str, about: &'static str) -> Self {
        Self {
            heading,
            about,
            align: Align::Left,
        }
    }

    /// A column of numbers.
    pub const fn numbers(heading: &'static str, about: &'static str) -> Self {
        Self {
            heading,
            about,
            align: Align::Right,
        }
    }
}

/// Headings, a rule, the rows; a last row under a second rule if there are totals.
pub fn render(columns: &[Column], rows: &[Vec<String>], totals: Option<&[String]>) -> String {
    let headings: Vec<String> = columns
        .iter()
        .map(|column| column.heading.to_owned())
        .collect();
    let all = || {
        [headings.as_slice()]
            .into_iter()
            .chain(rows.iter().map(Vec::as_slice))
            .chain(totals)
    };
    let width = |column: usize| {
        all()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    let mut text = line(columns, &widths, &headings) + &line(columns, &widths, &rule);
    for row in rows {
        text += &line(columns, &widths, row);
    }
    if let Some(totals) = totals {
        text += &line(columns, &widths, &rule);
        text += &line(columns, &widths, totals);
    }
    text
}

fn line(columns: &[Column], widths: &[usize], cells: &[String]) -> String {
    let padded = columns
        .iter()
        .zip(widths)
        .zip(cells)
        .map(|((column, &width), cell)| match column.align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
    let line = padded.collect::<Vec<_>>().join("  ");
    line.trim_end().to_owned() + "\n"
}
