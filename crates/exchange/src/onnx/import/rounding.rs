//! Formats in place of the nodes that round.

use super::{Importer, Op, Source};
use crate::constant::{Array, MAX_ELEMENTS, Refusal, Values};
use crate::draft::operator;
use crate::onnx::grid::Grid;
use crate::onnx::readers::wide;
use format::Format;
use ir::{DType, Graph, NodeId, Value};
use serde_json::json;

impl Importer<'_> {
    /// A value rounded to a grid.
    pub fn round(&mut self, name: &str, value: Value, grid: &Grid) -> Result<Value, Refusal> {
        if !grid.is_scaled_float() {
            return self.round_to(name, value, grid.format()?);
        }
        let scaled = self.at_places(name, "div", value, &grid.scales, grid)?;
        let rounded = self.round_to(name, scaled, grid.unscaled().format()?)?;
        self.at_places(name, "mul", rounded, &grid.scales, grid)
    }

    /// A value rounded to a format: for now a node of its own, whose result has the format.
    fn round_to(&mut self, name: &str, value: Value, format: Format) -> Result<Value, Refusal> {
        let identity = operator("identity", json!({}))?;
        let rounded = self.push(name, identity, &[value], Vec::new())?;
        let node = &mut self.draft.nodes[rounded.node.index()];
        node.formats.insert("data_out_0".to_owned(), format);
        self.roundings.push(rounded.node);
        Ok(rounded)
    }

    /// The codes of a value as integers, computed.
    pub fn encode(&mut self, value: Value, grid: &Grid) -> Result<Value, Refusal> {
        let name = "codes";
        let (min, max) = grid.code_range();
        let mut y = self.at_places(name, "div", value, &grid.scales, grid)?;
        y = self.push(name, operator("round", json!({}))?, &[y], Vec::new())?;
        y = self.at_places(name, "add", y, &grid.zeros, grid)?;
        for (op, bound) in [("max", min), ("min", max)] {
            let op = operator(op, json!({ "scalar": bound as f64 }))?;
            y = self.push(name, op, &[y], Vec::new())?;
        }
        let to = operator("to", json!({ "dtype": DType::I64.to_string() }))?;
        self.push(name, to, &[y], Vec::new())
    }

    /// The numbers that integers mean, computed.
    pub fn decode(&mut self, name: &str, codes: Value, grid: &Grid) -> Result<Value, Refusal> {
        let mut y = codes;
        if self.type_of(codes).dtype != DType::F32 {
            let to = operator("to", json!({ "dtype": DType::F32.to_string() }))?;
            y = self.push(name, to, &[y], Vec::new())?;
        }
        y = self.at_places(name, "sub", y, &grid.zeros, grid)?;
        self.at_places(name, "mul", y, &grid.scales, grid)
    }

    /// Arithmetic of every element with the number of its place.
    fn at_places(
        &mut self,
        name: &str,
        op: &str,
        value: Value,
        numbers: &[f32],
        grid: &Grid,
    ) -> Result<Value, Refusal> {
        let neutral = if matches!(op, "mul" | "div") {
            1.0
        } else {
            0.0
        };
        if numbers.iter().all(|&number| number == neutral) {
            return Ok(value);
        }
        if let [number] = numbers {
            let op = operator(op, json!({ "scalar": wide(*number) }))?;
            return self.push(name, op, &[value], Vec::new());
        }
        let shape = self.type_of(value).shape;
        let array = if let (Some(axis), None) = (grid.axis, &grid.blocks) {
            let behind = shape.rank().saturating_sub(axis + 1);
            let shape = [vec![numbers.len()], vec![1; behind]].concat();
            Array::new(shape, Values::F32(numbers.to_vec()))
        } else {
            let sizes: Option<Vec<usize>> = shape.0.iter().map(ir::Dim::fixed).collect();
            let sizes =
                sizes.ok_or_else(|| Refusal::new("its scales are of blocks of a free batch"))?;
            let n = sizes
                .iter()
                .try_fold(1_usize, |n, &size| n.checked_mul(size));
            if n.is_none_or(|n| n > MAX_ELEMENTS) {
                return Err(Refusal::new(
                    "its scales are of blocks of too many elements",
                ));
            }
            let places = grid.places(&sizes)?;
            let numbers = places.iter().map(|&place| numbers[place]).collect();
            Array::new(sizes, Values::F32(numbers))
        };
        let numbers = self.value_of(&Source::made(array))?;
        self.push(
            name,
            operator(op, json!({}))?,
            &[value, numbers],
            Vec::new(),
        )
    }
}

/// Puts the formats of nodes that only round where they are read: on the input of the one node that reads them, else on the
/// result that they round, where nobody reads it otherwise.
pub fn settle(graph: &mut Graph, roundings: &[NodeId]) {
    // From the last to the first, so that removing one does not move those that are still to come.
    for &id in roundings.iter().rev() {
        let rounded = Value::from(id);
        let [source] = graph.node(id).inputs[..] else {
            continue;
        };
        let Some(format) = graph.node(id).formats.get("data_out_0").cloned() else {
            continue;
        };
        let readers = graph.users(rounded);
        let port = match readers[..] {
            [reader] if !matches!(graph.node(reader).op, Op::Output(_)) => {
                let mut ports = graph
                    .node(reader)
                    .inputs
                    .iter()
                    .enumerate()
                    .filter(|(_, input)| **input == rounded);
                let (first, more) = (ports.next().map(|(k, _)| k), ports.next());
                first
                    .filter(|_| more.is_none())
                    .map(|k| (reader, format!("data_in_{k}")))
            }
            _ => {
                let is_only = graph.users(source) == [id];
                let port = format!("data_out_{}", source.output);
                let is_free = !graph.node(source.node).formats.contains_key(&port);
                let makes = !matches!(
                    graph.node(source.node).op,
                    Op::Placeholder(_) | Op::Constant(_)
                );
                (is_only && is_free && makes).then_some((source.node, port))
            }
        };
        if let Some((node, port)) = port
            && !graph.node(node).formats.contains_key(&port)
        {
            graph.node_mut(node).formats.insert(port, format);
            for user in graph.users(rounded) {
                for input in &mut graph.node_mut(user).inputs {
                    if *input == rounded {
                        *input = source;
                    }
                }
            }
            // Nobody reads the node any more, so that it can be removed.
            let _ = graph.remove(id);
        }
    }
}
