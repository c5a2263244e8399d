//! Arrays as the inputs of a network: types and shapes checked, rows counted.

use crate::arrays::{read, shape_text, values};
use crate::errors::{sentence, wrong_type};
use data::{InputArray, Rows, Split, Values};
use engine::Input;
use ir::{DType, Operator, RowCoupling, Shape, verify};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::borrow::Cow;
use std::sync::Arc;

/// Rows that run at once, as in `ch predict`: enough to keep the processor busy, few enough to stay in its caches.
const ROWS: usize = 1024;
/// Operations that run at once.
const OPERATIONS: u64 = 200_000_000;
/// Operations from which on Ctrl-C is looked for: some milliseconds of work.
const LONG: u64 = 10_000_000;

/// The inputs and results of a network.
pub struct Signature {
    inputs: Vec<InputType>,
    /// The type and shape of every result.
    pub outputs: Vec<(DType, Shape)>,
    /// Rows that run at once; nothing when the rows of a batch depend on each other.
    pub block: Option<usize>,
    /// The operations of one row.
    operations: u64,
}

/// An input of a network.
struct InputType {
    name: String,
    dtype: DType,
    shape: Shape,
    default: Option<i64>,
}

impl Signature {
    /// The signature of a graph.
    pub fn of(graph: &ir::Graph) -> PyResult<Self> {
        let verified = verify(graph).map_err(sentence)?;
        let input = |id: ir::NodeId| {
            let ty = verified.ty(id.into());
            let name = graph.node(id).name.clone();
            InputType {
                default: models::default_input(&graph.name, &name),
                name,
                dtype: ty.dtype,
                shape: ty.shape.clone(),
            }
        };
        let inputs: Vec<InputType> = verified.placeholders().into_iter().map(input).collect();
        let results = verified
            .output_values()
            .iter()
            .map(|&value| verified.ty(value));
        let outputs: Vec<(DType, Shape)> = results.map(|ty| (ty.dtype, ty.shape.clone())).collect();
        let is_row = |shape: &Shape| {
            let first = shape.0.first();
            first.is_some_and(|dim| dim.symbol.is_some() && dim.factor == 1)
        };
        let can_cut = graph.iter().all(|(id, node)| {
            node.op.row_coupling(&verified.input_types(id)) != RowCoupling::Coupled
        });
        let has_rows = inputs.iter().all(|input| is_row(&input.shape))
            && outputs.iter().all(|(_, shape)| is_row(shape));
        let costs = graph.iter().filter_map(|(id, _)| verified.cost(id, 1));
        let operations: u64 = costs.map(|cost| cost.flops).sum();
        let block = (OPERATIONS / operations.max(1)).clamp(1, ROWS as u64) as usize;
        Ok(Self {
            inputs,
            outputs,
            block: (can_cut && has_rows).then_some(block),
            operations,
        })
    }

    /// True when so many rows take long.
    pub fn is_long(&self, rows: usize) -> bool {
        self.operations.saturating_mul(rows as u64) > LONG
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self
            .inputs
            .iter()
            .map(|input| input.name.as_str())
            .collect();
        names.join(", ")
    }
}

impl InputType {
    fn expected(&self) -> String {
        let sizes: Vec<String> = self.shape.0.iter().map(ToString::to_string).collect();
        format!("({})", sizes.join(", "))
    }

    /// The rows of a batch that an array of this shape holds; nothing for an input without a batch axis.
    fn rows(&self, shape: &[usize]) -> PyResult<Option<usize>> {
        let wrong = || {
            let (name, expected) = (&self.name, self.expected());
            sentence(format!(
                "{name}: expected the shape {expected}, got {}",
                shape_text(shape)
            ))
        };
        if shape.len() != self.shape.0.len() {
            return Err(wrong());
        }
        let mut rows = None;
        for (dim, &size) in self.shape.0.iter().zip(shape) {
            let found = match &dim.symbol {
                None if dim.factor == size => continue,
                Some(_) if size.is_multiple_of(dim.factor.max(1)) => size / dim.factor.max(1),
                _ => return Err(wrong()),
            };
            if *rows.get_or_insert(found) != found {
                return Err(wrong());
            }
        }
        Ok(rows)
    }
}

