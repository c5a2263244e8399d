//! Inputs, stored tensors, outputs, parameters.

use super::steps::Steps;
use super::{Exporter, Style};
use crate::constant::Refusal;
use interop::onnx::proto::tensor_shape_proto::{Dimension, dimension};
use interop::onnx::proto::{NodeProto, TensorShapeProto, TypeProto, ValueInfoProto, type_proto};
use interop::onnx::{Element, Values};
use ir::{DType, Node, NodeId, Op, Type, Value};

/// The stored type of values of a graph.
pub fn element(dtype: DType) -> Element {
    match dtype {
        DType::F32 => Element::F32,
        DType::I64 => Element::I64,
        DType::Bool => Element::Bool,
    }
}

impl<'g> Exporter<'g> {
    pub(super) fn placeholder(&mut self, id: NodeId, node: &'g Node) -> Result<(), Refusal> {
        let ty = self.verified.outputs(id)[0].clone();
        let info = self.value_info(&node.name, &ty);
        self.proto.input.push(info);
        let name = self.rounded(node, "data_out_0", node.name.clone(), &ty)?;
        self.values.insert(id.into(), name);
        Ok(())
    }

    pub(super) fn constant(&mut self, id: NodeId, node: &'g Node) -> Result<(), Refusal> {
        let ty = self.verified.outputs(id)[0].clone();
        let name = self.param(node, "value")?;
        let name = self.rounded(node, "data_out_0", name, &ty)?;
        self.values.insert(id.into(), name);
        Ok(())
    }

    /// Outputs have names of their own and are made by nodes.
    pub(super) fn output(&mut self, node: &'g Node) -> Result<(), Refusal> {
        for (k, value) in node.inputs.iter().enumerate() {
            let ty = self.verified.ty(*value).clone();
            let name = self.masked(node, k, self.values[value].clone());
            let name = self.rounded(node, &format!("data_in_{k}"), name, &ty)?;
            let made = self
                .proto
                .node
                .iter()
                .any(|node| node.output.contains(&name));
            let taken = self.proto.output.iter().any(|info| info.name() == name);
            let name = if made && !taken {
                name
            } else {
                self.copied(&name)
            };
            let info = self.value_info(&name, &ty);
            self.proto.output.push(info);
        }
        Ok(())
    }

    fn copied(&mut self, name: &str) -> String {
        let copy = self.fresh(&format!("{name}/copy"));
        self.proto.node.push(NodeProto {
            op_type: Some("Identity".to_owned()),
            name: Some(copy.clone()),
            input: vec![name.to_owned()],
            output: vec![copy.clone()],
            ..NodeProto::default()
        });
        copy
    }

