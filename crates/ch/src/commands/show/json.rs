//! A network for tools.

use super::{Row, total};
use ir::Verified;
use passes::cost::{self, NodeCost};
use serde_json::{Map, Value as Json, json};

/// The text form, and for every node its shapes, costs, formats and metadata.
pub fn print(verified: &Verified, batch: usize, rows: &[Row]) -> Json {
    let graph = verified.graph();
    let nodes: Vec<Json> = rows.iter().map(|row| node(verified, batch, row)).collect();
    let counts = cost::overview(verified).into_iter();
    let overview: Map<String, Json> = counts
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect();
    json!({
        "name": graph.name,
        "batch_size": batch,
        "text": graph.to_string(),
        "nodes": nodes,
        "total": cost_json(&total(rows)),
        "overview": overview,
    })
}

fn node(verified: &Verified, batch: usize, row: &Row) -> Json {
    let node = verified.graph().node(row.id);
    let formats: Map<String, Json> = cost::formats(node)
        .into_iter()
        .map(|(port, format)| (port.clone(), format.to_string().into()))
        .collect();
    json!({
        "name": node.name,
        "target": node.target,
        "inputs": node.inputs.iter().map(|value| &verified.graph().node(value.node).name).collect::<Vec<_>>(),
        "fx_op": node.fx_op().name(),
        "shapes": row.shapes,
        "cost": cost_json(&row.cost),
        "formats": formats,
        "common": ir::common(verified, row.id, batch),
    })
}

/// Bit operations beyond 64 bits are shown as the largest number of 64 bits; nodes that are not counted, where there are some.
fn cost_json(cost: &NodeCost) -> Json {
    let bit_ops = u64::try_from(cost.bit_ops).unwrap_or(u64::MAX);
    let mut counts =
        json!({ "parameters": cost.parameters, "flops": cost.flops, "bit_ops": bit_ops });
    if cost.unknown > 0 {
        counts["unknown"] = cost.unknown.into();
    }
    counts
}
