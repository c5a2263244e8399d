//! The metadata of nodes as a file: TOML, JSON or the text of the report, as its ending says.

use super::meta_toml;
use crate::PassError;
use ir::{Graph, metadata, verify};
use serde_json::{Map, Value as Json};
use std::path::Path;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetaFile {
    /// The kind that `load_node_meta_param` reads.
    Toml,
    /// For programs.
    Json,
    /// For people.
    Text,
}

impl MetaFile {
    /// The kind that the ending of a path names, and a given one where it names none.
    pub fn of(path: &Path, otherwise: Self) -> Self {
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("toml") => Self::Toml,
            Some("json") => Self::Json,
            Some("txt") => Self::Text,
            _ => otherwise,
        }
    }

    /// The file.
    pub fn write(self, graph: &Graph, nodes: &Map<String, Json>) -> String {
        match self {
            Self::Toml => meta_toml::write(graph, nodes),
            Self::Json => format!("{:#}\n", Json::Object(nodes.clone())),
            Self::Text => text(nodes) + "\n",
        }
    }
}

/// The metadata of every node.
pub fn node_metadata(graph: &Graph, batch: usize) -> Result<Map<String, Json>, PassError> {
    let verified = verify(graph)?;
    let mut nodes = Map::new();
    for (id, node) in graph.iter() {
        let meta = serde_json::to_value(metadata(&verified, id, batch))
            .map_err(|error| PassError::node(node, error.to_string()))?;
        nodes.insert(node.name.clone(), meta);
    }
    Ok(nodes)
}

/// One line a node, port after port below it: a grid of long JSON cells would not fit any terminal.
pub fn text(nodes: &Map<String, Json>) -> String {
    let mut lines = Vec::new();
    for (node, parts) in nodes {
        lines.push(node.clone());
        for (part, content) in parts.as_object().into_iter().flatten() {
            let is_empty = content.as_object().is_none_or(Map::is_empty);
            lines.push(format!("  {part}:{}", if is_empty { " {}" } else { "" }));
            lines.extend(content.as_object().into_iter().flatten().flat_map(entry));
        }
    }
    lines.join("\n")
}

fn entry((key, value): (&String, &Json)) -> Vec<String> {
    match value.as_object() {
        Some(ports) => {
            let port = |(port, meta)| format!("    {key}.{port}: {meta}");
            ports.iter().map(port).collect()
        }
        None => vec![format!("    {key}: {value}")],
    }
}
