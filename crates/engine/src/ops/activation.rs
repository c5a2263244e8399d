//! Activations: a function of one element and its slope, mapped over slices.
//!
//! Both are always inlined into the loop that is compiled for the machine's instruction set; left out of line, a slope
//! as long as gelu's would run an element at a time.
#![expect(
    clippy::inline_always,
    reason = "the loops around them must be vectorised"
)]

use crate::step::{Memory, Step, Wires};
use kernels::bounds::relu_backward;
use kernels::elementwise::{map, zip};
use kernels::math;
use std::f32::consts::FRAC_1_SQRT_2;

/// A function of one element.
pub(crate) trait Function: Copy + Send + Sync + 'static {
    /// The slope is cheaper from the result than from the input.
    const FROM_RESULT: bool = false;

    /// The result for an input.
    fn value(self, x: f32) -> f32;
    /// The derivative where the input, or the result, is `known`.
    fn slope(self, known: f32) -> f32;
}

/// A function over whole slices.
pub(crate) struct Activation<F>(pub F);

impl<F: Function> Activation<F> {
    fn apply(&self, x: &[f32], y: &mut [f32]) {
        let function = self.0;
        map(
            x,
            y,
            #[inline(always)]
            move |x| function.value(x),
        );
    }
}

impl<F: Function> Step for Activation<F> {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        self.apply(x, y);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let function = self.0;
        let known = if F::FROM_RESULT {
            wires.y()
        } else {
            wires.x(0)
        };
        let [known, dy, dx] = memory.split([known, wires.dy(), target]);
        zip(
            known,
            dy,
            dx,
            #[inline(always)]
            move |known, dy| dy * function.slope(known),
        );
        memory.commit_grad(wires, 0);
    }
}

/// 1 where the condition holds: a slope that is a mask.
#[inline(always)]
fn step(condition: bool) -> f32 {
    if condition { 1.0 } else { 0.0 }
}

/// The gradient before the relu at the end of a step, in place.
pub(crate) fn mask_by_relu(wires: &Wires, memory: &mut Memory) {
    let [y, dy] = memory.split([wires.y(), wires.dy()]);
    relu_backward(y, dy);
}

/// `max(x, 0)`; NaN stays NaN.
#[derive(Clone, Copy)]
pub(crate) struct Relu;

impl Function for Relu {
    const FROM_RESULT: bool = true;

    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        if x < 0.0 { 0.0 } else { x }
    }

    #[inline(always)]
    fn slope(self, y: f32) -> f32 {
        step(y > 0.0)
    }
}

/// `min(max(x, low), high)`: relu6 and hardtanh.
#[derive(Clone, Copy)]
pub(crate) struct Clamp {
    pub low: f32,
    pub high: f32,
}

impl Function for Clamp {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        if x < self.low {
            self.low
        } else if x > self.high {
            self.high
        } else {
            x
        }
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        step(x > self.low && x < self.high)
    }
}

/// `x·min(max(x + 3, 0), 6)/6`.
#[derive(Clone, Copy)]
pub(crate) struct Hardswish;

impl Function for Hardswish {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        if x <= -3.0 {
            0.0
        } else if x >= 3.0 {
            x
        } else {
            x * (x + 3.0) / 6.0
        }
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        if x < -3.0 {
            0.0
        } else if x <= 3.0 {
            x / 3.0 + 0.5
        } else {
            1.0
        }
    }
}

/// `min(max(x + 3, 0), 6)/6`.
#[derive(Clone, Copy)]
pub(crate) struct Hardsigmoid;

impl Function for Hardsigmoid {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        if x <= -3.0 {
            0.0
        } else if x >= 3.0 {
            1.0
        } else {
            x / 6.0 + 0.5
        }
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        if x > -3.0 && x < 3.0 { 1.0 / 6.0 } else { 0.0 }
    }
}

/// `min(max(alpha·x + beta, 0), 1)`.
#[derive(Clone, Copy)]
pub(crate) struct Ramp {
    pub alpha: f32,
    pub beta: f32,
}

