//! Layers on codes, for evaluation: the same result as a layer on rounded floats, bit for bit, from products of integers.
//!
//! Input, weight and bias must be fixed point. When every sum, in whatever order it is formed, is a code of at most 24
//! bits, floats compute it without rounding; then integers do, too, and only the time differs.

use super::Site;
use crate::rounding::Rounding;
use crate::state::State;
use crate::step::{Memory, Step, Wires};
use format::{Format, Integer, Overflow, Rounding as Direction};
use ir::{CodeRange, Node, NodeId};
use kernels::coded::{CodedLayer, Scaling};
use kernels::conv::ConvShape;
use kernels::quantize::{quantize, quantize_codes_i32};
use std::ops::Range;

/// The largest code that floats hold, and all smaller ones with it.
const LARGEST: i128 = 1 << 24;
/// Scales far from where floats end.
const MAX_FRAC: i32 = 100;

/// A fully connected layer or a convolution, followed by a relu where the planner fused one.
pub(crate) struct Coded {
    layer: CodedLayer,
    /// Terms of a sum.
    inputs: usize,
    outputs: usize,
    weight: Range<usize>,
    /// Empty without a bias.
    bias: Range<usize>,
    weight_format: Format,
    bias_format: Option<Format>,
    codes: Codes,
    scaling: Scaling,
}

/// The codes of operands and sums.
pub(crate) struct Codes {
    data: Integer,
    /// As fine as the sums need it.
    weight: Integer,
    /// The largest magnitude of such a code.
    max_weight: u8,
    /// Bits behind the point of the sums.
    sum_frac: i32,
}

impl Codes {
    /// The codes of a node with weights and `inputs` terms in every sum, if its operands have them and nothing but time differs.
    pub fn of(id: NodeId, node: &Node, state: &State, inputs: usize) -> Option<Self> {
        let fixed = |port: &str| {
            let rounding = Rounding::of(id, node, port, state)?;
            rounding.fixed()?.fixed_point()
        };
        let bias = if state.range(id, "bias").is_empty() {
            None
        } else {
            Some(fixed("bias")?)
        };
        Self::proven(inputs, fixed("data_in_0")?, fixed("weight")?, bias)
    }

    /// The codes of a layer with `inputs` terms in every sum, if it is exact on bytes and in floats.
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
            max_weight: u8::try_from(w.magnitude()).ok()?,
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
        rounding: Direction::NearestEven,
        overflow: Overflow::Saturate,
    }
}

impl Coded {
    /// A fully connected layer on codes, where that changes nothing.
    pub fn linear(op: &ir::ops::linear::Linear, site: &Site) -> Option<Self> {
        let [inputs, outputs] = [op.in_features, op.out_features];
        Self::new(site, [inputs, outputs], |codes| {
            let layer = CodedLayer::dense(inputs, outputs, codes.data, codes.max_weight);
            Some(layer)
        })
    }

    /// A convolution on codes over pixels of channels, where that changes nothing.
    pub fn convolution(shape: ConvShape, site: &Site) -> Option<Self> {
        let inputs = terms(&shape);
        Self::new(site, [inputs, shape.out_channels], |codes| {
            CodedLayer::convolution(shape, codes.data, codes.max_weight)
        })
    }

    fn new(
        site: &Site,
        [inputs, outputs]: [usize; 2],
        layer: impl FnOnce(&Codes) -> Option<CodedLayer>,
    ) -> Option<Self> {
        if !site.may_use_bytes {
            return None;
        }
        let codes = Codes::of(site.id, site.node, site.state, inputs)?;
        let bias_format = match site.rounding("bias") {
            Some(rounding) => Some(rounding.fixed()?),
            None => None,
        };
        let plain = Scaling::by(2_f32.powi(-codes.sum_frac));
        Some(Self {
            layer: layer(&codes)?,
            inputs,
            outputs,
            weight: site.param("weight"),
            bias: site.param("bias"),
            weight_format: site.rounding("weight")?.fixed()?,
            bias_format,
            codes,
            scaling: if site.fusion.relu {
                Scaling {
                    lo: 0.0,
                    hi: site.fusion.ceiling(),
                    ..plain
                }
            } else {
                plain
            },
        })
    }

    /// Makes NaN of what a parameter that is not a number reaches, as floats would.
    #[cold]
    fn spread_nan(&self, state: &State, y: &mut [f32]) {
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
        for y in y.chunks_exact_mut(self.outputs) {
            for (y, _) in y.iter_mut().zip(&columns).filter(|(_, is_nan)| **is_nan) {
                *y = f32::NAN;
            }
        }
    }
}

/// Terms of a sum of a convolution.
pub(crate) fn terms(s: &ConvShape) -> usize {
    s.in_channels / s.groups * s.kernel[0] * s.kernel[1]
}

impl Step for Coded {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let prepared = &memory.prepared[wires.prepared.clone()];
        let (packed, has_nan) = prepared.split_at(self.layer.packed_len());
        let state = memory.state;
        let [x, y, scratch] = memory.split([wires.x(0), wires.y(), wires.scratch.clone()]);
        if self.layer.forward(x, packed, self.scaling, y, scratch) {
            self.layer.spread_nan(x, y);
        }
        if has_nan[0] != 0.0 {
            self.spread_nan(state, y);
        }
    }

    fn backward(&self, _: &Wires, _: &mut Memory) {
        unreachable!("plans with gradients compute in floats");
    }

    fn scratch_len(&self) -> usize {
        self.layer.scratch_len()
    }

    /// Packed weights and starts, and a word that is not 0 if some of that is no number.
    fn prepared_len(&self) -> usize {
        self.layer.packed_len() + 1
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        let (packed, has_nan) = prepared.split_at_mut(self.layer.packed_len());
        let weight = &state.trained[self.weight.clone()];
        let mut rounded = vec![0.0; weight.len()];
        let shape = [self.outputs, self.inputs];
        quantize(&self.weight_format, weight, &shape, &mut rounded);
        let bias = &state.trained[self.bias.clone()];
        let mut starts = vec![0; self.outputs];
        if let Some(format) = &self.bias_format {
            let mut rounded = vec![0.0; bias.len()];
            quantize(format, bias, &[bias.len()], &mut rounded);
            quantize_codes_i32(exactly(32, self.codes.sum_frac), &rounded, &mut starts);
        }
        self.layer
            .pack(self.codes.weight, &rounded, &starts, packed);
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
