//! The rules that a graph must obey before anything runs it or turns it into hardware.
//!
//!  1. `output`: there is exactly one output node, and it is the last node.
//!  2. `placeholder`: there is at least one placeholder.
//!  3. `name`: every node has a name of its own that is an identifier.
//!  4. `input`: every input is a result of an earlier node.
//!  5. `arity`: every node has as many inputs as its operator takes.
//!  6. `type`: every operator accepts its attributes and the types of its inputs.
//!  7. `size`: no axis is empty, and every value and parameter has a number of elements that memory could hold.
//!  8. `symbol`: all symbolic dims use one symbol.
//!  9. `parameter`: every parameter that is present belongs to the operator and has the shape it asks for.
//! 10. `finite`: every value of a parameter is a finite number, and a whole one up to 2^24 or a truth value where its type says so; a stored tensor that is not trained, and a threshold, may be infinite.
//! 11. `path`: no two parameters, masks or stored fields have the same dotted name.
//! 12. `format`: formats stand only on ports that exist and hold f32.
//! 13. `mask`: masks are 0 or 1, have the shape of their trained parameter or of a sample of their f32 input, and what they mask is zero.
//! 14. `stored`: stored fields have the shape that their format asks for of a parameter, or of a sample.
//!
//! Parameters and stored fields may be missing: a graph read from text has none yet. All violations are reported, and a node whose
//! inputs are already known to be wrong is not blamed for them.

use crate::mask::{self, unravel};
use crate::stored;
use crate::{DType, Graph, Node, NodeId, Op, Operator, PortSpec, Type, Value, Verified};
use std::collections::BTreeMap;
use std::fmt;

macro_rules! rules {
    ($($name:ident = $id:literal: $text:literal;)*) => {
        $(const $name: &str = $id;)*

        /// Every rule: its id and what it asks for.
        pub const RULES: &[(&str, &str)] = &[$(($id, $text)),*];
    };
}

rules! {
    OUTPUT = "output": "there is exactly one output node, and it is the last node";
    PLACEHOLDER = "placeholder": "there is at least one placeholder";
    NAME = "name": "every node has a name of its own that is an identifier";
    INPUT = "input": "every input is a result of an earlier node";
    ARITY = "arity": "every node has as many inputs as its operator takes";
    TYPE = "type": "every operator accepts its attributes and the types of its inputs";
    SIZE = "size": "no axis is empty, and every value and parameter has a number of elements that memory could hold";
    SYMBOL = "symbol": "all symbolic dims use one symbol";
    PARAMETER = "parameter": "every parameter that is present belongs to the operator and has the shape it asks for";
    FINITE = "finite": "every value of a parameter is a finite number, and a whole one up to 2^24 or a truth value where its type says so; a stored tensor that is not trained, and a threshold, may be infinite";
    PATH = "path": "no two parameters, masks or stored fields have the same dotted name";
    FORMAT = "format": "formats stand only on ports that exist and hold f32";
    MASK = "mask": "masks are 0 or 1, have the shape of their trained parameter or of a sample of their f32 input, and what they mask is zero";
    STORED = "stored": "stored fields have the shape that their format asks for of a parameter, or of a sample";
}

/// The largest parameter: 2³² elements, 16 GiB. More is a slip in an attribute.
const MAX_PARAMETER_ELEMENTS: usize = 1 << 32;

/// The largest magnitude up to which an f32, in which tensors and plans hold integers, counts without gaps.
const MAX_INDEX: f32 = 16_777_216.0;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The id of the rule, one of [`RULES`].
    pub rule: &'static str,
    /// The node, unless the graph as a whole is at fault.
    pub node: Option<String>,
    /// The node's operator.
    pub op: Option<&'static str>,
    /// The problem.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let (Some(node), Some(op)) = (&self.node, self.op) {
            write!(f, "{node} ({op}): ")?;
        }
        f.write_str(&self.message)
    }
}

