//! The graph that grows from call to call.

use super::call::{Call, Read};
use super::source::{Known, Source, graph_dtype, graph_word};
use super::{aliases, table};
use crate::constant::{Array, BATCH, Refusal, Values};
use crate::draft::{Draft, Param};
use crate::error::ImportProblem;
use crate::onnx::Imported;
use interop::pt2::{self, Argument, Extent, InputKind, Program, ScalarType, Stored, Tensors};
use ir::ops::placeholder::{Constant, Output, Placeholder};
use ir::{DType, Dim, Node, Op, Shape, Tensor, Type, Value};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A network that is being read.
pub struct Builder<'p> {
    program: &'p Program,
    draft: Draft,
    values: BTreeMap<String, Source>,
    /// Stored tensors that are nodes already, by dotted name.
    stored: HashMap<String, Value>,
    /// The arguments that read each value.
    uses: HashMap<&'p str, usize>,
    /// Tensors whose elements become those of a graph, by their type.
    converted: BTreeMap<&'static str, usize>,
    /// Constants that hold infinities.
    n_infinite: usize,
    /// The number of nodes before the layer, or the call, that is being read.
    mark: usize,
    /// Calls that were not read: by operator, their number, the first module, the reason.
    refused: BTreeMap<String, (usize, String, String)>,
}

