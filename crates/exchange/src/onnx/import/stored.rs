//! Tensors of a file, and known tensors as nodes and parameters of the graph.

use super::{Importer, Source};
use crate::constant::{self, Array, Refusal, Values};
use crate::draft::Param;
use crate::error::ImportProblem;
use interop::onnx::proto::TensorProto;
use interop::onnx::{self, Element};
use ir::ops::placeholder::Constant;
use ir::{DType, Node, Tensor, Type, Value};

/// The largest integer that a graph holds, which computes in floats.
pub const MAX_INTEGER: u64 = 1 << 24;

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
            grid: None,
        })
    }

    /// A value of the graph: what is known becomes a stored tensor, once for each tensor of the file.
    pub fn value_of(&mut self, source: &Source) -> Result<Value, Refusal> {
        let (array, path, grid) = match source {
            Source::Value { value, .. } => return Ok(*value),
            Source::Known {
                array, path, grid, ..
            } => (array, path, grid),
            Source::Codes { value, grid, .. } => return self.encode(*value, grid),
        };
        if let Some(&value) = self.stored.get(path)
            && self.holds(value, array)
        {
            return Ok(value);
        }
        let dtype = array.values.dtype();
        let is_infinite = |value: &f32| value.is_infinite();
        let is_mask = array.floats().is_some_and(|v| v.iter().any(is_infinite));
        // Floats of the file are trained; what was evaluated, what is no float, and masks with infinities are not.
        let op = if path.is_empty() || dtype != DType::F32 || is_mask {
            Constant::buffer(array.shape.clone(), dtype)
        } else {
            Constant::trained(array.shape.clone(), 0.0)
        };
        let param = Param {
            port: "value",
            array: constant::cast(array, DType::F32)?,
            path: path.clone(),
            grid: None,
        };
        if let Some(integers) = array.integers()
            && integers
                .iter()
                .any(|value| value.unsigned_abs() > MAX_INTEGER)
        {
            return Err(Refusal::new(
                "a constant holds integers beyond 2^24, which a graph does not",
            ));
        }
        let tensor = self.shared(param)?;
        let ty = Type {
            shape: ir::Shape::of(&array.shape),
            dtype,
        };
        if array.values.is_empty() {
            return Err(Refusal::new("a constant is empty"));
        }
        let target = self.draft.names.stored(path);
        let name = self
            .draft
            .names
            .fresh(if path.is_empty() { "constant" } else { path });
        let mut node = Node::new(&name, &target, op, &[]);
        node.params.insert("value".to_owned(), tensor);
        if let Some(grid) = grid {
            node.formats.insert("value".to_owned(), grid.format()?);
        }
        let value = self.draft.append(node, vec![ty]);
        if !path.is_empty() {
            self.stored.insert(path.clone(), value);
        }
        Ok(value)
    }

    /// True when a stored tensor of the graph has these values.
    fn holds(&self, value: Value, array: &Array) -> bool {
        let floats = constant::cast(array, DType::F32);
        let stored = self.draft.nodes[value.node.index()].params.get("value");
        stored.is_some_and(|tensor| {
            let same = |array: Array| array.floats().is_some_and(|own| own == tensor.values());
            tensor.shape() == array.shape && floats.is_ok_and(same)
        })
    }

    /// The values of a parameter; those of a tensor of the file are held once, however often it is used.
    pub fn shared(&mut self, param: Param) -> Result<Tensor, Refusal> {
        let Param {
            port, array, path, ..
        } = param;
        let Values::F32(values) = array.values else {
            return Err(Refusal::new(format!("{port} is not of floats")));
        };
        // Masks and thresholds may be infinite.
        let may_be_infinite = matches!(port, "value" | "thresholds");
        let is_allowed = |value: f32| value.is_finite() || may_be_infinite && !value.is_nan();
        if let Some(value) = values.iter().find(|value| !is_allowed(**value)) {
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
