//! A fully connected layer on bytes, for evaluation: the same result as [`Linear`](super::linear::Linear), bit for bit,
//! from dot products of integers.
//!
//! Input, weight and bias must be fixed point. When every sum, in whatever order it is formed, is a code of at most 24
//! bits, floats compute it without rounding; then integers do, too, and only the time differs.

use super::Site;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use format::{Format, Integer, Rounding};
use ir::CodeRange;
use kernels::int_gemm::has_byte_products;
use kernels::quantize::{quantize, quantize_codes_i32};
use kernels::u8_linear::{encode_rows, multiply, number, pack_weights, words};
use std::ops::Range;

/// Rows encoded at a time: codes and sums stay in the first-level cache.
const ROWS: usize = 64;
/// The largest code that floats hold, and all smaller ones with it.
const LARGEST: i128 = 1 << 24;
/// Scales far from where floats end.
const MAX_FRAC: i32 = 100;

/// `y = x·Wᵀ + b`, followed by a relu where the planner fused one.
pub(crate) struct ByteLinear {
    rows: usize,
    inputs: usize,
    outputs: usize,
    weight: Range<usize>,
    /// Empty without a bias.
    bias: Range<usize>,
    weight_format: Format,
    bias_format: Option<Format>,
    codes: Codes,
    relu: bool,
}

/// The codes of operands and sums.
struct Codes {
    data: Integer,
    /// As fine as the sums need it.
    weight: Integer,
    /// Bits behind the point of the sums.
    sum_frac: i32,
}

impl Codes {
    /// The codes of a layer with `inputs` terms in every sum, if it is exact in bytes and in floats.
    fn proven(
        inputs: usize,
        data: Integer,
        weight: Integer,
        bias: Option<Integer>,
    ) -> Option<Self> {
        let (x, w) = (CodeRange::of(data), CodeRange::of(weight));
        let b = match bias {
            Some(bias) => CodeRange::of(bias),
            None => CodeRange::code(0, x.frac + w.frac),
        };
        let sum_frac = b.frac.max(x.frac + w.frac);
        let (w, b) = (w.with_frac(sum_frac - x.frac)?, b.with_frac(sum_frac)?);
        let is_byte = data.width <= 8 && i8::try_from(w.min).is_ok() && i8::try_from(w.max).is_ok();
        let worst = x.magnitude() * w.magnitude() * inputs as i128 + b.magnitude();
        let is_exact = worst <= LARGEST && sum_frac.abs() <= MAX_FRAC;
        (is_byte && is_exact).then_some(Self {
            data,
            weight: exactly(8, w.frac),
            sum_frac,
        })
    }
}

/// The codes of values that need no rounding.
fn exactly(width: u32, frac_width: i32) -> Integer {
    Integer {
        width,
        frac_width,
        signed: true,
        rounding: Rounding::NearestEven,
    }
}

impl ByteLinear {
    /// The layer on bytes, where that is faster and changes nothing.
    pub fn new(op: &ir::ops::linear::Linear, site: &Site) -> Option<Self> {
        if !site.may_use_bytes || !has_byte_products() {
            return None;
        }
        let fixed = |port: &str| site.rounding(port)?.fixed()?.fixed_point();
        let bias = site.param("bias");
        let bias_fixed = if bias.is_empty() {
            None
        } else {
            Some(fixed("bias")?)
        };
        let (data, weight) = (fixed("data_in_0")?, fixed("weight")?);
        Some(Self {
            rows: site.inputs[0].iter().product::<usize>() / op.in_features,
            inputs: op.in_features,
            outputs: op.out_features,
            weight: site.param("weight"),
            bias,
            weight_format: site.rounding("weight")?.fixed()?,
            bias_format: match site.rounding("bias") {
                Some(rounding) => Some(rounding.fixed()?),
                None => None,
            },
            codes: Codes::proven(op.in_features, data, weight, bias_fixed)?,
            relu: site.fusion.relu,
        })
    }

    /// Prepared memory: packed weights, what sums start from, and a word that is not 0 if some of that is no number.
    fn parts<'a>(&self, prepared: &'a [f32]) -> (&'a [f32], &'a [f32], bool) {
        let (packed, rest) = prepared.split_at(self.outputs * words(self.inputs));
        let (start, has_nan) = rest.split_at(self.outputs);
        (packed, start, has_nan[0] != 0.0)
    }

    /// Makes NaN of what a NaN among the operands reaches, as floats would. Rare, so it looks for them again.
    #[cold]
    fn spread_nan(&self, x: &[f32], state: &State, y: &mut [f32]) {
        let is_nan = |values: &[f32]| values.iter().any(|value| value.is_nan());
        let (weight, bias) = (
            &state.trained[self.weight.clone()],
            &state.trained[self.bias.clone()],
        );
        let column = |j: usize| {
            is_nan(&weight[j * self.inputs..][..self.inputs])
                || bias.get(j).is_some_and(|bias| bias.is_nan())
        };
        let columns: Vec<bool> = (0..self.outputs).map(column).collect();
        let rows = x
            .chunks_exact(self.inputs)
            .zip(y.chunks_exact_mut(self.outputs));
        for (x, y) in rows {
            let is_row = is_nan(x);
            for (y, &is_column) in y.iter_mut().zip(&columns) {
                if is_row || is_column {
                    *y = f32::NAN;
                }
            }
        }
    }
}

