//! Parameters that a step uses otherwise than they are trained: rounded, or with a batch norm folded into them first.

use super::Site;
use super::batch_norm::Gain;
use crate::rounding::Rounding;
use crate::state::State;
use crate::step::{Memory, Wires};
use std::ops::Range;

/// One parameter of a step; empty when the operator has none of that name.
pub(crate) struct Param {
    pub range: Range<usize>,
    shape: Vec<usize>,
    rounding: Option<Rounding>,
    /// The start of the rounded values in the step's prepared memory.
    start: usize,
}

impl Param {
    /// The parameter `port` of a node, prepared from `start` on.
    pub fn new(site: &Site, port: &str, start: usize) -> Self {
        let entry = site.state.entry(site.id, port);
        Self {
            range: entry.map_or(0..0, |entry| entry.range.clone()),
            shape: entry.map_or_else(Vec::new, |entry| entry.shape.clone()),
            rounding: site.rounding(port),
            start,
        }
    }

    /// The end of its part of the prepared memory.
    pub fn prepared_end(&self) -> usize {
        self.start
            + if self.rounding.is_some() {
                self.range.len()
            } else {
                0
            }
    }

    /// Rounds the values into the prepared memory.
    pub fn prepare(&self, state: &State, prepared: &mut [f32]) {
        if let Some(rounding) = &self.rounding {
            let rounded = &mut prepared[self.start..self.prepared_end()];
            let own = &state.trained[self.range.clone()];
            rounding.round(state, own, &self.shape, rounded);
        }
    }

    /// The values to use, from the prepared memory of the step.
    pub fn prepared_values<'a>(&self, state: &'a State, prepared: &'a [f32]) -> &'a [f32] {
        if self.rounding.is_some() {
            &prepared[self.start..self.prepared_end()]
        } else {
            &state.trained[self.range.clone()]
        }
    }

    /// The values to use.
    pub fn values<'a>(&self, wires: &Wires, memory: &Memory<'a>) -> &'a [f32] {
        if self.rounding.is_some() {
            &memory.prepared[wires.prepared.clone()][self.start..self.prepared_end()]
        } else {
            &memory.state.trained[self.range.clone()]
        }
    }

    /// Makes the gradient of the rounded values that of the values themselves.
    pub fn pass_gradient(&self, memory: &mut Memory) {
        if let Some(rounding) = &self.rounding {
            pass_gradient(rounding, &self.range, &self.shape, None, memory);
        }
    }
}

/// A weight into which training folds the batch norm behind its layer before it is rounded.
pub(crate) struct FoldedWeight {
    gain: Gain,
    weight: Range<usize>,
    channels: usize,
}

impl FoldedWeight {
    /// The weight of a layer that takes in a norm; none for other layers.
    pub fn of(site: &Site, channels: usize) -> Option<Self> {
        let norm = site.norm_in_weight()?;
        Some(Self {
            gain: Gain::of(norm, site.graph(), site.state),
            weight: site.param("weight"),
            channels,
        })
    }

    /// Elements of prepared memory: the folded weight and the factor of each channel.
    pub fn prepared_len(&self) -> usize {
        self.weight.len() + self.channels
    }

    /// Fills the prepared memory; the folded weight in it.
    pub fn prepare<'a>(&self, state: &State, prepared: &'a mut [f32]) -> &'a [f32] {
        let (folded, gains) = prepared.split_at_mut(self.weight.len());
        self.gain.write(state, gains);
        let own = &state.trained[self.weight.clone()];
        self.gain.fold(state, own, folded);
        folded
    }

    /// The folded weight and the factors, from the prepared memory.
    pub fn parts<'a>(&self, prepared: &'a [f32]) -> (&'a [f32], &'a [f32]) {
        prepared.split_at(self.weight.len())
    }
}

/// Makes the gradient of a parameter's rounded values that of the parameter, and gives its scales theirs. `folded` holds a
/// weight as it was before it was rounded, and the factor of each of its rows, when a norm is folded into it.
pub(crate) fn pass_gradient(
    rounding: &Rounding,
    range: &Range<usize>,
    shape: &[usize],
    folded: Option<(&[f32], &[f32])>,
    memory: &mut Memory,
) {
    let own = &memory.state.trained[range.clone()];
    let (own, gains) = folded.unwrap_or((own, &[]));
    let scales = rounding.scales();
    if let Ok([grad, scales]) = memory.grads.get_disjoint_mut([range.clone(), scales]) {
        rounding.backward(memory.state, own, shape, grad, Some(scales));
        let per_row = (grad.len() / gains.len().max(1)).max(1);
        for (row, &gain) in grad.chunks_mut(per_row).zip(gains) {
            kernels::elementwise::scale(row, gain);
        }
    }
}
