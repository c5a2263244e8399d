//! Proof that what is quantised lies on its grid, in the values that the engine really uses.
//!
//! A data input is watched through a probe: an identity beside the node with the same format on its input, so that what
//! is seen is what the engine rounds. Behind a result with a format the identity takes the rounding over. Weights are
//! proved by running the network once more with the decoded codes in their place and no weight format: every result must
//! be the same to the bit.

use crate::observe::{NO_ROWS, Sample, observe};
use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use data::Split;
use engine::Port;
use format::Format;
use ir::ops::dropout::Identity;
use ir::{Dim, Graph, Node, NodeId, Op, RowFormat, Shape, verify};
use report::Table;
use std::collections::BTreeSet;

/// `[passes.check_quantization]`: see [`Pass::DOC`].
pub struct CheckQuantization(Sample);

/// Codes that the table shows.
const SHOWN: usize = 4;

impl Pass for CheckQuantization {
    const NAME: &'static str = "check_quantization";
    const ABOUT: &'static str = "proves that quantised weights and activations lie on their grid";
    const DOC: &'static str = "\
What it does: for every port with a format, takes the values that the engine uses on a sample of rows and checks that each
is the value of a code of the format, to the bit. Shows how many codes occur, the largest rounding error, the share that
saturates, and the first codes in bits. Weights are proved by running the network with their decoded codes in their place:
all outputs must be equal.

Example:
  [passes.check_quantization]
  num_samples = 64

Config: num_samples, default 64; split, train, val or test. Reads: the graph, rows of the dataset (without a dataset only
weights are looked at). Writes: nothing. Fails (exit code 1) when a value is off its grid.
Limits: of a batch norm the scale and the shift are looked at, which are what it rounds. Negative inputs of relu count neither
as errors nor as saturated, because it drops them.";

    fn read(reader: &mut Reader) -> Self {
        Self(Sample::read(reader, 64))
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let Self(sample) = self;
        let mut grids = weights(graph);
        let mut texts = Vec::new();
        let mut is_good = true;
        if let Some(rows) = sample.rows_if_any(context)? {
            grids.extend(activations(graph, &rows, context.threads)?);
            let differing = with_decoded_weights(graph, &rows, context.threads)?;
            is_good &= differing == 0;
            let has_formats = graph.nodes().iter().any(|node| !node.formats.is_empty());
            texts.extend(has_formats.then(|| {
                format!(
                    "outputs of {} rows with the decoded weights in place: {}",
                    rows.len(),
                    if differing == 0 {
                        "equal to the bit".to_owned()
                    } else {
                        format!("{differing} differ")
                    }
                )
            }));
        } else {
            texts.push(NO_ROWS.to_owned());
        }
        is_good &= grids.iter().all(|grid| grid.astray == 0);
        texts.push(match grids.len() {
            0 => "nothing is quantised".to_owned(),
            n if is_good => format!("{n} tensors lie on their grids"),
            n => format!(
                "{} of {n} tensors are off their grids",
                grids.iter().filter(|grid| grid.astray > 0).count()
            ),
        });
        let mut report = PassReport::default()
            .with_table("grids", table(&grids))
            .with_text(texts.join("\n"));
        report.is_good = is_good;
        Ok(report)
    }
}

/// The observations at one port.
struct Grid {
    node: String,
    port: String,
    format: Format,
    elements: usize,
    astray: usize,
    saturated: usize,
    largest_error: f32,
    /// True when negative values are no loss, because the operator drops them anyway.
    drops_negative: bool,
    codes: BTreeSet<u64>,
    first: Vec<String>,
}

impl Grid {
    fn new(node: &Node, port: &str, format: &Format) -> Self {
        Self {
            node: node.name.clone(),
            port: port.to_owned(),
            format: format.clone(),
            elements: 0,
            astray: 0,
            saturated: 0,
            largest_error: 0.0,
            drops_negative: matches!(node.op, Op::Relu(_)) && port == "data_in_0",
            codes: BTreeSet::new(),
            first: Vec::new(),
        }
    }

    /// Compares what was used with what the codes of the exact values stand for; `format` is the port's as it rounds an
    /// array of this shape.
    fn add(&mut self, format: &Format, shape: &[usize], exact: &[f32], used: &[f32]) {
        let codes = format.encode(exact, shape);
        let decoded = format.decode(&codes, shape);
        let mut inside = vec![1.0; exact.len()];
        format.straight_through(exact, shape, &mut inside);
        self.elements += exact.len();
        let pairs = inside.iter().zip(exact);
        self.saturated += pairs
            .filter(|&(&inside, &x)| inside == 0.0 && !(self.drops_negative && x < 0.0))
            .count();
        for (index, (&used, &grid)) in used.iter().zip(&decoded).enumerate() {
            self.astray += usize::from(used != grid);
            if !(self.drops_negative && exact[index] < 0.0) {
                self.largest_error = self.largest_error.max((exact[index] - used).abs());
            }
            self.codes.insert(codes.get(index));
        }
        let width = codes.width as usize;
        let wanted = SHOWN.saturating_sub(self.first.len()).min(codes.len);
        self.first
            .extend((0..wanted).map(|index| format!("{:0width$b}", codes.get(index))));
    }
}

