//! The part of the page for browsers without JavaScript: the summary, the drawing, the nodes as a table.

use super::drawing::small_svg;
use super::{cut, escaped, list, text};
use serde_json::Value as Json;
use std::fmt::Write;

/// Nodes that the table has.
const MAX_NODES: usize = 500;
/// Characters of a name that the table shows.
const MAX_NAME: usize = 80;

pub(super) fn plain(data: &Json) -> String {
    let mut out = String::new();
    for sentence in list(data, "sentences").iter().filter_map(Json::as_str) {
        let _ = writeln!(out, "<p>{}</p>", escaped(sentence));
    }
    let facts = list(data, "facts");
    if !facts.is_empty() {
        let rows = facts.iter().map(|fact| {
            let value = |key: &str| number(&fact[key]);
            vec![
                text(fact, "name").to_owned(),
                value("before"),
                value("after"),
            ]
        });
        out += &table(&["", "before", "after"], rows);
    }
    out += &small_svg(&data["graph"]);
    let nodes = list(&data["graph"], "nodes");
    if !nodes.is_empty() {
        out += &table(
            &["node", "op", "shape", "formats", "bits", "SQNR"],
            nodes.iter().take(MAX_NODES).map(node_row),
        );
        if nodes.len() > MAX_NODES {
            let _ = writeln!(
                out,
                "<p>The first {MAX_NODES} of {} nodes.</p>",
                nodes.len()
            );
        }
    }
    out
}

fn node_row(node: &Json) -> Vec<String> {
    vec![
        cut(text(node, "name"), MAX_NAME),
        text(node, "op").to_owned(),
        text(node, "shape").to_owned(),
        formats(node),
        number(&node["bits"]),
        number(&node["sqnr"]),
    ]
}

/// The ports of a node with their formats, and those before where they differ.
fn formats(node: &Json) -> String {
    let one = |format: &Json| {
        let before = format["before"].as_str();
        let was = before.map(|before| format!("{before} → "));
        let was = was.unwrap_or_default();
        format!("{} {was}{}", text(format, "port"), text(format, "format"))
    };
    let all: Vec<String> = list(node, "formats").iter().map(one).collect();
    all.join(", ")
}

/// A number of the data as text; nothing where there is none.
pub(super) fn number(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Rows of texts as a table in HTML.
pub fn table(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>, tag: &str| -> String {
        let cell = |text: &String| format!("<{tag}>{}</{tag}>", escaped(text));
        format!("<tr>{}</tr>\n", cells.iter().map(cell).collect::<String>())
    };
    let head = line(heads.iter().map(ToString::to_string).collect(), "th");
    let body: String = rows.map(|row| line(row, "td")).collect();
    format!("<table><thead>{head}</thead><tbody>\n{body}</tbody></table>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_the_data_have_is_said_and_what_they_have_not_is_left_out() {
        assert_eq!(plain(&json!({})), "");
        let page = plain(&json!({
            "sentences": ["1 of 2 nodes changed."],
            "facts": [{ "name": "MACs", "before": 32, "after": 16 }],
        }));
        let heads = "<tr><th></th><th>before</th><th>after</th></tr>";
        let row = "<tr><td>MACs</td><td>32</td><td>16</td></tr>";
        assert_eq!(
            page,
            format!(
                "<p>1 of 2 nodes changed.</p>\n<table><thead>{heads}\n</thead><tbody>\n{row}\n</tbody></table>\n"
            )
        );
    }

    #[test]
    fn the_first_nodes_are_a_table() {
        let node = json!({
            "name": "fc", "op": "linear", "shape": "1×4", "bits": 8, "sqnr": 31.5,
            "formats": [
                { "port": "weight", "format": "integer(8, 4)", "before": "float32" },
                { "port": "bias", "format": "integer(6, 2)" },
            ],
        });
        let cells = [
            "fc",
            "linear",
            "1×4",
            "weight float32 → integer(8, 4), bias integer(6, 2)",
            "8",
            "31.5",
        ];
        assert_eq!(node_row(&node), cells);
        let of = |count: usize| plain(&json!({ "graph": { "nodes": vec![node.clone(); count] } }));
        assert_eq!(of(MAX_NODES).matches("<td>fc</td>").count(), 500);
        assert!(!of(MAX_NODES).contains("The first"));
        let more = of(MAX_NODES + 1);
        assert_eq!(more.matches("<td>fc</td>").count(), 500);
        assert!(more.contains("<p>The first 500 of 501 nodes.</p>"));
    }
}
