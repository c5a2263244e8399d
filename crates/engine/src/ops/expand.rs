//! A value repeated along axes; its gradient is the sum over the repetitions.

use crate::step::{Memory, Step, Wires};
use kernels::permute::{broadcast_zip, reduce_to};

/// The input in the shape of the result.
pub(crate) struct Expand;

impl Step for Expand {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let (x_shape, y_shape) = (&wires.inputs[0].shape, &wires.outputs[0].shape);
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        broadcast_zip(x, x_shape, &[0.0], &[], y, y_shape, |x, _| x);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let (x_shape, y_shape) = (&wires.inputs[0].shape, &wires.outputs[0].shape);
        let [dy, dx] = memory.split([wires.dy(), target]);
        reduce_to(dy, y_shape, dx, x_shape);
        memory.commit_grad(wires, 0);
    }
}

/// The repetition in exact integers.
pub(crate) mod integer {
    use crate::integer::walk::broadcast_indices;
    use crate::integer::{Lowered, Site};
    use crate::ops::permute::integer::gather;

    pub(crate) fn lower(site: &Site) -> Lowered {
        gather(
            broadcast_indices(&site.operands[0].shape, &site.outputs[0]),
            site,
        )
    }
}