fn table(grids: &[Grid]) -> Table {
    let mut table = Table::new(&[
        "Node name",
        "Port",
        "Format",
        "Elements",
        "On grid",
        "Codes used",
        "Saturated",
        "Largest error",
        "First codes",
    ]);
    for grid in grids {
        table.push([
            grid.node.clone(),
            grid.port.clone(),
            grid.format.to_string(),
            grid.elements.to_string(),
            (grid.elements - grid.astray).to_string(),
            grid.codes.len().to_string(),
            format!(
                "{:.2}%",
                100.0 * grid.saturated as f64 / grid.elements.max(1) as f64
            ),
            format!("{:.6}", grid.largest_error),
            grid.first.join(" "),
        ]);
    }
    table
}

/// The parameters with a format; of a batch norm the scale and the shift, which are what it rounds.
fn weights(graph: &Graph) -> Vec<Grid> {
    let mut grids = Vec::new();
    for node in graph.nodes() {
        for (port, format) in &node.formats {
            if let Some((shape, exact)) = rounded_values(node, port) {
                let mut used = vec![0.0; exact.len()];
                kernels::quantize::quantize(format, &exact, &shape, &mut used);
                let mut grid = Grid::new(node, port, format);
                grid.add(format, &shape, &exact, &used);
                grids.push(grid);
            }
        }
    }
    grids
}

/// The values that a node rounds at the port of a parameter, before rounding.
fn rounded_values(node: &Node, port: &str) -> Option<(Vec<usize>, Vec<f32>)> {
    let tensor = node.params.get(port)?;
    let coefficients = ir::scale_and_shift(node);
    let values = match (port, coefficients) {
        ("weight", Some([scale, _])) => scale.iter().map(|&v| v as f32).collect(),
        ("bias", Some([_, shift])) => shift.iter().map(|&v| v as f32).collect(),
        _ => tensor.values().to_vec(),
    };
    Some((tensor.shape().to_vec(), values))
}

fn is_batch_norm(op: &Op) -> bool {
    matches!(op, Op::BatchNorm1d(_) | Op::BatchNorm2d(_))
}

/// The data ports with a format, as the engine rounds them.
fn activations(graph: &Graph, rows: &Split, threads: usize) -> Result<Vec<Grid>, PassError> {
    let mut probed = graph.clone();
    let mut grids = Vec::new();
    let mut probes = Vec::new();
    for node in graph.nodes() {
        for (port, format) in &node.formats {
            if let Some(name) = probe(&mut probed, &node.name, port, format) {
                grids.push(Grid::new(node, port, format));
                probes.push(name);
            }
        }
    }
    // Probes are inserted among the nodes, so that only their names stay the same.
    let ports: Vec<Port> = probes
        .iter()
        .filter_map(|name| probed.find(name))
        .flat_map(|node| {
            ["data_in_0", "data_out_0"].map(|port| Port {
                node,
                port: port.to_owned(),
            })
        })
        .collect();
    let verified = verify(&probed)?;
    let shapes: Vec<&Shape> = ports
        .iter()
        .map(|port| &verified.ty(port.node.into()).shape)
        .collect();
    let mut exact: Vec<Vec<f32>> = Vec::new();
    observe(&probed, &ports, rows, threads, |index, shape, values| {
        // The parts of one port come one after the other, those of the exact port before those of the used one.
        if index % 2 == 0 {
            exact.push(values.to_vec());
        } else {
            let (grid, exact) = (&mut grids[index / 2], exact.remove(0));
            let n_rows = bound_rows(shapes[index], shape);
            if let Some(rounding) = RowFormat::of(&grid.format, shapes[index], n_rows) {
                grid.add(&rounding.format, &rounding.shape, &exact, values);
            }
        }
    })?;
    Ok(grids)
}

/// The rows for which a shape has these sizes; 0 when it depends on none.
fn bound_rows(shape: &Shape, sizes: &[usize]) -> usize {
    let rows = |(dim, &size): (&Dim, &usize)| {
        let is_bound = dim.symbol.is_some();
        is_bound.then(|| size.checked_div(dim.factor)).flatten()
    };
    shape.0.iter().zip(sizes).find_map(rows).unwrap_or(0)
}

