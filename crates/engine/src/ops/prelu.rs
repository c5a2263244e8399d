//! Rectified linear unit with a trained slope below zero.

use super::Site;
use super::param::Param;
use crate::arena::Span;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use kernels::elementwise;
use kernels::permute::{broadcast_zip, reduce_to};

/// `x` above zero, `weight·x` below.
pub(crate) struct Prelu {
    weight: Param,
    /// The weight's axes, aligned with those of the value.
    shape: Vec<usize>,
    /// Elements of the value.
    len: usize,
}

impl Prelu {
    pub fn new(op: &ir::ops::prelu::Prelu, site: &Site) -> Self {
        let mut shape = vec![1; site.inputs[0].len().saturating_sub(1)];
        if let Some(channels) = shape.first_mut() {
            *channels = op.num_parameters;
        }
        Self {
            weight: Param::new(site, "weight", 0),
            shape,
            len: site.inputs[0].iter().product(),
        }
    }
}

impl Prelu {
    /// The span of one working copy of the value.
    fn scratch(&self, wires: &Wires) -> Span {
        wires.scratch.start..wires.scratch.start + self.len
    }
}

impl Step for Prelu {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let weight = self.weight.values(wires, memory);
        let shape = &wires.inputs[0].shape;
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        broadcast_zip(x, shape, weight, &self.shape, y, shape, |x, w| {
            if x > 0.0 { x } else { w * x }
        });
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let weight = self.weight.values(wires, memory);
        let shape = &wires.inputs[0].shape;
        if let Some(target) = wires.grad_target(0) {
            let [x, dy, dx, slopes] =
                memory.split([wires.x(0), wires.dy(), target, self.scratch(wires)]);
            broadcast_zip(x, shape, weight, &self.shape, slopes, shape, |x, w| {
                if x > 0.0 { 1.0 } else { w }
            });
            elementwise::zip(dy, slopes, dx, |dy, slope| dy * slope);
            memory.commit_grad(wires, 0);
        }
        let [x, dy, products] = memory.split([wires.x(0), wires.dy(), self.scratch(wires)]);
        elementwise::zip(x, dy, products, |x, dy| if x > 0.0 { 0.0 } else { x * dy });
        if let Some(grad) = memory.grads.get_mut(self.weight.range.clone()) {
            reduce_to(&memory.arena[self.scratch(wires)], shape, grad, &self.shape);
        }
        self.weight.pass_gradient(memory);
    }

    fn scratch_len(&self) -> usize {
        self.len
    }

    fn prepared_len(&self) -> usize {
        self.weight.prepared_end()
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        self.weight.prepare(state, prepared);
    }

    fn is_trained(&self) -> bool {
        true
    }
}
