//! Profiles of ports: which of them are looked at, on which rows.

use super::MAX_WEIGHTS;
use super::numbers::number;
use super::spread::Spread;
use crate::PassError;
use crate::observe::{Observer, ROWS};
use data::Split;
use engine::Port;
use ir::{Graph, NodeId, Verified};
use serde_json::Value as Json;

/// Ports that have histograms of equal bins; of more, those over powers of two alone are kept.
const MAX_HISTOGRAMS: usize = 600;
/// Values of a port that are looked at, at most.
const MAX_VALUES: usize = 1 << 22;
/// Values of ports that are kept at a time: each group of ports is a run of the network.
const KEPT: usize = 1 << 25;

/// The profiles of parameters, and of data inputs when there are rows; the number of rows looked at.
pub(super) fn profiles(
    verified: &Verified,
    rows: Option<&Split>,
    threads: usize,
) -> Result<(Vec<Json>, usize), PassError> {
    let graph = verified.graph();
    let mut profiles: Vec<(NodeId, Json)> = Vec::new();
    for (id, node) in graph.iter() {
        for (port, ..) in node.param_specs() {
            if let Some(tensor) = node.params.get(port) {
                let format = node.formats.get(port).cloned();
                let values = Spread::of_parameter(id, port, format, tensor);
                profiles.push((id, values.profile()));
            }
        }
    }
    let mut seen = 0;
    if let Some(rows) = rows {
        let watched = data_ports(verified);
        let largest = watched.iter().map(|(_, width)| *width).max().unwrap_or(1);
        let count = rows
            .indices()
            .len()
            .min((MAX_VALUES / largest.max(1)).max(1));
        let rows = rows.head(count);
        seen = count;
        let mut group: Vec<Port> = Vec::new();
        let mut kept = 0;
        for (port, width) in watched {
            if kept + width * count > KEPT && !group.is_empty() {
                profiles.extend(observed(
                    verified,
                    &std::mem::take(&mut group),
                    &rows,
                    threads,
                )?);
                kept = 0;
            }
            kept += width * count;
            group.push(port);
        }
        profiles.extend(observed(verified, &group, &rows, threads)?);
    }
    // In the order of the graph; of a node, what flows in before what it keeps.
    profiles.sort_by_key(|(id, profile)| {
        let is_data = profile["port"]
            .as_str()
            .is_some_and(|port| port.starts_with("data_"));
        (*id, !is_data)
    });
    if profiles.len() > MAX_HISTOGRAMS {
        for (_, profile) in &mut profiles {
            profile["histogram"] = Json::Null;
            profile["rounded"] = Json::Null;
        }
    }
    Ok((
        profiles.into_iter().map(|(_, profile)| profile).collect(),
        seen,
    ))
}

/// Writes the first values of parameters into their profiles.
pub(super) fn add_weights(profiles: &mut [Json], graph: &Graph) {
    for profile in profiles {
        let node = NodeId(profile["node"].as_u64().unwrap_or(0) as u32);
        let port = profile["port"].as_str().unwrap_or_default();
        if let Some(tensor) = graph.node(node).params.get(port) {
            let values = tensor.values().iter().take(MAX_WEIGHTS);
            profile["values"] = values.map(|&value| number(value.into())).collect();
        }
    }
}

/// Inputs of nodes that have parameters or formats, and results that are rounded, with their values of one row.
fn data_ports(verified: &Verified) -> Vec<(Port, usize)> {
    let graph = verified.graph();
    let width = |shape: &ir::Shape| {
        let sizes = shape.bind(1).unwrap_or_default();
        sizes.iter().product::<usize>()
    };
    let mut ports = Vec::new();
    for (id, node) in graph.iter() {
        let inputs = verified.input_types(id);
        for (port, ty) in node.data_ports().into_iter().zip(&inputs) {
            let is_shown = !node.params.is_empty() || node.formats.contains_key(&port);
            if is_shown && ty.dtype == ir::DType::F32 {
                ports.push((Port { node: id, port }, width(&ty.shape)));
            }
        }
        if node.formats.contains_key("data_out_0") {
            let port = "data_out_0".to_owned();
            ports.push((
                Port { node: id, port },
                width(&verified.ty(id.into()).shape),
            ));
        }
    }
    ports
}

/// The profiles of data ports on some rows.
fn observed(
    verified: &Verified,
    ports: &[Port],
    rows: &Split,
    threads: usize,
) -> Result<Vec<(NodeId, Json)>, PassError> {
    if ports.is_empty() {
        return Ok(Vec::new());
    }
    let graph: &Graph = verified.graph();
    let mut all = ports.iter().map(|Port { node, port }| {
        let format = graph.node(*node).formats.get(port).cloned();
        Spread::new(*node, port, format)
    });
    let mut observer = Observer::new(graph, ports.to_vec(), rows, threads)?;
    if rows.indices().len() <= ROWS {
        // All rows come at once, port after port: the values of one port are kept at a time.
        let mut profiles = Vec::new();
        let mut open: Option<(usize, Spread)> = None;
        observer.read(rows.indices(), |index, shape, values| {
            if open.as_ref().is_none_or(|(at, _)| *at != index) {
                profiles.extend(open.take().map(|(_, spread)| spread.profile()));
                open = all.next().map(|spread| (index, spread));
            }
            if let Some((_, spread)) = &mut open {
                spread.add(verified, shape, values);
            }
        })?;
        profiles.extend(open.map(|(_, spread)| spread.profile()));
        let nodes = ports.iter().map(|port| port.node);
        return Ok(nodes.zip(profiles).collect());
    }
    let mut all: Vec<Spread> = all.collect();
    for indices in rows.indices().chunks(ROWS) {
        observer.read(indices, |index, shape, values| {
            all[index].add(verified, shape, values);
        })?;
    }
    Ok(all
        .iter()
        .map(|values| (values.node, values.profile()))
        .collect())
}
