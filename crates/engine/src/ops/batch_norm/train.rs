//! A batch norm in training: statistics of the batch, merged over the shards in the middle of each pass.

use super::coefficients::inverse_deviation;
use super::{Gain, Norm, NormCoefficients};
use crate::rounding::Rounding;
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
    /// The norm is folded into the rounded weight of the layer before it.
    pub folded: Option<Folded>,
}

/// A norm that the layer before it will take in.
pub(super) struct Folded {
    /// The factors that the rounded weight has already. Then input 0 of the step is the rounded product, and input 1 holds the
    /// moments of the product with the weight as it is trained. The mean is that of the rounded product, which the bias will
    /// take in, and the deviation that of the other: the factors follow it, and what rounding and saturation do to the
    /// deviation would otherwise drive them on and on. The gradient is that of a norm by the rounded product alone.
    ///
    /// Without them the scales of the weight's format take the factors in, which are positive.
    pub gain: Option<Gain>,
    /// The rounding of the bias that the layer will have.
    pub bias: Option<Rounding>,
}

/// Rows of saved memory, one element per channel each: mean, 1/√(σ² + ε), scale, shift; mean and sum of squares of a rounded
/// product; and two that hold the exact scale and shift during the forward pass and the sums Σ dy and Σ dy·x̂ during the
/// backward pass. A shard's own mean and sum of squares are in the first two until they are merged; the last two end as
/// coefficients of dx.
const SAVED_ROWS: usize = 8;

