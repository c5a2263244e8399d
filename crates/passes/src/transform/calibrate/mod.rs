//! Moves the points of number formats to where the values are.

mod choice;
mod descent;
mod point;
mod target;

use super::sampling::{Sampling, Seen, decibels, exact_twin};
use super::walk::Walk;
use crate::{Context, Pass, PassError, PassReport};
pub(super) use choice::widened;
use choice::{Method, extremes, noise};
use config::Reader;
use data::Split;
use descent::{Descent, Movable};
use format::Format;
use ir::{Graph, Node, NodeId, Op, Tensor, verify};
use std::collections::BTreeSet;
use target::{Distance, Target};

/// `[passes.calibrate]`: see [`Pass::DOC`].
pub struct Calibrate {
    method: Method,
    sampling: Sampling,
    observed: Observed,
    unsigned: bool,
    distance: Distance,
}

/// Signal-to-noise ratio in decibels above which a format stays where its values put it: of 40 dB, a hundredth of the
/// magnitude is noise, and moves are tried in vain.
const NEGLIGIBLE_SQNR: f64 = 40.0;

/// Multiply-accumulates of a network on the rows that its loss is measured on, and of all losses together.
const MAX_MACS: u64 = 1 << 32;
const MAX_TOTAL_MACS: u64 = 1 << 42;
/// Rows that a loss is measured on at least, where there are as many.
const MIN_ROWS: usize = 64;

/// The network whose activations are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Observed {
    /// As quantised so far, node after node.
    #[default]
    Quantized,
    /// Without any rounding.
    Float,
}

impl Pass for Calibrate {
    const NAME: &'static str = "calibrate";
    const ABOUT: &'static str = "chooses frac_width and exponent_bias from the values that occur";
    const DOC: &'static str = "\
What it does: every port of a quantised node keeps the width it has, and gets the frac_width (integer) or exponent_bias (log,
minifloat) that suits the values there: weights and biases as they are, activations as rows of the dataset make them.
  loss        the answers of the network that are nearest to those without rounding, in steps of one from those of mse
  min_max     the finest steps at which nothing saturates
  percentile  the finest steps at which the given share of values does not saturate on either side
  mse         the least mean squared error; never more than that of min_max or of the format before
Nodes are done in order, each seeing what the nodes before it give with their new formats. loss then tries steps of one on
every port whose rounding is not negligible, and on the input and the weight of a layer together, and keeps what lowers the
loss by a thousandth, until nothing does; it starts from the formats of mse and from all of them shifted, and takes the best
end. The loss of a network that classifies is a distance of its answers:
  tempered    the divergence of its probabilities from those without rounding, at the temperature that suits best
  divergence  the same at temperature 1
  labels      the cross-entropy with the labels of the rows
  squared     the squared error of the scores relative to their squares, which is the loss of all other networks

Example:
  [passes.calibrate]
  method = \"loss\"                  # or \"mse\", \"min_max\", \"percentile\"
  num_samples = 1024
  unsigned = true                  # inputs that are never negative lose their sign and gain a bit

Before:
  x: f32[N, 2] = placeholder
  act = relu(x)
  fc = linear(act: integer(8, 4)) { in_features = 2, out_features = 1, weight: integer(8, 4) }
  return fc
  # fc.weight = 0.05 -0.06
  # rows = 0.9 -2, -3 0.7
After:
  x: f32[N, 2] = placeholder
  act = relu(x)
  fc = linear(act: integer(8, 8, false)) { in_features = 2, out_features = 1, weight: integer(8, 11) }
  return fc

Config: method, default loss; distance, default tempered; percentile, default 0.999; num_samples, default 1024; split, default
train; nodes, a list of names, default all; unsigned, default false; observe, quantized (default) or float: whether
activations come from the network as quantised so far or from one without rounding. A loss is measured on num_samples rows, or
on as many as take 2^32 multiply-accumulates, but at least 64; with 2^42 in all, what is best by then stays.

Reads: the graph, rows of the dataset; without a dataset only parameters are looked at, by mse. Writes: formats.

A stored frac_width or scale of a parameter that has no values yet gets those of the least squared error, place by place.

