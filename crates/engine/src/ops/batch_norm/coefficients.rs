//! The coefficients of a batch norm, `y = x·scale + shift`.

use crate::state::State;
use format::Format;
use ir::{Graph, NodeId};
use kernels::quantize::quantize;
use std::ops::Range;

/// The places of the parameters of a batch norm, from which scale and shift follow:
/// `scale = γ/√(σ² + ε)`, `shift = β − μ·scale`, each rounded to the format of its port.
#[derive(Clone)]
pub(crate) struct NormCoefficients {
    pub(super) weight: Range<usize>,
    pub(super) bias: Range<usize>,
    pub(super) running_mean: Range<usize>,
    pub(super) running_var: Range<usize>,
    pub(super) eps: f64,
    scale_format: Option<Format>,
    shift_format: Option<Format>,
}

impl NormCoefficients {
    pub fn of(id: NodeId, graph: &Graph, state: &State) -> Self {
        let node = graph.node(id);
        let param = |port: &str| state.range(id, port);
        let eps = match &node.op {
            ir::Op::BatchNorm1d(op) => op.eps,
            ir::Op::BatchNorm2d(op) => op.eps,
            _ => 0.0,
        };
        Self {
            weight: param("weight"),
            bias: param("bias"),
            running_mean: param("running_mean"),
            running_var: param("running_var"),
            eps,
            scale_format: node.formats.get("weight").cloned(),
            shift_format: node.formats.get("bias").cloned(),
        }
    }

    /// Scale and shift from statistics; `exact` is room for their values before rounding.
    pub(super) fn of_statistics(
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
    pub(super) fn running(&self, state: &State) -> [Vec<f32>; 3] {
        let variance = &state.buffers[self.running_var.clone()];
        let inv_std: Vec<f32> = variance
            .iter()
            .map(|&var| inverse_deviation(f64::from(var), self.eps))
            .collect();
        let mean = &state.buffers[self.running_mean.clone()];
        let mut room = [(); 4].map(|()| vec![0.0; mean.len()]);
        let [a, b, scale, shift] = &mut room;
        self.of_statistics(state, [mean, &inv_std], [a, b], [scale, shift]);
        let [_, _, scale, shift] = room;
        [inv_std, scale, shift]
    }

    /// Scale and shift in evaluation.
    pub fn scale_and_shift(&self, state: &State) -> [Vec<f32>; 2] {
        let [_, scale, shift] = self.running(state);
        [scale, shift]
    }

    /// Folds the norm into a weight whose columns are the channels, and its bias.
    pub fn fold_into_columns(&self, state: &State, weight: &mut [f32], bias: &mut [f32]) {
        let [scale, shift] = self.scale_and_shift(state);
        for row in weight.chunks_mut(scale.len()) {
            kernels::elementwise::zip_inplace(&scale, row, |s, w| s * w);
        }
        for c in 0..scale.len() {
            bias[c] = bias[c] * scale[c] + shift[c];
        }
    }

    /// Folds the norm into a weight whose rows are the channels, and its bias.
    pub fn fold_into_rows(&self, state: &State, weight: &mut [f32], bias: &mut [f32]) {
        let [scale, shift] = self.scale_and_shift(state);
        for (c, row) in weight
            .chunks_mut((weight.len() / scale.len()).max(1))
            .enumerate()
        {
            kernels::elementwise::scale(row, scale[c]);
        }
        for c in 0..scale.len() {
            bias[c] = bias[c] * scale[c] + shift[c];
        }
    }
}

/// 1/√(σ² + ε).
pub(super) fn inverse_deviation(variance: f64, eps: f64) -> f32 {
    (1.0 / (variance + eps).sqrt()) as f32
}