    /// The name and the type of a value.
    pub(super) fn value_info(&self, name: &str, ty: &Type) -> ValueInfoProto {
        let dims = ty.shape.0.iter().map(|dim| {
            let value = match (dim.fixed(), self.options.batch) {
                (Some(size), _) => dimension::Value::DimValue(size as i64),
                (None, Some(rows)) => dimension::Value::DimValue((dim.factor * rows) as i64),
                (None, None) => dimension::Value::DimParam(dim.to_string()),
            };
            Dimension {
                value: Some(value),
                ..Dimension::default()
            }
        });
        let tensor = type_proto::Tensor {
            elem_type: Some(element(ty.dtype).code()),
            shape: Some(TensorShapeProto {
                dim: dims.collect(),
            }),
        };
        ValueInfoProto {
            name: Some(name.to_owned()),
            r#type: Some(TypeProto {
                value: Some(type_proto::Value::TensorType(tensor)),
                ..TypeProto::default()
            }),
            ..ValueInfoProto::default()
        }
    }

    /// A parameter by its dotted name: its values as they are rounded, or its codes and the nodes that decode them.
    pub(super) fn param(&mut self, node: &Node, port: &str) -> Result<String, Refusal> {
        let path = node.param_path(port);
        let tensor = node.params.get(port);
        let tensor = tensor
            .ok_or_else(|| Refusal::new(format!("{port} has no value; load a checkpoint")))?;
        let shape = tensor.shape().to_vec();
        let dtype = match &node.op {
            Op::Constant(op) => op.dtype,
            _ => DType::F32,
        };
        if dtype != DType::F32 {
            let values = tensor.values().iter().map(|&value| value as i64).collect();
            self.store_as(&path, shape, element(dtype), Values::Ints(values));
            return Ok(path);
        }
        let Some(format) = node.formats.get(port) else {
            self.store_as(
                &path,
                shape,
                Element::F32,
                Values::Floats(tensor.values().to_vec()),
            );
            return Ok(path);
        };
        let mut rounded = vec![0.0; tensor.values().len()];
        format.quantize(tensor.values(), &shape, &mut rounded);
        let steps = match self.options.style {
            Style::Onnx => None,
            // What a style has no operator for is written as it is rounded.
            Style::Qdq | Style::Qonnx => match Steps::of_values(format, &rounded, &shape) {
                Some(steps) => self.writable(steps).ok(),
                None => self.steps(format, &shape).ok(),
            },
        };
        let floats = if self.options.float_weights {
            tensor.values().to_vec()
        } else {
            rounded.clone()
        };
        match steps {
            Some(steps) if self.options.style == Style::Qdq && !self.options.float_weights => {
                Ok(self.stored_codes(node, port, &steps, &rounded, &shape))
            }
            Some(steps) => {
                self.store_as(&path, shape, Element::F32, Values::Floats(floats));
                Ok(self.quantized(node, port, &path, &steps))
            }
            None => {
                self.store_as(&path, shape, Element::F32, Values::Floats(floats));
                Ok(path)
            }
        }
    }

    /// A value times the pruning mask of the input that reads it, if it has one.
    pub(super) fn masked(&mut self, node: &Node, index: usize, name: String) -> String {
        let port = format!("data_in_{index}");
        let Some(mask) = node.masks.get(&port) else {
            return name;
        };
        let path = node.mask_path(&port);
        let values = Values::Floats(mask.values().to_vec());
        self.store_as(&path, mask.shape().to_vec(), Element::F32, values);
        let masked = self.fresh(&format!("{path}/Mul"));
        self.proto.node.push(NodeProto {
            op_type: Some("Mul".to_owned()),
            name: Some(masked.clone()),
            input: vec![name, path],
            output: vec![masked.clone()],
            ..NodeProto::default()
        });
        masked
    }

    /// A value rounded as the format of a port says.
    pub(super) fn rounded(
        &mut self,
        node: &'g Node,
        port: &str,
        name: String,
        ty: &Type,
    ) -> Result<String, Refusal> {
        let Some(format) = node.formats.get(port) else {
            return Ok(name);
        };
        if self.options.style == Style::Onnx {
            return Err(Refusal::new(format!(
                "{port} has the format {format}; write --to qdq or qonnx, or leave formats out with --drop-formats"
            )));
        }
        let batch = ty.shape.bind(1).unwrap_or_default();
        let steps: Steps = self.steps(format, &batch).map_err(|Refusal(why)| {
            Refusal::new(format!("{port}: {format} cannot be written: {why}"))
        })?;
        Ok(self.quantized(node, port, &name, &steps))
    }

    /// The value that holds the number of rows, as a list of one.
    pub(super) fn batch_rows(&mut self) -> Result<String, Refusal> {
        if let Some(name) = &self.batch_size {
            return Ok(name.clone());
        }
        if let Some(rows) = self.options.batch {
            let name = self.store(
                "batch_rows",
                vec![1],
                Element::I64,
                Values::Ints(vec![rows as i64]),
            );
            self.batch_size = Some(name.clone());
            return Ok(name);
        }
        let has_batch = |(id, node): &(NodeId, &Node)| {
            let is_input = matches!(node.op, Op::Placeholder(_));
            let value = Value::from(*id);
            is_input
                && self
                    .verified
                    .ty(value)
                    .shape
                    .0
                    .first()
                    .is_some_and(|dim| dim.symbol.is_some() && dim.factor == 1)
        };
        let input = self.graph.iter().find(has_batch);
        let (_, input) =
            input.ok_or_else(|| Refusal::new("no input shows the size of the batch"))?;
        let name = self.fresh("batch_rows");
        self.proto.node.push(NodeProto {
            op_type: Some("Shape".to_owned()),
            name: Some(name.clone()),
            input: vec![input.name.clone()],
            output: vec![name.clone()],
            attribute: vec![super::site::int("start", 0), super::site::int("end", 1)],
            ..NodeProto::default()
        });
        self.batch_size = Some(name.clone());
        Ok(name)
    }
}
