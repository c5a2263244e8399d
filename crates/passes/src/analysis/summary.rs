//! The changes by quantisation: a table of nodes and a histogram of types. The histogram is counted from the table, so
//! that the two always add up.

use crate::{Context, Decision, PassReport};
use ir::{Graph, Node};
use report::Table;
use std::collections::BTreeMap;
use std::path::Path;

const TABLE: &[&str] = &[
    "Ori name",
    "New name",
    "MASE_TYPE",
    "Mase_OP",
    "Original type",
    "Quantized type",
    "Changed",
    "Why",
];
/// Columns that a narrow terminal goes without first.
const SPARE: &[&str] = &["New name", "MASE_TYPE", "Original type"];
const CHANGED: usize = 6;
const HISTOGRAM: &[&str] = &["Original type", "OP", "Total", "Changed", "Unchanged"];

/// Adds table and histogram to a report and leaves both as CSV in `folder`.
pub fn append(
    report: PassReport,
    before: &Graph,
    after: &Graph,
    context: &mut Context,
    folder: impl AsRef<Path>,
) -> PassReport {
    let nodes = nodes(before, after, &context.decisions);
    let histogram = histogram(&nodes);
    let folder = folder.as_ref();
    context.write(folder.join("quantize_table.csv"), nodes.to_csv());
    context.write(folder.join("quantize_histogram.csv"), histogram.to_csv());
    let changed = nodes
        .rows
        .iter()
        .filter(|row| row[CHANGED] == "True")
        .count();
    report
        .with_table("quantize_table", nodes)
        .with_table("quantize_histogram", histogram)
        .with_fact("changed", changed)
}

/// A row for every node of the quantised graph; a node that the original has not is shown as new.
fn nodes(before: &Graph, after: &Graph, decisions: &BTreeMap<String, Decision>) -> Table {
    let mut table = Table::new(TABLE).with_spare(SPARE);
    for node in after.nodes() {
        let original = before.find(&node.name).map(|id| before.node(id));
        let is_changed = original
            .is_none_or(|original| original.formats != node.formats || original.op != node.op);
        let why = why(original, node, is_changed, decisions.get(&node.name));
        table.push([
            original.map_or("-", |original| &original.name).to_owned(),
            node.name.clone(),
            node.mase_type().name().to_owned(),
            node.op.name().to_owned(),
            original.map_or_else(|| "-".to_owned(), Node::type_name),
            node.quantized_type_name(),
            python_bool(is_changed).to_owned(),
            why,
        ]);
    }
    table
}

fn why(
    original: Option<&Node>,
    node: &Node,
    is_changed: bool,
    decision: Option<&Decision>,
) -> String {
    match (original, decision) {
        (None, _) => "new node".to_owned(),
        (Some(_), Some(Decision::Ruled(rule))) if !is_changed => {
            format!("rule {rule} gives what it has")
        }
        (Some(_), Some(decision)) => decision.why(),
        (Some(_), None) if is_changed => "formats differ".to_owned(),
        (Some(_), None) if node.inputs.is_empty() || node.fx_op() == ir::FxOp::Output => {
            Decision::NothingToRound.why()
        }
        (Some(_), None) => "no quantize pass has run".to_owned(),
    }
}

/// Counts of the table's rows by original type, in alphabetical order.
fn histogram(nodes: &Table) -> Table {
    let mut counts: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
    for row in &nodes.rows {
        let (total, changed) = counts.entry((row[4].clone(), row[3].clone())).or_default();
        *total += 1;
        *changed += usize::from(row[CHANGED] == "True");
    }
    let mut table = Table::new(HISTOGRAM);
    for ((type_name, op), (total, changed)) in counts {
        let numbers = [total, changed, total - changed].map(|n| n.to_string());
        table.push([type_name, op].into_iter().chain(numbers));
    }
    table
}

fn python_bool(flag: bool) -> &'static str {
    if flag { "True" } else { "False" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_every_row_is_given() {
        let text = "graph \"g\" { x: f32[N, 4] = placeholder y = relu(x) return y }";
        let graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        let [input, relu, output] = [0, 1, 2].map(|at| &graph.nodes()[at]);
        let ruled = Decision::Ruled("relu".to_owned());
        for (original, node, is_changed, decision, wanted) in [
            (None, relu, true, None, "new node"),
            (
                Some(relu),
                relu,
                false,
                Some(&ruled),
                "rule relu gives what it has",
            ),
            (Some(relu), relu, true, Some(&ruled), "rule relu"),
            (Some(relu), relu, true, None, "formats differ"),
            (Some(relu), relu, false, None, "no quantize pass has run"),
            (Some(input), input, false, None, "op has nothing to round"),
            (Some(output), output, false, None, "op has nothing to round"),
            (
                Some(relu),
                relu,
                false,
                Some(&Decision::Unmatched),
                "no rule matched",
            ),
        ] {
            assert_eq!(why(original, node, is_changed, decision), wanted);
        }
    }
}