/// An array for one input.
enum Held<'py> {
    F32(PyReadonlyArrayDyn<'py, f32>),
    I64(PyReadonlyArrayDyn<'py, i64>),
    /// An input that was left out and has a value of its own.
    Constant(DType, i64),
}

/// Arrays for all inputs of a network, with the same number of rows.
pub struct Arrays<'py> {
    held: Vec<(String, Held<'py>)>,
    /// The rows of the batch.
    pub rows: usize,
    widths: Vec<usize>,
}

impl<'py> Arrays<'py> {
    /// Arrays by position, or one dict of arrays by the names of the inputs.
    pub fn of_arguments(signature: &Signature, given: &Bound<'py, PyTuple>) -> PyResult<Self> {
        if given.len() == 1 {
            return Self::read(signature, &given.get_item(0)?);
        }
        let arrays: Vec<Bound<PyAny>> = given.iter().collect();
        Self::by_position(signature, &arrays)
    }

    /// One array, a tuple of them, or a dict by the names of the inputs.
    pub fn read(signature: &Signature, given: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(dict) = given.cast::<PyDict>() {
            return Self::by_name(signature, dict);
        }
        if let Ok(tuple) = given.cast::<PyTuple>() {
            let arrays: Vec<Bound<PyAny>> = tuple.iter().collect();
            return Self::by_position(signature, &arrays);
        }
        Self::by_position(signature, std::slice::from_ref(given))
    }

    fn by_position(signature: &Signature, given: &[Bound<'py, PyAny>]) -> PyResult<Self> {
        let all = signature.inputs.iter().enumerate();
        let arrays = all.map(|(place, _)| given.get(place).cloned());
        if given.len() > signature.inputs.len() {
            return Err(wrong_type(format!(
                "the network takes {}, got {} arrays",
                signature.names(),
                given.len()
            )));
        }
        Self::of(signature, arrays.collect())
    }

    fn by_name(signature: &Signature, given: &Bound<'py, PyDict>) -> PyResult<Self> {
        for key in given.keys() {
            let key: String = key.extract()?;
            if signature.inputs.iter().all(|input| input.name != key) {
                let names = signature.inputs.iter().map(|input| input.name.as_str());
                let hint = config::did_you_mean(&key, names);
                return Err(sentence(format!("unknown input '{key}'{hint}")));
            }
        }
        let inputs = signature.inputs.iter();
        let arrays: PyResult<Vec<_>> = inputs.map(|input| given.get_item(&input.name)).collect();
        Self::of(signature, arrays?)
    }

    fn of(signature: &Signature, given: Vec<Option<Bound<'py, PyAny>>>) -> PyResult<Self> {
        let (mut held, mut rows) = (Vec::new(), None);
        for (input, array) in signature.inputs.iter().zip(given) {
            let name = &input.name;
            let (array, shape) = match (array, input.default) {
                (None, Some(value)) => {
                    held.push((name.clone(), Held::Constant(input.dtype, value)));
                    continue;
                }
                (None, None) => {
                    return Err(wrong_type(format!(
                        "{name} is missing; the network takes {}",
                        signature.names()
                    )));
                }
                (Some(array), _) if input.dtype == DType::I64 => {
                    let array = read::<i64>(name, &array)?;
                    let shape = array.shape().to_vec();
                    (Held::I64(array), shape)
                }
                (Some(array), _) => {
                    let array = read::<f32>(name, &array)?;
                    let shape = array.shape().to_vec();
                    (Held::F32(array), shape)
                }
            };
            if let Some(found) = input.rows(&shape)? {
                let first = *rows.get_or_insert(found);
                if found != first {
                    return Err(sentence(format!(
                        "{name}: has {found} rows, but the input before it has {first}"
                    )));
                }
            }
            held.push((name.clone(), array));
        }
        let rows = rows.unwrap_or(1);
        let widths = signature.inputs.iter().map(|input| {
            let sizes = input.shape.bind(1).unwrap_or_default();
            sizes.iter().product()
        });
        Ok(Self {
            held,
            rows,
            widths: widths.collect(),
        })
    }

    /// The arrays as slices, for work without the interpreter's lock.
    pub fn slices(&self) -> PyResult<Slices<'_>> {
        let mut all = Vec::with_capacity(self.held.len());
        for ((_, held), width) in self.held.iter().zip(&self.widths) {
            all.push(match held {
                Held::F32(array) => Slice::F32(values(array)?.into()),
                Held::I64(array) => Slice::I64(values(array)?.into()),
                Held::Constant(DType::I64, value) => {
                    Slice::I64(vec![*value; self.rows * width].into())
                }
                Held::Constant(_, value) => {
                    Slice::F32(vec![*value as f32; self.rows * width].into())
                }
            });
        }
        Ok(Slices {
            all,
            widths: &self.widths,
        })
    }

    /// The arrays as rows of a dataset without labels.
    pub fn rows(&self) -> PyResult<Split> {
        let count = self.rows;
        let (labels, order) = (vec![0; count], (0..count as u32).collect());
        let slices = self.slices()?;
        if let [Slice::F32(only)] = slices.all.as_slice() {
            let rows = Rows {
                values: only.to_vec(),
                labels,
                width: self.widths[0],
            };
            return Ok(Split::new(Arc::new(rows), order));
        }
        let names = self.held.iter().map(|(name, _)| name.clone());
        let inputs = names.zip(&slices.all).zip(&self.widths);
        let input = |((name, slice), &width): ((String, &Slice), &usize)| InputArray {
            name,
            shape: vec![width],
            values: match slice {
                Slice::F32(values) => Values::F32(values.to_vec()),
                Slice::I64(values) => Values::I64(values.to_vec()),
            },
        };
        let inputs = inputs.map(input).collect();
        Ok(Split::of_arrays(
            Arc::new(data::Arrays { inputs, labels }),
            order,
        ))
    }
}

/// The values of all inputs.
pub struct Slices<'a> {
    all: Vec<Slice<'a>>,
    widths: &'a [usize],
}

/// The values of one input.
enum Slice<'a> {
    F32(Cow<'a, [f32]>),
    I64(Cow<'a, [i64]>),
}

impl Slices<'_> {
    /// Some rows of all inputs.
    pub fn part(&self, start: usize, rows: usize) -> Vec<Input<'_>> {
        let mut parts = Vec::with_capacity(self.all.len());
        for (slice, width) in self.all.iter().zip(self.widths) {
            let range = start * width..(start + rows) * width;
            parts.push(match slice {
                Slice::F32(values) => Input::F32(&values[range]),
                Slice::I64(values) => Input::I64(&values[range]),
            });
        }
        parts
    }
}
