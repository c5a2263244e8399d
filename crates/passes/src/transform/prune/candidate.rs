//! Tensors that can be pruned, and what is known of their elements.

use super::rule::{Granularity, Method, PruneRule, Sparsity};
use crate::PassError;
use crate::observe::observe;
use config::did_you_mean;
use config::{Key, Problem};
use data::Split;
use engine::Port;
use ir::{DType, Graph, Node, NodeId, Op, Tensor, Verified, verify};

/// Weights or the data they meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Weights.
    Weight,
    /// Inputs of layers.
    Activation,
}

impl Side {
    pub fn name(self) -> &'static str {
        match self {
            Self::Weight => "weight",
            Self::Activation => "activation",
        }
    }

    /// The name of its table in the report.
    pub fn table(self) -> &'static str {
        match self {
            Self::Weight => "pruned_weights",
            Self::Activation => "pruned_activations",
        }
    }

    fn port(self) -> &'static str {
        match self {
            Self::Weight => "weight",
            Self::Activation => "data_in_0",
        }
    }
}

/// A weight, or one sample of an input.
pub struct Candidate {
    pub node: NodeId,
    pub port: String,
    /// The dotted name.
    pub path: String,
    /// The share to prune.
    pub sparsity: f64,
    pub units: Units,
    shape: Vec<usize>,
    mask: Option<Tensor>,
    method: Method,
    /// The magnitude of every element, or its square, summed over samples.
    elements: Vec<f64>,
    samples: usize,
}

/// The units of pruning: element `i` is of unit `⌊i/inner⌋ mod count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    pub count: usize,
    inner: usize,
}

impl Units {
    fn elements(shape: &[usize]) -> Self {
        Self {
            count: shape.iter().product(),
            inner: 1,
        }
    }

    fn channels(shape: &[usize], axis: usize) -> Self {
        Self {
            count: shape[axis],
            inner: shape[axis + 1..].iter().product(),
        }
    }

    fn of(self, element: usize) -> usize {
        element / self.inner % self.count
    }
}

impl Candidate {
    /// The tensors that a rule is about, in execution order.
    pub fn find(graph: &Graph, side: Side, rule: &PruneRule) -> Result<Vec<Self>, PassError> {
        let verified = verify(graph)?;
        if let Sparsity::PerNode(nodes) = &rule.sparsity {
            let unknown = |(key, _): &(Key, f64)| why_not(&verified, side, key);
            let problems: Vec<Problem> = nodes.iter().filter_map(unknown).collect();
            if !problems.is_empty() {
                return Err(PassError::Config(problems));
            }
        }
        let mut found = Vec::new();
        for (id, node) in graph.iter() {
            let (Some(shape), Some(sparsity)) = (shape(&verified, id, side), share(rule, node))
            else {
                continue;
            };
            found.push(Self::new(node, id, side, rule, (shape, sparsity))?);
        }
        if found.is_empty() {
            let message = format!(
                "{} has nothing to prune: no layer with a weight",
                graph.name
            );
            return Err(PassError::Refused(message));
        }
        Ok(found)
    }

    fn new(
        node: &Node,
        id: NodeId,
        side: Side,
        rule: &PruneRule,
        (shape, sparsity): (Vec<usize>, f64),
    ) -> Result<Self, PassError> {
        let port = side.port();
        let is_linear_input = side == Side::Activation && matches!(node.op, Op::Linear(_));
        let axis = if is_linear_input { shape.len() - 1 } else { 0 };
        let elements = match side {
            Side::Activation => vec![0.0; shape.iter().product()],
            Side::Weight => {
                let weight = node.params.get(port);
                let weight = weight.ok_or_else(|| PassError::node(node, "has no weight yet"))?;
                let values = weight.values().iter();
                values.map(|v| magnitude(*v, rule.method)).collect()
            }
        };
        Ok(Self {
            node: id,
            port: port.to_owned(),
            path: node.param_path(port),
            sparsity,
            units: match rule.granularity {
                Granularity::Elementwise => Units::elements(&shape),
                Granularity::Channel => Units::channels(&shape, axis),
            },
            mask: node.masks.get(port).cloned(),
            shape,
            method: rule.method,
            elements,
            samples: usize::from(side == Side::Weight),
        })
    }

    /// Outputs of a weight.
    pub fn outputs(&self) -> usize {
        self.shape.first().copied().unwrap_or(1).max(1)
    }

