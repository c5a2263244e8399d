//! Activations: a function of one element and its derivative, mapped over slices.
//!
//! Every closure is always inlined into the loop that is compiled for the machine's instruction set; left out of line, a
//! derivative as long as gelu's would run an element at a time.
#![expect(
    clippy::inline_always,
    reason = "loops around closures must be vectorised"
)]

use crate::step::{Memory, Step, Wires};
use ir::ops::activation::GeluForm;
use kernels::maps::{map, zip};
use kernels::math;

/// α and scale of selu (Klambauer et al., 2017).
pub(crate) const SELU_ALPHA: f32 = 1.673_263_2;
pub(crate) const SELU_SCALE: f32 = 1.050_701;

type Forward = Box<dyn Fn(&[f32], &mut [f32]) + Send + Sync>;
/// Of input (or result), gradient of the result, gradient of the input.
type Backward = Box<dyn Fn(&[f32], &[f32], &mut [f32]) + Send + Sync>;

/// An activation over whole slices.
pub(crate) struct Activation {
    forward: Forward,
    backward: Backward,
    /// The derivative is cheaper from the result than from the input.
    from_result: bool,
}

/// From a function and its derivative with respect to the input.
fn from_input(
    f: impl Fn(f32) -> f32 + Copy + Send + Sync + 'static,
    derivative: impl Fn(f32) -> f32 + Copy + Send + Sync + 'static,
) -> Activation {
    Activation {
        forward: Box::new(move |x, y| map(x, y, f)),
        backward: Box::new(move |x, dy, dx| {
            zip(
                x,
                dy,
                dx,
                #[inline(always)]
                |x, dy| dy * derivative(x),
            );
        }),
        from_result: false,
    }
}

/// From a function and its derivative as a function of the result.
fn from_result(
    f: impl Fn(f32) -> f32 + Copy + Send + Sync + 'static,
    derivative: impl Fn(f32) -> f32 + Copy + Send + Sync + 'static,
) -> Activation {
    Activation {
        from_result: true,
        ..from_input(f, derivative)
    }
}

impl Step for Activation {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        (self.forward)(x, y);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let known = if self.from_result {
            wires.y()
        } else {
            wires.x(0)
        };
        let [known, dy, dx] = memory.split([known, wires.dy(), target]);
        (self.backward)(known, dy, dx);
        memory.commit_grad(wires, 0);
    }
}

/// 1 where the condition holds: a derivative that is a mask.
#[inline(always)]
fn step(condition: bool) -> f32 {
    if condition { 1.0 } else { 0.0 }
}

/// `max(x, 0)`; NaN stays NaN.
pub(crate) fn relu() -> Activation {
    from_result(
        #[inline(always)]
        |x| if x < 0.0 { 0.0 } else { x },
        #[inline(always)]
        |y| step(y > 0.0),
    )
}

/// Relu in place: what fused steps end with.
pub(crate) fn relu_in_place(y: &mut [f32]) {
    kernels::maps::map_inplace(
        y,
        #[inline(always)]
        |x| if x < 0.0 { 0.0 } else { x },
    );
}

/// The gradient before a relu, in place.
pub(crate) fn mask_by_relu(y: &[f32], dy: &mut [f32]) {
    kernels::maps::zip_inplace(
        y,
        dy,
        #[inline(always)]
        |y, dy| if y > 0.0 { dy } else { 0.0 },
    );
}

/// `min(max(x, low), high)`: relu6 and hardtanh.
pub(crate) fn clamp(low: f32, high: f32) -> Activation {
    from_input(
        #[inline(always)]
        move |x| {
            if x < low {
                low
            } else if x > high {
                high
            } else {
                x
            }
        },
        #[inline(always)]
        move |x| step(x > low && x < high),
    )
}

