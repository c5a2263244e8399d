//! From the messages of a file to a graph.

mod nested;
mod opaque;
mod rounding;
mod scope;
mod stored;

use super::attributes::Attributes;
use super::call::{Call, Read};
use super::grid::Grid;
use super::notes::Notes;
use super::table::{self, Entry};
use super::{ImportOptions, Imported, types};
use crate::constant::{Array, Refusal};
use crate::draft::{Draft, Names, Param};
use crate::error::ImportProblem;
use interop::Budget;
use interop::onnx::proto::{FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto};
use interop::onnx::{Element, Model, OnnxProblem};
use ir::ops::placeholder::{Output, Placeholder};
use ir::{Node, NodeId, Op, Tensor, Type, Value};
use scope::Scopes;
use std::collections::HashMap;
pub use stored::MAX_INTEGER;

/// Functions within functions, at most.
const MAX_DEPTH: usize = 16;
/// Nodes that functions may become, at most.
const MAX_NODES: usize = 1 << 18;
/// The version of ONNX's own operators from which on most stayed what they are.
const FIRST_LASTING: i64 = 7;
/// The newest version of ONNX's own operators that is read, that of its release 1.22.
const NEWEST: i64 = 27;

/// A value of a file.
#[derive(Clone, Debug)]
pub enum Source {
    /// A tensor that depends on no input.
    Known {
        /// Its values.
        array: Array,
        /// The type that the file stores.
        element: Element,
        /// The name of the stored tensor; empty for what was evaluated.
        path: String,
        /// The grid on which the file stores it.
        grid: Option<Grid>,
    },
    /// Codes of a value of the graph.
    Codes {
        /// The value.
        value: Value,
        /// Its type.
        ty: Type,
        /// The type of the codes.
        element: Element,
        /// Their scales and zero points.
        grid: Grid,
    },
    /// A value of the graph.
    Value {
        /// The value.
        value: Value,
        /// Its type.
        ty: Type,
        /// The type that the file states.
        element: Element,
    },
}

impl Source {
    /// A tensor that was evaluated.
    pub fn made(array: Array) -> Self {
        let element = stored::element_of(&array);
        Self::Known {
            array,
            element,
            path: String::new(),
            grid: None,
        }
    }

    /// The type in a graph.
    pub fn ty(&self) -> Type {
        match self {
            Self::Known { array, .. } => Type {
                shape: ir::Shape::of(&array.shape),
                dtype: array.values.dtype(),
            },
            Self::Value { ty, .. } => ty.clone(),
            Self::Codes { ty, .. } => Type {
                dtype: ir::DType::I64,
                ..ty.clone()
            },
        }
    }

    /// The type that the file states.
    pub fn element(&self) -> Element {
        match self {
            Self::Known { element, .. }
            | Self::Codes { element, .. }
            | Self::Value { element, .. } => *element,
        }
    }

    /// The name of the stored tensor; empty for all else.
    pub fn path(&self) -> &str {
        match self {
            Self::Known { path, .. } => path,
            Self::Codes { .. } | Self::Value { .. } => "",
        }
    }
}

/// A network that is being read.
pub struct Importer<'m> {
    options: &'m ImportOptions,
    draft: Draft,
    /// Stored tensors that are nodes already, by name in the file.
    stored: HashMap<String, Value>,
    /// Tensors by name in the file, so that one that is used twice is held once.
    tensors: HashMap<String, Tensor>,
    scopes: Scopes,
    functions: HashMap<(&'m str, &'m str), &'m FunctionProto>,
    /// Types that the file states, by the name of the value.
    stated: HashMap<&'m str, &'m ValueInfoProto>,
    /// The nodes and outputs that read a value, by its name.
    readers: HashMap<&'m str, usize>,
    /// True when nodes hold graphs, which read values without naming them as inputs.
    has_branches: bool,
    /// Nodes that only round.
    roundings: Vec<NodeId>,
    notes: Notes,
    budget: Budget,
    n_read: usize,
    /// The size of the first axis of the inputs, where it was made the batch.
    made_free: Option<usize>,
}

