//! Metadata of all nodes as TOML: written from JSON, read back as formats and statistics.

use crate::PassError;
use config::did_you_mean;
use config::{Item, Table, Value};
use format::Format;
use ir::{Graph, NodeId};
use serde_json::{Map, Value as Json};

/// The metadata of nodes. Beside `type` and `precision` a port with a format has its full text under `format`.
pub fn write(graph: &Graph, nodes: &Map<String, Json>) -> String {
    let mut text = String::new();
    for (_, node) in graph.iter() {
        let Some(meta) = nodes.get(&node.name) else {
            continue;
        };
        let mut meta = meta.clone();
        for (port, format) in &node.formats {
            let side = if port.starts_with("data_out") {
                "results"
            } else {
                "args"
            };
            if let Some(port) = meta.pointer_mut(&format!("/common/{side}/{port}")) {
                port["format"] = format.to_string().into();
            }
        }
        table(&mut text, &quoted_key(&node.name), &meta);
    }
    text
}

/// Single values first, then the tables below.
fn table(text: &mut String, path: &str, json: &Json) {
    let entries: Vec<(&String, &Json)> = json.as_object().into_iter().flatten().collect();
    let single: Vec<_> = entries
        .iter()
        .filter(|(_, value)| !value.is_object())
        .collect();
    if !single.is_empty() {
        text.push_str(&["[", path, "]\n"].concat());
        for (key, value) in single {
            text.push_str(&[&quoted_key(key), " = ", &inline(value), "\n"].concat());
        }
        text.push('\n');
    }
    for (key, value) in entries {
        if value.is_object() {
            table(text, &format!("{path}.{}", quoted_key(key)), value);
        }
    }
}

fn inline(value: &Json) -> String {
    match value {
        Json::Array(items) => format!(
            "[{}]",
            items.iter().map(inline).collect::<Vec<_>>().join(", ")
        ),
        Json::Null => "\"NA\"".to_owned(),
        // JSON's texts, whole numbers and flags are TOML's too; a real number needs its point.
        Json::Number(number) if number.is_f64() => {
            format!("{:?}", number.as_f64().unwrap_or_default())
        }
        other => other.to_string(),
    }
}

fn quoted_key(key: &str) -> String {
    let is_bare = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare {
        key.to_owned()
    } else {
        Json::from(key).to_string()
    }
}

/// Gives the nodes of a graph the formats and statistics of the text. Nothing changes unless all of it fits.
pub fn read(graph: &mut Graph, text: &str) -> Result<usize, PassError> {
    let refused = PassError::Refused;
    let table = Table::parse(text).map_err(|problem| refused(problem.message))?;
    let mut changed = graph.clone();
    for (key, item) in &table.0 {
        let id = changed
            .find(&key.name)
            .ok_or_else(|| refused(format!("{} has no node {}", graph.name, key.name)))?;
        check_parts(&key.name, item)?;
        for side in ["args", "results"] {
            for (port, meta) in entries(item, &["common", side]) {
                set_format(&mut changed, id, &port.name, meta)?;
            }
            for (port, found) in entries(item, &["software", side]) {
                let found: Map<String, Json> = entries(found, &["stat"])
                    .iter()
                    .map(|(name, fields)| (name.name.clone(), json(fields)))
                    .collect();
                if !found.is_empty() {
                    changed
                        .node_mut(id)
                        .statistics
                        .insert(port.name.clone(), found);
                }
            }
        }
    }
    *graph = changed;
    Ok(table.0.len())
}

fn entries<'a>(item: &'a Item, path: &[&str]) -> &'a [(config::Key, Item)] {
    let inner = path
        .iter()
        .try_fold(item, |item, key| Some(&item.as_table()?.get(key)?.1));
    inner.and_then(Item::as_table).map_or(&[], |table| &table.0)
}

/// Checks the parts of a node; a misspelt one would be silently left out.
fn check_parts(node: &str, item: &Item) -> Result<(), PassError> {
    const PARTS: [&str; 3] = ["common", "software", "hardware"];
    let parts = item.as_table().map_or(&[][..], |table| &table.0);
    match parts
        .iter()
        .find(|(key, _)| !PARTS.contains(&key.name.as_str()))
    {
        None => Ok(()),
        Some((key, _)) => {
            let close = did_you_mean(&key.name, PARTS);
            Err(PassError::Refused(format!(
                "{node}: unknown part '{}'{close}",
                key.name
            )))
        }
    }
}

fn set_format(graph: &mut Graph, id: NodeId, port: &str, meta: &Item) -> Result<(), PassError> {
    let node = graph.node_mut(id);
    let text = |key: &str| match &meta.as_table()?.get(key)?.1.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    match (text("format"), text("type").as_deref()) {
        (Some(spec), _) => {
            let format = Format::parse(&spec)
                .map_err(|error| PassError::node(node, format!("{port}: {error}")))?;
            node.formats.insert(port.to_owned(), format);
        }
        (None, Some("float")) => drop(node.formats.remove(port)),
        // The exact result of an integer product is derived, not given.
        (None, Some(_)) if port.starts_with("data_out_") => {}
        (None, Some("int" | "bool") | None) => {}
        (None, Some(name)) => {
            let hint =
                format!("{port}: has type '{name}' but no format; write format = \"{name}(…)\"");
            return Err(PassError::node(node, hint));
        }
    }
    Ok(())
}

/// Statistics that are not there were written as `"NA"`.
fn json(item: &Item) -> Json {
    match &item.value {
        Value::Text(text) if text == "NA" => Json::Null,
        Value::Table(table) => {
            let entries = table.0.iter();
            Json::Object(
                entries
                    .map(|(key, item)| (key.name.clone(), json(item)))
                    .collect(),
            )
        }
        _ => item.to_json(),
    }
}