/// Adds an identity that shows the exact and the rounded values of a data port; its name. Beside an input it is only
/// watched. Behind a result it takes the rounding over: what reads the result reads the identity.
fn probe(graph: &mut Graph, node: &str, port: &str, format: &Format) -> Option<String> {
    let id = graph.find(node)?;
    let name = graph.fresh_name("probe");
    let identity = |value: ir::Value| {
        let mut identity = Node::new(&name, "", Identity::default(), &[value]);
        identity
            .formats
            .insert("data_in_0".to_owned(), format.clone());
        identity
    };
    if let Some(index) = port.strip_prefix("data_in_") {
        let value = *graph.node(id).inputs.get(index.parse::<usize>().ok()?)?;
        graph.insert(id, identity(value));
    } else {
        let output = port.strip_prefix("data_out_")?.parse().ok()?;
        let value = ir::Value { node: id, output };
        graph.node_mut(id).formats.remove(port);
        let new = graph.insert(NodeId(id.0 + 1), identity(value));
        graph.replace_uses(value, new.into());
    }
    Some(name)
}

/// The number of outputs that change when decoded codes take the place of the weights and their formats.
fn with_decoded_weights(graph: &Graph, rows: &Split, threads: usize) -> Result<usize, PassError> {
    let mut decoded = graph.clone();
    for id in (0..graph.nodes().len()).map(|index| NodeId(index as u32)) {
        let node = decoded.node_mut(id);
        if is_batch_norm(&node.op) {
            continue;
        }
        for (port, tensor) in &mut node.params {
            if let Some(format) = node.formats.remove(port) {
                let codes = format.encode(tensor.values(), tensor.shape());
                let values = format.decode(&codes, tensor.shape());
                tensor.values_mut().copy_from_slice(&values);
            }
        }
    }
    let outputs = |graph: &Graph| -> Result<Vec<f32>, PassError> {
        let last = NodeId(graph.nodes().len() as u32 - 1);
        let ports: Vec<Port> = (0..graph.node(last).inputs.len())
            .map(|k| Port {
                node: last,
                port: format!("data_in_{k}"),
            })
            .collect();
        let mut all = Vec::new();
        observe(graph, &ports, rows, threads, |_, _, values| {
            all.extend_from_slice(values);
        })?;
        Ok(all)
    };
    let (left, right) = (outputs(graph)?, outputs(&decoded)?);
    Ok(left
        .iter()
        .zip(&right)
        .filter(|(a, b)| a.to_bits() != b.to_bits())
        .count())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The grid of a data input that a node of this operator has rounded.
    fn grid(op: &str, format: &str, exact: &[f32], used: &[f32]) -> Grid {
        let text = format!("graph \"g\" {{ x: f32[N, 4] = placeholder y = {op}(x) return y }}");
        let graph = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        let format = Format::parse(format).unwrap_or_else(|error| panic!("{error}"));
        let mut grid = Grid::new(&graph.nodes()[1], "data_in_0", &format);
        grid.add(&format, &[exact.len()], exact, used);
        grid
    }

    #[test]
    fn what_saturates_is_a_loss_unless_it_is_dropped_anyway() {
        let (exact, used) = ([-20.0, -0.3, 0.0, 0.3, 9.0], [-4.0, -0.5, 0.0, 0.5, 3.5]);
        for (op, saturated, largest) in [("relu", 1, 5.5), ("gelu", 2, 16.0)] {
            let grid = grid(op, "integer(4, 1)", &exact, &used);
            assert_eq!((grid.elements, grid.astray), (5, 0), "{op}");
            assert_eq!((grid.saturated, grid.codes.len()), (saturated, 5), "{op}");
            assert_eq!(grid.largest_error, largest, "{op}");
        }
        // Two's complement of halves: -4, -0.5, 0, 0.5, 3.5.
        let grid = grid("relu", "integer(4, 1)", &exact, &used);
        assert!(
            grid.first
                .starts_with(&["1000", "1111", "0000"].map(str::to_owned))
        );
    }

    #[test]
    fn a_zero_that_a_format_does_not_have_is_a_loss_even_where_negative_values_are_dropped() {
        let format = Format::parse("binary(8, bipolar = true)").unwrap_or_else(|e| panic!("{e}"));
        let mut used = [0.0];
        format.quantize(&[0.0], &[1], &mut used);
        let grid = grid("relu", "binary(8, bipolar = true)", &[0.0], &used);
        assert_eq!(grid.largest_error, 1.0);
    }

    #[test]
    fn what_is_no_value_of_a_code_is_astray() {
        let grid = grid("gelu", "integer(4, 1)", &[0.3, 1.0, 2.0], &[0.3, 1.0, 2.5]);
        assert_eq!(grid.astray, 2);
        // Of three elements one is on the grid.
        let shown = table(&[grid]);
        assert_eq!(shown.rows[0][3..5], ["3", "1"]);
    }
}