/// All broken rules of a graph, one a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// At least one.
    pub violations: Vec<Violation>,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let lines: Vec<String> = self.violations.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for VerifyError {}

/// Checks every rule and infers every type.
pub fn verify(graph: &Graph) -> Result<Verified<'_>, VerifyError> {
    let mut verifier = Verifier::default();
    verifier.edges(graph);
    for (id, node) in graph.iter() {
        verifier.name(id, node);
        let inputs = verifier.inputs(graph, id, node);
        let types = inputs
            .as_deref()
            .and_then(|inputs| verifier.results(node, inputs));
        verifier.parameters(node);
        verifier.formats(node, inputs.as_deref(), types.as_deref());
        verifier.masks(node, inputs.as_deref());
        verifier.stored(node, inputs.as_deref(), types.as_deref());
        verifier.types.push(types);
    }
    verifier.finish(graph)
}

#[derive(Default)]
struct Verifier<'g> {
    violations: Vec<Violation>,
    /// The results of the nodes seen so far; `None` where they could not be inferred.
    types: Vec<Option<Vec<Type>>>,
    names: BTreeMap<&'g str, NodeId>,
    paths: BTreeMap<String, &'g str>,
    symbol: Option<String>,
}

impl<'g> Verifier<'g> {
    fn report(&mut self, rule: &'static str, node: &Node, message: impl Into<String>) {
        self.violations.push(Violation {
            rule,
            node: Some(node.name.clone()),
            op: Some(node.op.name()),
            message: message.into(),
        });
    }

    fn report_graph(&mut self, rule: &'static str, message: &str) {
        let message = message.to_owned();
        self.violations.push(Violation {
            rule,
            node: None,
            op: None,
            message,
        });
    }