impl Function for Ramp {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        Clamp {
            low: 0.0,
            high: 1.0,
        }
        .value(self.alpha * x + self.beta)
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        let y = self.alpha * x + self.beta;
        if y > 0.0 && y < 1.0 { self.alpha } else { 0.0 }
    }
}

/// `1/(1 + e^−x)`.
#[derive(Clone, Copy)]
pub(crate) struct Sigmoid;

impl Function for Sigmoid {
    const FROM_RESULT: bool = true;

    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        math::sigmoid(x)
    }

    #[inline(always)]
    fn slope(self, y: f32) -> f32 {
        y * (1.0 - y)
    }
}

/// Hyperbolic tangent.
#[derive(Clone, Copy)]
pub(crate) struct Tanh;

impl Function for Tanh {
    const FROM_RESULT: bool = true;

    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        math::tanh(x)
    }

    #[inline(always)]
    fn slope(self, y: f32) -> f32 {
        1.0 - y * y
    }
}

/// `x·Φ(x)`.
#[derive(Clone, Copy)]
pub(crate) struct Gelu;

impl Function for Gelu {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        0.5 * x * (1.0 + math::erf(x * FRAC_1_SQRT_2))
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        let cdf = 0.5 * (1.0 + math::erf(x * FRAC_1_SQRT_2));
        cdf + x * 0.398_942_3 * math::exp(-0.5 * x * x)
    }
}

/// `x·Φ(x)` by its tanh approximation.
#[derive(Clone, Copy)]
pub(crate) struct GeluTanh;

impl Function for GeluTanh {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        0.5 * x * (1.0 + math::tanh(tanh_argument(x)))
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        let t = math::tanh(tanh_argument(x));
        let slope = 0.797_884_6 * (1.0 + 3.0 * 0.044_715 * x * x);
        0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * slope
    }
}

/// √(2/π)·(x + 0.044715·x³).
#[inline(always)]
fn tanh_argument(x: f32) -> f32 {
    0.797_884_6 * (x + 0.044_715 * x * x * x)
}

/// `x/(1 + e^−x)`.
#[derive(Clone, Copy)]
pub(crate) struct Silu;

impl Function for Silu {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        x * math::sigmoid(x)
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        let s = math::sigmoid(x);
        s * (1.0 + x * (1.0 - s))
    }
}

/// `scale·x` above zero, `scale·α·(e^x − 1)` below: elu and selu.
#[derive(Clone, Copy)]
pub(crate) struct Elu {
    pub alpha: f32,
    pub scale: f32,
}

impl From<&ir::ops::activation::Elu> for Elu {
    fn from(op: &ir::ops::activation::Elu) -> Self {
        Self {
            alpha: op.alpha as f32,
            scale: 1.0,
        }
    }
}

impl Elu {
    /// Selu, with the constants of Klambauer et al., 2017.
    pub const SELU: Self = Self {
        alpha: 1.673_263_2,
        scale: 1.050_701,
    };
}

impl Function for Elu {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        self.scale
            * if x > 0.0 {
                x
            } else {
                self.alpha * math::expm1(x)
            }
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        self.scale
            * if x > 0.0 {
                1.0
            } else {
                self.alpha * math::exp(x)
            }
    }
}

/// `ln(1 + e^(βx))/β`, and x itself where βx is above the threshold.
#[derive(Clone, Copy)]
pub(crate) struct Softplus {
    pub beta: f32,
    pub threshold: f32,
}

impl From<&ir::ops::activation::Softplus> for Softplus {
    fn from(op: &ir::ops::activation::Softplus) -> Self {
        Self {
            beta: op.beta as f32,
            threshold: op.threshold as f32,
        }
    }
}

impl Function for Softplus {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        if x * self.beta > self.threshold {
            x
        } else {
            math::softplus(x * self.beta) / self.beta
        }
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        if x * self.beta > self.threshold {
            1.0
        } else {
            math::sigmoid(x * self.beta)
        }
    }
}