Limits: formats whose scales follow the data (scale_integer, block formats, MX) have nothing to choose. Unsigned formats stay
unsigned; below relu, the negative values that it drops are not counted as errors. All values of a port are held in memory:
num_samples times its elements.";

    fn read(reader: &mut Reader) -> Self {
        let share = reader.number("percentile", 0.5..=1.0).unwrap_or(0.999);
        let methods = [
            ("loss", Method::Loss),
            ("mse", Method::Mse),
            ("min_max", Method::MinMax),
            ("percentile", Method::Percentile(share)),
        ];
        let observed = [
            ("quantized", Observed::Quantized),
            ("float", Observed::Float),
        ];
        let distances = [
            ("tempered", Distance::Tempered),
            ("divergence", Distance::Divergence),
            ("labels", Distance::Labels),
            ("squared", Distance::Squared),
        ];
        Self {
            method: reader.choice("method", &methods).unwrap_or(Method::Loss),
            sampling: Sampling::read(reader, 1024),
            observed: reader.choice("observe", &observed).unwrap_or_default(),
            unsigned: reader.flag("unsigned").unwrap_or(false),
            distance: reader.choice("distance", &distances).unwrap_or_default(),
        }
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let is_quantized = |node: &Node| !node.formats.is_empty();
        let chosen = self.sampling.chosen(graph, is_quantized, "quantised")?;
        let filled = fill_stored(graph, &chosen)?;
        let exact = exact_twin(graph, context);
        let source = Source {
            twin: (self.observed == Observed::Float).then_some(&exact),
            rows: self.sampling.rows_if_any(context)?,
            threads: context.threads,
        };
        let mut choices = Vec::new();
        let mut table = Calibrated::default();
        source.for_each_port(graph, &chosen, |graph, (id, port), values| {
            let mut choice = self.choose(graph.node(id), port, values);
            if filled.contains(&(id, port.to_owned())) {
                choice.why = "chosen place by place";
            }
            let after = choice.after.clone();
            graph.node_mut(id).formats.insert(port.to_owned(), after);
            table.add(graph.node(id), port, &choice, values);
            choices.push(choice);
        })?;
        let Some(rows) = source.rows.as_ref().filter(|_| self.method == Method::Loss) else {
            return Ok(table.report());
        };
        let ports = movable(graph, &chosen, &choices);
        if ports.is_empty() {
            return Ok(table.report());
        }
        let losses = self.descend(graph, &exact, (&chosen, &ports), rows, context.threads)?;
        let mut table = Calibrated::default();
        let mut choices = choices.iter();
        source.for_each_port(graph, &chosen, |graph, (id, port), values| {
            let choice = choices.next().expect("the same ports in the same order");
            table.add(graph.node(id), port, choice, values);
        })?;
        Ok(table.report_with_losses(&losses))
    }
}

/// Gives the stored fields of parameters that have no values yet those of the least squared error, and tells the ports.
fn fill_stored(
    graph: &mut Graph,
    nodes: &[NodeId],
) -> Result<BTreeSet<(NodeId, String)>, PassError> {
    let mut filled = BTreeSet::new();
    for &id in nodes {
        for port in ports(graph.node(id)) {
            let node = graph.node(id);
            let format = &node.formats[&port];
            let is_missing = format
                .stored_fields()
                .iter()
                .any(|(_, array)| array.is_none());
            let Some(values) = parameter(node, &port).filter(|_| is_missing) else {
                continue;
            };
            let shape = node.params.get(&port).map_or(&[][..], Tensor::shape);
            let Some(fitted) = format.fitted_to_places(&values, shape) else {
                let why = format!(
                    "{port}: only a stored frac_width or scale alone is chosen, not those of {format}"
                );
                return Err(PassError::node(node, why));
            };
            graph.node_mut(id).formats.insert(port.clone(), fitted);
            filled.insert((id, port));
        }
    }
    Ok(filled)
}

/// Losses of a descent.
struct Losses {
    before: f64,
    after: f64,
    evaluations: usize,
    rows: usize,
}

