//! Zeros that are there without pruning: in weights, and in what flows into the layers.

use crate::observe::{NO_ROWS, Sample, observe};
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use engine::Port;
use ir::{DType, Graph, NodeId, Op, verify};
use report::Table;
use serde_json::json;

/// The name under which the share stands among the statistics of a port.
pub const NATURAL_SPARSITY: &str = "natural_sparsity";

/// `[passes.add_natural_sparsity]`: see [`Pass::DOC`].
pub struct AddNaturalSparsity(Sample);

impl Pass for AddNaturalSparsity {
    const NAME: &'static str = "add_natural_sparsity";
    const ABOUT: &'static str = "the share of zeros in weights and in activations of a sample";
    const DOC: &'static str = "\
What it does: counts the zeros of every parameter, and those of every float input over num_samples rows in evaluation, before
masks and rounding. A relu, for example, makes many.

Example:
  [passes.add_natural_sparsity]
  num_samples = 64

Config: num_samples, default 64; split, train, val or test. Reads: the graph, rows of the dataset (without a dataset only
weights are looked at). Writes: the statistic natural_sparsity of every port, with sparsity, zeros and count.
Limits: buffers such as running means are not looked at.";

    fn read(reader: &mut Reader) -> Self {
        reader.ignore(&["dummy_in", "add_value"]);
        Self(Sample::read(reader, 64))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let Self(sample) = self;
        let mut found = weights(graph);
        let mut report = PassReport::default();
        if let Some(rows) = sample.rows_if_any(context)? {
            let mut inputs = inputs(graph)?;
            let ports: Vec<Port> = inputs.iter().map(|seen| seen.port.clone()).collect();
            observe(graph, &ports, &rows, context.threads, |index, _, values| {
                inputs[index].add(values);
            })?;
            found.extend(inputs);
        } else {
            report = report.with_text(NO_ROWS);
        }
        found.sort_by_key(|seen| seen.port.node);
        let mut table = Table::new(&["Node name", "Port", "Elements", "Zeros", "Sparsity"]);
        for seen in found {
            let node = graph.node_mut(seen.port.node);
            let share = seen.zeros as f64 / seen.count.max(1) as f64;
            let fields = json!({ "sparsity": share, "zeros": seen.zeros, "count": seen.count });
            let statistics = node.statistics.entry(seen.port.port.clone()).or_default();
            statistics.insert(NATURAL_SPARSITY.to_owned(), fields);
            table.push([
                node.name.clone(),
                seen.port.port,
                seen.count.to_string(),
                seen.zeros.to_string(),
                format!("{share:.4}"),
            ]);
        }
        Ok(report.with_table("natural_sparsity", table))
    }
}

/// Zeros seen at a port.
struct Seen {
    port: Port,
    count: usize,
    zeros: usize,
}

impl Seen {
    fn new(node: NodeId, port: String) -> Self {
        Self {
            port: Port { node, port },
            count: 0,
            zeros: 0,
        }
    }

    fn add(&mut self, values: &[f32]) {
        self.count += values.len();
        self.zeros += values.iter().filter(|v| **v == 0.0).count();
    }
}

fn weights(graph: &Graph) -> Vec<Seen> {
    let mut found = Vec::new();
    for (id, node) in graph.iter() {
        for (port, .., role) in node.param_specs() {
            if let (Some(tensor), ir::ParamRole::Trained) = (node.params.get(port), role) {
                let mut seen = Seen::new(id, port.to_owned());
                seen.add(tensor.values());
                found.push(seen);
            }
        }
    }
    found
}

/// Every float input but those of the output.
fn inputs(graph: &Graph) -> Result<Vec<Seen>, PassError> {
    let verified = verify(graph)?;
    let mut found = Vec::new();
    for (id, node) in graph.iter().filter(|(_, n)| !matches!(n.op, Op::Output(_))) {
        let ports = node.data_ports().into_iter().zip(verified.input_types(id));
        let floats = ports.filter(|(_, ty)| ty.dtype == DType::F32);
        found.extend(floats.map(|(port, _)| Seen::new(id, port)));
    }
    Ok(found)
}
