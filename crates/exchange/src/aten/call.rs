//! A call of a program while it is read: its arguments, and the nodes it becomes.

use super::builder::Builder;
use super::source::{Known, Source, graph_dtype};
use super::table;
use crate::constant::{self, Array, Refusal, Size, Values};
use crate::draft::{Param, axis_sizes, operator};
use interop::pt2::{self, Argument, Extent, ScalarType};
use ir::{DType, Shape, Type, Value};
use serde_json::{Value as Json, json};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Arguments that change no number: copies, and what only training, kernels or memory look at.
const WITHOUT_EFFECT: &[&str] = &[
    "benchmark",
    "copy",
    "cudnn_enable",
    "cudnn_enabled",
    "deterministic",
    "half_to_float",
    "implicit",
    "non_blocking",
    "padding_idx",
    "pin_memory",
    "scale_grad_by_freq",
    "sorted",
    "sparse",
    "sparse_grad",
];

/// The result of a reader: the results of the call, or the reason why it cannot be read.
pub type Read = Result<Vec<Source>, Refusal>;

/// A call of a program.
pub struct Call<'b, 'p> {
    /// The network so far.
    pub builder: &'b mut Builder<'p>,
    /// The call.
    pub node: &'p pt2::Call,
    /// The arguments that the reader asked for.
    asked: RefCell<BTreeSet<&'p str>>,
}

impl<'b, 'p> Call<'b, 'p> {
    /// A call none of whose arguments was asked for yet.
    pub fn new(builder: &'b mut Builder<'p>, node: &'p pt2::Call) -> Self {
        Self {
            builder,
            node,
            asked: RefCell::default(),
        }
    }

    /// Refuses a call with arguments that the reader did not ask for and that may change its result.
    pub fn check_arguments(&self) -> Result<(), Refusal> {
        let asked = self.asked.borrow();
        let has_effect = |(name, argument): &&(String, Argument)| {
            !matches!(argument, Argument::None | Argument::Placement)
                && !asked.contains(name.as_str())
                && !WITHOUT_EFFECT.contains(&name.as_str())
        };
        let unread = self.node.arguments.iter().filter(has_effect);
        let names: Vec<&str> = unread.map(|(name, _)| name.as_str()).collect();
        match names[..] {
            [] => Ok(()),
            [name] => Err(Refusal(format!("argument {name} is not understood"))),
            _ => {
                let names = names.join(", ");
                Err(Refusal(format!("arguments {names} are not understood")))
            }
        }
    }

    /// Accepts every argument, whatever it is.
    pub fn accept_all(&self) {
        let names = self.node.arguments.iter().map(|(name, _)| name.as_str());
        self.asked.borrow_mut().extend(names);
    }