/// The ports that rounding at their present formats costs something.
fn movable(graph: &Graph, nodes: &[NodeId], choices: &[Choice]) -> Vec<Movable> {
    let ports = nodes.iter().flat_map(|&node| {
        let ports = ports(graph.node(node)).into_iter();
        ports.map(move |port| Movable { node, port })
    });
    let costs = |choice: &Choice| choice.sqnr.is_some_and(|sqnr| sqnr < NEGLIGIBLE_SQNR);
    let pairs = ports.zip(choices).filter(|(_, choice)| costs(choice));
    pairs.map(|(port, _)| port).collect()
}

/// Multiply-accumulates of a network on one row, at least 1.
fn row_macs(graph: &Graph) -> Result<u64, PassError> {
    let verified = verify(graph)?;
    let costs = graph.iter().filter_map(|(id, _)| verified.cost(id, 1));
    Ok(costs.map(|cost| cost.macs).sum::<u64>().max(1))
}

fn quotient(all: u64, each: u64) -> usize {
    usize::try_from(all / each).unwrap_or(usize::MAX)
}

/// The source of activations.
struct Source<'a> {
    /// The network without rounding, if that is the one to look at.
    twin: Option<&'a Graph>,
    rows: Option<Split>,
    threads: usize,
}

/// The choice for a port by the values there.
struct Choice {
    before: Format,
    after: Format,
    why: &'static str,
    /// In decibels, with the chosen format; nothing where none was chosen.
    sqnr: Option<f64>,
}

impl Calibrate {
    /// Moves the points of ports of some nodes to where the loss is least.
    fn descend(
        &self,
        graph: &mut Graph,
        exact: &Graph,
        (nodes, ports): (&[NodeId], &[Movable]),
        rows: &Split,
        threads: usize,
    ) -> Result<Losses, PassError> {
        let macs = row_macs(exact)?;
        let rows = rows.head(quotient(MAX_MACS, macs).max(MIN_ROWS));
        let mut walk = Walk::new(graph, nodes, &rows, threads)?;
        let target = Target::of(exact, &rows, &walk, self.distance)?;
        let max_evaluations = quotient(MAX_TOTAL_MACS, macs * rows.len() as u64);
        let mut descent = Descent::new(graph, &mut walk, &target, ports, max_evaluations)?;
        let before = descent.loss();
        descent.search()?;
        Ok(Losses {
            before,
            after: descent.loss(),
            evaluations: descent.evaluations(),
            rows: rows.len(),
        })
    }

    fn choose(&self, node: &Node, port: &str, values: Option<&[f32]>) -> Choice {
        let before = node.formats[port].clone();
        let as_it_is = |why: &'static str| Choice {
            before: before.clone(),
            after: before.clone(),
            why,
            sqnr: None,
        };
        if let Err(why) = point::field(&before) {
            return as_it_is(why);
        }
        let Some(values) = values else {
            return as_it_is("there is nothing to look at");
        };
        let has_sign = values.iter().any(|x| *x < 0.0);
        let start = if self.unsigned && port.starts_with("data_in_") && !has_sign {
            point::unsigned(&before)
        } else {
            before.clone()
        };
        let after = self.method.choose(&start, values);
        Choice {
            sqnr: Some(10.0 * (signal(values) / noise(&after, values)).log10()),
            after,
            why: "chosen",
            before,
        }
    }
}

impl Source<'_> {
    /// Calls `visit` with every port of some nodes, in order, and the values there before its format rounds them: nothing
    /// without rows or parameters, or where the format has no point. Formats that it changes hold for the ports that follow.
    fn for_each_port(
        &self,
        graph: &mut Graph,
        nodes: &[NodeId],
        mut visit: impl FnMut(&mut Graph, (NodeId, &str), Option<&[f32]>),
    ) -> Result<(), PassError> {
        let network = self.twin.unwrap_or(graph);
        let rows = self.rows.as_ref();
        let mut walk = rows
            .map(|rows| Walk::new(network, nodes, rows, self.threads))
            .transpose()?;
        for &id in nodes {
            for port in ports(graph.node(id)) {
                let network = self.twin.unwrap_or(graph);
                let node = graph.node(id);
                let mut values = match point::field(&node.formats[&port]) {
                    Ok(_) => values(network, (id, &port), walk.as_mut())?,
                    Err(_) => None,
                };
                if is_unsigned(&node.formats[&port]) && matches!(node.op, Op::Relu(_)) {
                    for x in values.iter_mut().flatten() {
                        *x = x.max(0.0);
                    }
                }
                visit(graph, (id, &port), values.as_deref());
            }
        }
        Ok(())
    }
}

