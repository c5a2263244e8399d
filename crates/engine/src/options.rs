//! The options of a plan: rows, mode, gradients, observed ports.

use crate::EngineError;
use ir::{Graph, NodeId, Value, Verified};

/// Training or evaluation, by which batch norms choose their statistics and dropout is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Batch statistics, dropout on.
    Train,
    /// Running statistics, dropout off.
    Eval,
}

/// The gradients that a plan computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Gradients {
    /// Of the trained parameters.
    pub parameters: bool,
    /// Of the f32 inputs.
    pub inputs: bool,
}

impl Gradients {
    /// Of everything.
    pub const ALL: Self = Self {
        parameters: true,
        inputs: true,
    };

    /// True when there is a backward pass at all.
    pub fn any(self) -> bool {
        self.parameters || self.inputs
    }
}

/// A port to observe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// The node.
    pub node: NodeId,
    /// `data_in_0`, `data_out_0`, …
    pub port: String,
}

impl Port {
    /// The value at the port: what an input reads, before the node masks and rounds it, or what a result is.
    pub(crate) fn value(&self, graph: &Graph) -> Option<Value> {
        let node = graph.nodes().get(self.node.index())?;
        if let Some(k) = self.port.strip_prefix("data_in_") {
            return node.inputs.get(k.parse::<usize>().ok()?).copied();
        }
        let output = self.port.strip_prefix("data_out_")?.parse().ok()?;
        Some(Value {
            node: self.node,
            output,
        })
    }
}

/// The options of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlanOptions {
    /// Rows of the batch: what the symbol of the graph's shapes is bound to.
    pub rows: usize,
    /// Training or evaluation.
    pub mode: Mode,
    /// The gradients to compute.
    pub gradients: Gradients,
    /// Ports whose values can be read after a forward pass.
    pub observe: Vec<Port>,
    /// Allows neighbouring nodes to become one step, and exact products to run in bytes; off only to compare.
    pub fuse: bool,
}

impl PlanOptions {
    /// Options for `rows` rows of training.
    pub fn train(rows: usize) -> Self {
        Self {
            rows,
            mode: Mode::Train,
            gradients: Gradients {
                parameters: true,
                inputs: false,
            },
            observe: Vec::new(),
            fuse: true,
        }
    }

    /// Options for `rows` rows of evaluation.
    pub fn eval(rows: usize) -> Self {
        Self {
            mode: Mode::Eval,
            gradients: Gradients::default(),
            ..Self::train(rows)
        }
    }

    /// True when steps may compute in bytes; not when neighbours may not be fused either, which serves to compare.
    pub(crate) fn may_use_bytes(&self) -> bool {
        self.fuse && self.mode == Mode::Eval && !self.gradients.any()
    }

    /// True when every placeholder is observed, so that its rows stay in place.
    pub(crate) fn stores_inputs(&self, verified: &Verified) -> bool {
        let is_observed = |id: NodeId| {
            let mut ports = self.observe.iter();
            ports.any(|port| port.node == id && port.port == "data_out_0")
        };
        verified.placeholders().into_iter().all(is_observed)
    }

    /// Every observed port must exist.
    pub(crate) fn check_ports(&self, verified: &Verified) -> Result<(), EngineError> {
        let graph = verified.graph();
        let exists = |port: &Port| {
            let value = port.value(graph);
            value.is_some_and(|v| usize::from(v.output) < verified.outputs(v.node).len())
        };
        let Some(port) = self.observe.iter().find(|port| !exists(port)) else {
            return Ok(());
        };
        let node = graph.nodes().get(port.node.index());
        Err(EngineError::UnknownPort {
            node: node.map_or_else(String::new, |node| node.name.clone()),
            port: port.port.clone(),
        })
    }
}