/// The graph of a network, not verified yet.
pub fn run(model: &Model, options: &ImportOptions) -> Result<Imported, ImportProblem> {
    let proto = &model.proto;
    let graph = proto.graph.as_ref();
    let graph = graph.ok_or_else(|| ImportProblem::Graph("the file has no graph".to_owned()))?;
    let mut importer = Importer::new(proto, graph, options);
    importer.initializers(graph)?;
    importer.inputs(graph)?;
    let versions = versions(&proto.opset_import);
    // Files before version 3 of the format state none.
    if versions.is_empty() && proto.ir_version() >= 3 {
        let message = "the file does not state the version of its operators";
        return Err(ImportProblem::Graph(message.to_owned()));
    }
    check_versions(&versions)?;
    importer.read_nodes(&graph.node, &versions, 0)?;
    importer.finish(graph)
}

/// The versions of the sets of operators, by domain.
type Versions<'m> = HashMap<&'m str, i64>;

fn versions(imports: &[interop::onnx::proto::OperatorSetIdProto]) -> Versions<'_> {
    let version = |import: &'_ interop::onnx::proto::OperatorSetIdProto| import.version();
    imports
        .iter()
        .map(|import| (domain(import.domain()), version(import)))
        .collect()
}

/// Refuses operators of a set that is not known yet, whose meaning may be another.
fn check_versions(versions: &Versions) -> Result<(), ImportProblem> {
    match versions.get("") {
        Some(version) if !(1..=NEWEST).contains(version) => {
            let message = format!(
                "its operators are of opset {version}, and those of opset 1 to {NEWEST} are read"
            );
            Err(ImportProblem::Graph(message))
        }
        _ => Ok(()),
    }
}

/// Refuses an operator of a set from before version 7 that has been another one since: old files are converted, not guessed at.
fn check_changed(
    entry: Option<&Entry>,
    node: &NodeProto,
    version: i64,
) -> Result<(), ImportProblem> {
    match entry {
        Some(Entry {
            domain: "", since, ..
        }) if version < *since && version < FIRST_LASTING => {
            let message = format!(
                "it is of opset {version}, and has been another operator since opset {since}; convert the file with onnx.version_converter"
            );
            Err(node_problem(node, &message))
        }
        _ => Ok(()),
    }
}

/// The nodes and outputs that read each value.
fn readers(graph: &GraphProto) -> HashMap<&str, usize> {
    let mut readers = HashMap::new();
    let names = graph
        .node
        .iter()
        .flat_map(|node| &node.input)
        .map(String::as_str);
    for name in names.chain(graph.output.iter().map(ValueInfoProto::name)) {
        *readers.entry(name).or_default() += 1;
    }
    readers
}

/// ONNX's own set has two names.
fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

impl<'m> Importer<'m> {
    fn new(proto: &'m ModelProto, graph: &'m GraphProto, options: &'m ImportOptions) -> Self {
        let functions = proto
            .functions
            .iter()
            .map(|function| ((domain(function.domain()), function.name()), function));
        let stated = graph.value_info.iter().chain(&graph.output);
        let stated = stated.map(|info| (info.name(), info));
        Self {
            options,
            draft: Draft::default(),
            stored: HashMap::new(),
            tensors: HashMap::new(),
            scopes: Scopes::default(),
            functions: functions.collect(),
            stated: stated.collect(),
            readers: readers(graph),
            has_branches: graph
                .node
                .iter()
                .flat_map(|node| &node.attribute)
                .any(|a| a.g.is_some()),
            roundings: Vec::new(),
            notes: Notes::default(),
            budget: Budget::of_size(interop::onnx::encoded_len(proto) as u64),
            n_read: 0,
            made_free: None,
        }
    }

