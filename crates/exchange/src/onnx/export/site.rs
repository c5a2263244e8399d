//! A node of a graph while it is written.

use super::Exporter;
use crate::constant::Refusal;
use interop::onnx::proto::attribute_proto::AttributeType;
use interop::onnx::proto::{AttributeProto, NodeProto};
use interop::onnx::{Element, Values};
use ir::{Dim, Node, NodeId, Type};
use serde_json::{Map, Value as Json};

/// A node with the names of its inputs.
pub struct Site<'a, 'g> {
    /// The network so far.
    pub exporter: &'a mut Exporter<'g>,
    /// Its place.
    pub id: NodeId,
    /// The node.
    pub node: &'g Node,
    /// The names of its inputs, as they are rounded.
    pub inputs: Vec<String>,
    /// Its attributes.
    pub attributes: Map<String, Json>,
}

impl<'a, 'g> Site<'a, 'g> {
    /// A node with the names of its inputs.
    pub fn new(
        exporter: &'a mut Exporter<'g>,
        id: NodeId,
        node: &'g Node,
        inputs: Vec<String>,
    ) -> Self {
        Self {
            exporter,
            id,
            node,
            inputs,
            attributes: node.op.attributes(),
        }
    }

    /// The name of the first input.
    pub fn x(&self) -> String {
        self.inputs[0].clone()
    }

    /// The type of an input.
    pub fn input_type(&self, index: usize) -> Type {
        self.exporter.verified.ty(self.node.inputs[index]).clone()
    }

    /// The type of the first result.
    pub fn result_type(&self) -> Type {
        self.exporter.verified.outputs(self.id)[0].clone()
    }

    /// A number among the attributes.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.attributes.get(name)?.as_f64()
    }

    /// An integer among the attributes, or a value for one that is not written because it is the usual one.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.attributes
            .get(name)
            .and_then(Json::as_i64)
            .unwrap_or(default)
    }

    /// A flag among the attributes.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.attributes
            .get(name)
            .and_then(Json::as_bool)
            .unwrap_or(default)
    }

    /// A word among the attributes.
    pub fn word(&self, name: &str, default: &str) -> String {
        let word = self.attributes.get(name).and_then(Json::as_str);
        word.unwrap_or(default).to_owned()
    }

    /// Integers among the attributes; a single one counts for `n`.
    pub fn ints(&self, name: &str, n: usize, default: i64) -> Vec<i64> {
        match self.attributes.get(name) {
            Some(Json::Array(items)) => items.iter().filter_map(Json::as_i64).collect(),
            Some(Json::Number(number)) => vec![number.as_i64().unwrap_or(default); n],
            _ => vec![default; n],
        }
    }

    /// Appends a node and returns the name of its result.
    pub fn emit(&mut self, op: &str, inputs: &[&str], attributes: Vec<AttributeProto>) -> String {
        self.emit_in("", op, inputs, attributes, 1).remove(0)
    }

    /// Appends a node of any set with any number of results, and returns their names.
    pub fn emit_in(
        &mut self,
        domain: &str,
        op: &str,
        inputs: &[&str],
        attributes: Vec<AttributeProto>,
        n_results: usize,
    ) -> Vec<String> {
        let stem = format!("{}/{op}", self.node.name);
        let name = self.exporter.fresh(&stem);
        let outputs: Vec<String> = (0..n_results)
            .map(|_| self.exporter.fresh(&format!("{stem}_out")))
            .collect();
        self.exporter.proto.node.push(NodeProto {
            op_type: Some(op.to_owned()),
            domain: (!domain.is_empty()).then(|| domain.to_owned()),
            name: Some(name),
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            output: outputs.clone(),
            attribute: attributes,
            ..NodeProto::default()
        });
        outputs
    }

    /// Stores a list of integers.
    pub fn store_ints(&mut self, what: &str, values: Vec<i64>) -> String {
        let stem = format!("{}/{what}", self.node.name);
        let shape = vec![values.len()];
        self.exporter
            .store(&stem, shape, Element::I64, Values::Ints(values))
    }

    /// Stores a number in the type of the first input.
    pub fn store_number(&mut self, what: &str, value: f64) -> String {
        let stem = format!("{}/{what}", self.node.name);
        let is_integer = self
            .node
            .inputs
            .first()
            .is_some_and(|_| self.input_type(0).dtype == ir::DType::I64);
        if is_integer {
            let values = Values::Ints(vec![value as i64]);
            return self.exporter.store(&stem, Vec::new(), Element::I64, values);
        }
        let values = Values::Floats(vec![value as f32]);
        self.exporter.store(&stem, Vec::new(), Element::F32, values)
    }

    /// A parameter as it is written, in its own shape; `None` when the operator has none of that name.
    pub fn param(&mut self, port: &str) -> Result<Option<String>, Refusal> {
        if !self.node.param_specs().iter().any(|spec| spec.0 == port) {
            return Ok(None);
        }
        self.exporter.param(self.node, port).map(Some)
    }

    /// A parameter that the operator always has.
    pub fn own_param(&mut self, port: &str) -> Result<String, Refusal> {
        let name = self.param(port)?;
        name.ok_or_else(|| Refusal::new(format!("has no {port}")))
    }

    /// The sizes of a shape as a stored list; the batch is what is left.
    pub fn store_shape(&mut self, dims: &[Dim]) -> String {
        let batch = self.exporter.options.batch;
        let size = |dim: &Dim| match (dim.fixed(), batch) {
            (Some(size), _) => size as i64,
            (None, Some(rows)) => (dim.factor * rows) as i64,
            (None, None) => -1,
        };
        let sizes = dims.iter().map(size).collect();
        self.store_ints("shape", sizes)
    }
}

/// An integer attribute.
pub fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Int as i32),
        i: Some(value),
        ..AttributeProto::default()
    }
}

/// A list of integers as an attribute.
pub fn ints(name: &str, values: Vec<i64>) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Ints as i32),
        ints: values,
        ..AttributeProto::default()
    }
}

/// A float attribute.
pub fn float(name: &str, value: f64) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Float as i32),
        f: Some(value as f32),
        ..AttributeProto::default()
    }
}

/// A word as an attribute.
pub fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::String as i32),
        s: Some(value.as_bytes().to_vec().into()),
        ..AttributeProto::default()
    }
}
