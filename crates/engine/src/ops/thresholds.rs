//! Steps at stored thresholds.

use super::Site;
use crate::rounding::Rounding;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use std::ops::Range;

/// `scale` times the number of thresholds up to x, and `offset`.
pub(crate) struct Thresholds {
    range: Range<usize>,
    /// Lists, and thresholds in each.
    shape: [usize; 2],
    rounding: Option<Rounding>,
    /// Neighbours that read one list.
    space: usize,
    scale: f32,
    offset: f32,
}

impl Thresholds {
    pub fn new(op: &ir::ops::thresholds::Thresholds, site: &Site) -> Self {
        let shape = &site.inputs[0];
        let space = if op.channels == 1 {
            shape.iter().product()
        } else {
            shape[2..].iter().product()
        };
        Self {
            range: site.param("thresholds"),
            shape: [op.channels, op.steps],
            rounding: site.rounding("thresholds"),
            space,
            scale: op.scale as f32,
            offset: op.offset as f32,
        }
    }
}

impl Step for Thresholds {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let lists = &memory.prepared[wires.prepared.clone()];
        let [channels, steps] = self.shape;
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        let parts = x
            .chunks(self.space.max(1))
            .zip(y.chunks_mut(self.space.max(1)));
        for (at, (x, y)) in parts.enumerate() {
            let list = &lists[at % channels * steps..][..steps];
            for (y, &x) in y.iter_mut().zip(x) {
                let count = list.partition_point(|&threshold| threshold <= x);
                *y = self.scale * count as f32 + self.offset;
            }
        }
    }

    /// A count does not change with the element until it jumps.
    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        if let Some(target) = wires.grad_target(0) {
            memory.arena[target].fill(0.0);
            memory.commit_grad(wires, 0);
        }
    }

    fn prepared_len(&self) -> usize {
        self.range.len()
    }

    /// A count does not depend on the order of the thresholds, and an ordered list is searched by halves.
    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        let own = &state.buffers[self.range.clone()];
        match &self.rounding {
            Some(rounding) => rounding.round(state, own, &self.shape, prepared),
            None => prepared.copy_from_slice(own),
        }
        for list in prepared.chunks_exact_mut(self.shape[1]) {
            list.sort_unstable_by(f32::total_cmp);
        }
    }
}