/// The values at a port before its format rounds them; nothing without rows or parameters.
fn values(
    network: &Graph,
    (id, port): (NodeId, &str),
    walk: Option<&mut Walk>,
) -> Result<Option<Vec<f32>>, PassError> {
    if !port.starts_with("data_in_") && !port.starts_with("data_out_") {
        return Ok(parameter(network.node(id), port));
    }
    let Some(walk) = walk else {
        return Ok(None);
    };
    walk.advance_to(network, id)?;
    let mut all = Vec::new();
    walk.observe(network, (id, port), Seen::Unrounded, |_, values| {
        all.extend_from_slice(values);
    })?;
    Ok(Some(all))
}

/// The values of a parameter that its format rounds: of a batch norm, what it multiplies by and adds.
fn parameter(node: &Node, port: &str) -> Option<Vec<f32>> {
    if matches!(node.op, Op::BatchNorm1d(_) | Op::BatchNorm2d(_)) {
        let [scale, shift] = ir::scale_and_shift(node)?;
        let values = if port == "weight" { scale } else { shift };
        return Some(values.into_iter().map(|v| v as f32).collect());
    }
    Some(node.params.get(port).map(Tensor::values)?.to_vec())
}

/// The ports with formats, in the order in which values pass them.
fn ports(node: &Node) -> Vec<String> {
    let rank = |port: &String| match port.as_str() {
        port if port.starts_with("data_in_") => 0,
        "weight" => 1,
        port if port.starts_with("data_out_") => 3,
        _ => 2,
    };
    let mut ports: Vec<String> = node.formats.keys().cloned().collect();
    ports.sort_by_key(rank);
    ports
}

fn is_unsigned(format: &Format) -> bool {
    format
        .fixed_point()
        .is_some_and(|fixed_point| !fixed_point.signed)
}

fn signal(values: &[f32]) -> f64 {
    let squares = values.iter().map(|&x| f64::from(x) * f64::from(x));
    squares.sum()
}

/// The columns of the report.
const HEADINGS: &[&str] = &[
    "Node name",
    "Port",
    "Before",
    "After",
    "Range seen",
    "SQNR before",
    "SQNR after",
    "Why",
];

/// The rows of the report, and the number of formats that changed.
#[derive(Default)]
struct Calibrated {
    rows: Vec<Vec<String>>,
    moved: usize,
}

impl Calibrated {
    /// Adds a port with the format that it has now.
    fn add(&mut self, node: &Node, port: &str, choice: &Choice, values: Option<&[f32]>) {
        let values = values.unwrap_or_default();
        let after_format = &node.formats[port];
        let sqnr = |format: &Format| decibels(signal(values), noise(format, values));
        let (range, before, after) = if values.is_empty() {
            ("-".to_owned(), "-".to_owned(), "-".to_owned())
        } else {
            let (min, max) = extremes(values);
            (
                format!("[{min:.4}, {max:.4}]"),
                sqnr(&choice.before),
                sqnr(after_format),
            )
        };
        self.moved += usize::from(choice.before != *after_format);
        self.rows.push(vec![
            node.name.clone(),
            port.to_owned(),
            choice.before.to_string(),
            after_format.to_string(),
            range,
            before,
            after,
            choice.why.to_owned(),
        ]);
    }

    fn report(self) -> PassReport {
        let text = match self.rows.len() {
            0 => "nothing is quantised: run quantize before".to_owned(),
            n => format!("{} of {n} formats changed", self.moved),
        };
        PassReport::table("formats", HEADINGS, self.rows)
            .with_text(text)
            .with_fact("changed", self.moved)
    }

    /// The report of a descent.
    fn report_with_losses(self, losses: &Losses) -> PassReport {
        let Losses {
            before,
            after,
            evaluations,
            rows,
        } = losses;
        let text = format!(
            "loss {after:.6} instead of {before:.6} by mse, on {rows} rows; {evaluations} formats tried"
        );
        self.report()
            .with_text(text)
            .with_fact("loss_mse", *before)
            .with_fact("loss_calibrated", *after)
    }
}
