//! Tensors of a file, and known tensors as nodes and parameters of the graph.

use super::{Importer, Source};
use crate::constant::{Array, Refusal, Values};
use crate::error::ImportProblem;
use crate::onnx::call::Param;
use interop::onnx::proto::TensorProto;
use interop::onnx::{self, Element};
use ir::ops::placeholder::Constant;
use ir::{Node, Tensor, Type, Value};

/// The stored type of what was evaluated.
pub fn element_of(array: &Array) -> Element {
    match array.values {
        Values::F32(_) => Element::F32,
        Values::I64(_) | Values::Sizes(_) => Element::I64,
        Values::Bool(_) => Element::Bool,
    }
}

/// The known tensor that a tensor of a file is.
pub fn array_of(tensor: onnx::Tensor) -> Array {
    let values = match tensor.values {
        onnx::Values::Floats(values) => Values::F32(values),
        onnx::Values::Ints(values) if tensor.element == Element::Bool => {
            Values::Bool(values.iter().map(|&value| value != 0).collect())
        }
        onnx::Values::Ints(values) => Values::I64(values),
    };
    Array::new(tensor.shape, values)
}

impl Importer<'_> {
    /// A tensor of the file.
    pub fn tensor(&mut self, proto: &TensorProto) -> Result<Source, ImportProblem> {
        let tensor = onnx::Tensor::read(proto, &self.budget)?;
        let (element, path) = (tensor.element, tensor.name.clone());
        self.notes.convert(element);
        Ok(Source::Known {
            array: array_of(tensor),
            element,
            path,
        })
    }

    /// A value of the graph: what is known becomes a stored tensor, once for each tensor of the file.
    pub fn value_of(&mut self, source: &Source) -> Result<Value, Refusal> {
        let (array, path) = match source {
            Source::Value { value, .. } => return Ok(*value),
            Source::Known { array, path, .. } => (array, path),
        };
        if let Some(&value) = self.stored.get(path) {
            return Ok(value);
        }
        let Values::F32(_) = array.values else {
            let dtype = array.values.dtype();
            return Err(Refusal::new(format!(
                "a constant of {dtype} is not stored in a graph"
            )));
        };
        let op = Constant {
            shape: array.shape.clone(),
            init_std: 0.0,
        };
        let param = Param {
            port: "value",
            array: array.clone(),
            path: path.clone(),
        };
        let tensor = self.shared(param)?;
        let ty = Type::f32(ir::Shape::of(&array.shape));
        if array.values.is_empty() {
            return Err(Refusal::new("a constant is empty"));
        }
        let target = self.names.stored(path);
        let name = self
            .names
            .fresh(if path.is_empty() { "constant" } else { path });
        let mut node = Node::new(&name, &target, op, &[]);
        node.params.insert("value".to_owned(), tensor);
        let value = self.append(node, vec![ty]);
        if !path.is_empty() {
            self.stored.insert(path.clone(), value);
        }
        Ok(value)
    }

    /// The values of a parameter; those of a tensor of the file are held once, however often it is used.
    pub fn shared(&mut self, param: Param) -> Result<Tensor, Refusal> {
        let Param { port, array, path } = param;
        let Values::F32(values) = array.values else {
            return Err(Refusal::new(format!("{port} is not of floats")));
        };
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(Refusal::new(format!(
                "{port} holds {value}, which no parameter can"
            )));
        }
        if let Some(tensor) = self.tensors.get(&path)
            && tensor.shape() == array.shape
            && tensor.values() == values
        {
            return Ok(tensor.clone());
        }
        let shape = array.shape;
        let tensor = Tensor::new(shape.clone(), values);
        let tensor = tensor
            .ok_or_else(|| Refusal::new(format!("{port} does not have the shape {shape:?}")))?;
        if !path.is_empty() {
            self.tensors.insert(path, tensor.clone());
        }
        Ok(tensor)
    }
}
