//! Nodes that are kept as they are.

use super::{Importer, Source};
use crate::constant::Values;
use crate::onnx::attributes::shown;
use crate::onnx::types;
use interop::onnx::proto::{AttributeProto, GraphProto, NodeProto, ValueInfoProto};
use interop::onnx::{self, Element};
use ir::ops::opaque::Opaque;
use ir::{DType, Node, Shape, Type};

/// Elements of a stored tensor that is kept inside of the node; larger ones are nodes of their own.
const MAX_INSIDE: usize = 64;
/// The same for integers and truth values, which other operators take for shapes, axes and tables.
const MAX_INTEGERS: usize = 1 << 16;

impl Importer<'_> {
    /// A node that is kept as it is: its message with the small tensors it reads, and the types that the file states.
    pub fn keep_opaque(
        &mut self,
        node: &NodeProto,
        inputs: &[Option<Source>],
        version: i64,
        name: &str,
    ) -> Result<Vec<Source>, String> {
        let has_graph =
            |attribute: &AttributeProto| attribute.g.is_some() || !attribute.graphs.is_empty();
        if node.attribute.iter().any(has_graph) {
            return Err(
                "and it holds a graph of its own, whose values cannot be followed".to_owned(),
            );
        }
        let results = self.stated_results(node)?;
        let mut source = GraphProto {
            node: vec![node.clone()],
            ..GraphProto::default()
        };
        let mut values = Vec::new();
        for (input, given) in node.input.iter().zip(inputs) {
            let Some(given) = given else { continue };
            check_node_of_its_own(given)?;
            if let Some(tensor) = inside(input, given) {
                if source.initializer.iter().all(|known| known.name() != input) {
                    source.initializer.push(tensor.write());
                }
                continue;
            }
            let value = self
                .value_of(given)
                .map_err(|refusal| format!("and {refusal}"))?;
            values.push(value);
            source.input.push(ValueInfoProto {
                name: Some(input.clone()),
                ..ValueInfoProto::default()
            });
        }
        let op = Opaque {
            operator: node.op_type().to_owned(),
            domain: super::domain(node.domain()).to_owned(),
            version,
            results: results.iter().map(|(ty, _)| ty.to_string()).collect(),
            attributes: node.attribute.iter().map(shown).collect(),
            source: hexadecimal(&onnx::encode_graph(&source)),
        };
        let types: Vec<Type> = results.iter().map(|(ty, _)| ty.clone()).collect();
        let fresh = self.draft.names.fresh(name);
        let first = self.draft.append(Node::new(&fresh, "", op, &values), types);
        let sources = results.iter().enumerate().map(|(output, (_, element))| {
            let value = ir::Value {
                output: output as u16,
                ..first
            };
            self.result(value, *element)
        });
        Ok(sources.collect())
    }

    fn stated_results(&self, node: &NodeProto) -> Result<Vec<(Type, Element)>, String> {
        let unused = || {
            let shape = Shape(Vec::new());
            (
                Type {
                    shape,
                    dtype: DType::F32,
                },
                Element::F32,
            )
        };
        let stated = node.output.iter().map(|name| {
            if name.is_empty() {
                return Ok(unused());
            }
            let info = self.stated.get(name.as_str());
            let info = info.ok_or_else(|| {
                format!("and it cannot be kept as it is: the file does not state the type of its result '{name}'")
            })?;
            let typed = types::of_value(info, self.made_free().is_some());
            typed.map_err(|why| format!("and it cannot be kept as it is: its result '{name}': {why}"))
        });
        stated.collect()
    }
}

/// Refuses a stored tensor that is too large for the node and would have another type as a node of its own.
fn check_node_of_its_own(source: &Source) -> Result<(), String> {
    let Source::Known { array, element, .. } = source else {
        return Ok(());
    };
    let is_kept = element.is_float() || matches!(element, Element::I64 | Element::Bool);
    if is_kept || array.values.len() <= MAX_INTEGERS {
        return Ok(());
    }
    let (n, name) = (array.values.len(), element.name());
    Err(format!(
        "and it reads a tensor of {n} elements of {name}, more than a node holds"
    ))
}

/// The tensor to keep inside of the node, where an input is one.
fn inside(name: &str, source: &Source) -> Option<onnx::Tensor> {
    let Source::Known { array, element, .. } = source else {
        return None;
    };
    let values = match &array.values {
        Values::F32(values) if values.len() > MAX_INSIDE => return None,
        values if values.len() > MAX_INTEGERS => return None,
        Values::F32(values) => onnx::Values::Floats(values.clone()),
        Values::I64(values) => onnx::Values::Ints(values.clone()),
        Values::Bool(values) => onnx::Values::Ints(values.iter().map(|&v| i64::from(v)).collect()),
        Values::Sizes(_) => return None,
    };
    Some(onnx::Tensor {
        name: name.to_owned(),
        shape: array.shape.clone(),
        element: if element.is_float() {
            Element::F32
        } else {
            *element
        },
        values,
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
