//! The rule for the weights, or for the activations.

use super::candidate::Candidate;
use super::select::{Group, smallest};
use config::Key;
use ir::Tensor;
use random::Random;

/// Share, scope, unit and order of pruning.
#[derive(Clone, Debug)]
pub struct PruneRule {
    /// The share to prune.
    pub sparsity: Sparsity,
    /// Of each tensor, or of all together.
    pub scope: Scope,
    /// Elements or channels.
    pub granularity: Granularity,
    /// The order.
    pub method: Method,
}

/// The share to prune.
#[derive(Clone, Debug)]
pub enum Sparsity {
    /// Of every layer.
    All(f64),
    /// Of the named layers, and of no others.
    PerNode(Vec<(Key, f64)>),
    /// All but this many inputs of each output of a weight.
    FanIn(usize),
}

/// The set of elements that the share is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// In each tensor.
    #[default]
    Local,
    /// Over all tensors together.
    Global,
}

/// The unit of pruning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// Single elements.
    #[default]
    Elementwise,
    /// All elements of a channel.
    Channel,
}

/// The order of pruning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The smallest magnitudes first.
    #[default]
    L1Norm,
    /// The smallest squares first: of channels another order than that of magnitudes.
    L2Norm,
    /// Anything.
    Random,
}

impl PruneRule {
    /// The mask of every candidate.
    pub fn masks(&self, candidates: &[Candidate], seed: u64) -> Vec<Tensor> {
        let order = |candidate: &Candidate| match self.method {
            Method::L1Norm | Method::L2Norm => candidate.magnitudes(),
            Method::Random => {
                let random = Random::new(seed, &format!("prune {}", candidate.path));
                (0..candidate.units.count as u64)
                    .map(|unit| random.bits(unit))
                    .collect()
            }
        };
        let groups: Vec<Group> = candidates
            .iter()
            .map(|candidate| Group {
                order: order(candidate),
                pruned: candidate.pruned_units(),
            })
            .collect();
        let each = groups.iter().zip(candidates);
        let chosen: Vec<Vec<bool>> = match (&self.sparsity, self.scope) {
            (Sparsity::FanIn(kept), _) => each
                .map(|(group, of)| group.all_but(*kept, of.units.count / of.outputs()))
                .collect(),
            (_, Scope::Global) => {
                let all = candidates.first().map_or(0.0, |first| first.sparsity);
                smallest(&groups, all)
            }
            (_, Scope::Local) => each
                .flat_map(|(group, of)| smallest(std::slice::from_ref(group), of.sparsity))
                .collect(),
        };
        let pairs = candidates.iter().zip(&chosen);
        pairs.map(|(of, units)| of.mask(units)).collect()
    }
}
