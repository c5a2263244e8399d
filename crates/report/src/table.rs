//! A table, and its forms.

/// Headings and rows of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// One per column.
    pub headings: Vec<String>,
    /// Each as long as the headings.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Comma-separated values as RFC 4180 has them.
    pub fn to_csv(&self) -> String {
        let line = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
            cells.join(",") + "\n"
        };
        std::iter::once(&self.headings)
            .chain(&self.rows)
            .map(line)
            .collect()
    }

    /// A table in GitHub's Markdown.
    pub fn to_markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let escaped = |cells: &Vec<String>| {
            line(
                &cells
                    .iter()
                    .map(|cell| cell.replace('|', "\\|"))
                    .collect::<Vec<_>>(),
            )
        };
        let rule = line(&vec!["---".to_owned(); self.headings.len()]);
        escaped(&self.headings) + &rule + &self.rows.iter().map(escaped).collect::<String>()
    }
}

fn csv_cell(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        Table {
            headings: row(["name", "value"]),
            rows: vec![row(["a, \"b\"", "1"]), row(["c|d", "2"])],
        }
    }

    #[test]
    fn cells_that_would_break_a_row_are_quoted() {
        assert_eq!(table().to_csv(), "name,value\n\"a, \"\"b\"\"\",1\nc|d,2\n");
        assert_eq!(
            table().to_markdown(),
            "| name | value |\n| --- | --- |\n| a, \"b\" | 1 |\n| c\\|d | 2 |\n"
        );
    }
}
