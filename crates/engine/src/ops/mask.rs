//! Multiplication by a pruning mask: what a mask on a data input means.

use crate::step::{Memory, Step, Wires};
use ir::Tensor;
use kernels::elementwise::zip_row;

/// `y = x · mask`, sample by sample.
pub(crate) struct Mask {
    /// Zeros and ones in the shape of one sample.
    pub mask: Tensor,
}

impl Step for Mask {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        zip_row(x, self.mask.values(), y, |x, keep| x * keep);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [dy, dx] = memory.split([wires.dy(), target]);
        zip_row(dy, self.mask.values(), dx, |dy, keep| dy * keep);
        memory.commit_grad(wires, 0);
    }
}
