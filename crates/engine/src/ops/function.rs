//! Functions of one element and their slopes; [`super::activation`] maps them over slices.
#![expect(
    clippy::inline_always,
    reason = "the loops around them must be vectorised"
)]

use super::activation::{Activation, Function};
use super::{Lowered, Site, arithmetic, exact, table};
use crate::integer::IntegerForm;
use ir::{DType, Op};
use kernels::math;
use std::f32::consts::FRAC_2_SQRT_PI;

/// Functions without attributes: the value of x, and the slope from x or from the result y.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident: |$x:ident| $value:expr, slope of $from_result:literal |$known:ident| $slope:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name;

        impl Function for $name {
            const FROM_RESULT: bool = $from_result;

            #[inline(always)]
            fn value(self, $x: f32) -> f32 {
                $value
            }

            #[inline(always)]
            fn slope(self, $known: f32) -> f32 {
                $slope
            }
        }
    )*};
}

functions! {
    /// `−x`.
    Neg: |x| -x, slope of false |_x| -1.0;
    /// `|x|`.
    Abs: |x| x.abs(), slope of false |x| sign(x);
    /// `√x`.
    Sqrt: |x| x.sqrt(), slope of true |y| 0.5 / y;
    /// `1/√x`.
    Rsqrt: |x| 1.0 / x.sqrt(), slope of true |y| -0.5 * y * y * y;
    /// `1/x`.
    Reciprocal: |x| 1.0 / x, slope of true |y| -y * y;
    /// `e^x`.
    Exp: |x| math::exp(x), slope of true |y| y;
    /// `ln x`.
    Log: |x| math::ln(x), slope of false |x| 1.0 / x;
    /// Error function.
    Erf: |x| math::erf(x), slope of false |x| FRAC_2_SQRT_PI * math::exp(-x * x);
    /// Sine.
    Sin: |x| x.sin(), slope of false |x| x.cos();
    /// Cosine.
    Cos: |x| x.cos(), slope of false |x| -x.sin();
    /// The largest whole number up to x.
    Floor: |x| x.floor(), slope of false |_x| 0.0;
    /// The smallest whole number from x on.
    Ceil: |x| x.ceil(), slope of false |_x| 0.0;
    /// The nearest whole number, of two the even one.
    Round: |x| x.round_ties_even(), slope of false |_x| 0.0;
    /// −1, 0 or 1.
    Sign: |x| sign(x), slope of false |_x| 0.0;
    /// The whole part.
    Trunc: |x| x.trunc(), slope of false |_x| 0.0;
    /// 1 for what is true.
    Truth: |x| if x == 0.0 { 0.0 } else { 1.0 }, slope of false |_x| 0.0;
    /// 1 for what is false.
    Not: |x| if x == 0.0 { 1.0 } else { 0.0 }, slope of false |_x| 0.0;
}

#[inline(always)]
fn sign(x: f32) -> f32 {
    if x == 0.0 { 0.0 } else { 1.0_f32.copysign(x) }
}

/// `x` above zero, `slope·x` below.
#[derive(Clone, Copy)]
pub(crate) struct LeakyRelu {
    pub slope: f32,
}

impl From<&ir::ops::function::LeakyRelu> for LeakyRelu {
    fn from(op: &ir::ops::function::LeakyRelu) -> Self {
        Self {
            slope: op.negative_slope as f32,
        }
    }
}

impl Function for LeakyRelu {
    #[inline(always)]
    fn value(self, x: f32) -> f32 {
        if x > 0.0 { x } else { self.slope * x }
    }

    #[inline(always)]
    fn slope(self, x: f32) -> f32 {
        if x > 0.0 { 1.0 } else { self.slope }
    }
}

/// The step of a function without attributes.
pub(crate) fn lower(op: &Op) -> Lowered {
    match op {
        Op::Neg(_) => Activation(Neg).into(),
        Op::Abs(_) => Activation(Abs).into(),
        Op::Sqrt(_) => Activation(Sqrt).into(),
        Op::Rsqrt(_) => Activation(Rsqrt).into(),
        Op::Reciprocal(_) => Activation(Reciprocal).into(),
        Op::Exp(_) => Activation(Exp).into(),
        Op::Log(_) => Activation(Log).into(),
        Op::Erf(_) => Activation(Erf).into(),
        Op::Sin(_) => Activation(Sin).into(),
        Op::Cos(_) => Activation(Cos).into(),
        Op::Floor(_) => Activation(Floor).into(),
        Op::Ceil(_) => Activation(Ceil).into(),
        Op::Round(_) => Activation(Round).into(),
        Op::Sign(_) => Activation(Sign).into(),
        _ => unreachable!("{} is not a function of one element", op.name()),
    }
}

/// The integer form of a function without attributes: a table, but for those that are not numbers everywhere.
pub(crate) fn integer(op: &Op) -> IntegerForm<'_> {
    match op {
        Op::Neg(_) => exact(|site| arithmetic::integer::mul(Some(-1.0), site)),
        Op::Abs(_) => table(Abs),
        Op::Exp(_) => table(Exp),
        Op::Erf(_) => table(Erf),
        Op::Sin(_) => table(Sin),
        Op::Cos(_) => table(Cos),
        Op::Floor(_) => table(Floor),
        Op::Ceil(_) => table(Ceil),
        Op::Round(_) => table(Round),
        Op::Sign(_) => table(Sign),
        _ => IntegerForm::Missing,
    }
}

/// The step that changes the type of elements, all of which a plan holds in f32.
pub(crate) fn cast(to: DType, site: &Site) -> Lowered {
    let from = site.verified.ty(site.node.inputs[0]).dtype;
    match (from, to) {
        (DType::F32, DType::I64) => Activation(Trunc).into(),
        (DType::F32 | DType::I64, DType::Bool) => Activation(Truth).into(),
        (_, DType::F32) | (DType::I64 | DType::Bool, DType::I64) | (DType::Bool, DType::Bool) => {
            Lowered::SameElements
        }
    }
}