    /// The operator without its namespace, its overload and the `_` of a change in place.
    pub fn operator_name(&self) -> &'p str {
        let name = table::plain_name(&self.node.target);
        name.split_once('.').map_or(name, |(_, name)| name)
    }

    /// An argument, unless it is left out or nothing.
    pub fn argument(&self, name: &str) -> Option<&'p Argument> {
        let mut arguments = self.node.arguments.iter();
        let found = arguments.find(|(own, _)| own == name);
        if let Some((own, _)) = found {
            self.asked.borrow_mut().insert(own);
        }
        found
            .map(|(_, argument)| argument)
            .filter(|argument| **argument != Argument::None)
    }

    /// True when an argument depends on a call that was not read.
    pub fn reads_missing(&self) -> bool {
        let arguments = self.node.arguments.iter();
        let mut names = arguments.flat_map(|(_, argument)| argument.names());
        names.any(|name| matches!(self.builder.find(name), Some(Source::Missing)))
    }

    fn missing(name: &str) -> Refusal {
        Refusal::new(format!("argument {name} is missing or of another kind"))
    }

    /// A tensor, if it is given.
    pub fn optional(&self, name: &str) -> Option<Source> {
        match self.argument(name)? {
            Argument::Tensor(value) => self.builder.find(value).cloned(),
            Argument::Int(extent) => Some(Source::size(self.extent(extent)?)),
            Argument::Float(number) => Some(Source::made(Array::scalar(*number as f32))),
            Argument::Bool(truth) => {
                let values = Values::Bool(vec![*truth]);
                Some(Source::made(Array::new(Vec::new(), values)))
            }
            _ => None,
        }
    }

    /// A tensor or a number.
    pub fn source(&self, name: &str) -> Result<Source, Refusal> {
        self.optional(name).ok_or_else(|| Self::missing(name))
    }

    /// The name of the value that an argument reads.
    pub fn value_name(&self, name: &str) -> Option<&'p str> {
        match self.argument(name)? {
            Argument::Tensor(value) => Some(value),
            _ => None,
        }
    }

    /// Several tensors.
    pub fn list(&self, name: &str) -> Result<Vec<Option<Source>>, Refusal> {
        match self.argument(name) {
            Some(Argument::Tensors(names)) => Ok(names
                .iter()
                .map(|name| self.builder.find(name.as_ref()?).cloned())
                .collect()),
            _ => Err(Self::missing(name)),
        }
    }

    /// A tensor as a value of the graph; what is known becomes a stored tensor.
    pub fn value(&mut self, name: &str) -> Result<Value, Refusal> {
        let source = self.source(name)?;
        self.builder.value_of(&source)
    }

    /// A tensor that is known and not trained, so that it may be evaluated.
    pub fn known(&self, name: &str) -> Option<Array> {
        match self.optional(name)? {
            Source::Known(known) if !known.trained => Some(known.array),
            _ => None,
        }
    }

    fn extent(&self, extent: &Extent) -> Option<Size> {
        match extent {
            Extent::Number(number) => Some((*number).into()),
            Extent::Name(name) => match self.builder.find(name)? {
                Source::Known(known) => known.array.sizes()?.first().copied(),
                _ => None,
            },
        }
    }

    /// Integers that may be multiples of the batch.
    pub fn sizes(&self, name: &str) -> Result<Vec<Size>, Refusal> {
        let sizes = match self.argument(name) {
            Some(Argument::Ints(extents)) => extents.iter().map(|e| self.extent(e)).collect(),
            Some(Argument::Int(extent)) => self.extent(extent).map(|size| vec![size]),
            _ => None,
        };
        sizes.ok_or_else(|| Self::missing(name))
    }

    /// An integer, or the default.
    pub fn int(&self, name: &str, default: Option<i64>) -> Result<i64, Refusal> {
        if self.argument(name).is_none() {
            return default.ok_or_else(|| Self::missing(name));
        }
        match self.sizes(name)?.as_slice() {
            [size] if !size.of_batch => Ok(size.factor),
            _ => Err(Self::missing(name)),
        }
    }

    /// Integers, or the default; one stands for all of `n`.
    pub fn ints(&self, name: &str, default: &[i64], n: usize) -> Result<Vec<i64>, Refusal> {
        if self.argument(name).is_none() {
            return Ok(default.to_vec());
        }
        let sizes = self.sizes(name)?;
        if sizes.iter().any(|size| size.of_batch) {
            return Err(Self::missing(name));
        }
        let ints: Vec<i64> = sizes.iter().map(|size| size.factor).collect();
        Ok(match ints.as_slice() {
            [one] if n > 1 => vec![*one; n],
            [] => default.to_vec(),
            _ => ints,
        })
    }

    /// A number, if it is given.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.argument(name)? {
            Argument::Float(number) => Some(*number),
            Argument::Int(Extent::Number(number)) => Some(*number as f64),
            Argument::Bool(truth) => Some(f64::from(u8::from(*truth))),
            _ => None,
        }
    }

    /// A truth value, or the default.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        match self.argument(name) {
            Some(Argument::Bool(flag)) => *flag,
            _ => default,
        }
    }

    /// A word, or the default.
    pub fn text(&self, name: &str, default: &'p str) -> &'p str {
        match self.argument(name) {
            Some(Argument::Text(text)) => text,
            _ => default,
        }
    }

    /// An element type, if it is given.
    pub fn dtype(&self, name: &str) -> Option<DType> {
        match self.argument(name)? {
            Argument::ScalarType(number) => ScalarType::of_number(*number).map(graph_dtype),
            _ => None,
        }
    }

    /// Refuses a result of another kind than floats.
    pub fn expect_float_result(&self) -> Result<(), Refusal> {
        if self.argument("dtype").is_some() && self.dtype("dtype") != Some(DType::F32) {
            return Err(Refusal::new("its result is not of floats"));
        }
        Ok(())
    }

    /// The first result alone; refuses when anybody reads another one.
    pub fn first_alone(&self, first: Value) -> Read {
        let others = self.node.results.iter().skip(1);
        let read = others.flatten().find(|name| self.builder.is_read(name));
        if let Some(name) = read {
            return Err(Refusal(format!("its result '{name}' is not computed")));
        }
        let n_others = self.node.results.len().saturating_sub(1);
        let mut results = one(first);
        results.extend(vec![Source::Missing; n_others]);
        Ok(results)
    }

    /// A tensor that is kept once where the program repeats it along the batch that was made free of a fixed axis, beside values of
    /// this many axes.
    pub fn kept_once(&self, source: Source, rank: usize) -> Result<Source, Refusal> {
        let Some(rows) = self.builder.made_free().filter(|&rows| rows > 1) else {
            return Ok(source);
        };
        let Source::Known(Known {
            array,
            trained: false,
            ..
        }) = &source
        else {
            return Ok(source);
        };
        if array.shape.len() != rank || array.shape.first() != Some(&rows) {
            return Ok(source);
        }
        let first = constant::slice(array, 0, 0, 1, 1)?;
        if constant::expand(&first, &array.shape)? != *array {
            let why = "a constant differs from row to row of the batch that was made free";
            return Err(Refusal::new(why));
        }
        Ok(Source::made(first))
    }

    /// Tensors beside each other, each kept once where the program repeats it along the batch that was made free.
    pub fn all_kept_once<const K: usize>(
        &self,
        sources: [Source; K],
    ) -> Result<[Source; K], Refusal> {
        let ranks = sources.iter().map(|source| self.ty(source).shape.rank());
        let rank = ranks.max().unwrap_or(0);
        let mut kept = sources;
        for source in &mut kept {
            *source = self.kept_once(source.clone(), rank)?;
        }
        Ok(kept)
    }

    /// The sizes of the axes of a value.
    pub fn sizes_of(&self, value: Value) -> Vec<Size> {
        let dims = self.builder.type_of(value).shape.0;
        dims.iter().map(Size::of).collect()
    }

    /// A value with other axes.
    pub fn reshape(&mut self, value: Value, sizes: &[Size]) -> Result<Value, Refusal> {
        let shape = axis_sizes(sizes)?;
        self.push("reshape", json!({ "shape": shape }), &[value])
    }

    /// A value with its axes in another order.
    pub fn permute(&mut self, value: Value, order: &[usize]) -> Result<Value, Refusal> {
        if order.iter().copied().eq(0..order.len()) {
            return Ok(value);
        }
        self.push("permute", json!({ "dims": order }), &[value])
    }

    /// Elements of an axis by their places.
    pub fn pick(&mut self, value: Value, axis: usize, places: Vec<i64>) -> Result<Value, Refusal> {
        let places = self.builder.value_of(&Source::made(Array::ints(places)))?;
        self.push("gather", json!({ "dim": axis }), &[value, places])
    }

    /// The type of a source; that of rows is of integers.
    pub fn ty(&self, source: &Source) -> Type {
        match source {
            Source::Live(value) => self.builder.type_of(*value),
            Source::Known(known) => Type {
                shape: Shape::of(&known.array.shape),
                dtype: known.array.values.dtype(),
            },
            Source::Rows { rank, .. } => Type {
                shape: Shape::of(&vec![1; *rank]),
                dtype: DType::I64,
            },
            Source::Missing => Type::f32(Shape(Vec::new())),
        }
    }

    /// An axis of a source as an index; one behind the last is `rank`.
    pub fn axis(&self, source: &Source, axis: i64) -> Result<usize, Refusal> {
        let shape = self.ty(source).shape;
        let axis = shape.axis(axis);
        axis.map_err(|error| Refusal::new(error.to_string()))
    }

    /// The name that nodes of this call start with: that of the layer, or of the result.
    fn base(&self) -> String {
        if let Some(layer) = &self.node.layer {
            return layer.name.clone();
        }
        let first = self.node.results.iter().flatten().next();
        first.cloned().unwrap_or_else(|| self.node.target.clone())
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
        let base = self.base();
        self.builder.push(&base, op, inputs, params)
    }

    /// A stored tensor of floats as a parameter; `None` when it is computed, or shared with other calls.
    pub fn param(&self, port: &'static str, name: &str) -> Option<Param> {
        let Some(Source::Known(known)) = self.optional(name) else {
            return None;
        };
        let value = self.value_name(name)?;
        let is_own = !known.trained || self.builder.is_read_once(value);
        if !is_own || known.turned || !matches!(known.array.values, Values::F32(_)) {
            return None;
        }
        Some(Param {
            grid: None,
            port,
            array: known.array,
            path: known.path,
        })
    }

    /// A trained matrix, whose axes the program has exchanged, as the parameter that it was before.
    pub fn turned_param(&self, port: &'static str, name: &str) -> Result<Option<Param>, Refusal> {
        let Some(Source::Known(known)) = self.optional(name).filter(|_| self.is_own(name)) else {
            return Ok(None);
        };
        if !known.turned || !matches!(known.array.values, Values::F32(_)) {
            return Ok(None);
        }
        Ok(Some(Param {
            grid: None,
            port,
            array: constant::permute(&known.array, &[1, 0])?,
            path: known.path,
        }))
    }

    /// True when no other call reads the value of an argument.
    pub fn is_own(&self, name: &str) -> bool {
        let value = self.value_name(name);
        value.is_some_and(|value| self.builder.is_read_once(value))
    }

    /// A stored tensor of floats as a parameter of its own, shared or not.
    pub fn copied_param(&self, port: &'static str, name: &str) -> Result<Param, Refusal> {
        if let Some(param) = self.param(port, name) {
            return Ok(param);
        }
        match self.optional(name) {
            Some(Source::Known(Known { array, .. })) => Ok(Param {
                grid: None,
                port,
                array,
                path: String::new(),
            }),
            _ => Err(Refusal::new(format!("its {name} is computed, not stored"))),
        }
    }

    /// All results of a node.
    pub fn results(&self, value: Value) -> Vec<Source> {
        let n = self.builder.n_results(value) as u16;
        let values = (0..n).map(|output| Value { output, ..value });
        values.map(Source::Live).collect()
    }
}

/// One result.
pub fn one(value: Value) -> Vec<Source> {
    vec![Source::Live(value)]
}

/// One result that was evaluated.
pub fn made(array: Array) -> Vec<Source> {
    vec![Source::made(array)]
}