impl Step for ByteLinear {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let (k, n) = (self.inputs, self.outputs);
        let (packed, start, has_nan) = self.parts(&memory.prepared[wires.prepared.clone()]);
        let state = memory.state;
        let [x, y, scratch] = memory.split([wires.x(0), wires.y(), wires.scratch.clone()]);
        let scaling = (2_f32.powi(-self.codes.sum_frac), self.relu);
        let is_signed = self.codes.data.signed;
        for (x, y) in x.chunks(ROWS * k).zip(y.chunks_mut(ROWS * n)) {
            let m = x.len() / k;
            let codes = &mut scratch[..m * words(k)];
            let has_nan = encode_rows(self.codes.data, k, x, codes) || has_nan;
            multiply([m, k, n], is_signed, codes, packed, start, scaling, y);
            if has_nan {
                self.spread_nan(x, state, y);
            }
        }
    }

    fn backward(&self, _: &Wires, _: &mut Memory) {
        unreachable!("plans with gradients compute in floats");
    }

    fn scratch_len(&self) -> usize {
        ROWS.min(self.rows) * words(self.inputs)
    }

    fn prepared_len(&self) -> usize {
        self.outputs * words(self.inputs) + self.outputs + 1
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        let (k, n) = (self.inputs, self.outputs);
        let (packed, rest) = prepared.split_at_mut(n * words(k));
        let (start, has_nan) = rest.split_at_mut(n);
        let weight = &state.trained[self.weight.clone()];
        let mut rounded = vec![0.0; n * k];
        quantize(&self.weight_format, weight, &[n, k], &mut rounded);
        pack_weights(self.codes.weight, k, n, &rounded, packed);
        let bias = &state.trained[self.bias.clone()];
        start.fill(number(0));
        if let Some(format) = &self.bias_format {
            let (mut rounded, mut codes) = (vec![0.0; bias.len()], vec![0; bias.len()]);
            quantize(format, bias, &[bias.len()], &mut rounded);
            quantize_codes_i32(exactly(32, self.codes.sum_frac), &rounded, &mut codes);
            for (start, code) in start.iter_mut().zip(codes) {
                *start = number(code);
            }
        }
        let is_nan = weight.iter().chain(bias).any(|value| value.is_nan());
        has_nan[0] = f32::from(is_nan);
    }

    fn is_trained(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(text: &str) -> Integer {
        let format = Format::parse(text).expect("a format");
        format.fixed_point().expect("fixed point")
    }

    fn proven(inputs: usize, data: &str, weight: &str, bias: &str) -> Option<(i32, i32)> {
        let bias = (!bias.is_empty()).then(|| fixed(bias));
        let codes = Codes::proven(inputs, fixed(data), fixed(weight), bias)?;
        Some((codes.weight.frac_width, codes.sum_frac))
    }

    #[test]
    fn only_what_is_exact_is_computed_in_bytes() {
        let byte = "integer(8, 4)";
        assert_eq!(proven(1024, byte, byte, ""), Some((4, 8)));
        assert_eq!(proven(1025, byte, byte, ""), None, "2^24 is passed");
        assert_eq!(proven(1023, byte, byte, byte), Some((4, 8)));
        assert_eq!(proven(1024, byte, byte, byte), None, "the bias counts");
        assert_eq!(proven(16, "integer(9, 4)", byte, byte), None, "no byte");
        assert_eq!(proven(16, byte, "integer(8, 4, signed = false)", ""), None);
        assert_eq!(proven(16, byte, byte, "integer(24, 4)"), None);
        assert_eq!(proven(16, "integer(8, 60)", "integer(8, 60)", ""), None);
    }

    #[test]
    fn weights_are_as_fine_as_the_bias_if_they_stay_bytes() {
        let narrow = "integer(4, 2)";
        assert_eq!(
            proven(16, narrow, "integer(2, 1)", "integer(8, 4)"),
            Some((2, 4))
        );
        assert_eq!(
            proven(16, narrow, "integer(4, 2)", "integer(16, 8)"),
            Some((6, 8))
        );
        assert_eq!(proven(16, narrow, "integer(4, 2)", "integer(16, 9)"), None);
    }
}
