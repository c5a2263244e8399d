//! A node of a file while it is read: its inputs, its attributes, and the nodes it becomes.

use super::attributes::Attributes;
use super::import::{Importer, Source};
use crate::constant::{self, Array, Refusal, Size, Values};
use crate::draft::{Param, operator};
use interop::onnx::Element;
use interop::onnx::proto::NodeProto;
use ir::{DType, Type, Value};
use serde_json::Value as Json;

/// The result of a reader: the results of the node, or the reason why it cannot be read.
pub type Read = Result<Vec<Source>, Refusal>;

/// A node of a file.
pub struct Call<'a, 'm> {
    /// The network so far.
    pub importer: &'a mut Importer<'m>,
    /// The message.
    pub node: &'m NodeProto,
    /// Its attributes.
    pub attributes: Attributes<'m>,
    /// Its inputs; `None` for those that are left out.
    pub inputs: Vec<Option<Source>>,
    /// The version of the operator's set.
    pub version: i64,
    /// The name that its nodes start with.
    pub name: String,
}

impl Call<'_, '_> {
    /// An input that must be there.
    pub fn source(&self, index: usize) -> Result<&Source, Refusal> {
        let source = self.inputs.get(index).and_then(Option::as_ref);
        source.ok_or_else(|| Refusal::new(format!("input {index} is missing")))
    }

    /// True when an input is there.
    pub fn has(&self, index: usize) -> bool {
        self.inputs.get(index).is_some_and(Option::is_some)
    }

    /// The type of an input.
    pub fn ty(&self, index: usize) -> Result<Type, Refusal> {
        Ok(self.source(index)?.ty())
    }

    /// The number of axes of an input.
    pub fn rank(&self, index: usize) -> Result<usize, Refusal> {
        Ok(self.ty(index)?.shape.rank())
    }

    /// The stored type of an input.
    pub fn element(&self, index: usize) -> Result<Element, Refusal> {
        Ok(self.source(index)?.element())
    }

    /// An input that is known.
    pub fn known(&self, index: usize) -> Option<&Array> {
        match self.inputs.get(index)?.as_ref()? {
            Source::Known { array, .. } => Some(array),
            Source::Codes { .. } | Source::Value { .. } => None,
        }
    }

    /// An input that must be known.
    pub fn constant(&self, index: usize) -> Result<&Array, Refusal> {
        self.source(index)?;
        self.known(index)
            .ok_or_else(|| Refusal::new(format!("input {index} is computed, not a constant")))
    }

    /// All inputs, when they are known.
    pub fn all_known(&self) -> Option<Vec<&Array>> {
        let present = self.inputs.iter().flatten();
        present
            .map(|source| match source {
                Source::Known { array, .. } => Some(array),
                Source::Codes { .. } | Source::Value { .. } => None,
            })
            .collect()
    }

    /// Integers that must be known.
    pub fn ints(&self, index: usize) -> Result<Vec<i64>, Refusal> {
        let array = self.constant(index)?;
        let ints = array.integers().map(<[i64]>::to_vec);
        ints.ok_or_else(|| Refusal::new(format!("input {index} is not of known integers")))
    }

    /// Integers that must be known, some of which may be multiples of the batch.
    pub fn sizes(&self, index: usize) -> Result<Vec<Size>, Refusal> {
        let sizes = self.constant(index)?.sizes();
        sizes.ok_or_else(|| Refusal::new(format!("input {index} is not of sizes")))
    }

    /// Keeps a known input once where it repeats along the batch that was made free.
    pub fn keep_once(&mut self, index: usize) -> Result<(), Refusal> {
        let Some(rows) = self.importer.made_free().filter(|&rows| rows > 1) else {
            return Ok(());
        };
        let rank = self
            .inputs
            .iter()
            .flatten()
            .map(|source| source.ty().shape.rank());
        let rank = rank.max().unwrap_or(0);
        let Some(Some(Source::Known { array, .. })) = self.inputs.get_mut(index) else {
            return Ok(());
        };
        if array.shape.len() != rank || array.shape.first() != Some(&rows) {
            return Ok(());
        }
        let first = constant::slice(array, 0, 0, 1, 1)?;
        if constant::expand(&first, &array.shape)? != *array {
            let why = "a constant differs from row to row of the batch that was made free";
            return Err(Refusal::new(why));
        }
        *array = first;
        Ok(())
    }

