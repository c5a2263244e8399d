//! Graphs as ONNX networks.

mod edges;
mod formats;
mod functions;
mod kept;
mod layers;
mod moves;
mod norms;
mod recurrent;
mod site;
mod source;
mod steps;
mod writers;

pub(super) use source::read as read_source;

use crate::constant::Refusal;
use interop::onnx::proto::{
    GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto,
};
use interop::onnx::{Element, Tensor, Values};
use ir::{Graph, Node, Op, Value, Verified, VerifyError};
use site::Site;
use std::collections::{HashMap, HashSet};
use steps::Steps;

/// The set of QONNX's operators.
pub const QONNX_DOMAIN: &str = "qonnx.custom_op.general";

/// The sets of operators that are written.
pub const OPSETS: std::ops::RangeInclusive<i64> = 18..=23;

/// The way in which number formats are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Weights as they are rounded; no formats on values.
    #[default]
    Onnx,
    /// Pairs of `QuantizeLinear` and `DequantizeLinear`, and weights as codes.
    Qdq,
    /// `Quant` and `BipolarQuant` of QONNX.
    Qonnx,
}

impl Style {
    /// Every style with its word.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("onnx", Self::Onnx),
        ("qdq", Self::Qdq),
        ("qonnx", Self::Qonnx),
    ];

    /// The word.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// The choices of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportOptions {
    /// The way in which number formats are written.
    pub style: Style,
    /// The version of ONNX's own set of operators.
    pub opset: i64,
    /// The rows of a batch; `None` leaves them free.
    pub batch: Option<usize>,
    /// Writes weights as they are trained instead of as they are rounded.
    pub float_weights: bool,
    /// Leaves formats of values out where the style has none.
    pub drop_formats: bool,
    /// Writes the text of the graph beside its nodes.
    pub with_source: bool,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            style: Style::Onnx,
            opset: 21,
            batch: None,
            float_weights: false,
            drop_formats: false,
            with_source: true,
        }
    }
}

/// A graph that cannot be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExportProblem {
    /// The graph breaks rules.
    #[error(transparent)]
    Rules(#[from] VerifyError),
    /// A version that is not written.
    #[error("opset {opset} is not written; choose one from {} to {}", OPSETS.start(), OPSETS.end())]
    Opset {
        /// The version asked for.
        opset: i64,
    },
    /// A node that ONNX has no operator for.
    #[error("{node} ({op}): {message}")]
    Node {
        /// The node.
        node: String,
        /// Its operator.
        op: &'static str,
        /// The problem.
        message: String,
    },
}

/// The network of a graph.
///
/// # Errors
/// When the graph breaks rules, lacks parameters, or holds what the style has no operator for.
pub fn export(graph: &Graph, options: &ExportOptions) -> Result<ModelProto, ExportProblem> {
    if !OPSETS.contains(&options.opset) {
        let opset = options.opset;
        return Err(ExportProblem::Opset { opset });
    }
    let as_written;
    let graph = if options.style == Style::Onnx && (options.drop_formats || options.float_weights) {
        as_written = without_formats(graph, options);
        &as_written
    } else {
        graph
    };
    let verified = ir::verify(graph)?;
    let mut exporter = Exporter {
        graph,
        verified: &verified,
        options,
        proto: GraphProto {
            name: Some(graph.name.clone()),
            ..GraphProto::default()
        },
        values: HashMap::new(),
        names: HashSet::new(),
        batch_size: None,
    };
    exporter.reserve_names();
    for (id, node) in graph.iter() {
        let written = exporter.node(id, node);
        written.map_err(|Refusal(message)| ExportProblem::Node {
            node: node.name.clone(),
            op: node.op.name(),
            message,
        })?;
    }
    Ok(exporter.model())
}

/// The graph without the formats that are left out: those of values, those of weights that are written as they are trained.
fn without_formats(graph: &Graph, options: &ExportOptions) -> Graph {
    let mut graph = graph.clone();
    let ids: Vec<ir::NodeId> = graph.iter().map(|(id, _)| id).collect();
    for id in ids {
        let node = graph.node_mut(id);
        let params = node.param_specs();
        let is_param = |port: &str| params.iter().any(|(own, ..)| *own == port);
        node.formats.retain(|port, _| {
            let is_left_out = if is_param(port) {
                options.float_weights
            } else {
                options.drop_formats
            };
            !is_left_out
        });
    }
    graph
}

/// A network that is being written.
struct Exporter<'g> {
    graph: &'g Graph,
    verified: &'g Verified<'g>,
    options: &'g ExportOptions,
    proto: GraphProto,
    /// The names of values.
    values: HashMap<Value, String>,
    names: HashSet<String>,
    /// The value that holds the number of rows.
    batch_size: Option<String>,
}

impl<'g> Exporter<'g> {
    /// Takes the names of nodes and parameters, which no helper may have.
    fn reserve_names(&mut self) {
        for node in self.graph.nodes() {
            self.names.insert(node.name.clone());
            for (port, ..) in node.param_specs() {
                self.names.insert(node.param_path(port));
            }
            for port in node.masks.keys() {
                self.names.insert(node.mask_path(port));
            }
        }
    }

