//! Rounding to a number format, with a straight-through gradient: what a format on a port means.

use crate::rounding::DataRounding;
use crate::step::{Memory, Step, Wires};

/// Rounds a value to a format.
pub(crate) struct Quantize(pub DataRounding);

impl Step for Quantize {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let state = memory.state;
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        self.0.round(state, x, y);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let state = memory.state;
        if let Some(scales) = memory.grads.get_mut(self.0.rounding.scales()) {
            let [x, dy] = [wires.x(0), wires.dy()].map(|span| &memory.arena[span]);
            self.0.rounding.scale_backward(state, x, dy, scales);
        }
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [x, dy, dx] = memory.split([wires.x(0), wires.dy(), target]);
        dx.copy_from_slice(dy);
        self.0.backward(state, x, dx);
        memory.commit_grad(wires, 0);
    }

    fn is_trained(&self) -> bool {
        !self.0.rounding.scales().is_empty()
    }
}