    fn initializers(&mut self, graph: &'m GraphProto) -> Result<(), ImportProblem> {
        if let Some(sparse) = graph.sparse_initializer.first() {
            let name = sparse.values.as_ref().map_or("", |values| values.name());
            let message = format!("tensor '{name}' is sparse, and only dense ones are read");
            return Err(ImportProblem::Graph(message));
        }
        for proto in &graph.initializer {
            let source = self.tensor(proto)?;
            self.scopes.define(proto.name(), source)?;
        }
        Ok(())
    }

    fn inputs(&mut self, graph: &'m GraphProto) -> Result<(), ImportProblem> {
        for info in &graph.input {
            let name = info.name();
            // Files before version 4 list stored tensors as inputs too.
            let found = self.scopes.find(name);
            if found
                .is_some_and(|source| matches!(source, Source::Known { path, .. } if path == name))
            {
                continue;
            }
            if let Some(array) = self.options.fixed.get(name) {
                let source = Source::Known {
                    array: array.clone(),
                    element: types::element_of(info).unwrap_or(stored::element_of(array)),
                    path: String::new(),
                    grid: None,
                };
                self.scopes.define(name, source)?;
                continue;
            }
            if self.options.batch_axis {
                self.make_free(info)?;
            }
            let typed = types::of_value(info, self.options.batch_axis);
            let (ty, element) = typed.map_err(|message| ImportProblem::Input {
                name: name.to_owned(),
                message,
            })?;
            self.notes.convert(element);
            let Type { shape, dtype } = ty.clone();
            let op = Placeholder { shape, dtype };
            let fresh = self.draft.names.fresh(name);
            let value = self
                .draft
                .append(Node::new(&fresh, "", op, &[]), vec![ty.clone()]);
            self.scopes
                .define(name, Source::Value { value, ty, element })?;
        }
        Ok(())
    }

    /// Notes the size that an input gives the axis that becomes the batch; all inputs must give the same.
    fn make_free(&mut self, info: &ValueInfoProto) -> Result<(), ImportProblem> {
        let Some(rows) = types::first_size(info) else {
            return Ok(());
        };
        let first = *self.made_free.get_or_insert(rows);
        if first == rows {
            return Ok(());
        }
        Err(ImportProblem::Input {
            name: info.name().to_owned(),
            message: format!(
                "its first axis has the size {rows}, that of another input {first}, so that they are not the same batch"
            ),
        })
    }

    fn finish(mut self, graph: &'m GraphProto) -> Result<Imported, ImportProblem> {
        let mut outputs = Vec::new();
        for info in &graph.output {
            let name = info.name();
            let missing =
                || ImportProblem::Graph(format!("the output '{name}' is made by no node"));
            let source = self.scopes.find(name).ok_or_else(missing)?.clone();
            let value = self.value_of(&source);
            let value = value
                .map_err(|Refusal(why)| ImportProblem::Graph(format!("output '{name}': {why}")))?;
            outputs.push(value);
        }
        if outputs.is_empty() {
            return Err(ImportProblem::Graph(
                "the network has no outputs".to_owned(),
            ));
        }
        let fresh = self.draft.names.fresh("output");
        self.draft
            .append(Node::new(&fresh, "", Output {}, &outputs), Vec::new());
        let name = if graph.name().is_empty() {
            "onnx"
        } else {
            graph.name()
        };
        let mut result = self.draft.into_graph(name);
        rounding::settle(&mut result, &self.roundings);
        Ok(Imported {
            graph: result,
            notes: self.notes.sentences(),
        })
    }

    fn read_nodes(
        &mut self,
        nodes: &'m [NodeProto],
        versions: &Versions<'m>,
        depth: usize,
    ) -> Result<(), ImportProblem> {
        for node in nodes {
            self.n_read += 1;
            if depth > MAX_DEPTH || self.n_read > MAX_NODES + nodes.len() {
                let message =
                    "functions of the file call each other too deeply or too often".to_owned();
                return Err(ImportProblem::Graph(message));
            }
            self.read_node(node, versions, depth)?;
        }
        Ok(())
    }