/// `x/(1 + |x|)`.
#[derive(Clone, Copy)]
pub(crate) struct Softsign;

impl Function for Softsign {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        x / (1.0 + x.abs())
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        let d = 1.0 + x.abs();
        1.0 / (d * d)
    }
}

/// Activations in exact integers: clamps are relu, relu6 and hardtanh, all others are tables.
pub(crate) mod integer {
    use super::{Activation, Function};
    use crate::integer::error::{MAX_TABLE_BITS, Refusal};
    use crate::integer::range::{CodeRange, refined};
    use crate::integer::{Grids, Lowered, Site, Stage, decode};
    use format::FixedPoint;

    /// The codes of the function's results, in the format of the node's result, for every code of the operand.
    pub(crate) fn table<F: Function>(function: F, site: &Site) -> Result<Lowered, Refusal> {
        let x = site.operands[0].range;
        let bits = x.format().width;
        if bits > MAX_TABLE_BITS {
            return Err(Refusal::TableTooWide("data_in_0", bits));
        }
        let grids = Grids::of(site.node, "data_out_0", &site.outputs[0])?;
        let grids = grids.ok_or_else(|| Refusal::NoFormat("data_out_0".to_owned()))?;
        let (points, inner) = grids.channels();
        let width = |point: &FixedPoint| CodeRange::from(*point).format().width;
        let bits = points.iter().map(width).max().unwrap_or(0);
        if bits > MAX_TABLE_BITS {
            return Err(Refusal::TableTooWide("data_out_0", bits));
        }
        let codes = x.min as i64..=x.max as i64;
        let operands: Vec<f32> = codes.map(|code| decode(code, x.frac)).collect();
        let mut results = vec![0.0; operands.len()];
        Activation(function).apply(&operands, &mut results);
        let frac = grids.range()?.frac;
        let map = |c: usize| {
            let results = results.iter();
            results.map(|&y| grids.code(c * inner, y, frac)).collect()
        };
        Ok(Lowered::Stages(vec![Stage::Table {
            first: x.min as i64,
            maps: (0..points.len()).map(map).collect(),
            inner,
            frac,
        }]))
    }

    /// Clamps to bounds that must be codes of the operand.
    pub(crate) fn clamp(lo: Option<f64>, hi: Option<f64>, site: &Site) -> Result<Lowered, Refusal> {
        let frac = site.operands[0].range.frac;
        let bound = |value: Option<f64>, none: i64| value.map_or(Ok(none), |v| code_of(v, frac));
        let (lo, hi) = (bound(lo, i64::MIN)?, bound(hi, i64::MAX)?);
        Ok(Lowered::Stages(vec![Stage::Clamp { lo, hi }]))
    }

    /// The code of a bound; beyond `i64` no operand reaches it.
    fn code_of(value: f64, frac: i32) -> Result<i64, Refusal> {
        let off_grid = || {
            let why = format!(
                "the bound {value} is not a multiple of its operand's step 2^{}",
                -i64::from(frac)
            );
            Refusal::NoForm(why)
        };
        let code = CodeRange::number(value).ok_or_else(off_grid)?;
        if code.frac > frac && code.magnitude() != 0 {
            return Err(off_grid());
        }
        let beyond = if value < 0.0 { i64::MIN } else { i64::MAX };
        Ok(refined(code, frac).map_or(beyond, |(code, _)| code.min as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function that is constant has the gradient of a constant, so gradients alone do not hold the values.
    #[test]
    fn values_are_those_of_the_definition() {
        for x in [-3.0_f32, -0.5, 0.0, 0.25, 2.0] {
            let exact = f64::from(x);
            for (got, expected) in [
                (Sigmoid.value(x), 1.0 / (1.0 + (-exact).exp())),
                (Tanh.value(x), exact.tanh()),
                (Relu.value(x), exact.max(0.0)),
            ] {
                assert!(
                    (f64::from(got) - expected).abs() < 1e-6,
                    "{x}: {got}, not {expected}"
                );
            }
        }
    }
}