    fn finish(self, graph: &'g Graph) -> Result<Verified<'g>, VerifyError> {
        let types = self.types.into_iter().collect::<Option<Vec<_>>>();
        match types {
            Some(types) if self.violations.is_empty() => Ok(Verified::new(graph, types)),
            _ => Err(VerifyError {
                violations: self.violations,
            }),
        }
    }

    /// Rules 1 and 2.
    fn edges(&mut self, graph: &Graph) {
        let nodes = graph.nodes();
        if !nodes
            .iter()
            .any(|node| matches!(node.op, Op::Placeholder(_)))
        {
            self.report_graph(PLACEHOLDER, "the graph has no placeholder");
        }
        if !nodes.iter().any(|node| matches!(node.op, Op::Output(_))) {
            self.report_graph(OUTPUT, "the graph has no output node");
        }
        let Some((last, earlier)) = nodes.split_last() else {
            return;
        };
        for output in earlier
            .iter()
            .filter(|node| matches!(node.op, Op::Output(_)))
        {
            let message = format!("must be the last node, but {} follows", last.name);
            self.report(OUTPUT, output, message);
        }
    }

    /// Rule 3.
    fn name(&mut self, id: NodeId, node: &'g Node) {
        if !is_identifier(&node.name) {
            let message = format!(
                "'{}' is not an identifier: write letters, digits and _",
                node.name
            );
            self.report(NAME, node, message);
        }
        if let Some(first) = self.names.insert(&node.name, id) {
            self.report(
                NAME,
                node,
                format!("node {} already has this name", first.0),
            );
        }
    }

    /// Rules 4 and 5: the types of the inputs, if all are known.
    fn inputs(&mut self, graph: &Graph, id: NodeId, node: &Node) -> Option<Vec<Type>> {
        let types: Vec<Option<Type>> = (0..node.inputs.len())
            .map(|port| self.input(graph, id, node, port))
            .collect();
        let ports = node.op.ports();
        let min = ports
            .iter()
            .filter(|port| matches!(port, PortSpec::Data(_)))
            .count();
        let more = ports.contains(&PortSpec::MoreData);
        let n = node.inputs.len();
        if n < min || (n > min && !more) {
            let prefix = if more { "at least " } else { "" };
            let plural = if min == 1 { "" } else { "s" };
            self.report(
                ARITY,
                node,
                format!("expected {prefix}{min} input{plural}, got {n}"),
            );
            return None;
        }
        types.into_iter().collect()
    }

    fn input(&mut self, graph: &Graph, id: NodeId, node: &Node, port: usize) -> Option<Type> {
        let Value { node: from, output } = node.inputs[port];
        if from >= id {
            let what = match graph.nodes().get(from.index()) {
                Some(later) => format!("{}, which is not an earlier node", later.name),
                None => format!("node {}, which does not exist", from.0),
            };
            self.report(INPUT, node, format!("data_in_{port}: reads {what}"));
            return None;
        }
        let results = self.types.get(from.index())?.as_ref()?;
        let found = results.get(usize::from(output)).cloned();
        if found.is_none() {
            let (n, name) = (results.len(), &graph.node(from).name);
            let message = format!("data_in_{port}: reads result {output} of {name}, which has {n}");
            self.report(INPUT, node, message);
        }
        found
    }

    /// Rules 6, 7 and 8: the types of the results, if the operator accepts its inputs.
    fn results(&mut self, node: &Node, inputs: &[Type]) -> Option<Vec<Type>> {
        let types = match node.op.infer(inputs) {
            Ok(types) => types,
            Err(error) => {
                self.report(TYPE, node, error.to_string());
                return None;
            }
        };
        let n_before = self.violations.len();
        for (k, ty) in types.iter().enumerate() {
            if ty.shape.0.iter().any(|dim| dim.factor == 0) {
                self.report(SIZE, node, format!("data_out_{k}: {ty} has an empty axis"));
            } else if ty.shape.bind(1).is_none() {
                let message = format!("data_out_{k}: {ty} has more elements than memory holds");
                self.report(SIZE, node, message);
            }
            self.symbols(node, ty);
        }
        (self.violations.len() == n_before).then_some(types)
    }

    fn symbols(&mut self, node: &Node, ty: &Type) {
        for symbol in ty.shape.0.iter().filter_map(|dim| dim.symbol.as_deref()) {
            let first = self.symbol.get_or_insert_with(|| symbol.to_owned());
            if first != symbol || !is_identifier(symbol) {
                let message = if first == symbol {
                    format!("the symbol '{symbol}' is not an identifier")
                } else {
                    format!("the dim {symbol} stands beside {first}: a graph has one symbol")
                };
                self.report(SYMBOL, node, message);
                return;
            }
        }
    }

    /// Rules 7, 9, 10 and 11.
    fn parameters(&mut self, node: &'g Node) {
        let specs = node.param_specs();
        for (name, shape, ..) in &specs {
            let numel = shape
                .iter()
                .try_fold(1_usize, |n, &size| n.checked_mul(size));
            if numel.is_none_or(|n| n > MAX_PARAMETER_ELEMENTS) {
                self.report(
                    SIZE,
                    node,
                    format!("{name}: shape {shape:?} has more than 2^32 elements"),
                );
            }
            self.path(node, name, &node.param_path(name));
        }
        for (name, tensor) in &node.params {
            match specs.iter().find(|spec| spec.0 == name) {
                None => self.report(PARAMETER, node, format!("has no parameter '{name}'")),
                Some((_, shape, ..)) if shape != tensor.shape() => {
                    let got = tensor.shape();
                    self.report(
                        PARAMETER,
                        node,
                        format!("{name}: expected shape {shape:?}, got {got:?}"),
                    );
                }
                Some(_) => {}
            }
            if let Some(at) = tensor.values().iter().position(|v| !holds(node, *v)) {
                let value = tensor.values()[at];
                let index = unravel(at, tensor.shape());
                self.report(
                    FINITE,
                    node,
                    format!("{name}: the value at {index:?} is {value}"),
                );
            }
        }
    }

    /// Rule 11.
    fn path(&mut self, node: &'g Node, port: &str, path: &str) {
        if let Some(other) = self.paths.insert(path.to_owned(), &node.name) {
            let message = format!("{port}: {other} already has the parameter {path}");
            self.report(PATH, node, message);
        }
    }

    /// Rule 12.
    fn formats(&mut self, node: &Node, inputs: Option<&[Type]>, results: Option<&[Type]>) {
        for port in node.formats.keys() {
            match port_dtype(node, port, inputs, results) {
                Err(NoSuchPort) => {
                    self.report(
                        FORMAT,
                        node,
                        format!("{port}: has a format, but there is no such port"),
                    );
                }
                Ok(Some(dtype @ (DType::I64 | DType::Bool))) => {
                    let message = format!("{port}: has a format, but holds {dtype} instead of f32");
                    self.report(FORMAT, node, message);
                }
                Ok(_) => {}
            }
        }
    }

    /// Rules 11 and 13.
    fn masks(&mut self, node: &'g Node, inputs: Option<&[Type]>) {
        for port in node.masks.keys() {
            self.path(node, port, &node.mask_path(port));
        }
        for problem in mask::problems(node, inputs) {
            self.report(MASK, node, problem);
        }
    }

    /// Rules 11 and 14.
    fn stored(&mut self, node: &'g Node, inputs: Option<&[Type]>, results: Option<&[Type]>) {
        for (port, format) in &node.formats {
            for (field, _) in format.stored_fields() {
                self.path(node, port, &node.stored_path(port, field));
            }
        }
        if let (Some(inputs), Some(results)) = (inputs, results) {
            for problem in stored::problems(node, inputs, results) {
                self.report(STORED, node, problem);
            }
        }
    }
}

/// True when a parameter of the node may have this value: a finite number, and an index or a truth value where a stored
/// tensor holds these. Masks of attention hold minus infinity.
fn holds(node: &Node, value: f32) -> bool {
    let may_be_infinite = match &node.op {
        Op::Constant(op) => !op.is_trained(),
        Op::Thresholds(_) => true,
        _ => false,
    };
    match parameter_dtype(node) {
        DType::F32 if may_be_infinite => !value.is_nan(),
        DType::F32 => value.is_finite(),
        DType::I64 => value.abs() <= MAX_INDEX && value.fract() == 0.0,
        DType::Bool => value == 0.0 || value == 1.0,
    }
}

fn parameter_dtype(node: &Node) -> DType {
    match &node.op {
        Op::Constant(op) => op.dtype,
        _ => DType::F32,
    }
}

struct NoSuchPort;

/// The type of a port, when it is known.
fn port_dtype(
    node: &Node,
    port: &str,
    inputs: Option<&[Type]>,
    results: Option<&[Type]>,
) -> Result<Option<DType>, NoSuchPort> {
    let index = |prefix: &str| port.strip_prefix(prefix).and_then(canonical_index);
    if let Some(k) = index("data_in_") {
        let exists = k < node.inputs.len();
        let known = inputs.and_then(|types| types.get(k)).map(|ty| ty.dtype);
        return exists.then_some(known).ok_or(NoSuchPort);
    }
    if let Some(k) = index("data_out_") {
        let Some(results) = results else {
            return Ok(None);
        };
        return results.get(k).map(|ty| Some(ty.dtype)).ok_or(NoSuchPort);
    }
    let is_param = node.param_specs().iter().any(|spec| spec.0 == port);
    let dtype = parameter_dtype(node);
    is_param.then_some(Some(dtype)).ok_or(NoSuchPort)
}

/// True when `name` is a letter or `_`, then letters, digits and `_`.
pub(crate) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A number written as it is printed: no sign, no leading zero.
fn canonical_index(text: &str) -> Option<usize> {
    let index: usize = text.parse().ok()?;
    (index.to_string() == text).then_some(index)
}