    /// A name that nothing has.
    fn fresh(&mut self, stem: &str) -> String {
        let mut name = stem.to_owned();
        let mut next = 1;
        while !self.names.insert(name.clone()) {
            name = format!("{stem}_{next}");
            next += 1;
        }
        name
    }

    fn node(&mut self, id: ir::NodeId, node: &'g Node) -> Result<(), Refusal> {
        match &node.op {
            Op::Placeholder(_) => return self.placeholder(id, node),
            Op::Constant(_) => return self.constant(id, node),
            Op::Output(_) => return self.output(node),
            _ => {}
        }
        let mut inputs = Vec::new();
        for (k, value) in node.inputs.iter().enumerate() {
            let ty = self.verified.ty(*value).clone();
            let name = self.masked(node, k, self.values[value].clone());
            inputs.push(self.rounded(node, &format!("data_in_{k}"), name, &ty)?);
        }
        let mark = self.proto.node.len();
        let mut site = Site::new(self, id, node, inputs);
        let results = writers::write(&mut site)?;
        for (k, (result, ty)) in results
            .into_iter()
            .zip(self.verified.outputs(id))
            .enumerate()
        {
            let name = if k == 0 {
                node.name.clone()
            } else {
                self.fresh(&format!("{}.{k}", node.name))
            };
            self.rename_result(mark, &result, &name);
            if matches!(node.op, Op::Opaque(_)) {
                // Readers that do not know the operator know its results by the types that the file states.
                let info = self.value_info(&name, ty);
                self.proto.value_info.push(info);
            }
            let name = self.rounded(node, &format!("data_out_{k}"), name, ty)?;
            let value = Value {
                node: id,
                output: k as u16,
            };
            self.values.insert(value, name);
        }
        Ok(())
    }

    /// Gives a result of the nodes from `mark` on its final name; a result that is no node's gets one.
    fn rename_result(&mut self, mark: usize, result: &str, name: &str) {
        let made = |node: &NodeProto| node.output.iter().any(|output| output == result);
        if !self.proto.node[mark..].iter().any(made) {
            self.proto.node.push(NodeProto {
                op_type: Some("Identity".to_owned()),
                name: Some(name.to_owned()),
                input: vec![result.to_owned()],
                output: vec![name.to_owned()],
                ..NodeProto::default()
            });
            return;
        }
        for node in &mut self.proto.node[mark..] {
            for own in node.input.iter_mut().chain(&mut node.output) {
                if own == result {
                    name.clone_into(own);
                }
            }
        }
    }

    /// Stores a tensor and returns its name.
    fn store(&mut self, stem: &str, shape: Vec<usize>, element: Element, values: Values) -> String {
        let name = self.fresh(stem);
        self.store_as(&name, shape, element, values);
        name
    }

    fn store_as(&mut self, name: &str, shape: Vec<usize>, element: Element, values: Values) {
        let tensor = Tensor {
            name: name.to_owned(),
            shape,
            element,
            values,
        };
        let proto: TensorProto = tensor.write();
        self.proto.initializer.push(proto);
    }

    fn model(self) -> ModelProto {
        let uses_qonnx = self
            .proto
            .node
            .iter()
            .any(|node| node.domain() == QONNX_DOMAIN);
        let own = OperatorSetIdProto {
            domain: Some(String::new()),
            version: Some(self.options.opset),
        };
        let qonnx = uses_qonnx.then(|| OperatorSetIdProto {
            domain: Some(QONNX_DOMAIN.to_owned()),
            version: Some(1),
        });
        let opaque = self.opaque_sets();
        let metadata = source::metadata(self.graph, self.options);
        let entry = |(key, value): (String, String)| StringStringEntryProto {
            key: Some(key),
            value: Some(value),
        };
        ModelProto {
            ir_version: Some(10),
            producer_name: Some("mase".to_owned()),
            producer_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            opset_import: [own].into_iter().chain(qonnx).chain(opaque).collect(),
            metadata_props: metadata.into_iter().map(entry).collect(),
            graph: Some(self.proto),
            ..ModelProto::default()
        }
    }

    /// The sets that opaque nodes belong to, but those that are written anyway.
    fn opaque_sets(&self) -> Vec<OperatorSetIdProto> {
        let mut sets: Vec<OperatorSetIdProto> = Vec::new();
        for node in self.graph.nodes() {
            if let Op::Opaque(op) = &node.op
                && !["", QONNX_DOMAIN].contains(&op.domain.as_str())
                && sets.iter().all(|set| set.domain() != op.domain)
            {
                sets.push(OperatorSetIdProto {
                    domain: Some(op.domain.clone()),
                    version: Some(op.version),
                });
            }
        }
        sets
    }

    /// The steps of a format, or the reason why the style has none.
    fn steps(&self, format: &format::Format, shape: &[usize]) -> Result<Steps, Refusal> {
        self.writable(Steps::of(format, shape, self.options.style)?)
    }

    /// The steps, if the set of operators has them.
    fn writable(&self, steps: Steps) -> Result<Steps, Refusal> {
        match self.options.style {
            Style::Qdq => steps.linear(self.options.opset),
            Style::Onnx | Style::Qonnx => Ok(steps),
        }
    }
}
