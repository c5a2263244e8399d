//! Batch norms for the training of layers with rounded weights.
//!
//! A norm that was folded into its layer is gone from the graph, and the layer would train without what made the float network
//! train well. Training takes it out again: a batch norm behind the layer that does nothing at first, with the statistics of
//! the layer's own result. [`engine::Learning::folded_norms`] rounds the weight with the norm folded into it all the while, so
//! that the norm is folded again when training ends and not a bit changes.

use crate::TrainError;
use data::Split;
use engine::{Network, PlanOptions, Port, gather};
use ir::ops::batch_norm::{BatchNorm1d, BatchNorm2d};
use ir::{Graph, Node, NodeId, Op, Tensor, makes_channels, norm_eps, verify};

/// Training rows that the statistics of a layer are taken from.
const ROWS: usize = 4096;
/// Rows at a time; fixed, so that sums do not depend on the threads.
const ROWS_AT_ONCE: usize = 1024;
/// PyTorch's defaults.
const EPS: f64 = 1e-5;
const MOMENTUM: f64 = 0.1;

/// The layers with rounded weights whose batch norm has been folded: in `model`, the network as it was, a layer of that name
/// has one, and in the graph it has none.
pub fn folded_layers(model: &Graph, graph: &Graph) -> Vec<NodeId> {
    let had_norm = |layer: &Node| {
        let norms = model
            .nodes()
            .iter()
            .filter(|node| norm_eps(&node.op).is_some());
        let mut names = norms.filter_map(|norm| {
            let before = model.node(norm.inputs.first()?.node);
            (graph.find(&norm.name).is_none()).then_some(&before.name)
        });
        names.any(|name| *name == layer.name)
    };
    let layers = rounded_layers(graph).into_iter();
    layers.filter(|&id| had_norm(graph.node(id))).collect()
}

/// The layers with rounded weights that a batch norm can follow: linear ones on `[N, C]` and convolutions whose result is read
/// once, not rounded, and not the network's.
pub fn rounded_layers(graph: &Graph) -> Vec<NodeId> {
    let Ok(verified) = verify(graph) else {
        return Vec::new();
    };
    let readers = graph.reader_counts();
    let can_be_followed = |(id, node): &(NodeId, &Node)| {
        let users = graph.users((*id).into());
        let is_inner = users.first().is_some_and(|&user| {
            let user = &graph.node(user).op;
            norm_eps(user).is_none() && !matches!(user, Op::Output(_))
        });
        let is_rounded = node.formats.contains_key("weight");
        let is_seen = node.formats.contains_key("data_out_0") || node.masks.contains_key("bias");
        let is_read_once = readers.get(&(*id).into()) == Some(&1);
        is_rounded
            && !is_seen
            && is_read_once
            && is_inner
            && node.params.contains_key("bias")
            && makes_channels(&verified, (*id).into())
    };
    let layers = graph.iter().filter(can_be_followed);
    layers.map(|(id, _)| id).collect()
}

/// The graph with a batch norm behind each of these layers that does nothing yet, and the places of the norms: their
/// statistics are those of the layer on training rows, and their scale and shift undo them.
pub(crate) fn unfold(
    mut graph: Graph,
    layers: &[NodeId],
    rows: &Split,
) -> Result<(Graph, Vec<NodeId>), TrainError> {
    let moments = moments(&graph, layers, &rows.head(ROWS.min(rows.len())))?;
    let mut norms = Vec::with_capacity(layers.len());
    for (more, (&layer, moments)) in layers.iter().zip(&moments).enumerate() {
        // Every norm before has moved the nodes behind it up by one.
        let layer = NodeId(layer.0 + more as u32);
        let norm = norm_behind(&graph, layer, moments);
        let norm = graph.insert(NodeId(layer.0 + 1), norm);
        graph.replace_uses(layer.into(), norm.into());
        norms.push(norm);
    }
    Ok((graph, norms))
}

/// Count, mean and centred sum of squares of every channel.
#[derive(Clone, Default)]
struct Moments {
    count: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    /// Takes in values of this shape, whose second axis is the channels.
    fn add(&mut self, shape: &[usize], values: &[f32]) {
        let channels = shape[1];
        let inner: usize = shape[2..].iter().product();
        let more = (values.len() / channels) as f64;
        self.mean.resize(channels, 0.0);
        self.squares.resize(channels, 0.0);
        for channel in 0..channels {
            let of_channel = || {
                let samples = values.chunks_exact(channels * inner);
                samples.flat_map(|sample| &sample[channel * inner..(channel + 1) * inner])
            };
            let mean = of_channel().map(|&x| f64::from(x)).sum::<f64>() / more;
            let squares: f64 = of_channel().map(|&x| (f64::from(x) - mean).powi(2)).sum();
            let delta = mean - self.mean[channel];
            let all = self.count + more;
            self.mean[channel] += delta * more / all;
            self.squares[channel] += squares + delta * delta * self.count * more / all;
        }
        self.count += more;
    }
}

fn moments(graph: &Graph, layers: &[NodeId], rows: &Split) -> Result<Vec<Moments>, TrainError> {
    let mut moments = vec![Moments::default(); layers.len()];
    if layers.is_empty() {
        return Ok(moments);
    }
    let observe: Vec<Port> = layers
        .iter()
        .map(|&node| Port {
            node,
            port: "data_out_0".to_owned(),
        })
        .collect();
    let mut network = Network::new(graph.clone(), 1)?;
    for indices in rows.indices().chunks(ROWS_AT_ONCE) {
        let options = PlanOptions {
            observe: observe.clone(),
            ..PlanOptions::eval(indices.len())
        };
        let plan = network.run(options, &gather(rows.elements(), indices))?;
        plan.for_each_observed(|at, shape, values| moments[at].add(shape, values));
    }
    Ok(moments)
}

/// The norm behind a layer.
fn norm_behind(graph: &Graph, layer: NodeId, moments: &Moments) -> Node {
    let node = graph.node(layer);
    let num_features = moments.mean.len();
    let op: Op = match node.op {
        Op::Conv2d(_) => Op::BatchNorm2d(BatchNorm2d {
            num_features,
            eps: EPS,
            momentum: MOMENTUM,
        }),
        _ => Op::BatchNorm1d(BatchNorm1d {
            num_features,
            eps: EPS,
            momentum: MOMENTUM,
        }),
    };
    let mut name = format!("{}_norm", node.name);
    while graph.find(&name).is_some() {
        name.push('_');
    }
    let path = match node.target.as_str() {
        "" => &node.name,
        target => target,
    };
    let target = format!("{path}.norm");
    let mut norm = Node::new(&name, &target, op, &[layer.into()]);
    let variance = |c: usize| moments.squares[c] / (moments.count - 1.0).max(1.0);
    let mut set = |port: &str, value: &dyn Fn(usize) -> f64| {
        let values = (0..num_features).map(|c| value(c) as f32).collect();
        let tensor = Tensor::new(vec![num_features], values);
        norm.params
            .extend(tensor.map(|tensor| (port.to_owned(), tensor)));
    };
    set("running_mean", &|c| moments.mean[c]);
    set("running_var", &variance);
    set("weight", &|c| (variance(c) + EPS).sqrt());
    set("bias", &|c| moments.mean[c]);
    norm
}

#[cfg(test)]
mod tests;
