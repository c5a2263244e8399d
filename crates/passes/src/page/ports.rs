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
        let widest = watched.iter().map(|(_, width)| *width).max();
        seen = row_count(rows.indices().len(), widest.unwrap_or(1));
        let rows = rows.head(seen);
        for ports in runs(watched, seen) {
            profiles.extend(observed(verified, &ports, &rows, threads)?);
        }
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

/// The number of rows that are looked at, where the widest port has so many values of one.
fn row_count(rows: usize, widest: usize) -> usize {
    rows.min((MAX_VALUES / widest.max(1)).max(1))
}

/// The ports that one run of the network watches, run after run: as many as are kept at a time, or one that is larger.
fn runs(ports: Vec<(Port, usize)>, rows: usize) -> Vec<Vec<Port>> {
    let mut runs: Vec<Vec<Port>> = Vec::new();
    let mut kept = 0;
    for (port, width) in ports {
        kept += width * rows;
        match runs.last_mut() {
            Some(run) if kept <= KEPT => run.push(port),
            _ => {
                kept = width * rows;
                runs.push(vec![port]);
            }
        }
    }
    runs
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

#[cfg(test)]
mod tests {
    use super::*;
    use data::Rows;
    use ir::Tensor;
    use serde_json::json;
    use std::fmt::Write;
    use std::sync::Arc;

    fn graph(text: &str) -> Graph {
        let mut graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        graph.initialize(3);
        graph
    }

    fn checked(graph: &Graph) -> Verified<'_> {
        ir::verify(graph).unwrap_or_else(|error| panic!("{error}"))
    }

    fn port(node: u32) -> Port {
        Port {
            node: NodeId(node),
            port: "data_in_0".to_owned(),
        }
    }

    #[test]
    fn a_run_watches_as_many_ports_as_are_kept() {
        // A row of 2²⁰ leaves room for 32 values of each.
        let grouped = |widths: &[usize]| -> Vec<Vec<u32>> {
            let ports = widths.iter().zip(0..).map(|(&width, k)| (port(k), width));
            let runs = runs(ports.collect(), 1 << 20);
            let numbers = |run: &Vec<Port>| run.iter().map(|port| port.node.0).collect();
            runs.iter().map(numbers).collect()
        };
        assert_eq!(grouped(&[]), Vec::<Vec<u32>>::new());
        assert_eq!(grouped(&[16, 16]), [vec![0, 1]]);
        assert_eq!(grouped(&[16, 17]), [vec![0], vec![1]]);
        assert_eq!(grouped(&[40, 1, 31, 1]), [vec![0], vec![1, 2], vec![3]]);
    }

    #[test]
    fn fewer_rows_of_wider_ports_are_looked_at() {
        for (rows, widest, seen) in [
            (100, 4, 100),
            (5000, 1 << 10, 1 << 12),
            (5000, 1 << 30, 1),
            (100, 0, 100),
        ] {
            assert_eq!(row_count(rows, widest), seen, "{rows} rows of {widest}");
        }
    }

    #[test]
    fn inputs_of_layers_and_what_is_rounded_are_looked_at() {
        let graph = graph(
            "graph \"g\" { x: f32[N, 4] = placeholder
            token: i64[N, 3] = placeholder
            a = linear(x) { in_features = 4, out_features = 8 }
            r = relu(a: integer(8, 4)) { data_out_0: integer(8, 6) }
            s = sigmoid(r)
            e = embedding(token) { num_embeddings = 5, embedding_dim = 2 }
            return s, e }",
        );
        let ports = data_ports(&checked(&graph));
        let shown = ports.iter().map(|(Port { node, port }, width)| {
            format!("{} {port} {width}", graph.node(*node).name)
        });
        let shown: Vec<String> = shown.collect();
        assert_eq!(shown, ["a data_in_0 4", "r data_in_0 8", "r data_out_0 8"]);
    }

    /// Few rows come at once, many in parts; the profile is that of all values either way.
    #[test]
    fn the_profile_of_an_input_is_that_of_the_values_of_all_rows() {
        let graph = graph(
            "graph \"g\" { x: f32[N, 2] = placeholder
            a = linear(x) { in_features = 2, out_features = 3 }
            b = linear(x) { in_features = 2, out_features = 1 }
            return a, b }",
        );
        for count in [5, ROWS, 2 * ROWS + 1] {
            let values: Vec<f32> = (0..2 * count).map(|k| (k % 37) as f32 - 11.0).collect();
            let rows = Rows {
                values: values.clone(),
                labels: vec![0; count],
                width: 2,
            };
            let rows = Split::new(Arc::new(rows), (0..count as u32).collect());
            let found = profiles(&checked(&graph), Some(&rows), 1);
            let (found, seen) = found.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(seen, count);
            let tensor = Tensor::new(vec![2 * count], values).unwrap_or_else(|| panic!("values"));
            let names: Vec<&Json> = found.iter().map(|own| &own["port"]).collect();
            let each = ["data_in_0", "weight", "bias"];
            assert_eq!(names, [each, each].concat());
            for place in [0, 3] {
                let node = NodeId(if place == 0 { 1 } else { 2 });
                let wanted = Spread::of_parameter(node, "data_in_0", None, &tensor).profile();
                assert_eq!(found[place], wanted, "{count} rows");
            }
        }
    }

    #[test]
    fn a_network_of_many_ports_has_no_histograms_of_equal_bins() {
        for (layers, has_histograms) in [(300, true), (301, false)] {
            let mut text = "graph \"g\" { x: f32[N, 1] = placeholder\n".to_owned();
            for k in 0..layers {
                let _ = writeln!(
                    text,
                    "l{k} = linear(x) {{ in_features = 1, out_features = 1 }}"
                );
            }
            let graph = graph(&(text + "return x }"));
            let found = profiles(&checked(&graph), None, 1);
            let (found, seen) = found.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((found.len(), seen), (2 * layers, 0));
            for own in &found {
                assert_eq!(!own["histogram"].is_null(), has_histograms);
                assert!(own["logarithmic"].is_object());
            }
        }
    }

    #[test]
    fn the_first_values_of_a_parameter_are_written_beside_its_profile() {
        let graph = graph(
            "graph \"g\" { x: f32[N, 101] = placeholder
            a = linear(x) { in_features = 101, out_features = 100 }
            return a }",
        );
        let mut ports = [("weight", 1), ("bias", 1), ("data_in_0", 1)]
            .map(|(port, node)| json!({ "port": port, "node": node }));
        add_weights(&mut ports, &graph);
        let counts = ports
            .each_ref()
            .map(|own| own["values"].as_array().map(Vec::len));
        assert_eq!(counts, [Some(MAX_WEIGHTS), Some(100), None]);
    }
}
