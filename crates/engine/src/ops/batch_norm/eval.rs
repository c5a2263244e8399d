//! A batch norm in evaluation: running statistics, known before the batch comes.

use super::Norm;
use crate::ops::activation::mask_by_relu;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use kernels::batch_norm as kernel;

/// Evaluation: `y = x·scale + shift`.
pub(super) struct EvalNorm(pub(super) Norm);

impl EvalNorm {
    /// Prepared memory: 1/√(σ² + ε), scale, shift, zeros.
    fn prepared<'a>(&self, wires: &Wires, memory: &Memory<'a>) -> [&'a [f32]; 4] {
        let c = self.0.layout.channels;
        let mut parts = memory.prepared[wires.prepared.clone()].chunks(c);
        std::array::from_fn(|_| parts.next().unwrap_or_default())
    }
}

impl Step for EvalNorm {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [_, scale, shift, _] = self.prepared(wires, memory);
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        self.0.apply(x, scale, shift, y);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Norm {
            layout,
            relu,
            coefficients,
        } = &self.0;
        let [inv_std, scale, _, zeros] = self.prepared(wires, memory);
        if *relu {
            mask_by_relu(wires, memory);
        }
        if !memory.grads.is_empty() {
            let mean = &memory.state.buffers[coefficients.running_mean.clone()];
            let ranges = [coefficients.bias.clone(), coefficients.weight.clone()];
            let [beta, gamma] = memory
                .grads
                .get_disjoint_mut(ranges)
                .expect("parameters are disjoint");
            let (x, dy) = (&memory.arena[wires.x(0)], &memory.arena[wires.dy()]);
            kernel::backward_sums(layout, x, dy, mean, inv_std, beta, gamma);
        }
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [dy, dx] = memory.split([wires.dy(), target]);
        kernel::affine(layout, dy, scale, zeros, dx);
        memory.commit_grad(wires, 0);
    }

    fn prepared_len(&self) -> usize {
        4 * self.0.layout.channels
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        let c = self.0.layout.channels;
        for (row, values) in prepared
            .chunks_mut(c)
            .zip(self.0.coefficients.running(state))
        {
            row.copy_from_slice(&values);
        }
    }

    fn is_trained(&self) -> bool {
        true
    }
}
