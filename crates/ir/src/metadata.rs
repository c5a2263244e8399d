//! Metadata of a node as it is printed and saved: what is common to software and hardware, what profiling found,
//! what emission needs. It is made from a verified graph when it is asked for; only statistics are stored.

use crate::{CodeRange, DType, Node, NodeId, Tensor, Type, Verified, result_format, sparsity};
use format::{FieldValue, Format};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

/// All metadata of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeMeta {
    /// Types, shapes and formats.
    pub common: Common,
    /// Statistics.
    pub software: Software,
    /// The part for emission.
    pub hardware: Hardware,
}

/// Types, shapes and formats of all ports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Common {
    /// The class that MASE gives the node.
    pub mase_type: &'static str,
    /// The operator.
    pub mase_op: &'static str,
    /// Data inputs and parameters.
    #[serde(skip_serializing_if = "Ports::is_empty")]
    pub args: Ports<PortMeta>,
    /// Results.
    #[serde(skip_serializing_if = "Ports::is_empty")]
    pub results: Ports<PortMeta>,
}

/// The metadata of one port.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PortMeta {
    /// The size of every axis.
    pub shape: Vec<usize>,
    /// The element type by PyTorch's name.
    pub torch_dtype: &'static str,
    /// The name of the format; `float` without one.
    #[serde(rename = "type")]
    pub type_name: &'static str,
    /// The format's parameters; `[32]` without one.
    pub precision: Vec<Json>,
    /// The share of zeros in its pruning mask; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparsity: Option<f64>,
}

/// The results of profiling.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Software {
    /// Data inputs and parameters.
    #[serde(skip_serializing_if = "Ports::is_empty")]
    pub args: Ports<PortStatistics>,
    /// Results.
    #[serde(skip_serializing_if = "Ports::is_empty")]
    pub results: Ports<PortStatistics>,
}

/// The statistics of one port.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PortStatistics {
    /// By name of the statistic: its fields.
    pub stat: Map<String, Json>,
}

/// The part for emission; empty yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hardware {}

/// Entries by port name, in the order of the ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ports<T>(pub Vec<(String, T)>);

impl<T> Ports<T> {
    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entry of a port.
    pub fn get(&self, port: &str) -> Option<&T> {
        self.0
            .iter()
            .find(|(name, _)| name == port)
            .map(|(_, entry)| entry)
    }
}

impl<T: Serialize> Serialize for Ports<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, entry)| (name, entry)))
    }
}

/// All metadata of a node for a batch of this size.
pub fn metadata(verified: &Verified, id: NodeId, batch: usize) -> NodeMeta {
    NodeMeta {
        common: common(verified, id, batch),
        software: software(verified, id),
        hardware: Hardware {},
    }
}

/// Types, shapes and formats of a node's ports for a batch of this size. A result without a format of its own has
/// the exact one of the integer computation when all operands are fixed point.
///
/// Differs from MASE: there the result of a quantised layer stays float.
pub fn common(verified: &Verified, id: NodeId, batch: usize) -> Common {
    let node = verified.graph().node(id);
    let inputs = verified.input_types(id);
    let data = inputs.iter().enumerate().map(|(k, ty)| {
        let port = format!("data_in_{k}");
        let meta = port_meta(ty, batch, node.formats.get(&port), node.masks.get(&port));
        (port, meta)
    });
    let params = node.param_specs().into_iter().map(|(name, shape, ..)| {
        let ty = Type::f32(crate::Shape::of(&shape));
        let meta = port_meta(&ty, batch, node.formats.get(name), node.masks.get(name));
        (name.to_owned(), meta)
    });
    let exact = exact_result(node, &inputs);
    let results = verified.outputs(id).iter().enumerate().map(|(k, ty)| {
        let port = format!("data_out_{k}");
        let format = node.formats.get(&port).or(exact.as_ref());
        let meta = port_meta(ty, batch, format, None);
        (port, meta)
    });
    Common {
        mase_type: node.mase_type().name(),
        mase_op: node.op.name(),
        args: Ports(data.chain(params).collect()),
        results: Ports(results.collect()),
    }
}

/// The statistics stored with a node, with an empty entry for every port that has none.
pub fn software(verified: &Verified, id: NodeId) -> Software {
    let node = verified.graph().node(id);
    let entry = |port: String| {
        let stat = node.statistics.get(&port).cloned().unwrap_or_default();
        (port, PortStatistics { stat })
    };
    let params = node
        .param_specs()
        .into_iter()
        .map(|(name, ..)| name.to_owned());
    let results = (0..verified.outputs(id).len()).map(|k| format!("data_out_{k}"));
    Software {
        args: Ports(
            node.data_ports()
                .into_iter()
                .chain(params)
                .map(entry)
                .collect(),
        ),
        results: Ports(results.map(entry).collect()),
    }
}

fn exact_result(node: &Node, inputs: &[Type]) -> Option<Format> {
    let operand = |port: &str| node.formats.get(port).and_then(CodeRange::of_format);
    result_format(&node.op, inputs, operand).map(Format::Integer)
}

fn port_meta(ty: &Type, batch: usize, format: Option<&Format>, mask: Option<&Tensor>) -> PortMeta {
    let (type_name, precision) = match (format, ty.dtype) {
        (Some(format), _) => (
            format.name(),
            format.precision().iter().map(field_json).collect(),
        ),
        (None, DType::F32) => ("float", vec![32.into()]),
        (None, DType::I64) => ("int", vec![64.into()]),
        (None, DType::Bool) => ("bool", vec![1.into()]),
    };
    // A verified graph overflows only for a batch that no memory holds; its size is then shown as the largest.
    let sizes = ty
        .shape
        .0
        .iter()
        .map(|dim| dim.bind(batch).unwrap_or(usize::MAX));
    PortMeta {
        shape: sizes.collect(),
        torch_dtype: ty.dtype.torch_name(),
        type_name,
        precision,
        sparsity: mask.map(sparsity),
    }
}

/// The value of a format's field as JSON.
pub fn field_json(value: &FieldValue) -> Json {
    match value {
        FieldValue::Int(number) => (*number).into(),
        FieldValue::Float(number) => (*number).into(),
        FieldValue::Bool(flag) => (*flag).into(),
        FieldValue::Text(text) => text.as_str().into(),
        FieldValue::List(items) => items.as_slice().into(),
    }
}
