//! Rounding to a number format, with a straight-through gradient: what a format on a port means.

use crate::step::{Memory, Step, Wires};
use format::Format;

/// Rounds a value to a format.
pub(crate) struct Quantize {
    pub format: Format,
    pub shape: Vec<usize>,
}

impl Step for Quantize {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        kernels::quantize::quantize(&self.format, x, &self.shape, y);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [x, dy, dx] = memory.split([wires.x(0), wires.dy(), target]);
        dx.copy_from_slice(dy);
        kernels::quantize::straight_through(&self.format, x, &self.shape, dx);
        memory.commit_grad(wires, 0);
    }
}
