//! Gives a format to every port that exact integers would refuse for want of one.

use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use engine::integer::{IntegerError, Program};
use engine::{EngineError, State};
use format::Integer;
use ir::{Graph, NodeId, Op, verify};
use report::Table;
use std::collections::BTreeMap;

/// `[passes.quantize_rest]`: see [`Pass::DOC`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantizeRest {
    /// Bits of a value.
    pub width: u32,
    /// Bits behind the point.
    pub frac_width: i32,
}

/// The ports that got a format.
type Given = BTreeMap<(NodeId, String), Integer>;

impl Pass for QuantizeRest {
    const NAME: &'static str = "quantize_rest";
    const ABOUT: &'static str = "gives a format to every port that exact integers would refuse";
    const DOC: &'static str = "\
What it does: asks exact integer execution (ch predict --integer) which ports it refuses because they have no format, and gives
them integer(width, frac_width), until it refuses none. Ports that have a format keep it, and ports that need none get none: the
result of a layer stays exact until somebody rounds it. Operand and result of an activation that is a table (gelu, sigmoid …) get
at most 12 bits, the missing ones behind the point. A value that would need more than 64 bits is rounded where it is read.

Example:
  [passes.quantize_rest]
  width = 8
  frac_width = 4                    # missing: width // 2

Before:
  x: f32[N, 4] = placeholder
  fc = linear(x) { in_features = 4, out_features = 2, weight: integer(4, 3) }
  y = tanh(fc: integer(6, 2))
  return y
After:
  x: f32[N, 4] = placeholder
  fc = linear(x: integer(8, 4)) { in_features = 4, out_features = 2, weight: integer(4, 3), bias: integer(8, 4) }
  y = tanh(fc: integer(6, 2)) { data_out_0: integer(8, 4) }
  return y

Config: width, 1 to 63, default 8; frac_width. Reads: the graph and its parameters. Writes: the graph; a table of node, port and
format. Limits: fails on what no format helps, by name: an operator without an exact form, a format that is no fixed point, an
activation between formats of more than 12 bits. Formats of the same width everywhere fit few networks well: quantize and
calibrate before, and leave only the rest to this pass.";

    fn read(reader: &mut Reader) -> Self {
        let width = reader.whole("width", 1..=63).unwrap_or(8);
        let frac_width = reader.whole("frac_width", -104..=149);
        Self {
            width: width as u32,
            frac_width: frac_width.unwrap_or(width / 2) as i32,
        }
    }

    fn run(&self, graph: &mut Graph, _: &mut Context) -> Result<PassReport, PassError> {
        let mut given = Given::new();
        while let Some(refusal) = refusal(graph)? {
            let added = self.additions(graph, &refusal, &given);
            if added.is_empty() {
                return Err(PassError::Refused(refusal.to_string()));
            }
            for ((id, port), format) in added {
                let formats = &mut graph.node_mut(id).formats;
                formats.insert(port.clone(), format.into());
                given.insert((id, port), format);
            }
        }
        let mut table = Table::new(&["Node", "Op", "Port", "Format"]);
        for ((id, port), format) in &given {
            let node = graph.node(*id);
            let format = format::Format::from(*format).to_string();
            let op = node.op.name().to_owned();
            table.push([node.name.clone(), op, port.clone(), format]);
        }
        let report = PassReport::default().with_fact("given", given.len());
        Ok(if given.is_empty() {
            report.with_text("every port that exact integers need has a format already")
        } else {
            report.with_table("formats", table)
        })
    }
}

/// The reason why exact integers refuse the graph, if they do.
fn refusal(graph: &Graph) -> Result<Option<IntegerError>, PassError> {
    let verified = verify(graph)?;
    let state = State::new(&verified)?;
    match Program::of(&verified, &state, 1) {
        Ok(_) => Ok(None),
        Err(IntegerError::Engine(error)) => Err(EngineError::into(error)),
        Err(refusal) => Ok(Some(refusal)),
    }
}

impl QuantizeRest {
    /// The formats that answer a refusal; none when no format does.
    fn additions(self, graph: &Graph, refusal: &IntegerError, given: &Given) -> Given {
        let plain = Integer::new(self.width, self.frac_width);
        let candidates: Vec<((NodeId, String), Integer)> = match refusal {
            IntegerError::NoFormat { op, port, .. } if !port.starts_with("data_") => {
                // Every node of the operator that has the parameter is refused alike.
                let nodes = graph.iter().filter(|(_, node)| {
                    let specs = node.param_specs();
                    node.op.name() == *op && specs.iter().any(|spec| spec.0 == port)
                });
                nodes.map(|(id, _)| ((id, port.clone()), plain)).collect()
            }
            IntegerError::NoFormat { node, port, .. } => {
                let place = |id| (rounding_place(graph, id, port), plain);
                graph.find(node).map(place).into_iter().collect()
            }
            IntegerError::TableTooWide {
                node,
                port,
                max_bits,
                ..
            } => {
                let narrow = |id| ((id, port.clone()), self.at_most(*max_bits));
                graph.find(node).map(narrow).into_iter().collect()
            }
            IntegerError::TooWide { node, .. } => {
                let ports = |id: NodeId| {
                    let ports = graph.node(id).data_ports().into_iter();
                    ports.map(move |port| ((id, port), plain))
                };
                graph.find(node).into_iter().flat_map(ports).collect()
            }
            IntegerError::NotFixedPoint { .. }
            | IntegerError::NoIntegerForm { .. }
            | IntegerError::Engine(_) => Vec::new(),
        };
        let is_free = |((id, port), format): &((NodeId, String), Integer)| {
            let is_missing = !graph.node(*id).formats.contains_key(port);
            let own = given.get(&(*id, port.clone()));
            is_missing || own.is_some_and(|own| own.width > format.width)
        };
        candidates.into_iter().filter(is_free).collect()
    }

    /// The format with fewer bits behind the point, where it has more bits than this.
    fn at_most(self, bits: u32) -> Integer {
        let dropped = self.width.saturating_sub(bits);
        Integer::new(self.width - dropped, self.frac_width - dropped as i32)
    }
}

/// The port where the value of a data port is rounded: its own, or for what the graph returns the result of the node that makes
/// it.
fn rounding_place(graph: &Graph, id: NodeId, port: &str) -> (NodeId, String) {
    let node = graph.node(id);
    let index = node.data_ports().iter().position(|own| own == port);
    match (&node.op, index.and_then(|index| node.inputs.get(index))) {
        (Op::Output(_), Some(value)) => (value.node, format!("data_out_{}", value.output)),
        _ => (id, port.to_owned()),
    }
}