    /// The only number of an input that must be known.
    pub fn number(&self, index: usize) -> Result<f64, Refusal> {
        let number = self.constant(index)?.number();
        number.ok_or_else(|| Refusal::new(format!("input {index} is not one number")))
    }

    /// Integers of an attribute in old versions, of an input in later ones.
    pub fn ints_of(&self, attribute: &str, index: usize) -> Result<Option<Vec<i64>>, Refusal> {
        match self.attributes.ints(attribute)? {
            Some(ints) => Ok(Some(ints)),
            None if self.has(index) => self.ints(index).map(Some),
            None => Ok(None),
        }
    }

    /// An input as a value of the graph; what is known becomes a stored tensor.
    pub fn value(&mut self, index: usize) -> Result<Value, Refusal> {
        let source = self.source(index)?.clone();
        self.importer.value_of(&source)
    }

    /// A known tensor as a value of the graph.
    pub fn store(&mut self, array: Array) -> Result<Value, Refusal> {
        self.importer.value_of(&Source::made(array))
    }

    /// An axis of an input as an index.
    pub fn axis(&self, index: usize, axis: i64) -> Result<usize, Refusal> {
        let shape = self.ty(index)?.shape;
        shape
            .axis(axis)
            .map_err(|error| Refusal::new(error.to_string()))
    }

    /// Appends a node and returns its first result.
    pub fn push(&mut self, op: &str, attributes: Json, inputs: &[Value]) -> Result<Value, Refusal> {
        self.layer(op, attributes, inputs, Vec::new())
    }

    /// Appends a node with parameters and returns its first result.
    pub fn layer(
        &mut self,
        op: &str,
        attributes: Json,
        inputs: &[Value],
        params: Vec<Param>,
    ) -> Result<Value, Refusal> {
        let op = operator(op, attributes)?;
        self.importer.push(&self.name, op, inputs, params)
    }

    /// A parameter from an input that must be a known tensor of floats.
    pub fn param(&self, port: &'static str, index: usize) -> Result<Param, Refusal> {
        let path = self.source(index)?.path().to_owned();
        let array = self.constant(index)?.clone();
        if !matches!(array.values, Values::F32(_)) {
            return Err(Refusal::new(format!("{port} is not of floats")));
        }
        let grid = match self.source(index)? {
            Source::Known { grid, .. } => grid.clone(),
            Source::Codes { .. } | Source::Value { .. } => None,
        };
        Ok(Param {
            port,
            array,
            path,
            grid,
        })
    }

    /// The type of a value of the graph.
    pub fn type_of(&self, value: Value) -> Type {
        self.importer.type_of(value)
    }

    /// One result with the element type of an input.
    pub fn result_like(&self, value: Value, index: usize) -> Read {
        let element = self.element(index)?;
        Ok(vec![self.importer.result(value, element)])
    }

    /// One result.
    pub fn result(&self, value: Value, element: Element) -> Vec<Source> {
        vec![self.importer.result(value, element)]
    }

    /// One operator of one input, whose result has the type of the input.
    pub fn unary(&mut self, op: &str, attributes: Json) -> Read {
        let x = self.value(0)?;
        let y = self.push(op, attributes, &[x])?;
        self.result_like(y, 0)
    }

    /// Refuses integers that are narrower than those of the graph, whose sums would not wrap as the file's do.
    pub fn refuse_narrow(&self, index: usize) -> Result<(), Refusal> {
        let element = self.element(index)?;
        let is_narrow = element.is_integer() && !matches!(element, Element::I64 | Element::I32);
        if is_narrow {
            return Err(Refusal::new(format!(
                "arithmetic of {} is not computed",
                element.name()
            )));
        }
        Ok(())
    }
}

/// Refuses all element types but one.
pub fn expect_dtype(ty: &Type, dtype: DType) -> Result<(), Refusal> {
    if ty.dtype == dtype {
        return Ok(());
    }
    Err(Refusal::new(format!("takes {dtype}, not {}", ty.dtype)))
}
