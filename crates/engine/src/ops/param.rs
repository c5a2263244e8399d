//! A parameter that a step uses rounded: where it lies, its format, and where the rounded values are prepared.

use super::Site;
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
            pass_gradient(rounding, &self.range, &self.shape, memory);
        }
    }
}

/// Makes the gradient of a parameter's rounded values that of the parameter, and gives its scales theirs.
pub(crate) fn pass_gradient(
    rounding: &Rounding,
    range: &Range<usize>,
    shape: &[usize],
    memory: &mut Memory,
) {
    let (own, scales) = (&memory.state.trained[range.clone()], rounding.scales());
    if let Ok([grad, scales]) = memory.grads.get_disjoint_mut([range.clone(), scales]) {
        rounding.backward(memory.state, own, shape, grad, Some(scales));
    }
}
