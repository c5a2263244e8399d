//! A network for people.

use super::{COLUMNS, PARAMETER_COLUMNS, Row, total};
use crate::output::number::shortest;
use crate::output::{Stream, fit};
use ir::{Graph, Node, Tensor, Verified};
use passes::cost::{self, NodeCost};
use report::Table;

/// Columns that a narrow terminal goes without first.
const SPARE: &[&str] = &["Fx Node op", "Mase type"];

/// The graph, the table of nodes, the overview, and the starting values if there are any.
pub fn print(verified: &Verified, rows: &[Row]) -> String {
    let graph = verified.graph();
    let has_formats = graph.nodes().iter().any(|node| !node.formats.is_empty());
    let columns = &COLUMNS[..COLUMNS.len() - usize::from(!has_formats)];
    let shown = |cells: Vec<String>| cells.into_iter().take(columns.len()).collect();
    let mut nodes = Table::with_columns(columns).with_spare(SPARE);
    let cells = rows.iter().map(|row| cells(graph.node(row.id), row));
    nodes.rows = cells.map(shown).collect();
    nodes.totals = Some(shown(total_cells(&total(rows))));
    let overview = format!("Network overview: {}", overview(verified));
    let overview = fit::message(&overview, 0, Stream::Out);
    format!(
        "{graph}\n{}\n{overview}\n{}",
        fit::table(&nodes, Stream::Out, "--json"),
        parameter_table(graph)
    )
}

/// As Python prints a dictionary, because the labs do.
fn overview(verified: &Verified) -> String {
    let counts = cost::overview(verified).into_iter();
    let entries: Vec<String> = counts
        .map(|(name, count)| format!("'{name}': {count}"))
        .collect();
    format!("{{{}}}", entries.join(", "))
}

fn cells(node: &Node, row: &Row) -> Vec<String> {
    let shapes: Vec<String> = row
        .shapes
        .iter()
        .map(|shape| format!("{shape:?}"))
        .collect();
    let formats = cost::formats(node)
        .into_iter()
        .map(|(port, format)| format!("{port} {format}"));
    vec![
        node.name.clone(),
        node.fx_op().to_string(),
        node.mase_type().to_string(),
        node.op.name().to_owned(),
        shapes.join(", "),
        row.cost.parameters.to_string(),
        row.cost.operations(row.cost.flops),
        row.cost.operations(row.cost.bit_ops),
        formats.collect::<Vec<_>>().join(", "),
    ]
}

fn total_cells(total: &NodeCost) -> Vec<String> {
    let numbers = [
        total.parameters.to_string(),
        total.operations(total.flops),
        total.operations(total.bit_ops),
    ];
    let words = ["total", "", "", "", ""].map(str::to_owned);
    let formats = [String::new()];
    words.into_iter().chain(numbers).chain(formats).collect()
}

/// Empty unless the parameters have been given their starting values.
fn parameter_table(graph: &Graph) -> String {
    let parameters = graph.parameters();
    let mut table = Table::with_columns(PARAMETER_COLUMNS);
    table.rows = parameters
        .map(|(name, tensor)| parameter_cells(name, tensor))
        .collect();
    if table.rows.is_empty() {
        return String::new();
    }
    format!("\n{}", fit::table(&table, Stream::Out, "--json"))
}

fn parameter_cells(name: String, tensor: &Tensor) -> Vec<String> {
    let values = || tensor.values().iter().copied();
    let show = |value: Option<f32>| value.map_or(String::new(), shortest);
    vec![
        name,
        format!("{:?}", tensor.shape()),
        show(values().reduce(f32::min)),
        show(values().reduce(f32::max)),
        show(values().next()),
    ]
}
