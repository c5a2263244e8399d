//! The factors of a batch norm that training folds into the weight before it.

use crate::state::State;
use ir::{NodeId, folded_weight, norm_eps, norm_scale};
use std::ops::Range;

/// `γ/√(σ² + ε)` of each channel by the running statistics: what the weight of the layer before a batch norm is multiplied
/// with before it is rounded.
#[derive(Clone)]
pub(crate) struct Gain {
    weight: Range<usize>,
    running_var: Range<usize>,
    eps: f64,
}

impl Gain {
    /// The factors of a batch norm.
    pub fn of(norm: NodeId, graph: &ir::Graph, state: &State) -> Self {
        Self {
            weight: state.range(norm, "weight"),
            running_var: state.range(norm, "running_var"),
            eps: norm_eps(&graph.node(norm).op).unwrap_or(0.0),
        }
    }

    fn values<'a>(&self, state: &'a State) -> impl Iterator<Item = f64> + use<'a> {
        let (eps, gamma) = (self.eps, &state.trained[self.weight.clone()]);
        let variance = &state.buffers[self.running_var.clone()];
        let pairs = gamma.iter().zip(variance);
        pairs.map(move |(&gamma, &variance)| norm_scale(gamma, variance, eps))
    }

    /// Writes the factor of every channel.
    pub fn write(&self, state: &State, gains: &mut [f32]) {
        for (gain, value) in gains.iter_mut().zip(self.values(state)) {
            *gain = value as f32;
        }
    }

    /// Writes a weight, whose rows are the channels, times the factors.
    pub fn fold(&self, state: &State, weight: &[f32], folded: &mut [f32]) {
        let per_channel = (weight.len() / self.weight.len().max(1)).max(1);
        let rows = weight.chunks(per_channel);
        let rows = rows.zip(folded.chunks_mut(per_channel));
        for ((weight, folded), gain) in rows.zip(self.values(state)) {
            for (&weight, folded) in weight.iter().zip(folded) {
                *folded = folded_weight(weight, gain);
            }
        }
    }
}
