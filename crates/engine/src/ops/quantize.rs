//! Rounding to a number format, with a straight-through gradient: what a format on a port means.

use crate::rounding::DataRounding;
use crate::step::{Memory, Step, Wires, split};

/// Rounds a value to a format.
pub(crate) struct Quantize(pub DataRounding);

impl Step for Quantize {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let state = memory.state;
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        self.0.round(state, x, y);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Memory {
            arena,
            grads,
            state,
            ..
        } = memory;
        let scales = grads.get_mut(self.0.rounding.scales());
        let Some(target) = wires.grad_target(0) else {
            // Only the scales want a gradient; nobody reads that of the values afterwards.
            let [x, dy] = split(arena, [wires.x(0), wires.dy()]);
            return self.0.backward(state, x, dy, scales);
        };
        let [x, dy, dx] = split(arena, [wires.x(0), wires.dy(), target]);
        dx.copy_from_slice(dy);
        self.0.backward(state, x, dx, scales);
        memory.commit_grad(wires, 0);
    }

    fn is_trained(&self) -> bool {
        !self.0.rounding.scales().is_empty()
    }
}
