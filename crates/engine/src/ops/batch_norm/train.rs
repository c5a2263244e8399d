//! A batch norm in training: statistics of the batch, merged over the shards in the middle of each pass.

use super::coefficients::inverse_deviation;
use super::{Norm, NormCoefficients};
use crate::shard::Shard;
use crate::state::State;
use crate::step::{Memory, Step, WholeBatch, Wires};
use kernels::batch_norm as kernel;
use std::ops::Range;

/// Training: statistics of the whole batch, merged over the shards.
pub(super) struct TrainNorm {
    pub norm: Norm,
    pub momentum: f64,
    pub samples_per_row: usize,
    /// In the whole batch.
    pub samples: usize,
    /// The bias that the input lacks; the running mean is that of the full input.
    pub lacking_bias: Range<usize>,
}

/// Rows of saved memory, one element per channel each: mean, 1/√(σ² + ε), scale, shift, and two that hold the exact
/// scale and shift during the forward pass and the sums Σ dy and Σ dy·x̂ during the backward pass. A shard's own mean
/// and sum of squares are in the first two until they are merged; the last two end as coefficients of dx.
const SAVED_ROWS: usize = 6;

fn saved_rows(saved: &mut [f32]) -> [&mut [f32]; SAVED_ROWS] {
    let channels = saved.len() / SAVED_ROWS;
    let mut parts = saved.chunks_mut(channels.max(1));
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

impl TrainNorm {
    /// Merges mean and sum of squares of all shards into the first, by Chan's formula, in shard order.
    fn merge_moments(&self, at: usize, shards: &mut [Shard]) {
        let samples = |shard: &Shard| (shard.rows() * self.samples_per_row) as f64;
        let Some((first, rest)) = shards.split_first_mut() else {
            return;
        };
        let mut n = samples(first);
        for shard in rest {
            let more = samples(shard);
            let [mean, m2, ..] = saved_rows(first.saved(at));
            let [other_mean, other_m2, ..] = saved_rows(shard.saved(at));
            for c in 0..mean.len() {
                let delta = f64::from(other_mean[c]) - f64::from(mean[c]);
                mean[c] = (f64::from(mean[c]) + delta * more / (n + more)) as f32;
                let between = delta * delta * n * more / (n + more);
                m2[c] = (f64::from(m2[c]) + f64::from(other_m2[c]) + between) as f32;
            }
            n += more;
        }
    }

    fn update_running(&self, state: &mut State, mean: &[f32], m2: &[f32]) {
        let NormCoefficients {
            running_mean,
            running_var,
            ..
        } = &self.norm.coefficients;
        let (keep, unbiased) = (1.0 - self.momentum, (self.samples - 1) as f64);
        let bias = state
            .trained
            .get(self.lacking_bias.clone())
            .unwrap_or_default();
        let [means, variances] = state
            .buffers
            .get_disjoint_mut([running_mean.clone(), running_var.clone()])
            .expect("buffers are disjoint");
        for c in 0..mean.len() {
            let lacking = f64::from(bias.get(c).copied().unwrap_or(0.0));
            let (m, v) = (f64::from(mean[c]) + lacking, f64::from(m2[c]) / unbiased);
            means[c] = (keep * f64::from(means[c]) + self.momentum * m) as f32;
            variances[c] = (keep * f64::from(variances[c]) + self.momentum * v) as f32;
        }
        state.version += 1;
    }

    /// dx = a·dz + b·x + c, with a the scale: the last two rows become b and c.
    fn input_coefficients(&self, saved: &mut [f32], state: &State) {
        let n = self.samples as f64;
        let gamma = &state.trained[self.norm.coefficients.weight.clone()];
        let [mean, inv_std, _, _, sum, dot] = saved_rows(saved);
        for c in 0..mean.len() {
            let scale = f64::from(gamma[c]) * f64::from(inv_std[c]);
            let b = -scale * f64::from(inv_std[c]) * f64::from(dot[c]) / n;
            dot[c] = b as f32;
            sum[c] = (-scale * f64::from(sum[c]) / n - b * f64::from(mean[c])) as f32;
        }
    }
}

impl Step for TrainNorm {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, saved] = memory.split([wires.x(0), wires.saved.clone()]);
        let [mean, m2, ..] = saved_rows(saved);
        kernel::moments(&self.norm.layout, x, mean, m2);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let layout = &self.norm.layout;
        let [x, y, dy, saved] =
            memory.split([wires.x(0), wires.y(), wires.dy(), wires.saved.clone()]);
        let [mean, inv_std, _, _, sum, dot] = saved_rows(saved);
        if self.norm.relu {
            kernel::backward_sums_relu(layout, x, y, dy, mean, inv_std, sum, dot);
        } else {
            kernel::backward_sums(layout, x, dy, mean, inv_std, sum, dot);
        }
    }

    fn saved_len(&self) -> usize {
        SAVED_ROWS * self.norm.layout.channels
    }

    fn is_trained(&self) -> bool {
        true
    }

    fn whole_batch(&self) -> Option<&dyn WholeBatch> {
        Some(self)
    }
}

impl WholeBatch for TrainNorm {
    fn combine_forward(&self, at: usize, shards: &mut [Shard], state: &mut State) {
        self.merge_moments(at, shards);
        let Some((first, rest)) = shards.split_first_mut() else {
            return;
        };
        let [mean, m2, scale, shift, exact_scale, exact_shift] = saved_rows(first.saved(at));
        self.update_running(state, mean, m2);
        for square in m2.iter_mut() {
            *square = inverse_deviation(
                f64::from(*square) / self.samples as f64,
                self.norm.coefficients.eps,
            );
        }
        let (exact, rounded) = ([exact_scale, exact_shift], [scale, shift]);
        self.norm
            .coefficients
            .of_statistics(state, [mean, m2], exact, rounded);
        broadcast(at, first, rest);
    }

    fn finish_forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y, saved] = memory.split([wires.x(0), wires.y(), wires.saved.clone()]);
        let [_, _, scale, shift, ..] = saved_rows(saved);
        self.norm.apply(x, scale, shift, y);
    }

    fn combine_backward(&self, at: usize, shards: &mut [Shard], state: &State) {
        let Some((first, rest)) = shards.split_first_mut() else {
            return;
        };
        for shard in rest.iter_mut() {
            let [.., sum, dot] = saved_rows(first.saved(at));
            let [.., other_sum, other_dot] = saved_rows(shard.saved(at));
            kernels::elementwise::add_assign(other_sum, sum);
            kernels::elementwise::add_assign(other_dot, dot);
        }
        let NormCoefficients { weight, bias, .. } = &self.norm.coefficients;
        if !first.grads.is_empty() {
            let mut grads = std::mem::take(&mut first.grads);
            let [.., sum, dot] = saved_rows(first.saved(at));
            grads[bias.clone()].copy_from_slice(sum);
            grads[weight.clone()].copy_from_slice(dot);
            first.grads = grads;
        }
        self.input_coefficients(first.saved(at), state);
        broadcast(at, first, rest);
    }

    fn finish_backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [x, dy, dx, saved] =
            memory.split([wires.x(0), wires.dy(), target, wires.saved.clone()]);
        let [_, _, scale, _, sum, dot] = saved_rows(saved);
        kernel::backward_dx(&self.norm.layout, x, dy, scale, dot, sum, dx);
        memory.commit_grad(wires, 0);
    }
}

/// Copies what the first shard has saved to all others.
fn broadcast(at: usize, first: &mut Shard, rest: &mut [Shard]) {
    for shard in rest {
        shard.saved(at).copy_from_slice(first.saved(at));
    }
}