    /// The mean magnitude of every unit's elements, or the mean square, as numbers of the same order.
    pub fn magnitudes(&self) -> Vec<u64> {
        let mut sums = vec![0.0; self.units.count];
        for (element, magnitude) in self.elements.iter().enumerate() {
            sums[self.units.of(element)] += magnitude;
        }
        let per_unit = (self.elements.len() / self.units.count * self.samples) as f64;
        // The bits of floats that are not negative are ordered as the floats are.
        sums.into_iter()
            .map(|sum: f64| (sum / per_unit).to_bits())
            .collect()
    }

    /// The units that are masked as a whole.
    pub fn pruned_units(&self) -> Vec<bool> {
        let Some(mask) = &self.mask else {
            return vec![false; self.units.count];
        };
        let mut pruned = vec![true; self.units.count];
        for (element, keep) in mask.values().iter().enumerate() {
            pruned[self.units.of(element)] &= *keep == 0.0;
        }
        pruned
    }

    /// The mask that it has, with these units masked as well.
    pub fn mask(&self, pruned: &[bool]) -> Tensor {
        let whole = || Tensor::filled(self.shape.clone(), 1.0);
        let mut mask = self.mask.clone().unwrap_or_else(whole);
        for (element, keep) in mask.values_mut().iter_mut().enumerate() {
            if pruned[self.units.of(element)] {
                *keep = 0.0;
            }
        }
        mask
    }
}

/// The number that an element adds to the rank of its unit.
fn magnitude(value: f32, method: Method) -> f64 {
    let value = f64::from(value).abs();
    if method == Method::L2Norm {
        value * value
    } else {
        value
    }
}

/// Looks at the inputs over rows: the magnitude of an element is the mean of |x|, or of x².
pub fn measure(
    candidates: &mut [Candidate],
    graph: &Graph,
    rows: &Split,
    threads: usize,
) -> Result<(), PassError> {
    let port = |candidate: &Candidate| Port {
        node: candidate.node,
        port: candidate.port.clone(),
    };
    let ports: Vec<Port> = candidates.iter().map(port).collect();
    observe(graph, &ports, rows, threads, |index, _, values| {
        let Candidate {
            elements,
            samples,
            method,
            ..
        } = &mut candidates[index];
        for sample in values.chunks_exact(elements.len()) {
            *samples += 1;
            for (sum, value) in elements.iter_mut().zip(sample) {
                *sum += magnitude(*value, *method);
            }
        }
    })
}

/// The shape of what a node has to prune.
fn shape(verified: &Verified, id: NodeId, side: Side) -> Option<Vec<usize>> {
    let node = verified.graph().node(id);
    let specs = node.param_specs();
    let (_, weight, ..) = specs.into_iter().find(|spec| spec.0 == "weight")?;
    if weight.len() < 2 {
        return None;
    }
    match side {
        Side::Weight => Some(weight),
        Side::Activation => {
            let types = verified.input_types(id);
            let data = types.first().filter(|ty| ty.dtype == DType::F32)?;
            data.shape.sample().filter(|sample| !sample.is_empty())
        }
    }
}

fn share(rule: &PruneRule, node: &Node) -> Option<f64> {
    match &rule.sparsity {
        Sparsity::All(share) => Some(*share),
        Sparsity::FanIn(_) => Some(0.0),
        Sparsity::PerNode(nodes) => {
            let named = nodes.iter().find(|(key, _)| names(&key.name, node));
            named.map(|(_, share)| *share)
        }
    }
}

fn names(key: &str, node: &Node) -> bool {
    node.name == key || (!node.target.is_empty() && node.target == key)
}

/// The problem of a key that should name a node to prune.
fn why_not(verified: &Verified, side: Side, key: &Key) -> Option<Problem> {
    let graph = verified.graph();
    let has = |id: NodeId| shape(verified, id, side).is_some();
    let message = match graph.find(&key.name) {
        Some(id) if has(id) => return None,
        Some(id) => {
            let op = graph.node(id).op.name();
            format!(
                "sparsity of {}: {op} has no {} to prune",
                key.name,
                side.name()
            )
        }
        None => {
            let nodes = graph.iter().filter(|(id, _)| has(*id));
            let close = did_you_mean(&key.name, nodes.map(|(_, node)| node.name.as_str()));
            format!("sparsity: {} has no node '{}'{close}", graph.name, key.name)
        }
    };
    Some(Problem {
        span: key.span.clone(),
        message,
    })
}
