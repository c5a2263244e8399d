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
    /// γ counts by its size alone: the scales of a format take the factors in.
    is_positive: bool,
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
            is_positive: false,
            scale_format: node.formats.get("weight").cloned(),
            shift_format: node.formats.get("bias").cloned(),
        }
    }

    /// The same with positive factors, whatever the sign of γ.
    pub(super) fn positive(self) -> Self {
        Self {
            is_positive: true,
            ..self
        }
    }

    /// The factor γ of a channel.
    pub(super) fn gamma(&self, state: &State, c: usize) -> f64 {
        f64::from(state.trained[self.weight.start + c] * self.sign(state, c))
    }

    /// −1 where the factor of a channel is −γ.
    pub(super) fn sign(&self, state: &State, c: usize) -> f32 {
        let is_negative = state.trained[self.weight.start + c] < 0.0;
        if self.is_positive && is_negative {
            -1.0
        } else {
            1.0
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
        let inv_std = |c: usize| f64::from(inv_std[c]);
        self.write(state, mean, inv_std, exact, rounded);
    }

    /// Scale and shift from the mean and 1/√(σ² + ε) of each channel.
    fn write(
        &self,
        state: &State,
        mean: &[f32],
        inv_std: impl Fn(usize) -> f64,
        exact: [&mut [f32]; 2],
        rounded: [&mut [f32]; 2],
    ) {
        let beta = &state.trained[self.bias.clone()];
        let scale = |c: usize| self.gamma(state, c) * inv_std(c);
        let shift = |c: usize| f64::from(beta[c]) - f64::from(mean[c]) * scale(c);
        let ([exact_scale, exact_shift], [rounded_scale, rounded_shift]) = (exact, rounded);
        write_rounded(
            scale,
            self.scale_format.as_ref(),
            exact_scale,
            rounded_scale,
        );
        write_rounded(
            shift,
            self.shift_format.as_ref(),
            exact_shift,
            rounded_shift,
        );
    }

    /// 1/√(σ² + ε), scale and shift from the running statistics.
    pub(super) fn running(&self, state: &State) -> [Vec<f32>; 3] {
        let variance = &state.buffers[self.running_var.clone()];
        let inv_std = |c: usize| 1.0 / (f64::from(variance[c]) + self.eps).sqrt();
        let mean = &state.buffers[self.running_mean.clone()];
        let mut room = [(); 4].map(|()| vec![0.0; mean.len()]);
        let [a, b, scale, shift] = &mut room;
        self.write(state, mean, inv_std, [a, b], [scale, shift]);
        let [_, _, scale, shift] = room;
        let inv_std = (0..mean.len()).map(|c| inv_std(c) as f32).collect();
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

/// Writes coefficients as floats, and rounded to the format. Fixed point is rounded from the double: rounded to a float
/// first, codes of as many bits as a float has would often be the next ones.
fn write_rounded(
    values: impl Fn(usize) -> f64,
    format: Option<&Format>,
    exact: &mut [f32],
    rounded: &mut [f32],
) {
    for (c, exact) in exact.iter_mut().enumerate() {
        *exact = values(c) as f32;
    }
    let shape = [exact.len()];
    match format {
        None => rounded.copy_from_slice(exact),
        Some(format) if format.round_doubles(values, &shape, rounded) => {}
        Some(format) => quantize(format, exact, &shape, rounded),
    }
}

/// 1/√(σ² + ε).
pub(super) fn inverse_deviation(variance: f64, eps: f64) -> f32 {
    (1.0 / (variance + eps).sqrt()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{Tensor, verify};
    use random::Random;

    const CHANNELS: usize = 1000;
    /// ε is this, and variances are multiples of it.
    const VARIANCE_UNIT: f64 = 1.0 / 4096.0;
    /// All other parameters are multiples of this.
    const UNIT: f64 = 1.0 / 65536.0;

    /// A parameter in units.
    fn whole(stream: u64, low: i64, span: u64) -> Vec<i64> {
        let random = Random::new(stream, "parameters");
        (0..CHANNELS as u64)
            .map(|c| low + (random.bits(c) % span) as i64)
            .collect()
    }

    /// Scale and shift of a norm with these parameters.
    fn coefficients(format: &str, params: [(&str, &[i64], f64); 4]) -> [Vec<f32>; 2] {
        let text = format!(
            "graph \"norm\" {{ x: f32[N, {CHANNELS}] = placeholder \
             y = batch_norm1d(x) {{ num_features = {CHANNELS}, eps = {VARIANCE_UNIT}, weight: {format}, bias: {format} }} \
             return y }}"
        );
        let mut graph = Graph::parse(&text).expect("a graph");
        graph.initialize(0);
        let y = graph.find("y").expect("the norm");
        for (port, values, unit) in params {
            let values = values.iter().map(|&v| (v as f64 * unit) as f32).collect();
            let tensor = Tensor::new(vec![CHANNELS], values).expect("a parameter");
            graph.node_mut(y).params.insert(port.to_owned(), tensor);
        }
        let verified = verify(&graph).expect("a valid graph");
        let state = State::new(&verified).expect("initialised parameters");
        NormCoefficients::of(y, &graph, &state).scale_and_shift(&state)
    }

    /// The square with the sign of the number, so that squares compare as numbers do.
    fn square(x: i128) -> i128 {
        x * x.abs()
    }

    /// True when `code` is a nearest whole number to (b·2^16 − a/√v)·2^-27.
    fn is_nearest(code: i128, b: i128, a: i128, v: i128) -> bool {
        let far = |half: i128| (b << 16) - (code << 27) + half;
        square(far(-(1 << 26))) * v <= square(a) && square(a) <= square(far(1 << 26)) * v
    }

    #[test]
    fn fixed_point_coefficients_are_the_codes_nearest_to_the_exact_ones() {
        let (gamma, beta) = (whole(1, -65536, 131_072), whole(2, -65536, 131_072));
        let (mean, variance) = (whole(3, -65536, 131_072), whole(4, 4096, 12_288));
        let mut n_other = 0;
        for (format, frac) in [
            ("integer(24, 20)", 20),
            ("integer(24, 21)", 21),
            ("integer(32, 20)", 20),
            ("integer(32, 22)", 22),
        ] {
            let params = [
                ("weight", &gamma[..], UNIT),
                ("bias", &beta, UNIT),
                ("running_mean", &mean, UNIT),
                ("running_var", &variance, VARIANCE_UNIT),
            ];
            let [scale, shift] = coefficients(format, params);
            let [float_scale, _] = coefficients("minifloat_ieee(32, 8)", params);
            for c in 0..CHANNELS {
                let step = 2_f64.powi(frac);
                let code = |value: f32| (f64::from(value) * step) as i128;
                let [g, b, m] = [gamma[c], beta[c], mean[c]].map(i128::from);
                let v = i128::from(variance[c] + 1);
                // γ·2^frac/√(σ² + ε) = g·2^(frac-10)/√v.
                let is_scale = is_nearest(code(scale[c]), 0, -g << (frac + 17), v);
                assert!(is_scale, "{format}: scale {c} is {}", scale[c]);
                let is_shift =
                    is_nearest(code(shift[c]), b << (frac - 5), (m * g) << (frac + 1), v);
                assert!(is_shift, "{format}: shift {c} is {}", shift[c]);
                let by_float = (f64::from(float_scale[c]) * step).round_ties_even() as i128;
                n_other += usize::from(by_float != code(scale[c]));
            }
        }
        assert!(n_other > 0, "no parameters need more than a float");
    }
}
