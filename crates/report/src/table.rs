//! A table, and its forms.

use crate::{Align, Column, Layout, escape, escape_line};
use serde_json::{Map, Value as Json};

/// Headings and rows of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// One per column.
    pub headings: Vec<String>,
    /// Each as long as the headings.
    pub rows: Vec<Vec<String>>,
    /// A last row of sums, set apart.
    pub totals: Option<Vec<String>>,
    /// One per column; where it is not given, columns of numbers stand to the right.
    alignment: Option<Vec<Align>>,
    /// Columns that a narrow terminal goes without first.
    pub(crate) spare: Vec<usize>,
}

impl Table {
    /// A table without rows.
    pub fn new(headings: &[impl ToString]) -> Self {
        Self {
            headings: headings.iter().map(ToString::to_string).collect(),
            ..Self::default()
        }
    }

    /// A table without rows whose columns stand as they say.
    pub fn with_columns(columns: &[Column]) -> Self {
        let headings: Vec<&str> = columns.iter().map(|column| column.heading).collect();
        Self {
            alignment: Some(columns.iter().map(|column| column.align).collect()),
            ..Self::new(&headings)
        }
    }

    /// The same table, which goes without the columns of these headings first where it is too wide, in this order.
    #[must_use]
    pub fn with_spare(mut self, headings: &[&str]) -> Self {
        let place = |heading: &&str| self.headings.iter().position(|own| own == heading);
        self.spare = headings.iter().filter_map(place).collect();
        self
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not as many cells as there are headings.
    pub fn push(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let row: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(row.len(), self.headings.len(), "a cell for every heading");
        self.rows.push(row);
    }

    /// Headings, a rule, the rows, and the totals under a second rule.
    pub fn to_text(&self) -> String {
        self.layout(None).to_string()
    }

    /// The lines of the text, within a width if one is given.
    pub fn layout(&self, max_width: Option<usize>) -> Layout {
        Layout::new(self, max_width)
    }

    /// Comma-separated values as RFC 4180 has them.
    pub fn to_csv(&self) -> String {
        let line = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
            cells.join(",") + "\n"
        };
        self.lines().map(line).collect()
    }

    /// A table in GitHub's Markdown.
    pub fn to_markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let escaped = |cells: &Vec<String>| {
            line(
                &cells
                    .iter()
                    .map(|cell| escape_line(cell).replace('|', "\\|"))
                    .collect::<Vec<_>>(),
            )
        };
        let rule = line(&vec!["---".to_owned(); self.headings.len()]);
        let body: String = self.rows.iter().chain(&self.totals).map(escaped).collect();
        escaped(&self.headings) + &rule + &body
    }

    /// A list of rows, each an object by heading; numbers are numbers.
    pub fn to_json(&self) -> Json {
        let cell = |text: &String| match text.parse::<f64>() {
            Ok(_) => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
            Err(_) => text.as_str().into(),
        };
        let row = |cells: &Vec<String>| {
            let pairs = self.headings.iter().cloned().zip(cells.iter().map(cell));
            Json::Object(pairs.collect::<Map<_, _>>())
        };
        self.rows.iter().map(row).collect()
    }

    /// The same table for people, without control characters in its cells.
    pub(crate) fn shown(&self) -> Self {
        let cells = |cells: &Vec<String>| -> Vec<String> {
            let shown = cells.iter().map(|cell| escape_line(cell).into_owned());
            shown.collect()
        };
        Self {
            headings: cells(&self.headings),
            rows: self.rows.iter().map(cells).collect(),
            totals: self.totals.as_ref().map(cells),
            ..self.clone()
        }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.headings)
            .chain(&self.rows)
            .chain(&self.totals)
    }

    pub(crate) fn align(&self, column: usize) -> Align {
        match &self.alignment {
            Some(alignment) => alignment[column],
            None if self.is_numeric(column) => Align::Right,
            None => Align::Left,
        }
    }

    /// True when every cell that is not empty is a number.
    fn is_numeric(&self, column: usize) -> bool {
        let cells = || self.rows.iter().map(|row| row[column].as_str());
        let is_number = |cell: &str| {
            let digits = cell.trim_end_matches(['%', '×']);
            digits.is_empty() || digits == "-" || digits == "exact" || digits.parse::<f64>().is_ok()
        };
        cells().all(is_number) && cells().any(|cell| !cell.is_empty())
    }
}

fn csv_cell(cell: &str) -> String {
    let cell = escape(cell);
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table() -> Table {
        let mut table = Table::new(&["name", "value"]);
        table.push(["a, \"b\"", "1"]);
        table.push(["c|d", "20"]);
        table.totals = Some(vec!["total".to_owned(), "21".to_owned()]);
        table
    }

    #[test]
    fn cells_that_would_break_a_row_are_quoted() {
        assert_eq!(
            table().to_csv(),
            "name,value\n\"a, \"\"b\"\"\",1\nc|d,20\ntotal,21\n"
        );
        assert_eq!(
            table().to_markdown(),
            "| name | value |\n| --- | --- |\n| a, \"b\" | 1 |\n| c\\|d | 20 |\n| total | 21 |\n"
        );
    }

    #[test]
    fn numbers_stand_to_the_right_and_totals_apart() {
        assert_eq!(
            table().to_text(),
            "name    value\n------  -----\na, \"b\"      1\nc|d        20\n------  -----\ntotal      21\n"
        );
    }

    #[test]
    fn columns_stand_as_they_say() {
        let columns = [Column::numbers("a", "numbers"), Column::words("b", "words")];
        let mut table = Table::with_columns(&columns);
        table.push(["–", "1"]);
        table.push(["100", "2"]);
        assert_eq!(table.to_text(), "  a  b\n---  -\n  –  1\n100  2\n");
    }

    #[test]
    fn numbers_are_numbers_for_programs() {
        let rows = json!([{ "name": "a, \"b\"", "value": 1 }, { "name": "c|d", "value": 20 }]);
        assert_eq!(table().to_json(), rows);
    }

    #[test]
    fn a_column_of_numbers_may_have_units_and_gaps() {
        for (cells, wanted) in [
            (&["1", "2.5"][..], Align::Right),
            (&["1", ""], Align::Right),
            (&["-", "exact", "7"], Align::Right),
            (&["12%", "1.5×"], Align::Right),
            (&["", ""], Align::Left),
            (&["1", "two"], Align::Left),
            (&["-x"], Align::Left),
        ] {
            let mut table = Table::new(&["value"]);
            for cell in cells {
                table.push([*cell]);
            }
            assert_eq!(table.align(0), wanted, "{cells:?}");
        }
    }
}
