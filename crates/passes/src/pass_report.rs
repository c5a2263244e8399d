//! Reports of passes: tables and texts for people, JSON for programs.

use crate::PassError;
use ir::{Common, Graph, Node, verify};
use report::{Table, escape};
use serde_json::{Map, Value as Json, json};

/// The report of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassReport {
    /// In reading order.
    pub sections: Vec<Section>,
    /// Single results by name.
    pub facts: Map<String, Json>,
    /// True when all that the pass checks holds.
    pub is_good: bool,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Section {
    /// Prose, or a graph in its text form.
    Text(String),
    /// A table with a name.
    Table {
        /// The name, an identifier: files and JSON use it.
        name: &'static str,
        /// The cells.
        table: Table,
    },
}

impl Default for PassReport {
    fn default() -> Self {
        Self {
            sections: Vec::new(),
            facts: Map::new(),
            is_good: true,
        }
    }
}

impl PassReport {
    /// A report of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().with_text(text)
    }

    /// A report of one table.
    pub fn table<R: IntoIterator<Item: Into<String>>>(
        name: &'static str,
        headings: &[&str],
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let mut table = Table::new(headings);
        rows.into_iter().for_each(|row| table.push(row));
        Self::default().with_table(name, table)
    }

    /// A report of one table with a row for every node, made from the metadata that it has for a batch.
    pub fn per_node<const N: usize>(
        name: &'static str,
        headings: &[&str; N],
        graph: &Graph,
        batch_size: usize,
        row: impl Fn(&Node, &Common) -> [String; N],
    ) -> Result<Self, PassError> {
        let verified = verify(graph)?;
        let rows = graph
            .iter()
            .map(|(id, node)| row(node, &ir::common(&verified, id, batch_size)));
        Ok(Self::table(name, headings, rows))
    }

    /// With a text more.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.sections.push(Section::Text(text.into()));
        self
    }

    /// With a table more.
    #[must_use]
    pub fn with_table(mut self, name: &'static str, table: Table) -> Self {
        self.sections.push(Section::Table { name, table });
        self
    }

    /// With a single result more.
    #[must_use]
    pub fn with_fact(mut self, name: &str, value: impl Into<Json>) -> Self {
        self.facts.insert(name.to_owned(), value.into());
        self
    }

    /// The tables with their names.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, &Table)> {
        self.sections.iter().filter_map(|section| match section {
            Section::Table { name, table } => Some((*name, table)),
            Section::Text(_) => None,
        })
    }

    /// For a terminal.
    pub fn to_text(&self) -> String {
        self.to_text_with(|_, table| table.to_text())
    }

    /// The same with every table as `table` makes it from its name and cells.
    pub fn to_text_with(&self, table: impl Fn(&str, &Table) -> String) -> String {
        self.joined(table, str::to_owned)
    }

    /// In GitHub's Markdown.
    pub fn to_markdown(&self) -> String {
        self.joined(
            |_, table| table.to_markdown(),
            |text| format!("```\n{text}\n```"),
        )
    }

    /// Facts, then every table as a list of rows.
    pub fn to_json(&self) -> Json {
        let mut json = self.facts.clone();
        for (name, table) in self.tables() {
            json.insert(name.to_owned(), table.to_json());
        }
        if !self.is_good {
            json.insert("is_good".to_owned(), json!(false));
        }
        Json::Object(json)
    }

    fn joined(
        &self,
        table: impl Fn(&str, &Table) -> String,
        text: impl Fn(&str) -> String,
    ) -> String {
        let parts = self.sections.iter().map(|section| match section {
            Section::Text(prose) => text(&escape(prose)).trim_end().to_owned() + "\n",
            Section::Table { name, table: cells } => table(name, cells),
        });
        parts.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> PassReport {
        PassReport::table("sizes", &["Node", "Bits"], [["a", "8"], ["b", "4"]])
            .with_text("two nodes\n")
            .with_fact("total", 12)
    }

    #[test]
    fn a_program_gets_facts_and_tables_and_hears_of_what_does_not_hold() {
        let good = report();
        let json = good.to_json();
        assert_eq!(json["total"], 12);
        assert_eq!(json["sizes"].as_array().map(Vec::len), Some(2));
        assert_eq!(json["sizes"][1]["Node"], "b");
        assert!(json["is_good"].is_null(), "{json}");
        let bad = PassReport {
            is_good: false,
            ..good
        };
        assert_eq!(bad.to_json()["is_good"], false);
    }

    #[test]
    fn sections_are_joined_in_reading_order() {
        let report = report();
        let text =
            report.to_text_with(|name, table| format!("{name}: {} rows\n", table.rows.len()));
        assert_eq!(text, "sizes: 2 rows\n\ntwo nodes\n");
        let markdown = report.to_markdown();
        assert!(markdown.ends_with("```\ntwo nodes\n\n```\n"), "{markdown}");
        assert!(report.to_text().contains("Node  Bits"));
        let names: Vec<&str> = report.tables().map(|(name, _)| name).collect();
        assert_eq!(names, ["sizes"]);
    }
}
