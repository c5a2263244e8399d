//! The inputs of a program, its stored tensors, and what is known as nodes of the graph.

use super::Builder;
use crate::aten::source::{Known, Source, graph_dtype};
use crate::constant::{self, Array, BATCH, Refusal, Size, Values};
use crate::draft::operator;
use crate::error::ImportProblem;
use interop::pt2::{Extent, InputKind, ScalarType, Stored, Tensors};
use ir::ops::placeholder::{Constant, Placeholder};
use ir::{DType, Dim, Node, Shape, Tensor, Type, Value};
use serde_json::json;

impl Builder<'_> {
    pub(super) fn inputs(&mut self, mut tensors: Tensors) -> Result<(), ImportProblem> {
        for input in &self.program.inputs {
            let problem = |message: String| ImportProblem::Input {
                name: input.value.clone(),
                message,
            };
            let source = match &input.kind {
                InputKind::User => self.placeholder(&input.value).map_err(problem)?,
                InputKind::Parameter(path) | InputKind::Buffer(path) => {
                    let missing = || problem(format!("the file has no tensor '{path}'"));
                    let stored = tensors.remove(path).ok_or_else(missing)?;
                    let array = self.array(&input.value, stored).map_err(problem)?;
                    Source::Known(Known {
                        array,
                        path: path.clone(),
                        trained: matches!(input.kind, InputKind::Parameter(_)),
                        view_of: None,
                        turned: false,
                    })
                }
                InputKind::Other(kind) => {
                    return Err(problem(format!("inputs of kind {kind} are not read")));
                }
            };
            if self.values.insert(input.value.clone(), source).is_some() {
                return Err(problem("two inputs have this name".to_owned()));
            }
        }
        Ok(())
    }

    fn placeholder(&mut self, name: &str) -> Result<Source, String> {
        if self.makes_batch {
            self.make_free(name)?;
        }
        let ty = self.stated(name)?;
        let op = Placeholder {
            shape: ty.shape.clone(),
            dtype: ty.dtype,
        };
        let node = Node::new(&self.draft.names.fresh(name), "", op, &[]);
        Ok(Source::Live(self.draft.append(node, vec![ty])))
    }

    /// Notes the size that an input gives the axis that becomes the batch; all inputs must give the same.
    fn make_free(&mut self, name: &str) -> Result<(), String> {
        let sizes = self.program.types.get(name).map(|ty| ty.sizes.as_slice());
        let Some([Extent::Number(rows), ..]) = sizes else {
            return Ok(());
        };
        let Ok(rows @ 1..) = usize::try_from(*rows) else {
            return Ok(());
        };
        let first = *self.made_free.get_or_insert(rows);
        if first == rows {
            return Ok(());
        }
        Err(format!(
            "its first axis has the size {rows}, that of another input {first}, so that they are not the same batch"
        ))
    }

    /// A size of a first axis, as a multiple of the batch where that was made of a fixed axis.
    pub fn multiple_of_batch(&self, size: Size) -> Size {
        match self.made_free {
            Some(rows) if !size.of_batch && size.factor > 0 && size.factor % rows as i64 == 0 => {
                Size {
                    factor: size.factor / rows as i64,
                    of_batch: true,
                }
            }
            _ => size,
        }
    }

    /// The type that the program states for a value.
    pub(super) fn stated(&mut self, name: &str) -> Result<Type, String> {
        let ty = self.program.types.get(name);
        let ty = ty.ok_or("the program does not say its type")?;
        let dims = ty.sizes.iter().enumerate().map(|(axis, size)| match size {
            Extent::Number(size) if axis == 0 && self.made_free.is_some() => {
                let dim = self.multiple_of_batch((*size).into()).dim();
                dim.ok_or_else(|| format!("axis {axis} has the size {size}"))
            }
            Extent::Number(size) => usize::try_from(*size)
                .map(Dim::from)
                .map_err(|_| format!("axis {axis} has the size {size}")),
            Extent::Name(_) if axis == 0 => Ok(Dim::symbol(BATCH)),
            Extent::Name(expression) => Err(format!(
                "axis {axis} has the free size {expression}; only axis 0, the batch, can be free"
            )),
        });
        let shape = Shape(dims.collect::<Result<_, _>>()?);
        let dtype = self.dtype(ty.dtype);
        Ok(Type { shape, dtype })
    }

    /// The element type of a graph for one of the program, counted when it is another.
    fn dtype(&mut self, dtype: ScalarType) -> DType {
        let own = graph_dtype(dtype);
        if !matches!(dtype, ScalarType::F32 | ScalarType::I64 | ScalarType::Bool) {
            *self.converted.entry(dtype.name()).or_default() += 1;
        }
        own
    }

    fn array(&mut self, value: &str, stored: Stored) -> Result<Array, String> {
        let of_program = self.program.types.get(value).map(|ty| ty.dtype);
        let dtype = stored.dtype.or(of_program).unwrap_or(ScalarType::F32);
        let values = match self.dtype(dtype) {
            DType::F32 => Values::F32(stored.values),
            DType::I64 => {
                let exact = |v: &f32| v.abs() <= 16_777_216.0;
                if !stored.values.iter().all(exact) {
                    return Err("holds integers beyond 2^24, which a graph does not".to_owned());
                }
                Values::I64(stored.values.iter().map(|&v| v as i64).collect())
            }
            DType::Bool => Values::Bool(stored.values.iter().map(|&v| v != 0.0).collect()),
        };
        Ok(Array::new(stored.shape, values))
    }

    /// The values of a stored tensor. Those of masks, which are not trained, may be infinite.
    pub(super) fn tensor(array: &Array, is_mask: bool) -> Result<Tensor, Refusal> {
        let values: Vec<f32> = match &array.values {
            Values::F32(values) => {
                let is_allowed = |v: f32| v.is_finite() || is_mask && !v.is_nan();
                if let Some(value) = values.iter().find(|value| !is_allowed(**value)) {
                    let why = format!("a stored tensor holds {value}, which a graph does not");
                    return Err(Refusal(why));
                }
                values.clone()
            }
            Values::I64(values) => values.iter().map(|&v| v as f32).collect(),
            Values::Bool(values) => values.iter().map(|&v| f32::from(u8::from(v))).collect(),
            Values::Sizes(_) => return Err(Refusal::new("a size of the batch is not a tensor")),
        };
        let tensor = Tensor::new(array.shape.clone(), values);
        tensor.ok_or_else(|| Refusal::new("a constant does not have its shape"))
    }

    /// A value of the graph: what is known becomes a stored tensor, once for each tensor of the file.
    pub fn value_of(&mut self, source: &Source) -> Result<Value, Refusal> {
        let known = match source {
            Source::Live(value) => return Ok(*value),
            Source::Known(known) => known,
            Source::Rows { .. } => {
                return Err(Refusal::new(
                    "the numbers of rows are not a value of a graph",
                ));
            }
            Source::Missing => return Err(Refusal::new("it is not computed")),
        };
        let value = self.stored_value(known)?;
        if !known.turned {
            return Ok(value);
        }
        let turn = operator("permute", json!({ "dims": [1, 0] }))?;
        self.push(&known.path, turn, &[value], Vec::new())
    }

    fn stored_value(&mut self, known: &Known) -> Result<Value, Refusal> {
        if let Some(&value) = self.stored.get(&known.path) {
            return Ok(value);
        }
        let as_stored;
        let array = if known.turned {
            as_stored = constant::permute(&known.array, &[1, 0])?;
            &as_stored
        } else {
            &known.array
        };
        let (shape, dtype) = (array.shape.clone(), array.values.dtype());
        let op = if known.trained {
            Constant::trained(shape.clone(), 0.0)
        } else {
            Constant::buffer(shape.clone(), dtype)
        };
        let tensor = Self::tensor(array, !known.trained)?;
        let target = self.draft.names.stored(&known.path);
        let base = if known.path.is_empty() {
            "constant"
        } else {
            &known.path
        };
        let mut node = Node::new(&self.draft.names.fresh(base), &target, op, &[]);
        node.params.insert("value".to_owned(), tensor);
        let shape = Shape::of(&shape);
        let value = self.draft.append(node, vec![Type { shape, dtype }]);
        if !known.path.is_empty() {
            self.stored.insert(known.path.clone(), value);
        }
        Ok(value)
    }
}
