//! From a graph to its text form.

use crate::{Dim, Graph, Node, NodeId, Op, Value};
use serde_json::Value as Json;
use std::fmt;

/// Statements are broken when they would be longer.
const WIDTH: usize = 120;

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "graph {} {{", quoted(&self.name))?;
        for node in self.nodes() {
            f.write_str(&statement(self, node))?;
        }
        writeln!(f, "}}")
    }
}

impl Graph {
    /// The statement of a node in the text form, without the indent of its first line.
    pub fn statement(&self, id: NodeId) -> String {
        statement(self, self.node(id)).trim().to_owned()
    }
}

fn statement(graph: &Graph, node: &Node) -> String {
    let arguments = node
        .inputs
        .iter()
        .enumerate()
        .map(|(k, value)| argument(graph, node, k, *value));
    let arguments: Vec<String> = arguments.collect();
    let is_plain = node.name == "output" && node.target.is_empty() && !arguments.is_empty();
    let entries = entries(node);
    let head = match &node.op {
        Op::Output(_) if is_plain && entries.is_empty() => {
            format!("return {}", arguments.join(", "))
        }
        Op::Placeholder(op) => format!("{}: {}{} = placeholder", node.name, op.dtype, op.shape),
        Op::Constant(_) if arguments.is_empty() => format!("{} = constant", node.name),
        op => format!("{} = {}({})", node.name, op.name(), arguments.join(", ")),
    };
    with_body(&head, &entries)
}

fn argument(graph: &Graph, node: &Node, port: usize, value: Value) -> String {
    let name = match graph.nodes().get(value.node.index()) {
        Some(from) => from.name.clone(),
        // Such a graph is not verified; it is printed to be looked at, and does not parse.
        None => format!("%{}", value.node.0),
    };
    let result = if value.output == 0 {
        String::new()
    } else {
        format!(".{}", value.output)
    };
    let format = node.formats.get(&format!("data_in_{port}"));
    let format = format.map_or(String::new(), |format| format!(": {format}"));
    format!("{name}{result}{format}")
}

/// The target, the attributes, then the formats of parameters and results, in the order of the ports.
fn entries(node: &Node) -> Vec<String> {
    let mut entries = Vec::new();
    if !node.target.is_empty() {
        entries.push(format!("target = {}", quoted(&node.target)));
    }
    if !matches!(node.op, Op::Placeholder(_)) {
        let attributes = node.op.attributes();
        entries.extend(
            attributes
                .iter()
                .map(|(name, value)| format!("{name} = {}", literal(value))),
        );
    }
    let specs = node.param_specs();
    let arguments = node.data_ports();
    let place = |port: &str| {
        specs
            .iter()
            .position(|spec| spec.0 == port)
            .unwrap_or(specs.len())
    };
    let mut ports: Vec<&String> = node
        .formats
        .keys()
        .filter(|port| !arguments.contains(port))
        .collect();
    ports.sort_by_key(|port| place(port));
    entries.extend(
        ports
            .iter()
            .map(|port| format!("{port}: {}", node.formats[*port])),
    );
    entries
}

/// The statement on one line, or with the body filled over several.
fn with_body(head: &str, entries: &[String]) -> String {
    if entries.is_empty() {
        return format!("  {head}\n");
    }
    let line = format!("  {head} {{ {} }}", entries.join(", "));
    if line.chars().count() <= WIDTH {
        return line + "\n";
    }
    let mut text = format!("  {head} {{\n   ");
    let mut column = 3;
    for entry in entries {
        let length = entry.chars().count() + 2;
        if column + length > WIDTH && column > 3 {
            text += "\n   ";
            column = 3;
        }
        text.extend([" ", entry, ","]);
        column += length;
    }
    text + "\n  }\n"
}

fn literal(value: &Json) -> String {
    match value {
        Json::String(text) => quoted(text),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(item).collect();
            format!("[{}]", items.join(", "))
        }
        // Rust's digits: the shortest that read back as the same number, with an exponent where it helps (1e-5).
        Json::Number(number) if number.is_f64() => number
            .as_f64()
            .map_or_else(String::new, |number| format!("{number:?}")),
        other => other.to_string(),
    }
}

/// Inside a list, a symbol stands without quotes.
fn item(value: &Json) -> String {
    if let Json::String(text) = value {
        let is_dim = text
            .parse::<Dim>()
            .is_ok_and(|dim| dim.symbol.is_some() && dim.to_string() == *text);
        if is_dim && text != "true" && text != "false" {
            return text.clone();
        }
    }
    literal(value)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
            c if c.is_control() => quoted.extend(c.escape_unicode()),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
