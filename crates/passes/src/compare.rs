//! Two graphs side by side: formats, weights, and the error of every node on the same inputs.
//!
//! Nodes are matched by name. Errors are measured at the results of nodes that both have: signal-to-quantisation-noise
//! ratio 10·log10(Σa²/Σ(a−b)²), cosine of the angle between the two, largest difference, and the share of values that
//! the second graph saturates at its data inputs.

use crate::cost::formats;
use crate::{PassError, PassReport, observe};
use data::Split;
use engine::Port;
use ir::{Graph, Node, NodeId, Op};
use report::Table;
use serde_json::json;

/// The two graphs and what to run them on.
pub struct Compare<'a> {
    /// The first graph, and what to call it.
    pub a: (&'a str, &'a Graph),
    /// The second graph, and what to call it.
    pub b: (&'a str, &'a Graph),
    /// The same rows for both.
    pub rows: &'a Split,
    /// Threads that may be used.
    pub threads: usize,
}

/// How far the results of one node are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Distance {
    signal: f64,
    signal_b: f64,
    noise: f64,
    product: f64,
    largest: f64,
}

impl Distance {
    fn add(&mut self, a: &[f32], b: &[f32]) {
        for (&a, &b) in a.iter().zip(b) {
            let (a, b) = (f64::from(a), f64::from(b));
            self.signal += a * a;
            self.signal_b += b * b;
            self.noise += (a - b) * (a - b);
            self.product += a * b;
            self.largest = self.largest.max((a - b).abs());
        }
    }

    fn is_zero(&self) -> bool {
        self.largest == 0.0
    }

    fn sqnr(&self) -> f64 {
        10.0 * (self.signal / self.noise).log10()
    }

    fn cosine(&self) -> f64 {
        let norms = (self.signal * self.signal_b).sqrt();
        if norms == 0.0 {
            1.0
        } else {
            self.product / norms
        }
    }
}

/// A node of both graphs.
struct Pair<'a> {
    a: (NodeId, &'a Node),
    b: (NodeId, &'a Node),
    distance: Distance,
    saturated: f64,
}

/// Rows of outputs that are shown.
const SHOWN: usize = 5;

impl Compare<'_> {
    /// Everything that differs.
    pub fn report(&self) -> Result<PassReport, PassError> {
        let mut pairs = self.pairs();
        self.measure(&mut pairs)?;
        let outputs = self.outputs()?;
        let first = pairs.iter().find(|pair| !pair.distance.is_zero());
        let parting = match first {
            Some(pair) => format!(
                "first node where the results part: {} ({})",
                pair.a.1.name,
                pair.a.1.op.name()
            ),
            None if pairs.is_empty() => "the graphs have no node in common".to_owned(),
            None => "all results of common nodes are equal to the bit".to_owned(),
        };
        let mut report = PassReport::default().with_table("nodes", node_table(&pairs));
        let changed = self.changes();
        if !changed.rows.is_empty() {
            report = report.with_table("changes", changed);
        }
        report = report
            .with_text(parting)
            .with_fact("first_difference", first.map(|pair| pair.a.1.name.clone()));
        Ok(outputs.append(report, self))
    }

    fn pairs(&self) -> Vec<Pair<'_>> {
        let (a, b) = (self.a.1, self.b.1);
        let both = a.iter().filter_map(|(id, node)| {
            let other = b.iter().find(|(_, other)| other.name == node.name)?;
            Some(Pair {
                a: (id, node),
                b: other,
                distance: Distance::default(),
                saturated: 0.0,
            })
        });
        both.filter(|pair| !matches!(pair.a.1.op, Op::Output(_)))
            .collect()
    }

    fn measure(&self, pairs: &mut [Pair]) -> Result<(), PassError> {
        let result = |id: NodeId| Port {
            node: id,
            port: "data_out_0".to_owned(),
        };
        let ports: Vec<Port> = pairs.iter().map(|pair| result(pair.a.0)).collect();
        let mut of_a: Vec<Vec<f32>> = vec![Vec::new(); pairs.len()];
        observe(
            self.a.1,
            &ports,
            self.rows,
            self.threads,
            |index, _, values| {
                of_a[index].extend_from_slice(values);
            },
        )?;
        // Behind the results of the second graph come its data inputs, to see what saturates.
        let mut ports: Vec<Port> = pairs.iter().map(|pair| result(pair.b.0)).collect();
        let rounded: Vec<(usize, String)> = pairs
            .iter()
            .enumerate()
            .flat_map(|(index, pair)| {
                pair.b
                    .1
                    .formats
                    .keys()
                    .filter(|port| port.starts_with("data_in_"))
                    .map(move |port| (index, port.clone()))
            })
            .collect();
        ports.extend(rounded.iter().map(|(index, port)| Port {
            node: pairs[*index].b.0,
            port: port.clone(),
        }));
        let mut seen = vec![0_usize; pairs.len()];
        let mut clipped = vec![(0_usize, 0_usize); pairs.len()];
        let count = pairs.len();
        observe(
            self.b.1,
            &ports,
            self.rows,
            self.threads,
            |index, shape, values| {
                if index < count {
                    let start = seen[index];
                    let own = of_a[index].get(start..start + values.len()).unwrap_or(&[]);
                    pairs[index].distance.add(own, values);
                    seen[index] += values.len();
                } else {
                    let (node, port) = &rounded[index - count];
                    let mut inside = vec![1.0; values.len()];
                    pairs[*node].b.1.formats[port].straight_through(values, shape, &mut inside);
                    clipped[*node].0 += inside.iter().filter(|&&g| g == 0.0).count();
                    clipped[*node].1 += values.len();
                }
            },
        )?;
        for (pair, (clipped, all)) in pairs.iter_mut().zip(clipped) {
            pair.saturated = clipped as f64 / all.max(1) as f64;
        }
        Ok(())
    }

    /// Nodes that only one graph has, and operators that differ.
    fn changes(&self) -> Table {
        let mut table = Table::new(&["Node name", "A", "B"]);
        let (a, b) = (self.a.1, self.b.1);
        for node in a.nodes() {
            let other = b.nodes().iter().find(|other| other.name == node.name);
            match other {
                None => table.push([&node.name, node.op.name(), "-"]),
                Some(other) if other.op != node.op => {
                    table.push([
                        node.name.clone(),
                        ir::torch_repr(&node.op),
                        ir::torch_repr(&other.op),
                    ]);
                }
                Some(_) => {}
            }
        }
        for node in b
            .nodes()
            .iter()
            .filter(|node| a.nodes().iter().all(|other| other.name != node.name))
        {
            table.push([&node.name, "-", node.op.name()]);
        }
        table
    }

    fn outputs(&self) -> Result<Outputs, PassError> {
        let of = |graph: &Graph| -> Result<Vec<f32>, PassError> {
            let last = NodeId(graph.nodes().len() as u32 - 1);
            let port = Port {
                node: last,
                port: "data_in_0".to_owned(),
            };
            let mut all = Vec::new();
            observe(graph, &[port], self.rows, self.threads, |_, _, values| {
                all.extend_from_slice(values);
            })?;
            Ok(all)
        };
        Ok(Outputs {
            a: of(self.a.1)?,
            b: of(self.b.1)?,
            rows: self.rows.len(),
        })
    }
}