    fn read_node(
        &mut self,
        node: &'m NodeProto,
        versions: &Versions<'m>,
        depth: usize,
    ) -> Result<(), ImportProblem> {
        let inputs = self.node_inputs(node)?;
        let (domain, operator) = (domain(node.domain()), node.op_type());
        let version = versions.get(domain).copied().unwrap_or(1);
        if let Some(function) = self.functions.get(&(domain, operator)).copied() {
            return self.read_function(node, function, &inputs, depth);
        }
        if operator == "If"
            && domain.is_empty()
            && self.read_branch(node, &inputs, versions, depth)?
        {
            return Ok(());
        }
        let name = Names::base(node);
        let mark = self.draft.nodes.len();
        let entry = table::find(domain, operator);
        check_changed(entry, node, version)?;
        let read = self.apply(entry, node, &inputs, version, &name);
        let results = match read {
            Ok(results) => results,
            Err(Refusal(reason)) => {
                self.roll_back(mark);
                let kept = self.keep_opaque(node, &inputs, version, &name);
                let kept = kept.map_err(|why| node_problem(node, &format!("{reason}; {why}")))?;
                self.notes.keep_opaque(&name, operator, &reason);
                kept
            }
        };
        self.charge(&results)?;
        self.define_results(node, results.into_iter().map(Some).collect())
    }

    /// Charges what was evaluated to the memory that the file may take.
    fn charge(&self, results: &[Source]) -> Result<(), OnnxProblem> {
        for source in results {
            if let Source::Known { array, .. } = source {
                self.budget.take(array.values.bytes())?;
            }
        }
        Ok(())
    }

    fn define_results(
        &mut self,
        node: &NodeProto,
        results: Vec<Option<Source>>,
    ) -> Result<(), ImportProblem> {
        for (output, source) in node.output.iter().zip(results) {
            let source =
                source.ok_or_else(|| node_problem(node, &format!("makes no result '{output}'")))?;
            if !output.is_empty() && self.scopes.define(output, source).is_err() {
                let message = format!("its result has the name of an earlier value, '{output}'");
                return Err(node_problem(node, &message));
            }
        }
        Ok(())
    }

    fn node_inputs(&self, node: &NodeProto) -> Result<Vec<Option<Source>>, ImportProblem> {
        let input = |name: &String| match name.as_str() {
            "" => Ok(None),
            name => match self.scopes.find(name) {
                Some(source) => Ok(Some(source.clone())),
                None => Err(node_problem(
                    node,
                    &format!(
                        "reads '{name}', which is neither an input, a stored tensor nor made by an earlier node"
                    ),
                )),
            },
        };
        node.input.iter().map(input).collect()
    }

    /// The results of a node by its line of the table.
    fn apply(
        &mut self,
        entry: Option<&Entry>,
        node: &'m NodeProto,
        inputs: &[Option<Source>],
        version: i64,
        name: &str,
    ) -> Read {
        let entry = entry.ok_or_else(|| Refusal::new("no such operator is known"))?;
        if version < entry.since {
            let since = entry.since;
            return Err(Refusal::new(format!(
                "it is of opset {version}, and read from opset {since} on"
            )));
        }
        let mut call = Call {
            importer: self,
            node,
            attributes: Attributes::new(&node.attribute),
            inputs: inputs.to_vec(),
            version,
            name: name.to_owned(),
        };
        let results = match entry.fold {
            Some(fold) if call.all_known().is_some() => {
                let arrays = fold(&call)?;
                arrays.into_iter().map(Source::made).collect()
            }
            _ => (entry.read)(&mut call)?,
        };
        if let Some(attribute) = call.attributes.unread() {
            return Err(Refusal::new(format!(
                "attribute {attribute} is not understood"
            )));
        }
        let is_read = |name: &String| call.importer.is_read(name);
        let last = node.output.iter().rposition(is_read);
        let n_needed = last.map_or(0, |last| last + 1);
        if results.len() < n_needed {
            return Err(Refusal::new(format!(
                "result {} is not computed",
                results.len()
            )));
        }
        Ok(results)
    }

