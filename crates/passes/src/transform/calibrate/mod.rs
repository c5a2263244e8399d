//! Moves the points of number formats to where the values are.

mod choice;
mod point;

use super::fuse_batch_norm::scale_and_shift;
use super::sampling::{Sampling, decibels, exact_twin, observe_unrounded, observe_value};
use crate::{Context, Pass, PassError, PassReport};
use choice::{Method, extremes, noise};
use config::Reader;
use data::Split;
use format::Format;
use ir::{Graph, Node, NodeId, Op, Tensor, Value};

/// `[passes.calibrate]`: see [`Pass::DOC`].
pub struct Calibrate {
    method: Method,
    sampling: Sampling,
    observed: Observed,
    unsigned: bool,
}

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
  min_max     the finest steps at which nothing saturates
  percentile  the finest steps at which the given share of values does not saturate on either side
  mse         the least mean squared error; never more than that of min_max or of the format before
Nodes are done in order, each seeing what the nodes before it give with their new formats.

Example:
  [passes.calibrate]
  method = \"mse\"                   # or \"min_max\", or \"percentile\"
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

Config: method, default mse; percentile, default 0.999; num_samples, default 1024; split, default train; nodes, a list of
names, default all; unsigned, default false; observe, quantized (default) or float: whether activations come from the
network as quantised so far or from one without rounding.

Reads: the graph, rows of the dataset; without a dataset only parameters are looked at. Writes: formats.

Limits: formats whose scales follow the data (scale_integer, block formats, MX) have nothing to choose. Unsigned formats stay
unsigned; below relu, the negative values that it drops are not counted as errors. All values of a port are held in memory:
num_samples times its elements.";

    fn read(reader: &mut Reader) -> Self {
        let share = reader.number("percentile", 0.5..=1.0).unwrap_or(0.999);
        let methods = [
            ("mse", Method::Mse),
            ("min_max", Method::MinMax),
            ("percentile", Method::Percentile(share)),
        ];
        let observed = [
            ("quantized", Observed::Quantized),
            ("float", Observed::Float),
        ];
        Self {
            method: reader.choice("method", &methods).unwrap_or(Method::Mse),
            sampling: Sampling::read(reader, 1024),
            observed: reader.choice("observe", &observed).unwrap_or_default(),
            unsigned: reader.flag("unsigned").unwrap_or(false),
        }
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        let is_quantized = |node: &Node| !node.formats.is_empty();
        let chosen = self.sampling.chosen(graph, is_quantized, "quantised")?;
        let rows = self.sampling.rows_if_any(context)?;
        let source = Source {
            twin: (self.observed == Observed::Float).then(|| exact_twin(graph, context)),
            rows,
            threads: context.threads,
        };
        let mut table = Calibrated::default();
        for id in chosen {
            for port in ports(graph.node(id)) {
                let outcome = self.calibrate(graph, id, &port, &source)?;
                table.add(graph.node(id), &port, &outcome);
                graph.node_mut(id).formats.insert(port, outcome.after);
            }
        }
        Ok(table.report())
    }
}

/// The source of activations.
struct Source {
    /// The network without rounding, if that is the one to look at.
    twin: Option<Graph>,
    rows: Option<Split>,
    threads: usize,
}

/// The outcome at a port.
struct Outcome {
    before: Format,
    after: Format,
    why: &'static str,
    /// The values that were seen.
    values: Vec<f32>,
}

impl Calibrate {
    fn calibrate(
        &self,
        graph: &Graph,
        id: NodeId,
        port: &str,
        source: &Source,
    ) -> Result<Outcome, PassError> {
        let node = graph.node(id);
        let before = node.formats[port].clone();
        let as_it_is = |why: &'static str| Outcome {
            before: before.clone(),
            after: before.clone(),
            why,
            values: Vec::new(),
        };
        if let Err(why) = point::field(&before) {
            return Ok(as_it_is(why));
        }
        let Some(mut values) = source.values(graph, id, port)? else {
            return Ok(as_it_is("there is nothing to look at"));
        };
        if is_unsigned(&before) && matches!(node.op, Op::Relu(_)) {
            for x in &mut values {
                *x = x.max(0.0);
            }
        }
        let has_sign = values.iter().any(|x| *x < 0.0);
        let start = if self.unsigned && port.starts_with("data_in_") && !has_sign {
            point::unsigned(&before)
        } else {
            before.clone()
        };
        Ok(Outcome {
            after: self.method.choose(&start, &values),
            why: "chosen",
            before,
            values,
        })
    }
}

impl Source {
    /// The values at a port before its format rounds them; nothing without rows or parameters.
    fn values(&self, graph: &Graph, id: NodeId, port: &str) -> Result<Option<Vec<f32>>, PassError> {
        let node = graph.node(id);
        let is_input = port.starts_with("data_in_");
        if !is_input && !port.starts_with("data_out_") {
            return Ok(parameter(node, port));
        }
        let Some(rows) = &self.rows else {
            return Ok(None);
        };
        let mut watched = self.twin.as_ref().unwrap_or(graph).clone();
        let mut all = Vec::new();
        let mut read = |_: &[usize], values: &[f32]| all.extend_from_slice(values);
        if is_input {
            observe_unrounded(&watched, id, port, rows, self.threads, &mut read)?;
        } else {
            watched.node_mut(id).formats.remove(port);
            let output = port["data_out_".len()..].parse().unwrap_or(0);
            let value = Value { node: id, output };
            observe_value(&watched, value, rows, self.threads, &mut read)?;
        }
        Ok(Some(all))
    }
}

/// The values of a parameter that its format rounds: of a batch norm, what it multiplies by and adds.
fn parameter(node: &Node, port: &str) -> Option<Vec<f32>> {
    if matches!(node.op, Op::BatchNorm1d(_) | Op::BatchNorm2d(_)) {
        let [scale, shift] = scale_and_shift(node)?;
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
    fn add(&mut self, node: &Node, port: &str, outcome: &Outcome) {
        let values = &outcome.values;
        let signal: f64 = values.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        let sqnr = |format: &Format| decibels(signal, noise(format, values));
        let (range, before, after) = if values.is_empty() {
            ("-".to_owned(), "-".to_owned(), "-".to_owned())
        } else {
            let (min, max) = extremes(values);
            (
                format!("[{min:.4}, {max:.4}]"),
                sqnr(&outcome.before),
                sqnr(&outcome.after),
            )
        };
        self.moved += usize::from(outcome.before != outcome.after);
        self.rows.push(vec![
            node.name.clone(),
            port.to_owned(),
            outcome.before.to_string(),
            outcome.after.to_string(),
            range,
            before,
            after,
            outcome.why.to_owned(),
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
}
