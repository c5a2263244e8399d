//! A line of the list as a network.

use interop::onnx::proto::tensor_shape_proto::{Dimension, dimension};
use interop::onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto, attribute_proto::AttributeType, type_proto,
};
use interop::onnx::{Element, Tensor, Values};
use std::collections::BTreeMap;

/// The sets of operators by the word in front of a name.
const SETS: [(&str, &str); 2] = [
    ("qonnx", "qonnx.custom_op.general"),
    ("last", "qonnx.custom_op.channels_last"),
];
/// The input of a line that reads none.
const UNREAD: &str = "m";

/// The inputs by name.
pub type Inputs = BTreeMap<&'static str, Tensor>;

/// Nodes that follow each other.
pub struct Line {
    /// The first axis of the inputs is made the batch.
    pub makes_batch: bool,
    nodes: Vec<NodeProto>,
    stored: Vec<TensorProto>,
    versions: BTreeMap<&'static str, i64>,
}

fn named(name: &str) -> Element {
    match name {
        "f32" => Element::F32,
        "i64" => Element::I64,
        "i32" => Element::I32,
        "i8" => Element::I8,
        "u8" => Element::U8,
        "bool" => Element::Bool,
        _ => panic!("'{name}' is no type"),
    }
}

/// A tensor from its type, `f32[2,3]`, and its numbers.
fn tensor(ty: &str, values: &[f64]) -> Tensor {
    let (name, sizes) = ty.trim_end_matches(']').split_once('[').unwrap();
    let element = named(name);
    Tensor {
        name: String::new(),
        shape: sizes.split(',').filter_map(|n| n.parse().ok()).collect(),
        element,
        values: if element == Element::F32 {
            Values::Floats(values.iter().map(|&value| value as f32).collect())
        } else {
            Values::Ints(values.iter().map(|&value| value as i64).collect())
        },
    }
}

/// Results as the list writes them.
pub fn tensors(text: &str) -> Vec<Tensor> {
    let result = |text: &str| {
        let mut words = text.split_whitespace();
        let ty = words.next().unwrap();
        let values: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        tensor(ty, &values)
    };
    text.split(" ; ").map(result).collect()
}

/// A stored tensor as the list writes it: `f32[2](1,2)` or `f32[2]~3`.
fn stored(word: &str) -> Option<Tensor> {
    let end = word.find(']')? + 1;
    let (ty, values) = word.split_at(end);
    if let Some(start) = values.strip_prefix('~') {
        let start: i64 = start.parse().unwrap();
        let n: usize = tensor(ty, &[]).shape.iter().product();
        let value = |k: i64| ((7 * k + start) % 11 - 5) as f64 / 4.0;
        let values: Vec<f64> = (0..n as i64).map(value).collect();
        return Some(tensor(ty, &values));
    }
    let values = values.strip_prefix('(')?.trim_end_matches(')').split(',');
    let values = values.filter(|value| !value.is_empty());
    let values: Vec<f64> = values.map(|value| value.parse().unwrap()).collect();
    Some(tensor(ty, &values))
}

fn attribute(name: &str, text: &str) -> AttributeProto {
    let mut attribute = AttributeProto {
        name: Some(name.to_owned()),
        ..AttributeProto::default()
    };
    let kind = if let Some(tensor) = stored(text) {
        attribute.t = Some(tensor.write());
        AttributeType::Tensor
    } else if let Some(items) = text.strip_prefix('[') {
        let items: Vec<&str> = items.trim_end_matches(']').split(',').collect();
        if items[0].starts_with('\'') {
            let texts = items.iter().map(|item| item.trim_matches('\'').to_owned());
            attribute.strings = texts.map(|text| text.into_bytes().into()).collect();
            AttributeType::Strings
        } else if items[0].contains('.') {
            attribute.floats = items.iter().map(|item| item.parse().unwrap()).collect();
            AttributeType::Floats
        } else {
            attribute.ints = items.iter().map(|item| item.parse().unwrap()).collect();
            AttributeType::Ints
        }
    } else if text.starts_with('\'') {
        attribute.s = Some(text.trim_matches('\'').to_owned().into_bytes().into());
        AttributeType::String
    } else if text.contains('.') {
        attribute.f = Some(text.parse().unwrap());
        AttributeType::Float
    } else {
        attribute.i = Some(text.parse().unwrap());
        AttributeType::Int
    };
    attribute.r#type = Some(kind as i32);
    attribute
}

impl Line {
    /// The nodes of a line.
    pub fn read(text: &str) -> Self {
        let rest = text.strip_prefix("batch ");
        let mut line = Self {
            makes_batch: rest.is_some(),
            nodes: Vec::new(),
            stored: Vec::new(),
            versions: BTreeMap::new(),
        };
        for call in rest.unwrap_or(text).split(" | ") {
            line.push(call);
        }
        line
    }