/// `x·min(max(x + 3, 0), 6)/6`.
pub(crate) fn hardswish() -> Activation {
    from_input(
        #[inline(always)]
        |x| {
            if x <= -3.0 {
                0.0
            } else if x >= 3.0 {
                x
            } else {
                x * (x + 3.0) / 6.0
            }
        },
        #[inline(always)]
        |x| {
            if x < -3.0 {
                0.0
            } else if x <= 3.0 {
                x / 3.0 + 0.5
            } else {
                1.0
            }
        },
    )
}

/// `min(max(x + 3, 0), 6)/6`.
pub(crate) fn hardsigmoid() -> Activation {
    from_input(
        #[inline(always)]
        |x| {
            if x <= -3.0 {
                0.0
            } else if x >= 3.0 {
                1.0
            } else {
                x / 6.0 + 0.5
            }
        },
        #[inline(always)]
        |x| if x > -3.0 && x < 3.0 { 1.0 / 6.0 } else { 0.0 },
    )
}

/// `1/(1 + e^−x)`.
pub(crate) fn sigmoid() -> Activation {
    from_result(
        math::sigmoid,
        #[inline(always)]
        |y| y * (1.0 - y),
    )
}

/// Hyperbolic tangent.
pub(crate) fn tanh() -> Activation {
    from_result(
        math::tanh,
        #[inline(always)]
        |y| 1.0 - y * y,
    )
}

/// `x·Φ(x)`, exactly or by its tanh approximation.
pub(crate) fn gelu(form: GeluForm) -> Activation {
    match form {
        GeluForm::None => from_input(
            #[inline(always)]
            |x| 0.5 * x * (1.0 + math::erf(x * std::f32::consts::FRAC_1_SQRT_2)),
            #[inline(always)]
            |x| {
                let cdf = 0.5 * (1.0 + math::erf(x * std::f32::consts::FRAC_1_SQRT_2));
                cdf + x * 0.398_942_3 * math::exp(-0.5 * x * x)
            },
        ),
        GeluForm::Tanh => from_input(
            #[inline(always)]
            |x| 0.5 * x * (1.0 + math::tanh(tanh_argument(x))),
            #[inline(always)]
            |x| {
                let t = math::tanh(tanh_argument(x));
                let slope = 0.797_884_6 * (1.0 + 3.0 * 0.044_715 * x * x);
                0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * slope
            },
        ),
    }
}

/// √(2/π)·(x + 0.044715·x³).
#[inline(always)]
fn tanh_argument(x: f32) -> f32 {
    0.797_884_6 * (x + 0.044_715 * x * x * x)
}

/// `x/(1 + e^−x)`.
pub(crate) fn silu() -> Activation {
    from_input(
        #[inline(always)]
        |x| x * math::sigmoid(x),
        #[inline(always)]
        |x| {
            let s = math::sigmoid(x);
            s * (1.0 + x * (1.0 - s))
        },
    )
}

/// `scale·x` above zero, `scale·α·(e^x − 1)` below: elu and selu.
pub(crate) fn elu(alpha: f32, scale: f32) -> Activation {
    from_input(
        #[inline(always)]
        move |x| scale * if x > 0.0 { x } else { alpha * math::expm1(x) },
        #[inline(always)]
        move |x| scale * if x > 0.0 { 1.0 } else { alpha * math::exp(x) },
    )
}

/// `ln(1 + e^(βx))/β`, and x itself where βx is above the threshold.
pub(crate) fn softplus(beta: f32, threshold: f32) -> Activation {
    from_input(
        #[inline(always)]
        move |x| {
            if x * beta > threshold {
                x
            } else {
                math::softplus(x * beta) / beta
            }
        },
        #[inline(always)]
        move |x| {
            if x * beta > threshold {
                1.0
            } else {
                math::sigmoid(x * beta)
            }
        },
    )
}

/// `x/(1 + |x|)`.
pub(crate) fn softsign() -> Activation {
    from_input(
        #[inline(always)]
        |x| x / (1.0 + x.abs()),
        #[inline(always)]
        |x| {
            let d = 1.0 + x.abs();
            1.0 / (d * d)
        },
    )
}