    /// Removes the nodes of a call that failed.
    fn roll_back(&mut self, mark: usize) {
        self.draft.truncate(mark);
        self.roundings.retain(|id| id.index() < mark);
        self.stored.retain(|_, value| value.node.index() < mark);
    }

    /// Appends a node if its operator accepts its inputs, and returns its first result.
    pub fn push(
        &mut self,
        base: &str,
        op: Op,
        inputs: &[Value],
        params: Vec<Param>,
    ) -> Result<Value, Refusal> {
        let (mut node, results) = self.draft.begin(base, op, inputs, &params)?;
        for mut param in params {
            let port = param.port.to_owned();
            if let Some(grid) = param.grid.take() {
                node.formats.insert(port.clone(), grid.format()?);
            }
            let tensor = self.shared(param)?;
            node.params.insert(port, tensor);
        }
        Ok(self.draft.append(node, results))
    }

    /// The type of a value of the graph.
    pub fn type_of(&self, value: Value) -> Type {
        self.draft.type_of(value)
    }

    /// A value of the graph as a result of a node of the file.
    pub fn result(&self, value: Value, element: Element) -> Source {
        Source::Value {
            value,
            ty: self.draft.type_of(value),
            element,
        }
    }

    /// The results of the last node, from the first to the last.
    pub fn results(&self, value: Value, element: Element) -> Vec<Source> {
        let n = self.draft.n_results(value) as u16;
        let values = (0..n).map(|output| Value { output, ..value });
        values.map(|value| self.result(value, element)).collect()
    }

    /// The operator that makes a value.
    pub fn op_of(&self, value: Value) -> &Op {
        &self.draft.nodes[value.node.index()].op
    }

    /// True when a node or an output reads a value of the file, or may do so within a branch or a function.
    fn is_read(&self, name: &str) -> bool {
        let within = self.scopes.depth() > 1 || self.has_branches;
        !name.is_empty() && (within || self.readers.contains_key(name))
    }

    /// True when a value is the result of a node that only rounds.
    pub fn is_rounded(&self, value: Value) -> bool {
        self.roundings.contains(&value.node)
    }

    /// True when one node alone reads a value of the file.
    pub fn is_read_once(&self, name: &str) -> bool {
        self.readers.get(name) == Some(&1)
    }

    /// Gives a layer that has no bias one.
    pub fn give_bias(&mut self, value: Value, mut bias: Param) -> Result<(), Refusal> {
        bias.flatten()?;
        let format = bias.grid.take().map(|grid| grid.format()).transpose()?;
        let tensor = self.shared(bias)?;
        let node = &mut self.draft.nodes[value.node.index()];
        if let Op::Linear(op) = &mut node.op {
            op.bias = true;
            if let Some(format) = format {
                node.formats.insert("bias".to_owned(), format);
            }
            node.params.insert("bias".to_owned(), tensor);
        }
        Ok(())
    }

    /// The size that the file gives the first axis of its inputs, where it was made the batch.
    pub fn made_free(&self) -> Option<usize> {
        self.made_free
    }
}

fn node_problem(node: &NodeProto, message: &str) -> ImportProblem {
    let first = node.output.first().map_or("", String::as_str);
    let name = if node.name().is_empty() {
        first
    } else {
        node.name()
    };
    ImportProblem::Node {
        node: name.to_owned(),
        operator: node.op_type().to_owned(),
        message: message.to_owned(),
    }
}