impl<'p> Builder<'p> {
    pub fn new(program: &'p Program) -> Self {
        let mut uses = HashMap::new();
        let arguments = program.calls.iter().flat_map(|call| &call.arguments);
        let arguments = arguments.map(|(_, argument)| argument);
        for argument in arguments.chain(&program.outputs) {
            match argument {
                Argument::Tensor(name) => *uses.entry(name.as_str()).or_default() += 1,
                Argument::Tensors(names) => {
                    for name in names.iter().flatten() {
                        *uses.entry(name.as_str()).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
        Self {
            program,
            draft: Draft::default(),
            values: BTreeMap::new(),
            stored: HashMap::new(),
            uses,
            converted: BTreeMap::new(),
            n_infinite: 0,
            mark: 0,
            refused: BTreeMap::new(),
        }
    }

    pub fn run(mut self, name: &str, tensors: Tensors) -> Result<Imported, ImportProblem> {
        self.inputs(tensors)?;
        let calls = &self.program.calls;
        let mut at = 0;
        while at < calls.len() {
            let run = calls[at].layer.as_ref().map(|layer| &layer.run);
            let is_same = |call: &pt2::Call| {
                run.is_some() && call.layer.as_ref().map(|layer| &layer.run) == run
            };
            let more = calls[at + 1..].iter().take_while(|call| is_same(call));
            let end = at + 1 + more.count();
            self.layer(at..end);
            at = end;
        }
        if !self.refused.is_empty() {
            return Err(ImportProblem::Graph(self.refusals()));
        }
        self.outputs()?;
        let graph = self.draft.into_graph(name);
        let notes = self.converted.iter().map(|(from, n)| {
            let (tensors, are) = if *n == 1 {
                ("tensor", "is")
            } else {
                ("tensors", "are")
            };
            format!("{n} {tensors} of {from} {are} read as {}", graph_word(from))
        });
        let infinite = (self.n_infinite > 0).then(|| {
            let n = self.n_infinite;
            format!("infinities of {n} stored tensors are read as the largest numbers of f32")
        });
        Ok(Imported {
            notes: notes.chain(infinite).collect(),
            graph,
        })
    }

    fn inputs(&mut self, mut tensors: Tensors) -> Result<(), ImportProblem> {
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
                    })
                }
                InputKind::Other(kind) => {
                    return Err(problem(format!("inputs of kind {kind} are not read")));
                }
            };
            self.values.insert(input.value.clone(), source);
        }
        Ok(())
    }

    fn placeholder(&mut self, name: &str) -> Result<Source, String> {
        let ty = self.program.types.get(name);
        let ty = ty.ok_or("the program does not say its type")?;
        let dims = ty.sizes.iter().enumerate().map(|(axis, size)| match size {
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
        let ty = Type { shape, dtype };
        let op = Placeholder {
            shape: ty.shape.clone(),
            dtype,
        };
        let node = Node::new(&self.draft.names.fresh(name), "", op, &[]);
        Ok(Source::Live(self.draft.append(node, vec![ty])))
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

    /// Reads the calls of one layer, or a single one. The node of the last result has their name, whatever was made on the way.
    fn layer(&mut self, calls: Range<usize>) {
        self.mark = self.draft.nodes.len();
        for at in calls.clone() {
            self.call(at);
        }
        let calls = &self.program.calls[calls];
        let results = calls.iter().rev();
        let result = results
            .filter_map(|call| call.results.iter().flatten().next())
            .find_map(|name| match self.values.get(name) {
                Some(Source::Live(value)) => Some(value.node.index()),
                _ => None,
            });
        if let Some(result) = result {
            self.draft.swap_names(self.mark, result);
            let layer = calls.first().and_then(|call| call.layer.as_ref());
            if let Some(layer) = layer.filter(|_| result >= self.mark) {
                self.draft.place(result, &layer.path);
            }
        }
    }

    fn call(&mut self, at: usize) {
        let call = &self.program.calls[at];
        let results = match self.read(at, call) {
            Ok(results) => results,
            Err(Refusal(reason)) => {
                let entry = self.refused.entry(call.target.clone());
                let (n, ..) = entry.or_insert((0, call.module.clone(), reason));
                *n += 1;
                vec![Source::Missing; call.results.len()]
            }
        };
        for (name, source) in call.results.iter().zip(results) {
            if let Some(name) = name {
                self.values.insert(name.clone(), source);
            }
        }
    }

    fn read(&mut self, at: usize, call: &'p pt2::Call) -> Read {
        let reader = table::find(&call.target);
        let reader = reader.ok_or_else(|| Refusal::new("no such operator is known"))?;
        let mut call = Call {
            builder: self,
            call,
        };
        // What cannot be computed for want of an earlier result is not blamed.
        if call.reads_missing() {
            return Ok(vec![Source::Missing; call.call.results.len()]);
        }
        let results = reader(&mut call)?;
        let call = call.call;
        if results.len() < call.results.len() {
            return Err(Refusal::new("not all of its results are computed"));
        }
        if let Some(result) = results.first()
            && table::is_in_place(&call.target)
            && table::plain_name(&call.target) != "aten.fill"
        {
            self.change_in_place(at, result)?;
        }
        Ok(results)
    }

    /// Gives an operand that a call changes its new value, under all of its names.
    fn change_in_place(&mut self, at: usize, result: &Source) -> Result<(), Refusal> {
        let changed = aliases::of_operand(&self.program.calls, at);
        let Some(name) = changed.seen_later(self.program, at) else {
            for name in changed.same {
                self.values.insert(name.to_owned(), result.clone());
            }
            return Ok(());
        };
        let why = format!("it changes its operand, which '{name}' shows a part of");
        Err(Refusal::new(why))
    }

    fn refusals(&self) -> String {
        let n: usize = self.refused.values().map(|(n, ..)| n).sum();
        let listed = self.refused.iter();
        let lines: Vec<String> = listed
            .map(|(target, (n, module, reason))| {
                let place = if module.is_empty() {
                    "the network"
                } else {
                    module
                };
                format!("{target} ({n}×, first in {place}): {reason}")
            })
            .collect();
        let calls = if n == 1 {
            "1 call is"
        } else {
            &format!("{n} calls are")
        };
        format!("{calls} not read: {}", lines.join("; "))
    }

    fn outputs(&mut self) -> Result<(), ImportProblem> {
        let mut values = Vec::new();
        for output in &self.program.outputs {
            let Argument::Tensor(name) = output else {
                continue;
            };
            let source = self.values.get(name).cloned();
            let missing = || ImportProblem::Graph(format!("no call makes the output '{name}'"));
            let value = self.value_of(&source.ok_or_else(missing)?);
            let value = value
                .map_err(|Refusal(why)| ImportProblem::Graph(format!("output '{name}': {why}")))?;
            values.push(value);
        }
        if values.is_empty() {
            let message = "the network returns no tensor".to_owned();
            return Err(ImportProblem::Graph(message));
        }
        let node = Node::new(&self.draft.names.fresh("output"), "", Output {}, &values);
        self.draft.append(node, Vec::new());
        Ok(())
    }

    /// Appends a node if its operator accepts its inputs, and returns its first result.
    pub fn push(
        &mut self,
        base: &str,
        op: Op,
        inputs: &[Value],
        params: Vec<Param>,
    ) -> Result<Value, Refusal> {
        let part = self
            .draft
            .has_steps(self.mark)
            .then(|| format!("{base}_part"));
        let base = part.as_deref().unwrap_or(base);
        let (mut node, results) = self.draft.begin(base, op, inputs, &params)?;
        for param in params {
            let tensor = self.tensor(&param.array)?;
            node.params.insert(param.port.to_owned(), tensor);
        }
        Ok(self.draft.append(node, results))
    }

    /// The values of a parameter. Infinities, which masks hold, become the largest numbers.
    fn tensor(&mut self, array: &Array) -> Result<Tensor, Refusal> {
        let values: Vec<f32> = match &array.values {
            Values::F32(values) => {
                self.n_infinite += usize::from(values.iter().any(|v| v.is_infinite()));
                let bounded = values.iter().map(|v| v.clamp(f32::MIN, f32::MAX));
                bounded.collect()
            }
            Values::I64(values) => values.iter().map(|&v| v as f32).collect(),
            Values::Bool(values) => values.iter().map(|&v| f32::from(u8::from(v))).collect(),
            Values::Sizes(_) => return Err(Refusal::new("a size of the batch is not a tensor")),
        };
        let tensor = Tensor::new(array.shape.clone(), values);
        tensor.ok_or_else(|| Refusal::new("a constant does not have its shape"))
    }

    /// The type of a value of the graph.
    pub fn type_of(&self, value: Value) -> Type {
        self.draft.type_of(value)
    }

    /// The number of results of the node of a value.
    pub fn n_results(&self, value: Value) -> usize {
        self.draft.n_results(value)
    }

    /// The value with this name.
    pub fn find(&self, name: &str) -> Option<&Source> {
        self.values.get(name)
    }

    /// Names a value anew: an operator that changes its operand in place.
    pub fn replace(&mut self, name: &str, source: Source) {
        self.values.insert(name.to_owned(), source);
    }

    /// Forgets the constants that show parts of a value which changes.
    pub fn forget_views(&mut self, base: &str) {
        for source in self.values.values_mut() {
            let Source::Known(known) = source else {
                continue;
            };
            if known.view_of.as_ref().is_some_and(|(own, _)| own == base) {
                *source = Source::Missing;
            }
        }
    }

    /// True when one argument alone reads a value.
    pub fn is_read_once(&self, name: &str) -> bool {
        self.uses.get(name) == Some(&1)
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
        if let Some(&value) = self.stored.get(&known.path) {
            return Ok(value);
        }
        let (shape, dtype) = (known.array.shape.clone(), known.array.values.dtype());
        let op = if known.trained {
            Constant::trained(shape.clone(), 0.0)
        } else {
            Constant::buffer(shape.clone(), dtype)
        };
        let tensor = self.tensor(&known.array)?;
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