fn saved_rows(saved: &mut [f32]) -> [&mut [f32]; SAVED_ROWS] {
    let channels = saved.len() / SAVED_ROWS;
    let mut parts = saved.chunks_mut(channels.max(1));
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// Mean and sum of squares in saved memory.
type Moments = fn(&mut [f32]) -> [&mut [f32]; 2];

fn moments(saved: &mut [f32]) -> [&mut [f32]; 2] {
    let [mean, m2, ..] = saved_rows(saved);
    [mean, m2]
}

fn rounded_moments(saved: &mut [f32]) -> [&mut [f32]; 2] {
    let [_, _, _, _, mean, m2, ..] = saved_rows(saved);
    [mean, m2]
}

impl TrainNorm {
    /// Merges mean and sum of squares of all shards into the first, by Chan's formula, in shard order.
    fn merge_moments(&self, at: usize, shards: &mut [Shard], moments: Moments) {
        let samples = |shard: &Shard| (shard.rows() * self.samples_per_row) as f64;
        let Some((first, rest)) = shards.split_first_mut() else {
            return;
        };
        let mut n = samples(first);
        for shard in rest {
            let more = samples(shard);
            let [mean, m2] = moments(first.saved(at));
            let [other_mean, other_m2] = moments(shard.saved(at));
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

    fn gain(&self) -> Option<&Gain> {
        self.folded.as_ref()?.gain.as_ref()
    }

    fn bias_rounding(&self) -> Option<&Rounding> {
        self.folded.as_ref()?.bias.as_ref()
    }

    /// Makes the gradient of the rounded shift, the bias of the folded layer, that of β.
    fn pass_bias_gradient(&self, saved: &mut [f32], state: &State, grads: &mut [f32]) {
        let Some(rounding) = self.bias_rounding() else {
            return;
        };
        // The mean of the rounded product has done its work; the rounded shift still gates a relu.
        let [mean, _, scale, _, exact, ..] = saved_rows(saved);
        let range = &self.norm.coefficients.bias;
        let beta = &state.trained[range.clone()];
        for c in 0..exact.len() {
            exact[c] = beta[c] - mean[c] * scale[c];
        }
        if let Ok([grad, scales]) = grads.get_disjoint_mut([range.clone(), rounding.scales()]) {
            rounding.backward(state, exact, &[exact.len()], grad, Some(scales));
        }
    }

    /// dx = a·dz + b·x + c, with a the scale: the last two rows become b and c.
    fn input_coefficients(&self, saved: &mut [f32], state: &State) {
        let n = self.samples as f64;
        let [mean, inv_std, _, _, _, rounded_m2, sum, dot] = saved_rows(saved);
        for c in 0..mean.len() {
            let inv_std = f64::from(inv_std[c]);
            let scale = self.norm.coefficients.gamma(state, c) * inv_std;
            let inv_var_std = match self.gain() {
                None => inv_std / n,
                // Σ dy·x̂ was made with another deviation than that of the product whose gradient this is.
                Some(_) => 1.0 / (inv_std * f64::from(rounded_m2[c])),
            };
            let b = -scale * f64::from(dot[c]) * inv_var_std;
            let b = if b.is_finite() { b } else { 0.0 };
            dot[c] = b as f32;
            sum[c] = (-scale * f64::from(sum[c]) / n - b * f64::from(mean[c])) as f32;
        }
    }
}

impl Step for TrainNorm {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        if self.gain().is_some() {
            let [moments, saved] = memory.split([wires.x(1), wires.saved.clone()]);
            saved[..moments.len()].copy_from_slice(moments);
            let [x, saved] = memory.split([wires.x(0), wires.saved.clone()]);
            let [mean, m2] = rounded_moments(saved);
            return kernel::moments(&self.norm.layout, x, mean, m2);
        }
        let [x, saved] = memory.split([wires.x(0), wires.saved.clone()]);
        let [mean, m2, ..] = saved_rows(saved);
        kernel::moments(&self.norm.layout, x, mean, m2);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let layout = &self.norm.layout;
        let [x, dy, saved] = memory.split([wires.x(0), wires.dy(), wires.saved.clone()]);
        let [mean, inv_std, scale, shift, .., sum, dot] = saved_rows(saved);
        if self.norm.relu {
            let (statistics, gate) = ([&*mean, inv_std], [&*scale, shift]);
            kernel::backward_sums_relu(layout, x, dy, statistics, gate, sum, dot);
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
        self.merge_moments(at, shards, moments);
        if self.gain().is_some() {
            self.merge_moments(at, shards, rounded_moments);
        }
        let Some((first, rest)) = shards.split_first_mut() else {
            return;
        };
        let [
            mean,
            m2,
            scale,
            shift,
            rounded_mean,
            _,
            exact_scale,
            exact_shift,
        ] = saved_rows(first.saved(at));
        if let Some(gain) = self.gain() {
            // Of the statistics that the weight was folded with, before they change.
            gain.write(state, exact_scale);
            divide(rounded_mean, exact_scale, mean);
        }
        self.update_running(state, mean, m2);
        for square in m2.iter_mut() {
            *square = inverse_deviation(
                f64::from(*square) / self.samples as f64,
                self.norm.coefficients.eps,
            );
        }
        if self.gain().is_some() {
            to_folded_units(exact_scale, mean, m2);
        }
        let exact = [exact_scale, &mut *exact_shift];
        let coefficients = &self.norm.coefficients;
        coefficients.of_statistics(state, [mean, m2], exact, [scale, shift]);
        if let Some(rounding) = self.bias_rounding() {
            rounding.round(state, exact_shift, &[exact_shift.len()], shift);
        }
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
            for (c, grad) in grads[weight.clone()].iter_mut().enumerate() {
                *grad = dot[c] * self.norm.coefficients.sign(state, c);
            }
            self.pass_bias_gradient(first.saved(at), state, &mut grads);
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
        let [_, _, scale, shift, .., sum, dot] = saved_rows(saved);
        let (layout, coefficients) = (&self.norm.layout, [&*scale, dot, sum]);
        if self.norm.relu {
            kernel::backward_dx_relu(layout, x, dy, coefficients, shift, dx);
        } else {
            kernel::backward_dx(layout, x, dy, coefficients, dx);
        }
        memory.commit_grad(wires, 0);
    }
}

/// Mean and 1/√(σ² + ε) of a layer's product from those with the weight as it is trained, given the factors of its channels.
fn to_folded_units(gains: &[f32], mean: &mut [f32], inv_std: &mut [f32]) {
    for (c, &gain) in gains.iter().enumerate() {
        mean[c] *= gain;
        inv_std[c] = if gain == 0.0 { 0.0 } else { inv_std[c] / gain };
    }
}

/// The means of a product with the weight as it is trained from those with the factors in it; left as they are where the
/// factor is zero.
fn divide(means: &[f32], gains: &[f32], quotients: &mut [f32]) {
    for (c, &gain) in gains.iter().enumerate() {
        if gain != 0.0 {
            quotients[c] = means[c] / gain;
        }
    }
}

/// Copies what the first shard has saved to all others.
fn broadcast(at: usize, first: &mut Shard, rest: &mut [Shard]) {
    for shard in rest {
        shard.saved(at).copy_from_slice(first.saved(at));
    }
}