    /// The name of result `item` of node `at`, which then has as many.
    fn result(&mut self, at: usize, item: usize) -> String {
        let outputs = &mut self.nodes[at].output;
        for k in outputs.len()..=item {
            outputs.push(format!("v{at}_{k}"));
        }
        outputs[item].clone()
    }

    fn push(&mut self, call: &str) {
        let mut words = call.split_whitespace();
        let (name, version) = words.next().unwrap().split_once(':').unwrap();
        let (set, operator) = name.split_once('.').unwrap_or(("", name));
        let set = SETS.iter().find(|row| row.0 == set).map_or("", |row| row.1);
        let n_more = version.matches('*').count();
        let version = version.trim_end_matches('*').parse().unwrap();
        let newest = self.versions.entry(set).or_insert(version);
        *newest = version.max(*newest);
        let (mut input, mut attributes) = (Vec::new(), Vec::new());
        for word in words {
            if let Some((name, value)) = word.split_once('=') {
                attributes.push(attribute(name, value));
            } else if let Some(result) = word.strip_prefix('%') {
                let (at, item) = result.split_once('.').unwrap_or((result, "0"));
                input.push(self.result(at.parse().unwrap(), item.parse().unwrap()));
            } else if let Some(at) = word.strip_prefix('$') {
                input.push(format!("c{at}"));
            } else if let Some(mut tensor) = stored(word) {
                tensor.name = format!("c{}", self.stored.len());
                input.push(tensor.name.clone());
                self.stored.push(tensor.write());
            } else {
                input.push(word.trim_matches('_').to_owned());
            }
        }
        let at = self.nodes.len();
        self.nodes.push(NodeProto {
            op_type: Some(operator.to_owned()),
            domain: Some(set.to_owned()),
            input,
            output: Vec::new(),
            attribute: attributes,
            ..NodeProto::default()
        });
        self.result(at, n_more);
    }

    /// The inputs that the line reads, each once.
    pub fn live<'i>(&self, inputs: &'i Inputs) -> Vec<&'i Tensor> {
        let names = self.live_names(inputs);
        names.iter().map(|name| &inputs[name]).collect()
    }

    fn live_names<'i>(&self, inputs: &'i Inputs) -> Vec<&'i str> {
        let read = self.nodes.iter().flat_map(|node| &node.input);
        let mut names = Vec::new();
        for name in read {
            if let Some((&name, _)) = inputs.get_key_value(name.as_str())
                && !names.contains(&name)
            {
                names.push(name);
            }
        }
        if names.is_empty() {
            names.push(UNREAD);
        }
        names
    }

    /// The network: its outputs are the results of the last node.
    pub fn model(&self, inputs: &Inputs) -> ModelProto {
        let input = self
            .live_names(inputs)
            .iter()
            .map(|name| value(name, Some(&inputs[name])))
            .collect();
        let last = self.nodes.last().unwrap();
        let set = |(domain, &version): (&&str, &i64)| OperatorSetIdProto {
            domain: Some((*domain).to_owned()),
            version: Some(version),
        };
        let mut versions = self.versions.clone();
        versions.entry("").or_insert(21);
        ModelProto {
            ir_version: Some(10),
            opset_import: versions.iter().map(set).collect(),
            graph: Some(GraphProto {
                node: self.nodes.clone(),
                initializer: self.stored.clone(),
                input,
                output: last.output.iter().map(|name| value(name, None)).collect(),
                ..GraphProto::default()
            }),
            ..ModelProto::default()
        }
    }
}

/// A value with the type of a tensor; the first axis is free unless its name is in capitals.
fn value(name: &str, tensor: Option<&Tensor>) -> ValueInfoProto {
    let is_free = name == name.to_lowercase();
    let ty = tensor.map(|tensor| {
        let dim = |(axis, &size): (usize, &usize)| Dimension {
            value: Some(if axis == 0 && is_free {
                dimension::Value::DimParam("N".to_owned())
            } else {
                dimension::Value::DimValue(size as i64)
            }),
            ..Dimension::default()
        };
        let ty = type_proto::Tensor {
            elem_type: Some(tensor.element.code()),
            shape: Some(TensorShapeProto {
                dim: tensor.shape.iter().enumerate().map(dim).collect(),
            }),
        };
        TypeProto {
            value: Some(type_proto::Value::TensorType(ty)),
            ..TypeProto::default()
        }
    });
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: ty,
        ..ValueInfoProto::default()
    }
}