fn node_table(pairs: &[Pair]) -> Table {
    let mut table = Table::new(&[
        "Node name",
        "Mase op",
        "Formats A",
        "Formats B",
        "Weights",
        "SQNR dB",
        "Cosine",
        "Largest error",
        "Saturated",
    ]);
    for pair in pairs {
        let distance = &pair.distance;
        table.push([
            pair.a.1.name.clone(),
            pair.a.1.op.name().to_owned(),
            listed(pair.a.1),
            listed(pair.b.1),
            weights(pair.a.1, pair.b.1),
            if distance.is_zero() {
                "exact".to_owned()
            } else {
                format!("{:.2}", distance.sqnr())
            },
            format!("{:.6}", distance.cosine()),
            format!("{:.6}", distance.largest),
            format!("{:.2}%", 100.0 * pair.saturated),
        ]);
    }
    table
}

/// What the graphs return.
struct Outputs {
    a: Vec<f32>,
    b: Vec<f32>,
    rows: usize,
}

impl Outputs {
    fn append(&self, report: PassReport, compare: &Compare) -> PassReport {
        let width = self.a.len() / self.rows.max(1);
        if width == 0 || self.a.len() != self.b.len() {
            return report.with_text("the graphs return arrays of different sizes");
        }
        let mut table = Table::new(&["Row", "A", "B"]);
        let shown = |values: &[f32]| {
            values
                .iter()
                .map(|v| format!("{v:.4}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let pairs = || self.a.chunks_exact(width).zip(self.b.chunks_exact(width));
        for (row, (a, b)) in pairs().enumerate().take(SHOWN) {
            table.push([row.to_string(), shown(a), shown(b)]);
        }
        let mut distance = Distance::default();
        distance.add(&self.a, &self.b);
        let agree = pairs().filter(|(a, b)| argmax(a) == argmax(b)).count();
        let sqnr = if distance.is_zero() {
            "exact".to_owned()
        } else {
            format!("{:.2} dB", distance.sqnr())
        };
        report
            .with_table("outputs", table)
            .with_text(format!(
                "A is {}, B is {}\noutputs of {} rows: SQNR {sqnr}, largest difference {:.6}, same largest class in {agree} ({:.2}%)",
                compare.a.0,
                compare.b.0,
                self.rows,
                distance.largest,
                100.0 * agree as f64 / self.rows.max(1) as f64
            ))
            .with_fact("agreement", json!(agree as f64 / self.rows.max(1) as f64))
            .with_fact("largest_difference", distance.largest)
            .with_fact("rows", self.rows)
    }
}

/// The first of the largest, as a classifier answers.
fn argmax(values: &[f32]) -> usize {
    let better = |best: usize, index: usize| {
        if values[index] > values[best] {
            index
        } else {
            best
        }
    };
    (1..values.len()).fold(0, better)
}

fn listed(node: &Node) -> String {
    let shown = formats(node)
        .into_iter()
        .map(|(port, format)| format!("{port} {format}"));
    let text = shown.collect::<Vec<_>>().join(", ");
    if text.is_empty() {
        "float".to_owned()
    } else {
        text
    }
}

/// How the parameters differ.
fn weights(a: &Node, b: &Node) -> String {
    if a.params.is_empty() && b.params.is_empty() {
        return String::new();
    }
    let mut largest = 0.0_f32;
    for (port, tensor) in &a.params {
        match b.params.get(port) {
            Some(other) if other.shape() == tensor.shape() => {
                let pairs = tensor.values().iter().zip(other.values());
                largest = pairs.map(|(a, b)| (a - b).abs()).fold(largest, f32::max);
            }
            _ => return format!("{port} differs in shape"),
        }
    }
    match b.params.keys().find(|port| !a.params.contains_key(*port)) {
        Some(port) => format!("{port} is new"),
        None if largest == 0.0 => "equal".to_owned(),
        None => format!("differ by up to {largest:.6}"),
    }
}
