//! Statistics of parameters and buffers: each is one sample.

use super::{Found, at_port};
use crate::PassError;
use crate::statistics::{Profile, Statistic, StatisticError, Summary};
use engine::{Pool, Port};
use ir::{Graph, Node, Tensor};

/// The parameters and buffers of a node.
pub(super) fn ports(node: &Node) -> Vec<String> {
    let specs = node.param_specs().into_iter();
    specs.map(|(port, ..)| port.to_owned()).collect()
}

/// Computes the statistics of each port.
pub(super) fn profile(
    graph: &Graph,
    ports: &[Port],
    statistics: &[Statistic],
    threads: usize,
) -> Result<Vec<Found>, PassError> {
    let tensor = |port: &Port| {
        let tensor = graph.node(port.node).params.get(&port.port);
        tensor.ok_or_else(|| at_port(graph, port, "has no values yet"))
    };
    let tensors: Result<Vec<&Tensor>, PassError> = ports.iter().map(tensor).collect();
    let mut work: Vec<_> = tensors?.into_iter().map(|t| (t, Ok(Vec::new()))).collect();
    Pool::new(threads).for_each(&mut work, |k, (tensor, result)| {
        *result = summarize(tensor, statistics).map(|s| Found::of(&ports[k], statistics, s));
    });
    let mut all = Vec::new();
    for (port, (_, result)) in ports.iter().zip(work) {
        all.extend(result.map_err(|error| at_port(graph, port, error))?);
    }
    Ok(all)
}

fn summarize(tensor: &Tensor, statistics: &[Statistic]) -> Result<Vec<Summary>, StatisticError> {
    let mut profile = Profile::new(statistics, tensor.shape())?;
    profile.add(tensor.values());
    let mut summaries = profile.finish()?;
    for (shape, _) in summaries
        .iter_mut()
        .filter_map(|summary| summary.data.as_mut())
    {
        // A parameter is recorded in its own shape, without the axis of the only sample.
        shape.remove(0);
    }
    Ok(summaries)
}
