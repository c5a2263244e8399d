//! A parameter that a step uses rounded: where it lies, its format, and where the rounded values are prepared.

use super::Site;
use crate::state::State;
use crate::step::{Memory, Wires};
use format::Format;
use kernels::quantize::{quantize, straight_through};
use std::ops::Range;

/// One parameter of a step; empty when the operator has none of that name.
pub(crate) struct Param {
    pub range: Range<usize>,
    shape: Vec<usize>,
    format: Option<Format>,
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
            format: site.format(port),
            start,
        }
    }

    /// The end of its part of the prepared memory.
    pub fn prepared_end(&self) -> usize {
        self.start
            + if self.format.is_some() {
                self.range.len()
            } else {
                0
            }
    }

    /// Rounds the values into the prepared memory.
    pub fn prepare(&self, state: &State, prepared: &mut [f32]) {
        if let Some(format) = &self.format {
            let rounded = &mut prepared[self.start..self.prepared_end()];
            quantize(
                format,
                &state.trained[self.range.clone()],
                &self.shape,
                rounded,
            );
        }
    }

    /// The values to use.
    pub fn values<'a>(&self, wires: &Wires, memory: &Memory<'a>) -> &'a [f32] {
        if self.format.is_some() {
            &memory.prepared[wires.prepared.clone()][self.start..self.prepared_end()]
        } else {
            &memory.state.trained[self.range.clone()]
        }
    }

    /// Makes the gradient of the rounded values that of the values themselves.
    pub fn pass_gradient(&self, memory: &mut Memory) {
        if let (Some(format), Some(grad)) = (&self.format, memory.grads.get_mut(self.range.clone()))
        {
            straight_through(
                format,
                &memory.state.trained[self.range.clone()],
                &self.shape,
                grad,
            );
        }
    }
}
