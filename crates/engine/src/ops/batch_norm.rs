//! Batch normalisation: statistics of the whole batch in training, a fixed affine map in evaluation.

use super::activation::mask_by_relu;
use super::{Lowered, Site};
use crate::EngineError;
use crate::plan::Mode;
use crate::shard::Shard;
use crate::state::State;
use crate::step::{Memory, Step, WholeBatch, Wires};
use format::Format;
use ir::NodeId;
use kernels::batch_norm::{self as kernel, ChannelLayout};
use kernels::quantize::quantize;
use std::ops::Range;

/// The step of a batch norm in the mode of the plan.
pub(crate) fn lower(momentum: f64, site: &Site) -> Result<Lowered, EngineError> {
    let shape = &site.inputs[0];
    let layout = ChannelLayout {
        batch: shape[0],
        channels: shape[1],
        inner: shape[2..].iter().product(),
    };
    let norm = Norm {
        layout,
        relu: site.fusion.relu,
        coefficients: NormCoefficients::of(site.id, site),
    };
    if site.mode == Mode::Eval {
        return Ok(EvalNorm(norm).into());
    }
    let samples_per_row = layout.per_channel() / site.rows;
    let samples = samples_per_row * site.batch;
    if samples < 2 {
        let (node, op) = (site.node.name.clone(), site.node.op.name());
        return Err(EngineError::TooFewSamples {
            node,
            op,
            got: samples,
        });
    }
    let lacking_bias = site
        .fusion
        .lacks_bias_of
        .map_or(0..0, |id| site.param_of(id, "bias"));
    Ok(TrainNorm {
        norm,
        momentum,
        samples_per_row,
        samples,
        lacking_bias,
    }
    .into())
}

/// Where the parameters of a batch norm lie, and how scale and shift follow from them:
/// `scale = γ/√(σ² + ε)`, `shift = β − μ·scale`, each rounded to the format of its port.
#[derive(Clone)]
pub(crate) struct NormCoefficients {
    weight: Range<usize>,
    bias: Range<usize>,
    running_mean: Range<usize>,
    running_var: Range<usize>,
    eps: f64,
    scale_format: Option<Format>,
    shift_format: Option<Format>,
}

impl NormCoefficients {
    pub fn of(id: NodeId, site: &Site) -> Self {
        let node = site.graph.node(id);
        let eps = match &node.op {
            ir::Op::BatchNorm1d(op) => op.eps,
            ir::Op::BatchNorm2d(op) => op.eps,
            _ => 0.0,
        };
        Self {
            weight: site.param_of(id, "weight"),
            bias: site.param_of(id, "bias"),
            running_mean: site.param_of(id, "running_mean"),
            running_var: site.param_of(id, "running_var"),
            eps,
            scale_format: node.formats.get("weight").cloned(),
            shift_format: node.formats.get("bias").cloned(),
        }
    }

    /// Scale and shift from statistics; `exact` is room for their values before rounding.
    fn scale_and_shift(
        &self,
        state: &State,
        [mean, inv_std]: [&[f32]; 2],
        exact: [&mut [f32]; 2],
        rounded: [&mut [f32]; 2],
    ) {
        let gamma = &state.trained[self.weight.clone()];
        let beta = &state.trained[self.bias.clone()];
        let [scale, shift] = exact;
        for c in 0..mean.len() {
            let s = f64::from(gamma[c]) * f64::from(inv_std[c]);
            scale[c] = s as f32;
            shift[c] = (f64::from(beta[c]) - f64::from(mean[c]) * s) as f32;
        }
        let formats = [&self.scale_format, &self.shift_format];
        for ((format, exact), rounded) in formats.into_iter().zip([scale, shift]).zip(rounded) {
            match format {
                Some(format) => quantize(format, exact, &[exact.len()], rounded),
                None => rounded.copy_from_slice(exact),
            }
        }
    }

    /// 1/√(σ² + ε), scale and shift from the running statistics.
    fn running(&self, state: &State) -> [Vec<f32>; 3] {
        let variance = &state.buffers[self.running_var.clone()];
        let inv_std: Vec<f32> = variance
            .iter()
            .map(|&var| inverse_deviation(f64::from(var), self.eps))
            .collect();
        let mean = &state.buffers[self.running_mean.clone()];
        let mut room = [(); 4].map(|()| vec![0.0; mean.len()]);
        let [a, b, scale, shift] = &mut room;
        self.scale_and_shift(state, [mean, &inv_std], [a, b], [scale, shift]);
        let [_, _, scale, shift] = room;
        [inv_std, scale, shift]
    }

    /// Folds the norm into a weight whose columns are the channels, and its bias.
    pub fn fold_into_columns(&self, state: &State, weight: &mut [f32], bias: &mut [f32]) {
        let [_, scale, shift] = self.running(state);
        for row in weight.chunks_mut(scale.len()) {
            kernels::maps::zip_inplace(&scale, row, |s, w| s * w);
        }
        for c in 0..scale.len() {
            bias[c] = bias[c] * scale[c] + shift[c];
        }
    }

    /// Folds the norm into a weight whose rows are the channels, and its bias.
    pub fn fold_into_rows(&self, state: &State, weight: &mut [f32], bias: &mut [f32]) {
        let [_, scale, shift] = self.running(state);
        for (c, row) in weight
            .chunks_mut((weight.len() / scale.len()).max(1))
            .enumerate()
        {
            kernels::maps::scale(row, scale[c]);
        }
        for c in 0..scale.len() {
            bias[c] = bias[c] * scale[c] + shift[c];
        }
    }
}

fn inverse_deviation(variance: f64, eps: f64) -> f32 {
    (1.0 / (variance + eps).sqrt()) as f32
}

/// What both modes have.
struct Norm {
    layout: ChannelLayout,
    relu: bool,
    coefficients: NormCoefficients,
}

impl Norm {
    fn apply(&self, x: &[f32], scale: &[f32], shift: &[f32], y: &mut [f32]) {
        if self.relu {
            kernel::affine_relu(&self.layout, x, scale, shift, y);
        } else {
            kernel::affine(&self.layout, x, scale, shift, y);
        }
    }
}

/// Evaluation: `y = x·scale + shift`.
struct EvalNorm(Norm);

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
            let [y, dy] = memory.split([wires.y(), wires.dy()]);
            mask_by_relu(y, dy);
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

/// Training: statistics of the whole batch, merged over the shards.
struct TrainNorm {
    norm: Norm,
    momentum: f64,
    samples_per_row: usize,
    /// In the whole batch.
    samples: usize,
    /// The bias that the input lacks; the running mean is that of the full input.
    lacking_bias: Range<usize>,
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
            .scale_and_shift(state, [mean, m2], exact, rounded);
        give_to_all(at, first, rest);
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
            kernels::maps::add_assign(other_sum, sum);
            kernels::maps::add_assign(other_dot, dot);
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
        give_to_all(at, first, rest);
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
fn give_to_all(at: usize, first: &mut Shard, rest: &mut [Shard]) {
    for shard in rest {
        shard.saved(at).copy_from_slice(first.saved(at));
    }
}
