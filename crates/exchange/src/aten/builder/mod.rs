//! The graph that grows from call to call.

mod kept;
mod stored;

use super::call::{Call, Read};
use super::source::{Source, graph_word};
use super::{aliases, table};
use crate::constant::Refusal;
use crate::draft::{Draft, Param};
use crate::error::ImportProblem;
use crate::onnx::{Imported, Notes};
use interop::Budget;
use interop::pt2::{self, Argument, Program, Tensors};
use ir::ops::placeholder::Output;
use ir::{Node, Op, Type, Value};
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
    /// The number of nodes before the layer, or the call, that is being read.
    mark: usize,
    /// Makes the fixed first axis of every input the batch.
    pub makes_batch: bool,
    /// The size of that axis in the program.
    made_free: Option<usize>,
    /// Calls that are not read stay as nodes of their own.
    keeps: bool,
    /// Those that do.
    kept: Notes,
    /// Calls that were not read: by operator, their number, the first module, the reason.
    refused: BTreeMap<String, (usize, String, String)>,
}

impl<'p> Builder<'p> {
    pub fn new(program: &'p Program) -> Self {
        let mut uses = HashMap::new();
        let arguments = program.calls.iter().flat_map(|call| &call.arguments);
        let arguments = arguments.map(|(_, argument)| argument);
        for name in arguments.chain(&program.outputs).flat_map(Argument::names) {
            *uses.entry(name).or_default() += 1;
        }
        Self {
            program,
            draft: Draft::default(),
            values: BTreeMap::new(),
            stored: HashMap::new(),
            uses,
            converted: BTreeMap::new(),
            mark: 0,
            makes_batch: false,
            made_free: None,
            keeps: false,
            kept: Notes::default(),
            refused: BTreeMap::new(),
        }
    }

    /// A network whose calls that are not read stay.
    pub fn keeping(program: &'p Program) -> Self {
        Self {
            keeps: true,
            ..Self::new(program)
        }
    }

    pub fn run(mut self, name: &str, tensors: Tensors) -> Result<Imported, ImportProblem> {
        let elements: usize = tensors.values().map(|tensor| tensor.values.len()).sum();
        let budget = Budget::of_size((elements * size_of::<f32>()) as u64);
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
            let made = calls[at..end].iter().flat_map(|call| &call.results);
            for name in made.flatten() {
                if let Some(Source::Known(known)) = self.values.get(name) {
                    let charged = budget.take(known.array.values.bytes());
                    charged.map_err(|over| ImportProblem::Graph(over.to_string()))?;
                }
            }
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
        Ok(Imported {
            notes: notes.chain(self.kept.sentences()).collect(),
            graph,
        })
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
        let mark = self.draft.nodes.len();
        let read = self.check(call).and_then(|()| {
            let read = self.read(at, call);
            read.or_else(|Refusal(reason)| self.keep_unread(call, mark, reason))
        });
        let results = read.unwrap_or_else(|Refusal(reason)| {
            let entry = self.refused.entry(call.target.clone());
            let (n, ..) = entry.or_insert((0, call.module.clone(), reason));
            *n += 1;
            vec![Source::Missing; call.results.len()]
        });
        for (name, source) in call.results.iter().zip(results) {
            if let Some(name) = name {
                self.values.insert(name.clone(), source);
            }
        }
    }

    /// Refuses a call that reads what is not there, or makes what is.
    fn check(&self, call: &pt2::Call) -> Result<(), Refusal> {
        let mut read = call
            .arguments
            .iter()
            .flat_map(|(_, argument)| argument.names());
        if let Some(name) = read.find(|name| self.find(name).is_none()) {
            let why = format!("reads '{name}', which no earlier call makes");
            return Err(Refusal(why));
        }
        let mut made = call.results.iter().flatten();
        if let Some(name) = made.find(|name| self.find(name).is_some()) {
            let why = format!("its result has the name of an earlier value, '{name}'");
            return Err(Refusal(why));
        }
        Ok(())
    }

    /// A call that was not read as a node of its own, if such calls stay and this one can.
    fn keep_unread(&mut self, call: &pt2::Call, mark: usize, reason: String) -> Read {
        self.draft.truncate(mark);
        self.stored.retain(|_, value| value.node.index() < mark);
        let kept = self.keeps.then(|| self.keep(call)).flatten();
        let Some(results) = kept else {
            return Err(Refusal(reason));
        };
        if let Some(Source::Live(value)) = results.first() {
            let name = &self.draft.nodes[value.node.index()].name;
            self.kept.keep_opaque(name, &call.target, &reason);
        }
        Ok(results)
    }

    fn read(&mut self, at: usize, call: &'p pt2::Call) -> Read {
        let reader = table::find(&call.target);
        let reader = reader.ok_or_else(|| Refusal::new("no such operator is known"))?;
        let mut call = Call::new(self, call);
        // What cannot be computed for want of an earlier result is not blamed.
        if call.reads_missing() {
            return Ok(vec![Source::Missing; call.node.results.len()]);
        }
        let results = reader(&mut call)?;
        call.check_arguments()?;
        let call = call.node;
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
            let tensor = Self::tensor(&param.array, false)?;
            node.params.insert(param.port.to_owned(), tensor);
        }
        Ok(self.draft.append(node, results))
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

    /// The size that the program gives the first axis of its inputs, where it was made the batch.
    pub fn made_free(&self) -> Option<usize> {
        self.made_free
    }

    /// True when a call or an output reads a value.
    pub fn is_read(&self, name: &str) -> bool {
        self.uses.contains_key(name)
    }

    /// True when one argument alone reads a value.
    pub fn is_read_once(&self, name: &str) -> bool {
        self.uses.get(name) == Some(&1)
    }
}
